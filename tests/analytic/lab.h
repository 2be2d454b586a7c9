// SPDX-License-Identifier: Apache-2.0
// A laboratory for closed forms: a GPU whose launch costs nothing, programs in one line, one launch
// or several, and the time they take.
#pragma once

#include <gtest/gtest.h>

#include "support/drive.h"
#include "support/specs.h"

namespace wavetail::tests {

using kernel::Op;
using kernel::OpKind;
using kernel::Program;
using namespace unit::literals;

inline Op arithmetic(kernel::Pipe pipe, std::int64_t count, std::int64_t distance) {
  Op op;
  op.pipe = pipe;
  op.count = count;
  op.distance = distance;
  op.flops_per_lane = pipe == kernel::Pipe::Int32 ? 0 : 2;
  return op;
}

inline Op fma(std::int64_t count, std::int64_t distance = 1) {
  return arithmetic(kernel::Pipe::Fp32, count, distance);
}

inline Op load(int array, int width, std::int64_t count = 1, bool bypass = false) {
  Op op;
  op.kind = OpKind::Load;
  op.count = count;
  op.access.array = array;
  op.access.width = width;
  op.access.bypass_l1 = bypass;
  return op;
}

inline Op store(int array, int width, std::int64_t count = 1) {
  Op op = load(array, width, count);
  op.kind = OpKind::Store;
  return op;
}

inline Op wait(std::int64_t left = 0) {
  Op op;
  op.kind = OpKind::WaitLoads;
  op.count = left;
  return op;
}

inline Op barrier() {
  Op op;
  op.kind = OpKind::BlockBarrier;
  return op;
}

inline Op repeat(std::int64_t trips, Program body) {
  Op op;
  op.kind = OpKind::Repeat;
  op.count = trips;
  op.bodies = {std::move(body)};
  return op;
}

inline Op diverge(kernel::DivergeBy by, std::vector<Program> ways) {
  Op op;
  op.kind = OpKind::Diverge;
  op.diverge_by = by;
  op.bodies = std::move(ways);
  return op;
}

// An H100 whose blocks start and end at once.
inline gpu::GpuSpec instant() {
  gpu::GpuSpec g = specs::h100();
  g.launch = {};
  g.launch.blocks_per_cycle = 1000;
  return g;
}

inline kernel::Kernel kernel_of(Program program, std::int64_t grid, std::int64_t block,
                                std::vector<kernel::Array> arrays = {}) {
  kernel::Kernel k;
  k.name = "k";
  k.grid = {grid, 1, 1};
  k.block = block;
  k.registers = 32;
  k.arrays = std::move(arrays);
  k.roles = {
      {.name = "all", .warps = (block + 31) / 32, .registers = {}, .program = std::move(program)}};
  return k;
}

inline host::Item launch(int kernel, int stream = 0, std::int64_t times = 1) {
  host::Item item;
  item.kernel = kernel;
  item.stream = stream;
  item.repeat = times;
  return item;
}

inline scenario::Scenario scenario_of(const gpu::GpuSpec& gpu, std::vector<kernel::Kernel> kernels,
                                      std::vector<host::Item> items) {
  scenario::Scenario s;
  s.gpu = gpu;
  s.kernels = std::move(kernels);
  s.timeline.items = std::move(items);
  s.timeline.costs = {gpu.launch.host_launch, gpu.launch.host_graph_launch, gpu.launch.host_sync};
  s.simulation.replay = false;
  return s;
}

// The kernel launched once.
inline DrivenLaunch run_alone(const gpu::GpuSpec& gpu, kernel::Kernel k) {
  const Driven d = drive(scenario_of(gpu, {std::move(k)}, {launch(0)}));
  EXPECT_TRUE(d.finished);
  return d.launches.at(0);
}

inline double cycles(unit::Duration d, const gpu::GpuSpec& gpu) {
  return unit::seconds(d) * static_cast<double>(gpu.sm_clock().count());
}

inline double bytes_per_second(double bytes, unit::Duration d) { return bytes / unit::seconds(d); }

}  // namespace wavetail::tests
