// SPDX-License-Identifier: Apache-2.0
#include "cli/share.h"

namespace wavetail::cli {

namespace fs = std::filesystem;

fs::path share_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path().parent_path() / "share" / "wavetail";
}

std::string shown(const fs::path& file) {
  const fs::path share = share_folder();
  if (share.empty() || !file.is_absolute()) { return file.string(); }
  const fs::path below = file.lexically_relative(share);
  return below.empty() || *below.begin() == ".." ? file.string() : below.string();
}

std::string found(const std::string& path) {
  const fs::path share = share_folder();
  std::error_code error;
  if (share.empty() || path.empty() || fs::path(path).is_absolute() || fs::exists(path, error)) {
    return path;
  }
  const fs::path below = fs::path(path).lexically_normal();
  const fs::path there = share / below;
  return *below.begin() != ".." && fs::exists(there, error) ? there.string() : path;
}

}  // namespace wavetail::cli
