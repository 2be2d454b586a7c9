// SPDX-License-Identifier: Apache-2.0
// Small kernels of every kind, by seed: for tests of what must hold for any kernel. The numbers
// come from our own generator steps, so that a seed means the same kernel with every standard
// library.
#pragma once

#include <cstdint>
#include <string>

#include "kernel/kernel.h"
#include "unit/literals.h"

namespace wavetail::specs {

class KernelMaker {
 public:
  explicit KernelMaker(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}

  kernel::Kernel make() {
    kernel::Kernel k;
    k.name = "k";
    k.grid = {pick(1, 3) == 1 ? pick(1, 140) : pick(1, 1500), 1, 1};
    if (pick(1, 4) == 1) { k.grid[1] = pick(1, 3); }
    k.block = 32 * pick(1, 8);
    k.registers = 16 * pick(1, 8);
    k.shared_memory = unit::Bytes{1024 * (pick(1, 3) == 1 ? pick(0, 100) : 0)};
    shared_ = k.shared_memory.count();
    arrays_ = pick(1, 3);
    for (std::int64_t i = 0; i < arrays_; ++i) {
      k.arrays.push_back({.name = std::string(1, static_cast<char>('a' + i)),
                          .bytes = unit::Bytes{std::int64_t{1} << pick(16, 25)}});
    }
    kernel::Role role;
    role.name = "all";
    role.warps = k.block / 32;
    role.program = program(0, 3);
    if (pick(1, 3) != 1) { role.program.push_back(wait(0)); }
    k.roles.push_back(role);
    return k;
  }

  // Uniform enough for choosing cases.
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return low + static_cast<std::int64_t>(state_ % static_cast<std::uint64_t>(high - low + 1));
  }

 private:
  static kernel::Op wait(std::int64_t left) {
    kernel::Op op;
    op.kind = kernel::OpKind::WaitLoads;
    op.count = left;
    return op;
  }

  kernel::Program program(int depth, std::int64_t most) {
    kernel::Program ops;
    const auto n = pick(1, most);
    for (std::int64_t i = 0; i < n; ++i) { ops.push_back(operation(depth)); }
    return ops;
  }

  kernel::Op operation(int depth) {
    if (shared_ >= 16384 && pick(1, 3) == 1) { return shared(); }
    const auto kind = pick(1, depth < 2 ? 10 : 8);
    if (kind <= 2) { return arithmetic(); }
    if (kind <= 5) { return access(kernel::OpKind::Load, depth); }
    if (kind == 6) { return access(kernel::OpKind::Store, depth); }
    if (kind <= 8) { return wait(pick(0, 3)); }
    return kind == 9 ? repeat(depth) : diverge(depth);
  }

  // Within the first 16 KiB.
  kernel::Op shared() {
    kernel::Op op;
    const auto kind = pick(1, 3);
    op.kind = kind == 1   ? kernel::OpKind::SharedLoad
              : kind == 2 ? kernel::OpKind::SharedStore
                          : kernel::OpKind::WaitShared;
    op.count = kind == 3 ? pick(0, 3) : pick(1, 8);
    auto& a = op.shared;
    a.width = 4 << pick(0, 2);
    a.pattern = static_cast<kernel::SharedPattern>(pick(0, 5));
    a.stride = a.pitch = a.width * pick(0, 16);
    a.per_line = static_cast<int>(pick(1, 32));
    a.bytes = 8192;
    if (pick(1, 2) == 1) { a.swizzle = {3, 4, 3}; }
    a.warp = a.width * pick(0, 4);
    a.count = a.width * pick(0, 4);
    return op;
  }

  kernel::Op arithmetic() {
    kernel::Op op;
    op.pipe = static_cast<kernel::Pipe>(pick(0, 3));
    op.count = pick(1, 40);
    op.distance = pick(1, 8);
    op.flops_per_lane = 2;
    return op;
  }

  kernel::Op access(kernel::OpKind kind, int depth) {
    kernel::Op op;
    op.kind = kind;
    op.count = pick(1, 4);
    auto& a = op.access;
    a.array = static_cast<int>(pick(0, arrays_ - 1));
    a.width = 4 << pick(0, 2);
    a.pattern = static_cast<kernel::Pattern>(pick(1, 2) == 1 ? 0 : pick(0, 5));
    a.stride = a.width * pick(1, 64);
    a.seed = static_cast<std::uint64_t>(pick(1, 1000));
    if (a.pattern == kernel::Pattern::Listed) {
      const auto lanes = pick(1, 32);
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        a.offsets.push_back(a.width * pick(0, 200));
      }
    }
    a.bypass_l1 = pick(1, 4) == 1;
    a.walk = static_cast<kernel::WalkKind>(pick(0, 6));
    if (a.walk == kernel::WalkKind::Thread) { a.pattern = kernel::Pattern::Contiguous; }
    if (a.walk == kernel::WalkKind::Strides) {
      a.strides.block_x = 512 * pick(0, 16);
      a.strides.warp = 512 * pick(0, 4);
      a.strides.count = 512 * pick(0, 64);
      for (int d = 0; d < depth; ++d) { a.strides.loop.push_back(4096 * pick(0, 16)); }
    }
    return op;
  }

  kernel::Op repeat(int depth) {
    kernel::Op op;
    op.kind = kernel::OpKind::Repeat;
    op.count = pick(1, 12);
    op.bodies = {program(depth + 1, 3)};
    return op;
  }

  kernel::Op diverge(int depth) {
    kernel::Op op;
    op.kind = kernel::OpKind::Diverge;
    op.diverge_by = pick(0, 1) == 0 ? kernel::DivergeBy::Lane : kernel::DivergeBy::Warp;
    const auto ways = pick(2, 4);
    for (std::int64_t way = 0; way < ways; ++way) { op.bodies.push_back(program(depth + 1, 2)); }
    return op;
  }

  std::uint64_t state_;
  std::int64_t arrays_ = 1;
  std::int64_t shared_ = 0;  // bytes per block
};

}  // namespace wavetail::specs
