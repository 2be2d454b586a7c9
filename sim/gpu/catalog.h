// SPDX-License-Identifier: Apache-2.0
// Where GPU files are found: by name or alias in a list of folders, or as a file inside one of
// them. Nothing outside the folders is read, whatever a scenario or a `base` says: no absolute
// paths, no way up, no symbolic link that leads out.
//
// Names match without regard to case and separators; text in brackets is dropped, and -SXM, -80GB
// and -Server may be left out: "B300-SXM (boost)" finds b300.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.h"
#include "gpu/reader.h"

namespace wavetail::gpu {

// One GPU file of the search path.
struct CatalogEntry {
  std::string name;
  std::string description;
  std::vector<std::string> aliases;
  std::string file;
};

class Catalog {
 public:
  // Folders in the order in which they are searched; those that do not exist are left out.
  explicit Catalog(std::vector<std::string> folders);

  // Every GPU file, by folder and file name; files that cannot be read are left out.
  [[nodiscard]] std::vector<CatalogEntry> entries() const;

  // The file of that name or alias; nothing if there is none (no message).
  [[nodiscard]] std::optional<std::string> find(std::string_view name) const;

  // The nodes of a GPU, its base merged in, and below both what its architecture says. `which` is a
  // name, an alias, or a file (it has a '/' or ends in .yaml) relative to `beside`. `place` is
  // where it was asked for.
  [[nodiscard]] std::optional<Document> load(const std::string& which, const std::string& beside,
                                             const config::Place& place,
                                             config::Diagnostics& diagnostics) const;

  // The file that load() reads.
  [[nodiscard]] std::optional<std::string> resolve(const std::string& which,
                                                   const std::string& beside,
                                                   const config::Place& place,
                                                   config::Diagnostics& diagnostics) const;

  // A file that the user names on the command line may lie anywhere.
  [[nodiscard]] std::optional<Document> load_file(const std::string& file,
                                                  config::Diagnostics& diagnostics) const;

  // A file named in another file: its path if it lies inside the search path.
  [[nodiscard]] std::optional<std::string> inside(const std::string& file,
                                                  const std::string& beside,
                                                  const config::Place& place,
                                                  config::Diagnostics& diagnostics) const;

 private:
  [[nodiscard]] std::optional<Document> load_chain(const std::string& file,
                                                   std::vector<std::string> above,
                                                   config::Diagnostics& diagnostics) const;

  std::vector<std::string> folders_;
};

// Whether `which` is meant as a file rather than as a name.
[[nodiscard]] bool is_file_name(std::string_view which);

// configs/gpu and configs/models here, then those of the share folder beside the program's own.
[[nodiscard]] std::vector<std::string> default_folders();

// "B300-SXM (boost)" -> "b300sxm"; with `short_form` the parts that may be left out are: "b300".
[[nodiscard]] std::string canonical_name(std::string_view name, bool short_form);

}  // namespace wavetail::gpu
