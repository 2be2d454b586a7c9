// SPDX-License-Identifier: Apache-2.0
#include "scenario/load.h"

#include <filesystem>
#include <set>

#include "config/load.h"
#include "scenario/blame.h"
#include "scenario/expect.h"
#include "scenario/reader.h"

namespace wavetail::scenario {

namespace {

using config::At;
using config::Diagnostics;
using config::Setting;

constexpr std::size_t kMostVariants = 10'000;
constexpr std::size_t kMostSwept = 1000;

struct NamedSettings {
  std::string name;
  std::vector<Setting> settings;
};

std::vector<Setting> settings_of(const config::Node& map, const std::string& path,
                                 Diagnostics& diagnostics) {
  std::vector<Setting> settings;
  if (!map.is_map()) {
    At{map, path, diagnostics}.refuse("a map of settings, PATH: VALUE, is needed");
  }
  for (const config::Entry& entry : map.entries) {
    settings.push_back({entry.key, entry.place, entry.value});
  }
  return settings;
}

std::vector<NamedSettings> read_variants(const config::Node* node, Diagnostics& diagnostics) {
  std::vector<NamedSettings> all;
  if (node == nullptr) { return all; }
  if (!node->is_map()) {
    At{*node, "variants", diagnostics}.refuse("a map of variants, by name, is needed");
  }
  if (node->entries.size() > kMostVariants) {
    At{*node, "variants", diagnostics}.complain(
        "there are " + std::to_string(node->entries.size()) + " variants; allowed up to " +
        std::to_string(kMostVariants));
    return all;
  }
  for (const config::Entry& entry : node->entries) {
    all.push_back({entry.key, settings_of(entry.value, "variants." + entry.key, diagnostics)});
  }
  return all;
}

// One variant per value; several paths make every combination of their values.
std::vector<NamedSettings> read_sweep(const config::Node* node, Diagnostics& diagnostics) {
  std::vector<NamedSettings> all;
  if (node == nullptr) { return all; }
  if (!node->is_map() || node->entries.empty()) {
    At{*node, "sweep", diagnostics}.refuse("a map of lists, PATH: [values], is needed");
    return all;
  }
  all.push_back({});
  for (const config::Entry& entry : node->entries) {
    const At at{entry.value, "sweep." + entry.key, diagnostics};
    if (!entry.value.is_list() || entry.value.items.empty()) {
      at.refuse("a list of values is needed");
      return {};
    }
    if (all.size() * entry.value.items.size() > kMostSwept) {
      at.complain("the sweep has more than " + std::to_string(kMostSwept) + " variants");
      return {};
    }
    std::vector<NamedSettings> longer;
    for (const NamedSettings& before : all) {
      for (const config::Node& value : entry.value.items) {
        const auto name = config::text({value, at.path, diagnostics});
        NamedSettings next = before;
        next.name += (next.name.empty() ? "" : ", ") + name.value_or("?");
        next.settings.push_back({entry.key, value.place, value});
        longer.push_back(std::move(next));
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::vector<NamedSettings> all_variants(const config::Node& root, Diagnostics& diagnostics) {
  auto all = read_variants(root.find("variants"), diagnostics);
  std::set<std::string> names;
  for (const NamedSettings& variant : all) { names.insert(variant.name); }
  if (names.contains("")) {
    At{*root.find("variants"), "variants", diagnostics}.complain("a variant needs a name");
  }
  for (NamedSettings& point : read_sweep(root.find("sweep"), diagnostics)) {
    if (!names.insert(point.name).second) {
      At{*root.find("sweep"), "sweep", diagnostics}.complain("there are two variants named '" +
                                                             point.name + "'");
    }
    all.push_back(std::move(point));
  }
  return all;
}

// The file without what a single run does not read: every run copies the rest.
config::Node without_variants(config::Node root) {
  std::erase_if(root.entries, [](const config::Entry& e) {
    return e.key == "variants" || e.key == "sweep" || e.key == "expect";
  });
  return root;
}

// Reads the base and its variants.
struct Variants {
  config::Node single;  // the file as a single run reads it
  const std::vector<Setting>& settings;
  GpuSource& gpus;
  Diagnostics& diagnostics;

  void read_into(Study& study, const std::string& path, const std::vector<NamedSettings>& named,
                 const std::atomic<bool>* cancelled) const {
    const std::size_t before = diagnostics.count();
    const Reading base = read_scenario(single, settings, gpus, diagnostics);
    study.base = base.scenario;
    study.base.file = path;
    const bool good = diagnostics.count() == before;
    const config::Node lean = without_kernels(single);
    const std::vector<Setting> of_the_rest = not_of_kernels(settings);
    for (const NamedSettings& variant : named) {
      if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) { return; }
      const bool same = good && !touches(variant.settings, "gpu") &&
                        !touches(variant.settings, "kernels");
      std::vector<Setting> own = same ? of_the_rest : settings;
      own.insert(own.end(), variant.settings.begin(), variant.settings.end());
      const Inherited inherited{good ? &base : nullptr, variant.settings};
      Reading read = read_scenario(same ? lean : single, own, gpus, diagnostics, inherited);
      study.variants.push_back({variant.name, std::move(read.scenario)});
      study.variants.back().scenario.file = path;
    }
  }

 private:
  // A variant with the base's kernels does not read them; copying them would be most of its work.
  static config::Node without_kernels(config::Node root) {
    for (config::Entry& entry : root.entries) {
      if (entry.key == "kernels") { entry.value.entries.clear(); }
    }
    return root;
  }

  static std::vector<Setting> not_of_kernels(std::vector<Setting> settings) {
    std::erase_if(settings, [](const Setting& s) { return s.path.starts_with("kernels"); });
    return settings;
  }
};

// Reads base and variants; `study` is complete only where no mistake is reported.
void read_study(const config::Node& root, const std::string& path, const LoadOptions& options,
                Study& study, Diagnostics& diagnostics) {
  std::vector<Setting> settings;
  if (const config::Node* set = root.find("set")) {
    settings = settings_of(*set, "set", diagnostics);
  }
  for (const std::string& text : options.sets) {
    if (auto setting = config::parse_setting("--set", text, diagnostics)) {
      settings.push_back(std::move(*setting));
    }
  }
  const std::string beside = std::filesystem::path(path).parent_path().string();
  GpuSource gpus(options.folders, beside.empty() ? "." : beside, options.gpu);
  const Variants variants{without_variants(root), settings, gpus, diagnostics};
  variants.read_into(study, path, all_variants(root, diagnostics), options.cancelled);
  const config::Node* expect = root.find("expect");
  if (expect != nullptr && expected_error(root) == nullptr) {
    study.base.expect = read_expectations({*expect, "expect", diagnostics}, study);
  }
}

std::optional<Study> read_root(const config::Node& root, const std::string& path,
                               const LoadOptions& options, Diagnostics& diagnostics) {
  Study study;
  const config::Node* error = expected_error(root);
  if (error == nullptr) {
    read_study(root, path, options, study, diagnostics);
    return diagnostics.ok() ? std::optional(std::move(study)) : std::nullopt;
  }
  const auto text = config::text({*error, "expect.error", diagnostics});
  for (const config::Entry& other : root.find("expect")->entries) {
    if (other.key != "error") {
      diagnostics.error(other.place, "'expect." + other.key +
                                         "' beside 'error': a file that is refused has no figures");
    }
  }
  Diagnostics refusal;
  read_study(root, path, options, study, refusal);
  study.expected_error = ExpectedError{text.value_or(""), config::to_string(error->place),
                                       refusal.render()};
  return diagnostics.ok() ? std::optional(std::move(study)) : std::nullopt;
}

// As read_root; mistakes that settings of the command line bring about are shown there.
std::optional<Study> read_blaming(const config::Node& root, const std::string& path,
                                  const LoadOptions& options, Diagnostics& diagnostics) {
  Diagnostics found;
  auto study = read_root(root, path, options, found);
  if (found.ok()) { return diagnostics.ok() ? std::move(study) : std::nullopt; }
  LoadOptions fewer = options;
  diagnostics.append(blamed(found, options.sets, [&](const auto& sets, Diagnostics& into) {
    fewer.sets = sets;
    (void)read_root(root, path, fewer, into);
  }));
  return std::nullopt;
}

std::optional<Study> read_unless_cancelled(const config::Node& root, const std::string& path,
                                           const LoadOptions& options, Diagnostics& diagnostics) {
  Diagnostics found;
  auto study = read_blaming(root, path, options, found);
  if (options.cancelled != nullptr && options.cancelled->load()) { return std::nullopt; }
  diagnostics.append(found);
  return diagnostics.ok() ? std::move(study) : std::nullopt;
}

// The settings that a GPU without a scenario can have.
std::vector<Setting> gpu_settings(const std::vector<std::string>& sets, Diagnostics& diagnostics) {
  std::vector<Setting> settings;
  for (const std::string& text : sets) {
    auto setting = config::parse_setting("--set", text, diagnostics);
    if (setting && !setting->path.starts_with("gpu.")) {
      diagnostics.error(setting->place, "'" + setting->path +
                                            "' belongs to a scenario; only gpu.* can be set here");
    } else if (setting) {
      settings.push_back(std::move(*setting));
    }
  }
  return settings;
}

}  // namespace

std::optional<Study> load_study(const std::string& path, const LoadOptions& options,
                                Diagnostics& diagnostics) {
  const auto root = config::load_file(path, diagnostics);
  return root ? read_unless_cancelled(*root, path, options, diagnostics) : std::nullopt;
}

std::optional<Study> load_study_text(const std::string& name, std::string text,
                                     const LoadOptions& options, Diagnostics& diagnostics) {
  const auto root = config::load_text(name, std::move(text), diagnostics);
  return root ? read_unless_cancelled(*root, name, options, diagnostics) : std::nullopt;
}

std::optional<gpu::Document> load_gpu_document(const std::string& which, const LoadOptions& options,
                                               Diagnostics& diagnostics) {
  GpuSource gpus(options.folders, ".", which);
  const auto settings = gpu_settings(options.sets, diagnostics);
  return gpus.document(nullptr, settings, diagnostics);
}

std::optional<gpu::GpuSpec> load_gpu(const std::string& which, const LoadOptions& options,
                                     Diagnostics& diagnostics) {
  const auto read = [&](const std::vector<std::string>& sets, Diagnostics& into) {
    GpuSource gpus(options.folders, ".", which);
    return gpus.read(nullptr, gpu_settings(sets, into), into);
  };
  Diagnostics found;
  auto spec = read(options.sets, found);
  if (found.ok()) { return spec; }
  diagnostics.append(blamed(found, options.sets,
                            [&](const auto& sets, Diagnostics& into) { (void)read(sets, into); }));
  return std::nullopt;
}

}  // namespace wavetail::scenario
