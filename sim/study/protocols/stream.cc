// SPDX-License-Identifier: Apache-2.0
// gpu-stream and gpu-l2-stream of gpu-benches (RRZE-HPC, te42kyfo): every thread handles one
// element; shared memory holds the number of blocks per SM. The bandwidth counts 8 B per load and
// store of a thread. In gpu-stream the arrays are gigabytes and a launch finds nothing of them in
// L2; in gpu-l2-stream thread i handles element i mod array_elems, again and again.
#include <algorithm>
#include <numeric>

#include "study/protocols/all.h"
#include "study/protocols/stream_kernel.h"

namespace wavetail::study {

namespace {

Plan bandwidth_of(const StreamKernel& s, std::int64_t grid, std::int64_t blocks_per_sm,
                  double settle_bytes, const gpu::GpuSpec& gpu) {
  const double moved = static_cast<double>(s.streams() * s.element);  // per thread
  const Steady run = steady(gpu, {.blocks = grid,
                                  .wave = blocks_per_sm * gpu.sms(),
                                  .bytes_per_block = moved * static_cast<double>(s.block),
                                  .settle_bytes = settle_bytes,
                                  .make = [=](Piece piece) {
                                    kernel::Kernel k = stream_blocks(s, gpu, piece);
                                    hold_residency(k, gpu, blocks_per_sm);
                                    return k;
                                  }});
  const double bytes = moved * static_cast<double>(s.block * grid);
  return {run.scenario, Quantity::DataRate,
          [=](const run::Happened& h) { return bytes / run.seconds(h); }, gpu.sms()};
}

// Where L2s are private, blocks fall to them in turn, and in each round through the array to others
// than before: so many rounds until each has seen all of it.
double rounds_to_settle(const StreamKernel& s, const gpu::GpuSpec& gpu) {
  if (gpu.memory_side.capacity.count() == 0) { return 2; }
  const std::int64_t turn = gpu.l2.partitions * s.block;
  return std::max(2.0, static_cast<double>(turn / std::gcd(turn, s.elements)));
}

}  // namespace

Plan stream_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"bandwidth"});
  StreamKernel s = read_stream_kernel(params);
  s.elements = params.count("elems");
  const std::int64_t grid = params.count("grid"), blocks = params.count("blocks_per_sm");
  return bandwidth_of(s, grid, blocks, 1.5 * static_cast<double>(gpu.l2.capacity.count()), gpu);
}

Plan l2_stream_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"bandwidth"});
  StreamKernel s = read_stream_kernel(params);
  s.elements = params.count("array_elems");
  params.agrees("footprint_bytes", s.elements * s.streams() * s.element);
  params.ignore({"total_elems"});
  const std::int64_t grid = params.count("grid"), blocks = params.count("blocks_per_sm");
  const auto footprint = static_cast<double>(s.elements * s.streams() * s.element);
  const auto capacity = static_cast<double>(gpu.cached().count());
  const double settle = std::min(rounds_to_settle(s, gpu) * footprint, 1.5 * capacity);
  return bandwidth_of(s, grid, blocks, settle, gpu);
}

}  // namespace wavetail::study
