// SPDX-License-Identifier: Apache-2.0
// The bytes of a file or of standard input as a Source that messages can point into. Folders,
// pipes, oversized files and bytes that are no UTF-8 text are refused with a place.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "config/diagnostics.h"

namespace wavetail::config {

// Null where the path cannot be read; "-" is standard input. `kind` is what is wanted, for messages
// ("YAML", "CSV"); more than `most` bytes are refused.
[[nodiscard]] std::shared_ptr<const Source> read_file(const std::string& path,
                                                      const std::string& kind, std::size_t most,
                                                      Diagnostics& diagnostics);

// Whether all of the text is UTF-8 without control characters; places the first byte that is not.
[[nodiscard]] bool is_text(const std::shared_ptr<const Source>& source, Diagnostics& diagnostics);

}  // namespace wavetail::config
