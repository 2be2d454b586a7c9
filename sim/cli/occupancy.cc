// SPDX-License-Identifier: Apache-2.0
#include "occupancy/occupancy.h"

#include <fmt/format.h>

#include "cli/options.h"
#include "cli/output.h"
#include "gpu/architecture.h"
#include "report/html.h"
#include "report/occupancy.h"
#include "unit/parse.h"

namespace wavetail::cli {

namespace {

namespace po = boost::program_options;

// The value of an option as whole base units, at least `least`; `fallback` where it is absent.
std::int64_t whole(const Reader& options, const std::string& name, unit::Dimension dimension,
                   std::int64_t least, std::optional<std::int64_t> fallback) {
  if (!options.has(name)) {
    if (!fallback) { throw Mistake(fmt::format("'--{}' is missing; see --help", name)); }
    return *fallback;
  }
  const std::string text = options.text(name);
  const auto value = unit::parse_whole(text, dimension);
  if (!value) { throw Mistake(fmt::format("'--{}': {}", name, value.reason)); }
  if (*value.value < least) {
    throw Mistake(fmt::format("'--{}' is {}; it must be at least {}", name, text, least));
  }
  return *value.value;
}

occupancy::Launch launch_of(const Reader& options) {
  using unit::Dimension;
  const auto size = unit::DimensionOf<unit::Bytes>::value;
  occupancy::Launch l{.block = whole(options, "block", Dimension::Count, 1, {}),
                      .registers = whole(options, "registers", Dimension::Count, 1, {}),
                      .shared_memory = unit::Bytes{whole(options, "shared-memory", size, 0, 0)},
                      .cluster = whole(options, "cluster", Dimension::Count, 1, 1),
                      .grid = whole(options, "grid", Dimension::Count, 1, 0),
                      .portable = options.has("portable")};
  if (options.has("tmem-columns")) {
    l.tmem_columns = whole(options, "tmem-columns", Dimension::Count, 1, {});
  }
  if (options.has("carveout")) {
    l.carveout = unit::Bytes{whole(options, "carveout", size, 0, {})};
  }
  return l;
}

// A GPU by name or file, or a compute capability: "h100-sxm", "sm_86".
gpu::GpuSpec load(const Common& common) {
  if (!common.gpu) { throw Mistake("'--gpu' is missing; `wavetail list gpus` names them"); }
  if (const auto* rules = gpu::find_architecture(*common.gpu)) {
    if (!common.sets.empty()) {
      throw Mistake(
          fmt::format("'--set' changes a GPU; '{}' is a compute capability", *common.gpu));
    }
    return gpu::rules_of(*rules);
  }
  config::Diagnostics diagnostics;
  const auto gpu = scenario::load_gpu(*common.gpu, common.load_options(), diagnostics);
  if (!gpu) { refuse(diagnostics); }
  return *gpu;
}

}  // namespace

int occupancy(const Words& words) {
  Reader options(
      "occupancy --gpu G --block N --registers N [--shared-memory SIZE] [--cluster N] [--grid N] "
      "[options]",
      "How many blocks of a launch fit on an SM, and every resource that keeps more from fitting.\n"
      "G is a GPU or, for the launch rules alone, a compute capability: sm_86.",
      {.gpu = true, .set = true});
  options.own()("block", po::value<std::string>()->value_name("N"), "threads per block");
  options.own()("registers", po::value<std::string>()->value_name("N"), "per thread");
  options.own()("shared-memory", po::value<std::string>()->value_name("SIZE"),
                "per block, as 48 KiB");
  options.own()("carveout", po::value<std::string>()->value_name("SIZE"),
                "shared memory per SM that the kernel prefers");
  options.own()("tmem-columns", po::value<std::string>()->value_name("N"),
                "of tensor memory, per block");
  options.own()("cluster", po::value<std::string>()->value_name("N"), "blocks per cluster");
  options.own()("portable", "without the opt-in to clusters of more than 8 blocks");
  options.own()("grid", po::value<std::string>()->value_name("N"), "blocks, for the waves");
  if (!options.read(words)) { return kOk; }
  const auto& common = options.common();
  const auto launch = launch_of(options);
  const gpu::GpuSpec gpu = load(common);
  const auto o = occupancy::occupy(gpu, launch);
  std::string text = report::occupancy_text(gpu, launch, o);
  switch (common.format) {
    case Format::Json: text = report::occupancy_json(gpu, launch, o); break;
    case Format::Csv: text = report::occupancy_csv(gpu, launch, o); break;
    case Format::Html: text = report::html_of_text("Occupancy on " + gpu.name, text); break;
    case Format::Text: break;
  }
  write_result(common.out, text);
  return kOk;
}

}  // namespace wavetail::cli
