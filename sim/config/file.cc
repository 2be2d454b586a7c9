// SPDX-License-Identifier: Apache-2.0
// Reading a file's bytes, and refusing what cannot be a text file before or just after reading it.
#include "config/file.h"

#include <sys/stat.h>
#include <algorithm>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>

#include "config/load.h"

namespace wavetail::config {

namespace {

Place top_of(const std::string& name) {
  return {std::make_shared<const Source>(Source{name, ""}), 1, 1};
}

// Why the path cannot be read as a file; empty if it can. A pipe is never opened: opening would
// wait.
std::string refusal(const std::string& path, const std::string& kind, std::size_t most) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? "there is no such file"
                           : std::string("the file cannot be read: ") + std::strerror(errno);
  }
  if (S_ISDIR(info.st_mode)) { return "this is a folder; a " + kind + " file is needed"; }
  if (!S_ISREG(info.st_mode)) {
    return "this is not a regular file (a pipe or device); a " + kind +
           " file is needed, or - for standard input";
  }
  if (static_cast<std::size_t>(info.st_size) > most) {
    return "the file has " + std::to_string(info.st_size) + " bytes; allowed are " +
           std::to_string(most);
  }
  return {};
}

// At most `most` + 1 bytes: one more shows that there is too much.
std::string read_some(std::istream& in, std::size_t most) {
  constexpr std::size_t kPiece = 1 << 16;
  std::string text;
  while (in && text.size() <= most) {
    const std::size_t had = text.size(), piece = std::min(kPiece, most + 1 - had);
    text.resize(had + piece);
    in.read(text.data() + had, static_cast<std::streamsize>(piece));
    text.resize(had + static_cast<std::size_t>(in.gcount()));
  }
  return text;
}

}  // namespace

std::shared_ptr<const Source> read_file(const std::string& path, const std::string& kind,
                                        std::size_t most, Diagnostics& diagnostics) {
  if (path == "-") {
    struct stat info{};
    if (fstat(0, &info) == 0 && S_ISDIR(info.st_mode)) {
      diagnostics.error(top_of("-"), "standard input is a folder; a " + kind + " file is needed");
      return nullptr;
    }
    std::string text = read_some(std::cin, most);
    if (text.size() > most) {
      diagnostics.error(top_of("-"),
                        "standard input has more than " + std::to_string(most) + " bytes");
      return nullptr;
    }
    return std::make_shared<const Source>(Source{"-", std::move(text)});
  }
  if (const std::string reason = refusal(path, kind, most); !reason.empty()) {
    diagnostics.error(top_of(path), reason);
    return nullptr;
  }
  std::ifstream in(path, std::ios::binary);
  std::string text = read_some(in, most);
  if (!in && !in.eof()) {
    diagnostics.error(top_of(path), "the file cannot be read");
    return nullptr;
  }
  return std::make_shared<const Source>(Source{path, std::move(text)});
}

std::optional<Node> load_file(const std::string& path, Diagnostics& diagnostics,
                              const Limits& limits) {
  const auto source = read_file(path, "YAML", limits.file_bytes, diagnostics);
  return source ? load_text(source->name, source->text, diagnostics, limits) : std::nullopt;
}

}  // namespace wavetail::config
