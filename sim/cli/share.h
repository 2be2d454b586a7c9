// SPDX-License-Identifier: Apache-2.0
// The files that came with the program, in share/wavetail beside it. They are named as in the
// source tree (workloads/copy.yaml), wherever the program is installed; a file of that name here
// goes first.
#pragma once

#include <filesystem>
#include <string>

namespace wavetail::cli {

// PREFIX/share/wavetail of the running program; empty where the system does not tell.
[[nodiscard]] std::filesystem::path share_folder();

// A file of the share folder relative to it; any other path as it is.
[[nodiscard]] std::string shown(const std::filesystem::path& file);

// The file or folder that a path on the command line means: the one here, or else the share
// folder's. The path itself where there is neither.
[[nodiscard]] std::string found(const std::string& path);

}  // namespace wavetail::cli
