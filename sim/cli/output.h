// SPDX-License-Identifier: Apache-2.0
// Where results go: standard output, or a file that appears only when it is complete.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wavetail::cli {

// To standard output. A reader that has gone away is no error; a full disk is. Throws Mistake.
void print(std::string_view text);

// To `path`, or to standard output if that is empty or "-". A regular file is written beside its
// place and moved there, so that nobody sees half of it. Throws Mistake.
void write_result(const std::string& path, std::string_view text);

// Throws Mistake if `path`, which `option` names, cannot be written: before anything runs for it.
void check_writable(const std::string& option, const std::string& path);

// Throws Mistake if `path`, which `option` names, is one of the files that are read, or what
// `others` of the same command write.
void keep_apart(const std::string& option, const std::string& path,
                const std::vector<std::string>& others);

}  // namespace wavetail::cli
