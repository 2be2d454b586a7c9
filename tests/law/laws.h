// SPDX-License-Identifier: Apache-2.0
// What must hold for every launch of every kernel on every GPU, exactly: every warp-cycle and every
// issue slot is in one bucket, what one level of the memory sends is what the next receives, the
// work done is the work that the program asks for, and nobody is faster than the bound.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "bound/bound.h"
#include "bound/shared.h"
#include "bound/work.h"
#include "gpu/spec.h"
#include "memory/shape.h"
#include "result/describe.h"
#include "sm/code.h"

namespace wavetail::tests {

inline void expect_buckets_add_up(const result::Counters& c) {
  EXPECT_EQ(c.stalls.total(), c.resident_warp_cycles);
  result::describe([&](std::string_view name, std::int64_t cycles, std::string_view,
                       std::string_view) { EXPECT_GE(cycles, 0) << "stall " << name; },
                   c.stalls);
  result::describe([&](std::string_view name, std::int64_t cycles, std::string_view,
                       std::string_view) { EXPECT_GE(cycles, 0) << "slot " << name; },
                   c.slots);
  EXPECT_EQ(c.slots.issued, c.warp_instructions);
  EXPECT_EQ(c.stalls.selected, c.warp_instructions);
}

// `cycles`: SM cycles of the launch's time.
inline void expect_slots_total(const result::Counters& c, const gpu::GpuSpec& gpu,
                               std::int64_t cycles) {
  EXPECT_EQ(c.slots.total(), gpu.sm.schedulers * gpu.sms() * cycles);
}

inline void expect_bytes_conserved(const result::Counters& c) {
  constexpr std::int64_t kSector = memory::kSectorBytes;
  // A load's sector hits L1, joins a fill that is under way, or goes to L2; what bypasses L1 goes.
  EXPECT_LE(c.l1_sectors, c.load_sectors);
  // Boxes of whole sectors go there past L1.
  EXPECT_EQ(
      kSector * c.l2_read_sectors,
      kSector * (c.load_sectors - c.l1_hit_sectors - c.l1_pending_sectors) + c.tma_fetch_bytes);
  EXPECT_EQ(c.ingress_bytes, kSector * c.l2_read_sectors);
  EXPECT_EQ(c.latency_bytes, c.ingress_bytes);
  EXPECT_EQ(c.egress_bytes, kSector * c.store_sectors + c.tma_store_bytes);
  EXPECT_EQ(kSector * c.l2_write_sectors, c.egress_bytes);
  EXPECT_GE(c.tma_load_bytes, c.tma_fetch_bytes);
  // What L2 lacks comes from DRAM or from a memory-side cache, which is asked for all of it.
  EXPECT_EQ(c.l2_fill_bytes, c.dram_read_bytes + kSector * c.memory_side_hit_sectors);
  if (c.memory_side_sectors > 0) { EXPECT_EQ(kSector * c.memory_side_sectors, c.l2_fill_bytes); }
  EXPECT_EQ(c.l2_writeback_bytes, c.dram_write_bytes);
  EXPECT_LE(c.l2_hit_sectors, c.l2_read_sectors + c.l2_write_sectors);
  EXPECT_LE(c.useful_load_bytes, 16 * c.thread_instructions);
  EXPECT_LE(c.distinct_bytes, c.useful_load_bytes + c.useful_store_bytes);
  EXPECT_LE(c.distinct_bytes, kSector * (c.load_sectors + c.store_sectors));
}

// Every request takes the wavefronts that its lanes need, and every wavefront its time on the data
// path, which is a part of the load/store unit's.
inline void expect_wavefronts_conserved(const result::Counters& c, const kernel::Kernel& kernel,
                                        const gpu::GpuSpec& gpu, std::int64_t launches = 1) {
  const auto n = static_cast<double>(launches);
  const bound::Work work = bound::count_work(kernel, gpu);
  EXPECT_EQ(static_cast<double>(c.shared_load_requests), n * work.shared_load_requests);
  EXPECT_EQ(static_cast<double>(c.shared_store_requests), n * work.shared_store_requests);
  if (work.exact_wavefronts) {
    EXPECT_EQ(static_cast<double>(c.bank_wavefronts), n * work.bank_wavefronts);
    EXPECT_EQ(static_cast<double>(c.bank_wavefronts - c.bank_conflicts), n * work.bank_passes);
  }
  EXPECT_GE(static_cast<double>(c.bank_wavefronts), n * work.bank_wavefronts);
  EXPECT_GE(c.bank_conflicts, 0);
  EXPECT_LE(c.bank_wavefronts, c.thread_instructions * 4);  // a lane has four words at most
  EXPECT_GE(static_cast<double>(c.shared_busy),
            static_cast<double>(c.bank_wavefronts) * bound::cycles_per_wavefront(gpu) - 1e-6);
  EXPECT_LE(c.shared_busy, c.lsu_busy);
}

// Bytes under way, integrated where they are, against every request's own stamp.
inline void expect_little(const result::Counters& c) {
  const auto stamped = static_cast<double>(c.latency_ps_sum);
  EXPECT_NEAR(c.in_flight_byte_ps, stamped, 0.01 * stamped);
}

// Entering one way of a branch between lanes takes an issue slot that `bound` does not count.
struct Branches {
  double warps = 0, lanes = 0;
};

inline void count_branches(const kernel::Program& program, bound::Lanes lanes, std::int64_t warp,
                           double times, Branches& sum) {
  for (const kernel::Op& op : program) {
    if (op.kind == kernel::OpKind::Repeat) {
      count_branches(op.bodies[0], lanes, warp, times * static_cast<double>(op.count), sum);
    }
    if (op.kind != kernel::OpKind::Diverge) { continue; }
    if (op.diverge_by == kernel::DivergeBy::Portion || op.diverge_by == kernel::DivergeBy::Rank) {
      continue;  // a uniform choice
    }
    const std::size_t ways = op.bodies.size();
    if (op.diverge_by == kernel::DivergeBy::Warp) {
      count_branches(op.bodies[bound::way_of_warp(warp, ways)], lanes, warp, times, sum);
      continue;
    }
    for (std::size_t way = 0; way < ways; ++way) {
      const bound::Lanes taken = bound::lanes_of_way(lanes, way, ways);
      if (taken.count == 0) { continue; }
      sum.warps += times;
      sum.lanes += times * taken.count;
      count_branches(op.bodies[way], taken, warp, times, sum);
    }
  }
}

inline Branches branches_of(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu) {
  Branches sum;
  std::int64_t first = 0;
  for (const kernel::Role& role : kernel.roles) {
    for (std::int64_t w = 0; w < role.warps; ++w) {
      count_branches(role.program, bound::lanes_of_warp(kernel, first + w, gpu.sm.warp_size), w,
                     static_cast<double>(kernel::volume(kernel.grid)), sum);
    }
    first += role.warps;
  }
  return sum;
}

// Every request of the access starts equally far into a sector: then `bound` knows its sectors.
inline bool keeps_alignment(const sm::CompiledAccess& a) {
  const auto moves = [](std::int64_t step) { return step % memory::kSectorBytes != 0; };
  return !a.random && !moves(a.block[0]) && !moves(a.block[1]) && !moves(a.block[2]) &&
         !moves(a.warp) && !moves(a.count) && !moves(a.wrap) &&
         std::none_of(a.loop.begin(), a.loop.end(), moves);
}

inline bool keeps_alignment(const std::vector<sm::Code>& codes, sm::InstrKind kind) {
  for (const sm::Code& code : codes) {
    for (const sm::Instr& i : code.instrs) {
      if (i.kind == kind && !keeps_alignment(code.accesses[static_cast<std::size_t>(i.access)])) {
        return false;
      }
    }
  }
  return true;
}

// The work of `launches` launches is what the program says.
inline void expect_work(const result::Counters& c, const kernel::Kernel& kernel,
                        const gpu::GpuSpec& gpu, std::int64_t launches = 1) {
  const auto n = static_cast<double>(launches);
  const bound::Work work = bound::count_work(kernel, gpu);
  const Branches branches = branches_of(kernel, gpu);
  // Blocks that share tiles out do so in unequal parts, of which `bound` takes the mean.
  const auto expect_same = [&](const char* what, double got, double wanted) {
    EXPECT_NEAR(got, wanted, kernel.shares ? 1e-9 * wanted : 0) << what;
  };
  expect_same("warp instructions", static_cast<double>(c.warp_instructions),
              n * (work.warp_instructions + branches.warps));
  expect_same("thread instructions", static_cast<double>(c.thread_instructions),
              n * (work.thread_instructions + branches.lanes));
  expect_same("load requests", static_cast<double>(c.load_requests), n * work.load_requests);
  expect_same("store requests", static_cast<double>(c.store_requests), n * work.store_requests);
  expect_same("useful load bytes", static_cast<double>(c.useful_load_bytes),
              n * work.useful_load_bytes);
  expect_same("useful store bytes", static_cast<double>(c.useful_store_bytes),
              n * work.useful_store_bytes);
  expect_same("operations", c.flops, n * work.flops);
  double moved = 0, landed = 0;
  for (const bound::BoxWork& b : work.boxes) {
    moved += b.moved_bytes;
    landed += b.landed_bytes;
  }
  expect_same("bytes moved by the TMA", static_cast<double>(c.tma_fetch_bytes + c.tma_store_bytes),
              n * moved);
  expect_same("bytes landed", static_cast<double>(c.tma_load_bytes), n * landed);
  EXPECT_EQ(c.blocks, launches * kernel::volume(kernel.grid));
  const std::vector<sm::Code> codes = sm::compile(kernel, gpu);
  if (keeps_alignment(codes, sm::InstrKind::Load) &&
      keeps_alignment(codes, sm::InstrKind::CpAsync)) {
    expect_same("load sectors", static_cast<double>(c.load_sectors), n * work.load_sectors);
  }
  if (keeps_alignment(codes, sm::InstrKind::Store)) {
    expect_same("store sectors", static_cast<double>(c.store_sectors), n * work.store_sectors);
  }
}

inline void expect_not_faster_than(const result::Bound& bound, double time_us) {
  std::string chain;
  for (const result::ChainLink& link : bound.chain) {
    chain += link.name + ": " + link.formula + " = " + link.inputs + "\n";
  }
  EXPECT_GE(time_us, bound.time_us * (1 - 1e-9)) << "the bound is " << bound.name << "\n" << chain;
}

}  // namespace wavetail::tests
