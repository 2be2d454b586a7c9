// SPDX-License-Identifier: Apache-2.0
// Reading a file's bytes, and refusing what cannot be a text file before or just after reading it.
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "config/load.h"

namespace wavetail::config {

namespace {

Place top_of(const std::string& name) {
  return {std::make_shared<const Source>(Source{name, ""}), 1, 1};
}

// Why the path cannot be read as a file; empty if it can. A pipe is never opened: opening would
// wait.
std::string refusal(const std::string& path, const Limits& limits) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? "there is no such file"
                           : std::string("the file cannot be read: ") + std::strerror(errno);
  }
  if (S_ISDIR(info.st_mode)) { return "this is a folder; a YAML file is needed"; }
  if (!S_ISREG(info.st_mode)) {
    return "this is not a regular file (a pipe or device); a YAML file is needed, or - for "
           "standard input";
  }
  if (static_cast<std::size_t>(info.st_size) > limits.file_bytes) {
    return "the file has " + std::to_string(info.st_size) + " bytes; allowed are " +
           std::to_string(limits.file_bytes);
  }
  return {};
}

// At most limits.file_bytes + 1 bytes: one more shows that there is too much.
std::string read_some(std::istream& in, const Limits& limits) {
  std::string text(limits.file_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace

std::optional<Node> load_file(const std::string& path, Diagnostics& diagnostics,
                              const Limits& limits) {
  if (path == "-") {
    struct stat info{};
    if (fstat(0, &info) == 0 && S_ISDIR(info.st_mode)) {
      diagnostics.error(top_of("-"), "standard input is a folder; a YAML file is needed");
      return std::nullopt;
    }
    std::string text = read_some(std::cin, limits);
    if (text.size() > limits.file_bytes) {
      diagnostics.error(top_of("-"), "standard input has more than " +
                                         std::to_string(limits.file_bytes) + " bytes");
      return std::nullopt;
    }
    return load_text("-", std::move(text), diagnostics, limits);
  }
  if (const std::string reason = refusal(path, limits); !reason.empty()) {
    diagnostics.error(top_of(path), reason);
    return std::nullopt;
  }
  std::ifstream in(path, std::ios::binary);
  std::string text = read_some(in, limits);
  if (!in && !in.eof()) {
    diagnostics.error(top_of(path), "the file cannot be read");
    return std::nullopt;
  }
  return load_text(path, std::move(text), diagnostics, limits);
}

}  // namespace wavetail::config
