// SPDX-License-Identifier: Apache-2.0
#include "support/random_kernel.h"

#include <algorithm>

#include "memory/bank_pattern.h"
#include "occupancy/occupancy.h"

namespace wavetail::tests {

namespace {

using kernel::MemoryAccess;
using kernel::Op;
using kernel::OpKind;
using kernel::Pattern;
using kernel::Program;
using kernel::WalkKind;

constexpr int kMostDepth = 3;  // of counted loops

class Programs {
 public:
  Programs(Dice& dice, const kernel::Kernel& kernel, const gpu::GpuSpec& gpu)
      : dice_(dice), kernel_(kernel), gpu_(gpu) {}

  Program segment(int loops, int nesting, std::int64_t lanes) {
    Program program;
    for (std::int64_t n = dice_.between(1, nesting == 0 ? 4 : 2); n > 0; --n) {
      program.push_back(op(loops, nesting, lanes));
    }
    return program;
  }

 private:
  Op op(int loops, int nesting, std::int64_t lanes) {
    if (kernel_.shared_memory.count() > 0 && dice_.one_in(3)) { return shared(loops); }
    switch (dice_.between(0, nesting < 3 ? 10 : 7)) {
      case 0:
      case 1: return arithmetic();
      case 2:
      case 3:
      case 4: return access(OpKind::Load, loops);
      case 5: return access(OpKind::Store, loops);
      case 6:
      case 7: return wait();
      case 8:
      case 9: return loops < kMostDepth ? repeat(loops, nesting, lanes) : arithmetic();
      default: return diverge(loops, nesting, lanes);
    }
  }

  Op arithmetic() {
    Op o;
    o.count = dice_.one_in(6) ? dice_.between(20, 60) : dice_.between(1, 12);
    o.pipe = static_cast<kernel::Pipe>(dice_.between(0, 3));
    o.distance = dice_.between(1, 8);
    o.flops_per_lane = static_cast<int>(dice_.between(0, 2));
    return o;
  }

  Op wait() {
    Op o;
    o.kind = OpKind::WaitLoads;
    o.count = dice_.one_in(3) ? dice_.between(1, 5) : 0;
    return o;
  }

  Op repeat(int loops, int nesting, std::int64_t lanes) {
    Op o;
    o.kind = OpKind::Repeat;
    o.count = dice_.between(1, 4);
    o.bodies = {segment(loops + 1, nesting + 1, lanes)};
    return o;
  }

  Op diverge(int loops, int nesting, std::int64_t lanes) {
    Op o;
    o.kind = OpKind::Diverge;
    o.diverge_by = dice_.one_in(2) ? kernel::DivergeBy::Lane : kernel::DivergeBy::Warp;
    for (std::int64_t ways = dice_.one_in(8) ? dice_.between(5, 32) : dice_.between(2, 4); ways > 0;
         --ways) {
      o.bodies.push_back(segment(loops, nesting + 2, lanes));
    }
    return o;
  }

  // A distance in whole widths, mostly a round one, now and then backwards.
  std::int64_t distance(int width, std::int64_t most) {
    const std::int64_t n = dice_.one_in(2) ? std::int64_t{1} << dice_.between(0, 7)
                                           : dice_.between(0, most);
    return (dice_.one_in(8) ? -n : n) * width;
  }

  Op access(OpKind kind, int loops) {
    Op o;
    o.kind = kind;
    o.count = dice_.one_in(2) ? 1 : dice_.between(1, 6);
    MemoryAccess& a = o.access;
    a.array = static_cast<int>(
        dice_.between(0, static_cast<std::int64_t>(kernel_.arrays.size()) - 1));
    a.width = 1 << dice_.between(0, 4);
    a.pattern = static_cast<Pattern>(dice_.one_in(2) ? 0 : dice_.between(0, 5));
    a.seed = static_cast<std::uint64_t>(dice_.between(0, 1000));
    if (a.pattern == Pattern::Strided || a.pattern == Pattern::RowPerLane) {
      a.stride = distance(a.width, 300);
    }
    if (a.pattern == Pattern::Listed) {
      for (std::int64_t n = dice_.between(1, gpu_.sm.warp_size); n > 0; --n) {
        a.offsets.push_back(distance(a.width, 200));
      }
    }
    a.lanes = dice_.one_in(6) ? static_cast<int>(dice_.between(1, gpu_.sm.warp_size)) : 0;
    a.bypass_l1 = dice_.one_in(3);
    a.walk = static_cast<WalkKind>(dice_.between(0, 6));
    if (a.walk == WalkKind::Strides) { a.strides = strides(a.width, loops); }
    a.offset = dice_.one_in(4) ? distance(a.width, 100) : 0;
    return o;
  }

