// SPDX-License-Identifier: Apache-2.0
#include "gpu/catalog.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/nearest.h"
#include "config/load.h"
#include "config/value.h"
#include "gpu/architecture.h"

namespace wavetail::gpu {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 100000;  // of one folder

std::vector<std::string> yaml_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string extension = it->path().extension().string();
    if (extension == ".yaml" || extension == ".yml") { files.push_back(it->path().string()); }
  }
  std::sort(files.begin(), files.end());
  files.resize(std::min(files.size(), kMostFiles));
  return files;
}

// Whether a file may be a GPU file. A folder can hold thousands of scenarios, which take long to
// parse.
bool mentions_schema(const std::string& file) {
  constexpr std::uintmax_t kMostBytes = 4 << 20;  // no longer file is read
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > kMostBytes) {
    return false;
  }
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.find("wavetail/gpu/") != std::string::npos;
}

// Name and aliases of a file; nothing if it is no GPU file.
std::optional<CatalogEntry> peek(const std::string& file) {
  if (!mentions_schema(file)) { return std::nullopt; }
  config::Diagnostics ignored;
  const auto root = config::load_file(file, ignored);
  if (!root || !config::text_at(*root, "schema").starts_with("wavetail/gpu/") ||
      config::text_at(*root, "name").empty()) {
    return std::nullopt;
  }
  CatalogEntry entry{
      config::text_at(*root, "name"), config::text_at(*root, "description"), {}, file};
  if (const config::Node* aliases = root->find("aliases")) {
    for (const config::Node& alias : aliases->items) { entry.aliases.push_back(alias.text); }
  }
  return entry;
}

bool matches(const CatalogEntry& entry, std::string_view wanted, bool short_form) {
  const auto same = [&](const std::string& name) {
    return canonical_name(name, short_form) == wanted;
  };
  return same(entry.name) || std::any_of(entry.aliases.begin(), entry.aliases.end(), same);
}

bool is_within(const fs::path& file, const fs::path& folder) {
  const auto [rest, end] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  (void)end;
  return rest == folder.end();
}

}  // namespace

Catalog::Catalog(std::vector<std::string> folders) {
  std::vector<fs::path> known;
  for (const std::string& folder : folders) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (!error && fs::is_directory(real, error) &&
        std::find(known.begin(), known.end(), real) == known.end()) {
      known.push_back(real);
      folders_.push_back(folder);
    }
  }
}

std::vector<CatalogEntry> Catalog::entries() const {
  std::vector<CatalogEntry> all;
  for (const std::string& folder : folders_) {
    for (const std::string& file : yaml_files(folder)) {
      if (auto entry = peek(file)) {
        const bool hidden = std::any_of(all.begin(), all.end(),
                                        [&](const auto& e) { return e.name == entry->name; });
        if (!hidden) { all.push_back(std::move(*entry)); }
      }
    }
  }
  return all;
}

std::optional<std::string> Catalog::find(std::string_view name) const {
  for (const std::string& folder : folders_) {
    const std::string file = (fs::path(folder) / (std::string(name) + ".yaml")).string();
    std::error_code error;
    const bool plain = name.find('/') == std::string_view::npos && fs::is_regular_file(file, error);
    if (const auto entry = plain ? peek(file) : std::nullopt; entry && entry->name == name) {
      return file;
    }
  }
  const auto all = entries();
  for (const bool short_form : {false, true}) {
    const std::string wanted = canonical_name(name, short_form);
    const auto it = std::find_if(all.begin(), all.end(),
                                 [&](const auto& e) { return matches(e, wanted, short_form); });
    if (!wanted.empty() && it != all.end()) { return it->file; }
  }
  return std::nullopt;
}

std::optional<std::string> Catalog::inside(const std::string& file, const std::string& beside,
                                           const config::Place& place,
                                           config::Diagnostics& diagnostics) const {
  std::vector<std::string> folders{beside.empty() ? "." : beside};
  folders.insert(folders.end(), folders_.begin(), folders_.end());
  const auto allowed = [&](const fs::path& real) {
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
      std::error_code error;
      const fs::path root = fs::canonical(folder, error);
      return !error && is_within(real, root);
    });
  };
  std::optional<std::string> absent;
  for (const std::string& folder :
       fs::path(file).is_absolute() ? std::vector<std::string>{} : folders) {
    const fs::path path = (fs::path(folder) / file).lexically_normal();
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    if (error || !allowed(real)) { continue; }
    if (fs::exists(path, error)) { return path.string(); }
    absent = absent.value_or(path.string());
  }
  if (absent) {
    diagnostics.error(place, "there is no file '" + *absent + "'");
  } else {
    diagnostics.error(
        place, "'" + file + "' lies outside the search path; allowed are files beside this one" +
                   (folders_.empty() ? "" : " and in " + base::joined(folders_)));
  }
  return std::nullopt;
}

