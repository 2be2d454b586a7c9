// SPDX-License-Identifier: Apache-2.0
// gpu-stream and gpu-l2-stream of gpu-benches (RRZE-HPC, te42kyfo): every thread handles one
// element; shared memory holds the number of blocks per SM. The bandwidth counts 8 B per load and
// store of a thread. In gpu-stream the arrays are gigabytes and a launch finds nothing of them in
// L2; in gpu-l2-stream thread i handles element i mod array_elems, again and again.
#include <algorithm>

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
  const auto capacity = static_cast<double>(gpu.l2.capacity.count());
  return bandwidth_of(s, grid, blocks, std::min(2 * footprint, 1.5 * capacity), gpu);
}

}  // namespace wavetail::study