  // Loads, stores and waits; the lanes of a pattern that leaves the block's memory come closer
  // until it does not.
  Op shared(int loops) {
    Op o;
    o.kind = dice_.pick<OpKind>({OpKind::SharedLoad, OpKind::SharedStore, OpKind::WaitShared});
    if (o.kind == OpKind::WaitShared) {
      o.count = dice_.one_in(3) ? dice_.between(1, 5) : 0;
      return o;
    }
    o.count = dice_.one_in(2) ? 1 : dice_.between(1, 8);
    kernel::SharedAccess& a = o.shared;
    a.width = 1 << dice_.between(0, 4);
    a.pattern = static_cast<kernel::SharedPattern>(dice_.between(0, 6));
    const std::int64_t size = kernel_.shared_memory.count();
    a.stride = dice_.between(0, 40) * a.width;
    a.pitch = dice_.between(0, 40) * a.width;
    a.per_line = static_cast<int>(dice_.between(0, gpu_.sm.warp_size));
    for (std::int64_t n = dice_.between(1, gpu_.sm.warp_size); n > 0; --n) {
      a.offsets.push_back(dice_.between(0, size / a.width - 1) * a.width);
    }
    a.seed = static_cast<std::uint64_t>(dice_.between(0, 1000));
    a.bytes = dice_.between(1, size / a.width) * a.width;
    if (dice_.one_in(2)) { a.swizzle = swizzle(a.width); }
    a.lanes = dice_.one_in(6) ? static_cast<int>(dice_.between(1, gpu_.sm.warp_size)) : 0;
    a.warp = dice_.between(0, 2) * a.width;
    a.count = dice_.between(-2, 8) * a.width;
    a.offset = dice_.one_in(4) ? dice_.between(0, 100) * a.width : 0;
    for (int l = 0; l < loops; ++l) { a.loop.push_back(dice_.between(0, 8) * a.width); }
    keep_inside(o, size);
    return o;
  }

  kernel::Swizzle swizzle(int width) {
    int base = 0;
    while ((1 << base) < width) { ++base; }
    const auto bits = static_cast<int>(dice_.between(1, 5));
    return {bits, base, bits + static_cast<int>(dice_.between(0, 2))};
  }

  // Most trips of a loop of random kernels: 4; most warps: 8.
  void keep_inside(Op& o, std::int64_t size) {
    kernel::SharedAccess& a = o.shared;
    const auto fits = [&] {
      const auto e = memory::shared_extent(a, static_cast<int>(gpu_.sm.warp_size), 8, o.count,
                                           std::vector<std::int64_t>(a.loop.size(), 4));
      return e.low >= 0 && e.high <= size;
    };
    if (fits()) { return; }
    a.warp = a.count = a.offset = 0;
    a.loop.clear();
    if (fits()) { return; }
    a.swizzle = {};
    a.pattern = size >= 16 * gpu_.sm.warp_size ? kernel::SharedPattern::Contiguous
                                               : kernel::SharedPattern::Broadcast;
  }

  kernel::Strides strides(int width, int loops) {
    kernel::Strides s;
    s.block_x = distance(width, 500);
    s.block_y = distance(width, 500);
    s.warp = distance(width, 64);
    s.count = distance(width, 64);
    for (int l = 0; l < loops; ++l) { s.loop.push_back(distance(width, 64)); }
    return s;
  }

