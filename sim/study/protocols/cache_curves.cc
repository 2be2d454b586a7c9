// SPDX-License-Identifier: Apache-2.0
// Bandwidth against the size of the set that all SMs read again and again.
//
// gpu-l2-cache of gpu-benches: a block of 1024 threads reads one of R chunks, chosen by its index
// modulo R; in step i all chunks' pieces lie side by side, so that a block's loads are R pieces
// apart. A block begins when another one ends, so that blocks are evenly out of step. gpu-cache:
// every block reads the whole set, 32 loads of a thread under way at most, over many passes; a set
// of fewer loads is read several times at once. The bandwidth counts what blocks ask for.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kL2Depth = 8;  // what 32 registers per thread leave for loads of 8 B
constexpr std::int64_t kL2Batch = 2;
constexpr std::int64_t kL1Batch = 32;  // the unrolling of gpu-cache
// Waves of blocks: until the L2 holds what it will hold, and those that count.
constexpr std::int64_t kSettleWaves = 3, kMeasuredWaves = 5;
// A warp can tell so many groups of loads apart (the scoreboards of its instruction set), and adds
// up a group as soon as it is there.
constexpr std::int64_t kGroups = 6;

std::int64_t element_bytes(Params& params, std::span<const std::string_view> allowed) {
  const std::string name = params.one_of("elem", allowed);
  return name.ends_with("16B") ? 16 : name.ends_with("8B") ? 8 : 4;
}

struct L2Set {
  std::int64_t element, block, chunk, chunks;  // bytes, threads, bytes, number

  [[nodiscard]] std::int64_t piece() const { return block * element; }

  [[nodiscard]] std::int64_t apart() const { return chunks * piece(); }

  [[nodiscard]] std::int64_t steps() const { return chunk / piece(); }

  // Loads of a thread at once.
  [[nodiscard]] std::int64_t batch() const { return steps() % kL2Batch == 0 ? kL2Batch : 1; }

  [[nodiscard]] std::int64_t trips() const { return steps() / batch(); }
};

// A block's way through its chunk; blocks or tiles next to each other have neighbouring chunks.
library::Listing pieces(const L2Set& set, const gpu::GpuSpec& gpu, std::vector<std::int64_t> loop) {
  library::Listing body;
  loop.push_back(set.batch() * set.apart());
  body.load({.array = 0,
             .width = set.element,
             .count = set.batch(),
             .strides = {.block_x = set.piece(),
                         .warp = gpu.sm.warp_size * set.element,
                         .count = set.apart(),
                         .loop = std::move(loop)}});
  body.wait(kL2Depth - set.batch());
  body.arithmetic(kernel::Pipe::Fp64, set.batch() * set.element / 8, 1, 1);
  return body;
}

kernel::Op over(kernel::Over what, std::int64_t most, library::Listing body) {
  kernel::Op op;
  op.kind = kernel::OpKind::Repeat;
  op.over = what;
  op.count = most;
  op.bodies.push_back(body.take());
  return op;
}

// `blocks` blocks, of which the first `wave` are out of step as in the middle of a long launch:
// they read the end of their chunk only, and leave one after the other.
kernel::Kernel l2_readers(const L2Set& set, const gpu::GpuSpec& gpu, std::int64_t wave,
                          std::int64_t blocks) {
  library::Listing code, tile;
  code.prologue(1);
  tile.op(over(kernel::Over::Steps, set.trips(), pieces(set, gpu, {0})));
  code.op(over(kernel::Over::Tiles, 1, std::move(tile)));
  kernel::Kernel k = library::plain_kernel(gpu, {blocks, 1, 1}, set.block, 32, std::move(code));
  k.arrays = {{"b", unit::Bytes{set.chunks * set.chunk}, false}};
  k.shares = kernel::Shares{.tiles = {blocks, 1, 1}, .steps = set.trips(), .staggered = wave};
  return k;
}

struct L1Set {
  std::int64_t element, block, bytes;

  // Loads of a thread in one pass.
  [[nodiscard]] std::int64_t steps() const { return bytes / (block * element); }

  // Passes whose loads are under way at once.
  [[nodiscard]] std::int64_t together() const {
    return std::max<std::int64_t>(1, kL1Batch / steps());
  }
};

