// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/nearest.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/share.h"
#include "config/load.h"
#include "gpu/architecture.h"
#include "gpu/catalog.h"
#include "isa/availability.h"
#include "library/template.h"
#include "report/diagnose.h"
#include "report/listing.h"
#include "report/metrics.h"
#include "scenario/keys.h"
#include "unit/print.h"

namespace wavetail::cli {

namespace {

namespace fs = std::filesystem;
using report::Listing;

Listing gpus() {
  Listing l{.columns = {"name", "aliases", "file", "description"}, .rows = {}};
  std::set<std::string> seen;
  for (const auto& e : gpu::Catalog(gpu::default_folders()).entries()) {
    if (seen.insert(e.name).second) {
      l.rows.push_back({e.name, base::joined(e.aliases), shown(e.file), e.description});
    }
  }
  return l;
}

std::string steps_of(const gpu::SmSpec& sm) {
  std::vector<std::string> steps;
  for (const auto size : sm.carveouts) { steps.push_back(std::to_string(size.count() / 1024)); }
  return fmt::format("{}", fmt::join(steps, " "));
}

// What `occupancy` knows of a compute capability.
Listing architectures() {
  Listing l{.columns = {"name", "warps", "blocks", "registers", "L1 and shared", "shared memory",
                        "per block", "reserved", "unit", "cluster", "carve-outs (KiB)"},
            .rows = {}};
  for (const auto& a : gpu::architectures()) {
    const auto& sm = a.sm;
    l.rows.push_back(
        {std::string(a.name), std::to_string(sm.max_warps), std::to_string(sm.max_blocks),
         std::to_string(sm.registers), unit::print(sm.unified_l1), unit::print(sm.shared_memory),
         unit::print(sm.shared_memory_per_block), unit::print(sm.shared_memory_reserved),
         unit::print(sm.shared_memory_unit), std::to_string(sm.max_cluster), steps_of(sm)});
  }
  return l;
}

std::string scalar(const config::Node& root, std::string_view key) {
  const auto* node = root.find(key);
  return node != nullptr && node->is_scalar() ? node->text : "";
}

// The scenarios here and those that came with the program.
std::vector<fs::path> workload_folders() {
  std::vector<fs::path> folders = {"workloads"};
  if (const auto share = share_folder(); !share.empty()) { folders.push_back(share / "workloads"); }
  return folders;
}

Listing workloads() {
  Listing l{.columns = {"file", "name", "description"}, .rows = {}};
  std::set<std::string> seen;
  for (const auto& folder : workload_folders()) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
      if (it->path().extension() == ".yaml") { files.push_back(it->path()); }
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      config::Diagnostics ignored;  // a broken file is no workload
      const auto root = config::load_file(file.string(), ignored);
      if (root && !scalar(*root, "name").empty() && seen.insert(shown(file)).second) {
        l.rows.push_back({shown(file), scalar(*root, "name"), scalar(*root, "description")});
      }
    }
  }
  return l;
}

std::string range_of(const library::Parameter& p) {
  switch (p.kind) {
    case library::ParameterKind::Count: return fmt::format("{} to {}", p.low, p.high);
    case library::ParameterKind::Size: return fmt::format("{} B to {} B", p.low, p.high);
    case library::ParameterKind::Choice: return fmt::format("{}", fmt::join(p.choices, " | "));
    case library::ParameterKind::Flag: return "true | false";
    case library::ParameterKind::Word: return "a name";
    case library::ParameterKind::Counts: return fmt::format("[...], each {} to {}", p.low, p.high);
  }
  return "";
}

Listing templates() {
  Listing l{.columns = {"template", "parameter", "value", "default", "meaning"}, .rows = {}};
  for (const auto& t : library::templates()) {
    l.rows.push_back({std::string(t.name), "", "", "", std::string(t.sentence)});
    for (const auto& p : t.parameters) {
      const std::string fallback(p.required           ? "required"
                                 : p.fallback.empty() ? "chosen"
                                                      : p.fallback);
      l.rows.push_back({"", std::string(p.name), range_of(p), fallback, std::string(p.sentence)});
    }
  }
  return l;
}

Listing metrics() {
  Listing l{.columns = {"path", "unit", "meaning", "Nsight Compute"}, .rows = {}};
  for (const auto& m : report::metrics()) {
    l.rows.push_back({m.path, m.unit, m.sentence, m.nsight});
  }
  return l;
}

Listing instructions() {
  Listing l{.columns = {"instruction", "takes", "needs", "meaning"}, .rows = {}};
  for (const auto& k : scenario::operation_keys()) {
    l.rows.push_back({k.name, k.type, isa::architectures_of(k.name), k.sentence});
  }
  return l;
}

Listing mechanisms() {
  Listing l{.columns = {"mechanism", "meaning"}, .rows = {}};
  for (const auto& m : report::mechanisms()) {
    l.rows.push_back({std::string(m.name), std::string(m.sentence)});
  }
  return l;
}

struct Subject {
  std::string_view name;
  Listing (*listing)();
};

constexpr std::array kSubjects = {Subject{"gpus", gpus},
                                  Subject{"architectures", architectures},
                                  Subject{"workloads", workloads},
                                  Subject{"templates", templates},
                                  Subject{"metrics", metrics},
                                  Subject{"instructions", instructions},
                                  Subject{"mechanisms", mechanisms}};

}  // namespace

int list(const Words& words) {
  Reader options(
      "list gpus|architectures|workloads|templates|metrics|instructions|mechanisms [options]",
      "Lists what there is, with a sentence each.", {});
  options.positional("WHAT", 1);
  if (!options.read(words)) { return kOk; }
  const auto& what = options.arguments().front();
  std::vector<std::string> names;
  for (const auto& s : kSubjects) {
    names.emplace_back(s.name);
    if (s.name != what) { continue; }
    const auto listing = s.listing();
    const auto& common = options.common();
    std::string text = report::listing_text(listing);
    switch (common.format) {
      case Format::Json: text = report::listing_json(what, listing); break;
      case Format::Csv: text = report::listing_csv(listing); break;
      case Format::Html: text = report::html_of_listing(what, listing); break;
      case Format::Text: break;
    }
    write_result(common.out, text);
    return kOk;
  }
  throw Mistake(fmt::format("unknown list '{}'{}; there is {}", what,
                            base::hint(what, names, false), base::joined(names)));
}

}  // namespace wavetail::cli