  Dice& dice_;
  const kernel::Kernel& kernel_;
  const gpu::GpuSpec& gpu_;
};

// Phases with a barrier after each, the same number in every role; perhaps in a loop.
void set_programs(kernel::Kernel& k, Dice& dice, const gpu::GpuSpec& gpu) {
  Programs programs(dice, k, gpu);
  const std::int64_t phases = dice.one_in(2) ? 0 : dice.between(1, 3);
  const std::int64_t trips = dice.one_in(3) ? dice.between(2, 3) : 1;
  Op barrier;
  barrier.kind = OpKind::BlockBarrier;
  for (kernel::Role& role : k.roles) {
    const int loops = trips > 1 ? 1 : 0;
    Program program;
    for (std::int64_t p = 0; p < phases; ++p) {
      const Program part = programs.segment(loops, 0, gpu.sm.warp_size);
      program.insert(program.end(), part.begin(), part.end());
      program.push_back(barrier);
    }
    const Program last = programs.segment(loops, 0, gpu.sm.warp_size);
    program.insert(program.end(), last.begin(), last.end());
    if (loops > 0) {
      Op loop;
      loop.kind = OpKind::Repeat;
      loop.count = trips;
      loop.bodies = {program};
      program = {loop};
    }
    role.program = std::move(program);
  }
}

void set_roles(kernel::Kernel& k, Dice& dice, std::int64_t warps) {
  const std::int64_t roles = dice.one_in(3) ? dice.between(1, std::min<std::int64_t>(3, warps)) : 1;
  std::int64_t left = warps;
  for (std::int64_t r = 0; r < roles; ++r) {
    const std::int64_t rest = roles - r - 1;
    const std::int64_t mine = rest == 0 ? left : dice.between(1, left - rest);
    k.roles.push_back(
        {.name = "r" + std::to_string(r), .warps = mine, .registers = {}, .program = {}});
    left -= mine;
  }
}

// Rather few blocks, now and then several waves of them.
kernel::Dim3 random_grid(Dice& dice, std::int64_t sms) {
  if (dice.one_in(8)) { return {dice.between(1, 9), dice.between(1, 6), dice.between(1, 5)}; }
  const std::int64_t most = dice.one_in(3) ? std::max<std::int64_t>(300, 11 * sms)
                                           : std::max<std::int64_t>(24, sms);
  return {dice.between(1, most), 1, 1};
}

// Up to 256 KiB; up to 32 MiB where the L2 is a product's, so that arrays are more than it keeps.
unit::Bytes random_size(Dice& dice, const gpu::GpuSpec& gpu) {
  if (dice.one_in(3)) { return unit::Bytes{dice.between(1, 2000) * 16}; }
  const bool large = gpu.l2.capacity.count() > (16 << 20);
  return unit::Bytes{std::int64_t{512} << dice.between(0, large ? 16 : 9)};
}

}  // namespace

kernel::Kernel random_kernel(Dice& dice, const gpu::GpuSpec& gpu, const std::string& name,
                             const std::string& prefix) {
  kernel::Kernel k;
  k.name = name;
  k.grid = random_grid(dice, gpu.sms());
  const std::int64_t warps = dice.between(1, 8);
  k.block = warps * gpu.sm.warp_size - (dice.one_in(6) ? dice.between(1, gpu.sm.warp_size - 1) : 0);
  k.registers = dice.between(1, 96);
  k.shared_memory = unit::Bytes{dice.pick<std::int64_t>({0, 0, 1000, 16'384, 60'000})};
  for (std::int64_t n = dice.between(1, 3), a = 0; a < n; ++a) {
    const unit::Bytes bytes = random_size(dice, gpu);
    k.arrays.push_back({prefix + "a" + std::to_string(a), bytes, dice.one_in(6)});
  }
  set_roles(k, dice, warps);
  set_programs(k, dice, gpu);
  if (dice.one_in(10) && !gpu.gpcs.empty()) {
    const std::int64_t widest = *std::max_element(gpu.gpcs.begin(), gpu.gpcs.end());
    k.cluster = {dice.between(1, std::min<std::int64_t>(widest, 4)), 1, 1};
    k.grid[0] = (k.grid[0] + k.cluster[0] - 1) / k.cluster[0] * k.cluster[0];
  }
  while (!occupancy::occupy(gpu, occupancy::launch_of(k)).launchable && k.registers > 1) {
    k.registers = (k.registers + 1) / 2;
  }
  return k;
}

}  // namespace wavetail::tests
