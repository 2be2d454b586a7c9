// SPDX-License-Identifier: Apache-2.0
#include "study/calibration_rows.h"

#include <algorithm>
#include <map>

#include "config/load.h"

namespace wavetail::study {

namespace {

// Whose a row is, by the name of its GPU.
enum class Owner { Gpu, Variant, Other };

class Owners {
 public:
  Owners(const CalibrateOptions& options, const gpu::Document& gpu,
         const std::vector<Parameter>& parameters)
      : chosen_(*options.load.gpu),
        catalog_(options.load.folders),
        entries_(catalog_.entries()),
        name_(config::text_at(gpu.root, "name")),
        parameters_(parameters) {
    if (!options.rows_of.empty()) {
      measured_ = name_in_catalog(options.rows_of).value_or(options.rows_of);
      names_ = {measured_};
      return;
    }
    measured_ = name_;
    names_ = {name_};
    if (const config::Node* aliases = gpu.root.find("aliases")) {
      for (const config::Node& alias : aliases->items) { names_.push_back(alias.text); }
    }
  }

  struct Found {
    Owner owner = Owner::Other;
    std::string gpu;  // a name or a file, as --gpu takes it
  };

  const Found& of(const std::string& written) {
    const auto [at, fresh] = known_.try_emplace(written);
    if (fresh) { at->second = find(written); }
    return at->second;
  }

 private:
  // As `validate` finds it among the GPU files; a GPU that is none of those goes by its own name
  // and aliases.
  Found find(const std::string& written) const {
    const auto name = name_in_catalog(written);
    if (name ? *name == measured_ : is_named(written)) { return {Owner::Gpu, chosen_}; }
    const std::string file = name ? *catalog_.find(written) : "";
    return {name && takes_values(file) ? Owner::Variant : Owner::Other, file};
  }

  std::optional<std::string> name_in_catalog(const std::string& written) const {
    const auto file = catalog_.find(written);
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const auto& e) { return file && e.file == *file; });
    return entry == entries_.end() ? std::nullopt : std::optional(entry->name);
  }

  bool is_named(const std::string& written) const {
    return std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
      return gpu::canonical_name(name, true) == gpu::canonical_name(written, true);
    });
  }

  // Whether the file is based on our GPU and says nothing of its own about what is fitted.
  bool takes_values(const std::string& file) const {
    config::Diagnostics ignored;
    const auto root = config::load_file(file, ignored);
    if (!root || config::text_at(*root, "base") != name_) { return false; }
    return std::none_of(parameters_.begin(), parameters_.end(), [&](const Parameter& p) {
      return config::find_path(*root, p.path.substr(std::string_view("gpu.").size())) != nullptr;
    });
  }

  std::string chosen_;  // as --gpu has it
  gpu::Catalog catalog_;
  std::vector<gpu::CatalogEntry> entries_;
  std::string name_;                // of the chosen one
  std::string measured_;            // the name of the GPU whose rows are its rows
  std::vector<std::string> names_;  // of that one, with its aliases
  const std::vector<Parameter>& parameters_;
  std::map<std::string, Found> known_;
};

// Why a row has no scenario, or nothing.
class Planner {
 public:
  explicit Planner(const scenario::LoadOptions& load) : load_(load) {}

  std::string reason_against(const Subject& s) {
    auto shelf = shelves_.find(s.gpu);
    if (shelf == shelves_.end()) {
      scenario::LoadOptions options = load_;
      options.gpu = s.gpu;
      shelf = shelves_.try_emplace(s.gpu, std::move(options), diagnostics_).first;
    }
    Batch batch;
    batch.add(s.row, shelf->second);
    return batch.rows().front().skipped;
  }

 private:
  const scenario::LoadOptions& load_;
  config::Diagnostics diagnostics_;  // mistakes of a variant's file show as a reason
  std::map<std::string, GpuShelf> shelves_;
};

}  // namespace

ChosenRows choose_rows(const std::vector<Measurement>& rows, const CalibrateOptions& options,
                       const gpu::Document& gpu, const std::vector<Parameter>& parameters) {
  ChosenRows chosen;
  Owners owners(options, gpu, parameters);
  Planner planner(options.load);
  for (const Measurement& row : rows) {
    const auto& [owner, name] = owners.of(row.gpu);
    if (owner == Owner::Other || (owner == Owner::Variant && !options.variants)) {
      ++chosen.of_other_gpus;
      chosen.of_variants += owner == Owner::Variant ? 1 : 0;
      continue;
    }
    Subject subject{row, name};
    std::string reason = !row.value        ? "no measured value"
                         : *row.value == 0 ? "measured as 0: there is no relative error"
                                           : planner.reason_against(subject);
    if (reason.empty()) {
      chosen.subjects.push_back(std::move(subject));
    } else {
      chosen.others.push_back({row, std::move(reason)});
    }
  }
  return chosen;
}

}  // namespace wavetail::study
