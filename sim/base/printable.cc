// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

namespace wavetail::base {

std::size_t control_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0x20U;
  };
  if (byte(at) < 0x20 || byte(at) == 0x7F) { return 1; }
  const unsigned next = byte(at + 1);
  return byte(at) == 0xC2 && next >= 0x80 && next < 0xA0 ? 2 : 0;
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t control = control_at(text, at);
    shown += control > 0 ? '?' : text[at];
    at += control > 0 ? control : 1;
  }
  return shown;
}

}  // namespace wavetail::base
