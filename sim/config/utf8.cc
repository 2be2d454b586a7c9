// SPDX-License-Identifier: Apache-2.0
// Which bytes are text.
#include <string_view>

#include "config/file.h"

namespace wavetail::config {

namespace {

// Bytes of the UTF-8 character that begins at `at`; 0 if there is none that YAML allows.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned lead = byte(at);
  if (lead < 0x80) {
    return (lead >= 0x20 && lead != 0x7F) || lead == '\t' || lead == '\n' || lead == '\r' ? 1 : 0;
  }
  const std::size_t length = lead >= 0xF0 && lead <= 0xF4 ? 4
                             : lead >= 0xE0               ? 3
                             : lead >= 0xC2               ? 2
                                                          : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) { return 0; }
  }
  const bool overlong = (lead == 0xE0 && byte(at + 1) < 0xA0) ||
                        (lead == 0xF0 && byte(at + 1) < 0x90);
  const bool outside = (lead == 0xED && byte(at + 1) > 0x9F) ||
                       (lead == 0xF4 && byte(at + 1) > 0x8F) || lead > 0xF4;
  return overlong || outside ? 0 : length;
}

}  // namespace

bool is_text(const std::shared_ptr<const Source>& source, Diagnostics& diagnostics) {
  Place place{source, 1, 1};
  const std::string& text = source->text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0) {
      diagnostics.error(
          place, "this is not a text file: the byte " +
                     std::to_string(static_cast<unsigned>(static_cast<unsigned char>(text[at]))) +
                     " is not part of UTF-8 text");
      return false;
    }
    place.column = text[at] == '\n' ? 1 : place.column + static_cast<int>(length);
    place.line += text[at] == '\n' ? 1 : 0;
    at += length;
  }
  return true;
}

}  // namespace wavetail::config
