// SPDX-License-Identifier: Apache-2.0
#include "study/gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "base/nearest.h"
#include "study/params.h"

namespace wavetail::study {

namespace {

// "H100-SXM-80GB(1830MHz locked)" -> 1830: the digits in front of "MHz".
std::optional<unit::Hertz> clock_in_name(const std::string& name) {
  std::size_t end = name.find("MHz");
  if (end == std::string::npos) { return std::nullopt; }
  while (end > 0 && name[end - 1] == ' ') { --end; }
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1])) != 0) { --begin; }
  const std::string digits = name.substr(begin, end - begin);
  if (digits.empty() || digits.size() > 5) { return std::nullopt; }
  return unit::Hertz{std::stoll(digits) * 1'000'000};
}

// ncu --set full locks the SM clock; on H100 SXM its own sm_frequency says 1.43 to 1.45 GHz.
constexpr unit::Hertz kProfilersClock{1'440'000'000};

// Boards whose memory ran below the file's clock, as their own figures say. gpu-benches' H200 reads
// 3889 and stores 3884 GB/s, 96.6 % of what six stacks give at the 2619 MHz of HBM3, the share that
// an H100 and a GH200 reach; libraries' products read up to 4.3 TB/s on other H200s (3125 MHz).
struct MemoryClock {
  std::string_view board, gpu, source;  // as the row names it, its file, part of the row's source
  double share;
};

constexpr MemoryClock kMemoryClocks[] = {{"H200", "h200-sxm", "gpu-benches", 2619.0 / 3125}};

// What is counted in the memory's cycles goes with its clock.
void set_memory_clock(gpu::GpuSpec& spec, const Measurement& row) {
  for (const MemoryClock& m : kMemoryClocks) {
    const bool meant = spec.name == m.gpu && row.gpu.starts_with(m.board) &&
                       row.source.find(m.source) != std::string::npos;
    if (!meant) { continue; }
    const auto scaled = [](std::int64_t n, double by) {
      return std::llround(static_cast<double>(n) * by);
    };
    spec.hbm.bandwidth = unit::Bandwidth{scaled(spec.hbm.bandwidth.count(), m.share)};
    spec.hbm.row_access = unit::Duration{scaled(spec.hbm.row_access.count(), 1 / m.share)};
  }
}

}  // namespace

std::optional<unit::Hertz> stated_clock(const Measurement& row) {
  Params params(row);
  if (!params.has("clock_mhz")) {
    const auto clock = clock_in_name(row.gpu);
    return !clock && row.kind == "ncu_profile" ? std::optional(kProfilersClock) : clock;
  }
  const double mhz = params.number("clock_mhz");
  if (mhz < 100 || mhz > 10000) {
    throw Unmapped(fmt::format("clock_mhz={}: 100 to 10000 can be simulated", mhz));
  }
  return unit::Hertz{static_cast<std::int64_t>(mhz * 1e6)};
}

bool set_the_clock(const std::vector<std::string>& sets) {
  // clock.l2 is the clock of another domain
  return std::any_of(sets.begin(), sets.end(), [](const auto& s) {
    return s.starts_with("gpu.clock.") && !s.starts_with("gpu.clock.l2");
  });
}

GpuShelf::GpuShelf(scenario::LoadOptions options, config::Diagnostics& diagnostics)
    : options_(std::move(options)),
      diagnostics_(diagnostics),
      catalog_(options_.folders),
      clock_is_set_(set_the_clock(options_.sets)) {
  if (options_.gpu) { chosen_ = read(*options_.gpu); }
}

GpuShelf::GpuShelf(gpu::GpuSpec chosen, bool clock_is_set, config::Diagnostics& diagnostics)
    : diagnostics_(diagnostics),
      catalog_({}),
      chosen_(std::move(chosen)),
      clock_is_set_(clock_is_set) {}

std::optional<gpu::GpuSpec> GpuShelf::read(const std::string& file) {
  return scenario::load_gpu(file, options_, diagnostics_);
}

const gpu::GpuSpec& GpuShelf::named(const std::string& name) {
  const auto [at, fresh] = known_.try_emplace(name);
  if (fresh) {
    if (const auto file = catalog_.find(name)) { at->second = read(*file); }
  }
  if (at->second) { return *at->second; }
  std::vector<std::string> names;
  for (const gpu::CatalogEntry& entry : catalog_.entries()) {
    names.push_back(entry.name);
    names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
  }
  if (names.empty()) { throw Unmapped("no GPU files were found, here or beside the program"); }
  const std::string bare = name.substr(0, name.find('('));
  throw Unmapped(
      fmt::format("there is no GPU file for '{}'{}", name, base::hint(bare, names, false)));
}

gpu::GpuSpec GpuShelf::for_row(const Measurement& row) {
  if (options_.gpu && !chosen_) { throw Unmapped("the GPU cannot be read"); }
  gpu::GpuSpec spec = chosen_ ? *chosen_ : named(row.gpu);
  set_memory_clock(spec, row);
  if (clock_is_set_) { return spec; }
  if (const auto clock = stated_clock(row)) {
    spec.clock.sm = *clock;
    spec.clock.sm_max = std::max(spec.clock.sm_max, *clock);
    spec.clock.mode = gpu::ClockMode::Spec;
  } else {
    spec.clock.mode = gpu::ClockMode::Boost;
  }
  return spec;
}

}  // namespace wavetail::study
