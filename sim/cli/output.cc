// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/command.h"

namespace wavetail::cli {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what, int error) {
  throw Mistake(fmt::format("cannot write {}: {}", what, std::strerror(error)));
}

// 0, or the error number.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) { continue; }
    if (n < 0) { return errno; }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

// A new file beside `target`, moved onto it once it is complete.
void write_beside(const fs::path& target, const std::string& shown, std::string_view text) {
  const fs::path temporary = target.parent_path() /
                             fmt::format(".{}.{}.part", target.filename().string(), ::getpid());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) { refuse(shown, errno); }
  int error = write_all(file, text);
  if (::close(file) != 0 && error == 0) { error = errno; }
  if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) { error = errno; }
  if (error != 0) {
    ::unlink(temporary.c_str());
    refuse(shown, error);
  }
}

// A device or a pipe takes the text as it comes.
void write_into(const fs::path& target, const std::string& shown, std::string_view text) {
  const int file = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) { refuse(shown, errno); }
  int error = write_all(file, text);
  if (::close(file) != 0 && error == 0) { error = errno; }
  if (error != 0 && error != EPIPE) { refuse(shown, error); }
}

}  // namespace

void print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0 && error != EPIPE) { refuse("to standard output", error); }
}

void write_result(const std::string& path, std::string_view text) {
  if (path.empty() || path == "-") {
    print(text);
    return;
  }
  const auto shown = fmt::format("'{}'", path);
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::is_directory(status)) { refuse(shown, EISDIR); }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    write_into(path, shown, text);
    return;
  }
  // Through a symbolic link the file that it points to is replaced, not the link.
  const auto target = fs::exists(status) ? fs::canonical(path, error) : fs::path(path);
  write_beside(error ? fs::path(path) : target, shown, text);
}

void check_writable(const std::string& option, const std::string& path) {
  if (path.empty() || path == "-") { return; }
  const auto refuse_here = [&](const std::string& what, int error) {
    throw Mistake(
        fmt::format("'{}' cannot write '{}': {}{}", option, path, what, std::strerror(error)));
  };
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::is_directory(status)) { refuse_here("", EISDIR); }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (::access(path.c_str(), W_OK) != 0) { refuse_here("", errno); }
    return;
  }
  const auto target = fs::exists(status) ? fs::canonical(path, error) : fs::path(path);
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  const std::string what = fmt::format("folder '{}': ", folder);
  if (!fs::is_directory(folder, error)) {
    refuse_here(what, fs::exists(folder, error) ? ENOTDIR : ENOENT);
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) { refuse_here(what, errno); }
}

void keep_apart(const std::string& option, const std::string& path,
                const std::vector<std::string>& others) {
  for (const auto& other : others) {
    if (path.empty() || path == "-" || other.empty() || other == "-") { continue; }
    std::error_code error;
    const bool same = fs::weakly_canonical(fs::absolute(path), error) ==
                          fs::weakly_canonical(fs::absolute(other), error) ||
                      fs::equivalent(path, other, error);
    if (same && fs::status(path, error).type() != fs::file_type::character) {
      throw Mistake(fmt::format(
          "'{}' names '{}', which the command reads or writes already; name another file", option,
          path));
    }
  }
}

}  // namespace wavetail::cli