std::optional<std::string> Catalog::resolve(const std::string& which, const std::string& beside,
                                            const config::Place& place,
                                            config::Diagnostics& diagnostics) const {
  if (is_file_name(which)) { return inside(which, beside, place, diagnostics); }
  std::vector<std::string> folders{beside.empty() ? "." : beside};
  folders.insert(folders.end(), folders_.begin(), folders_.end());
  const Catalog here(std::move(folders));
  if (auto file = here.find(which)) {
    return inside(fs::path(*file).filename().string(), fs::path(*file).parent_path().string(),
                  place, diagnostics);
  }
  if (find_architecture(which) != nullptr) {
    diagnostics.error(place, "'" + which +
                                 "' is a compute capability, not a GPU: it says how launches fit "
                                 "(`wavetail occupancy`), not how fast they are");
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const CatalogEntry& entry : here.entries()) { names.push_back(entry.name); }
  diagnostics.error(place,
                    "unknown GPU '" + which + "'" +
                        (names.empty() ? "; no GPU files were found" : base::hint(which, names)));
  return std::nullopt;
}

std::optional<Document> Catalog::load_chain(const std::string& file, std::vector<std::string> above,
                                            config::Diagnostics& diagnostics) const {
  auto root = config::load_file(file, diagnostics);
  if (!root) { return std::nullopt; }
  Document document{std::move(*root), {}};
  document.provenance = read_provenance(document.root, diagnostics);
  const config::Node* base = document.root.find("base");
  if (base == nullptr) { return document; }
  if (!base->is_scalar()) {
    config::At{*base, "gpu.base", diagnostics}.refuse("the name or the file of one GPU is needed");
    return std::nullopt;
  }
  const config::Place place = base->place;
  const auto next = resolve(base->text, fs::path(file).parent_path().string(), place, diagnostics);
  if (!next) { return std::nullopt; }
  above.push_back(file);
  const auto same_file = [&](const std::string& other) {
    std::error_code ignored;
    return fs::weakly_canonical(other, ignored) == fs::weakly_canonical(*next, ignored);
  };
  if (std::any_of(above.begin(), above.end(), same_file)) {
    diagnostics.error(place, "'base' leads back to " + *next + ": a loop");
    return std::nullopt;
  }
  if (above.size() > 1) {
    diagnostics.error(place, "this file is a base itself (of " + above.front() +
                                 "); one level of 'base' is allowed");
    return std::nullopt;
  }
  auto below = load_chain(*next, std::move(above), diagnostics);
  return below ? std::optional(merge(std::move(*below), std::move(document))) : std::nullopt;
}

std::optional<Document> Catalog::load(const std::string& which, const std::string& beside,
                                      const config::Place& place,
                                      config::Diagnostics& diagnostics) const {
  const auto file = resolve(which, beside, place, diagnostics);
  return file ? load_file(*file, diagnostics) : std::nullopt;
}

std::optional<Document> Catalog::load_file(const std::string& file,
                                           config::Diagnostics& diagnostics) const {
  auto document = load_chain(file, {}, diagnostics);
  if (document) { add_architecture(*document); }
  return document;
}

bool is_file_name(std::string_view which) {
  return which.find('/') != std::string_view::npos || which.ends_with(".yaml") ||
         which.ends_with(".yml");
}

std::vector<std::string> default_folders() {
  std::vector<std::string> folders{"configs/gpu", "configs/models"};
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path share = program.parent_path().parent_path() / "share" / "wavetail" / "configs";
    folders.push_back((share / "gpu").string());
    folders.push_back((share / "models").string());
  }
  return folders;
}

std::string canonical_name(std::string_view name, bool short_form) {
  std::string word, all;
  int depth = 0;
  const auto finish = [&] {
    const bool sxm = word == "sxm" || (word.size() == 4 && word.starts_with("sxm"));
    if (!(short_form && (sxm || word == "80gb" || word == "server"))) { all += word; }
    word.clear();
  };
  for (const char c : name) {
    depth += c == '(' || c == '[' ? 1 : 0;
    if (depth == 0 && std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      finish();
    }
    depth -= (c == ')' || c == ']') && depth > 0 ? 1 : 0;
  }
  finish();
  return all;
}

}  // namespace wavetail::gpu
