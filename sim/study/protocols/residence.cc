// SPDX-License-Identifier: Apache-2.0
// How long a block stays on its SM, as it is derived from streams: blocks resident at once, times
// the time between two that leave. One FP64 element per thread is read, or stored.
#include <fmt/format.h>

#include <array>

#include "study/protocols/all.h"
#include "study/protocols/stream_kernel.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kPageable = std::int64_t{1} << 31;  // bytes of an array that no cache holds

struct Source {
  std::string_view memory;  // as rows say it
  bool stores;
  std::int64_t bytes;  // of the array; 0: L1, kPageable: DRAM
};

constexpr Source kSources[] = {
    {"L1 hit", false, 0},
    {"L2 hit", false, 6'000'000},
    {"L2 hit 6 MB read", false, 6'000'000},
    {"DRAM read", false, kPageable},
    {"DRAM store only", true, kPageable},
};

const Source& source_of(Params& params) {
  if (params.has("kernel")) {
    params.must_be("kernel", "init");
    return kSources[std::size(kSources) - 1];
  }
  std::vector<std::string_view> names;
  for (const Source& s : kSources) { names.push_back(s.memory); }
  const std::string memory = params.one_of("memory", names);
  for (const Source& s : kSources) {
    if (s.memory == memory) { return s; }
  }
  throw Unmapped(fmt::format("memory={}", memory));
}

// Mean over the loads beyond L1 of the last launch's kernel.
double seconds_of_a_load(const run::Happened& h) {
  const result::Counters& c = h.kernels.back().counters;
  return c.latency_bytes == 0
             ? 0
             : static_cast<double>(c.latency_ps_sum) * 1e-12 / static_cast<double>(c.latency_bytes);
}

}  // namespace

Plan residence_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"block_residence", "block_residence_minus_load", "blocks_per_second"});
  params.ignore({"case"});
  const Source& source = source_of(params);
  if (source.bytes == 0) {
    throw Unmapped(
        "memory=L1 hit: L1 is empty when a block of one element per thread starts; which earlier "
        "blocks left its lines there is not stated");
  }
  const std::int64_t blocks_per_sm = params.count("blocks_per_sm");
  StreamKernel s{.name = source.stores ? "init" : "read",
                 .loads = source.stores ? 0 : 1,
                 .stores = source.stores ? 1 : 0,
                 .operations = source.stores ? 0 : 1,
                 .block = params.count("block")};
  s.elements = source.bytes / s.element;
  const double block_bytes = static_cast<double>(s.block * s.element);
  const Steady run = steady(gpu,
                            {.blocks = std::int64_t{1} << 40,
                             .wave = blocks_per_sm * gpu.sms(),
                             .bytes_per_block = block_bytes,
                             .settle_bytes = 1.5 * static_cast<double>(gpu.l2.capacity.count()),
                             .make = [=](Piece piece) {
                               kernel::Kernel k = stream_blocks(s, gpu, piece);
                               hold_residency(k, gpu, blocks_per_sm);
                               return k;
                             }});
  if (params.row().metric == "blocks_per_second") {
    return {run.scenario, Quantity::Frequency,
            [=](const run::Happened& h) { return 1 / run.seconds_per_block(h); }, gpu.sms()};
  }
  const auto resident = static_cast<double>(blocks_per_sm * gpu.sms());
  const bool less_load = params.row().metric == "block_residence_minus_load";
  return {run.scenario, Quantity::Time,
          [=](const run::Happened& h) {
            return resident * run.seconds_per_block(h) - (less_load ? seconds_of_a_load(h) : 0);
          },
          gpu.sms()};
}

}  // namespace wavetail::study
