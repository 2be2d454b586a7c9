// SPDX-License-Identifier: Apache-2.0
// Text inside XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace wavetail::report {

// Escaped for elements and attributes; control characters, which XML cannot hold, become spaces.
[[nodiscard]] inline std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

}  // namespace wavetail::report