kernel::Kernel l1_readers(const L1Set& set, const gpu::GpuSpec& gpu, std::int64_t grid,
                          std::int64_t passes) {
  const std::int64_t step = set.block * set.element, steps = set.steps();
  const std::int64_t batch = std::min(kL1Batch, steps), words = set.element / 4;
  const auto loads = [&](std::int64_t from, std::int64_t count, std::vector<std::int64_t> loop) {
    return library::Access{
        .array = 0,
        .width = set.element,
        .count = count,
        .strides = {.warp = gpu.sm.warp_size * set.element, .count = step, .loop = std::move(loop)},
        .offset = from * step};
  };
  const auto add_up = [&](library::Listing& code, std::int64_t count) {
    const std::int64_t group = library::ceil_div(count, kGroups);
    for (std::int64_t rest = count; rest > 0;) {
      const std::int64_t next = std::min(group, rest);
      rest -= next;
      code.wait(rest);
      code.fp32(next * words, words, 1);
    }
  };
  library::Listing code, pass, body;
  code.prologue(1);
  for (std::int64_t n = 0; n < set.together(); ++n) {
    body.load(loads(0, batch, {0, batch * step}));
  }
  add_up(body, set.together() * batch);
  pass.repeat(steps / batch, std::move(body));
  if (const std::int64_t rest = steps % batch; rest > 0) {
    pass.load(loads(steps - rest, rest, {0}));
    add_up(pass, rest);
  }
  pass.loop_step(1);
  code.repeat(passes / set.together(), std::move(pass));
  kernel::Kernel k = library::plain_kernel(gpu, {grid, 1, 1}, set.block, 64, std::move(code));
  k.arrays = {{"b", unit::Bytes{set.bytes}, false}};
  return k;
}

}  // namespace

Plan l2_curve_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"bandwidth"});
  L2Set set{
      .element = element_bytes(params, std::array<std::string_view, 2>{"fp64_8B", "float4_16B"}),
      .block = params.count("block"),
      .chunk = params.count("per_block_kB") * kKiB,
      .chunks = 0};
  const std::int64_t total = params.count("total_set_kB") * kKiB, grid = params.count("grid");
  params.must_be("access", "coalesced_read, blocks cycle over blockRun distinct chunks");
  if (total % set.chunk != 0 || set.chunk % set.piece() != 0) {
    throw Unmapped("total_set_kB is no multiple of per_block_kB, or that none of a block's loads");
  }
  set.chunks = total / set.chunk;
  const std::int64_t wave = wave_of(l2_readers(set, gpu, 1, 1), gpu);
  if (grid < (kSettleWaves + kMeasuredWaves) * wave) {
    throw Unmapped("the grid is too short for a steady state");
  }
  kernel::Kernel first = l2_readers(set, gpu, wave, kSettleWaves * wave),
                 second = l2_readers(set, gpu, wave, (kSettleWaves + kMeasuredWaves) * wave);
  first.name = "short";
  second.name = "long";
  const double bytes = static_cast<double>(set.chunk * kMeasuredWaves * wave);
  // Both find the L2 as a launch before them left it.
  return {scenario_of(gpu, {std::move(first), std::move(second)}, {0, 0, 1}), Quantity::DataRate,
          [=](const run::Happened& h) { return bytes / seconds_more(h, 2, 1); }, gpu.sms()};
}

Plan l1_curve_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"bandwidth"});
  const L1Set set{
      .element = element_bytes(params, std::array<std::string_view, 2>{"fp32_4B", "float4_16B"}),
      .block = params.count("block"),
      .bytes = params.count("set_kB") * kKiB};
  const std::int64_t grid = params.count("grid");
  params.must_be("blocks_per_sm", "1");
  params.must_be("access", "every block reads same buffer, coalesced");
  if (set.bytes % (set.block * set.element) != 0) {
    throw Unmapped("set_kB is no multiple of what a block loads at once");
  }
  // Passes: at least 1 MiB per SM before the measured ones, and as much again.
  const std::int64_t few = library::round_up(std::max<std::int64_t>(1, kKiB * kKiB / set.bytes),
                                             set.together()),
                     many = 2 * few;
  kernel::Kernel first = l1_readers(set, gpu, grid, few), second = l1_readers(set, gpu, grid, many);
  first.name = "short";
  second.name = "long";
  const auto bytes = static_cast<double>(set.bytes * (many - few) * grid);
  return {scenario_of(gpu, {std::move(first), std::move(second)}, {0, 0, 1}), Quantity::DataRate,
          [=](const run::Happened& h) { return bytes / seconds_more(h, 2, 1); }, gpu.sms()};
}

}  // namespace wavetail::study
