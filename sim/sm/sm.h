// SPDX-License-Identifier: Apache-2.0
// A streaming multiprocessor: four sub-partitions with a warp scheduler and pipes each, and what
// they share: the load/store unit, credits for lines in flight, launcher, block slots. The memory
// below is memory::System.
//
// The life of a warp: place() gives it a slot and an event at its first instruction; wake() finds
// it ready; the scheduler lets it issue up to a quantum of instructions (issue.cc); it waits for
// data, a pipe, a barrier; its end is booked when the last warp of its block is done and the
// block's slot is free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "event/credit.h"
#include "event/server.h"
#include "event/wheel.h"
#include "gpu/spec.h"
#include "memory/clocks.h"
#include "memory/system.h"
#include "sm/launch.h"
#include "sm/scheduler.h"
#include "sm/shared_scoreboard.h"
#include "sm/warp.h"

namespace wavetail::sm {

// What all SMs of a machine share.
struct Surface {
  const gpu::GpuSpec& gpu;
  const memory::Clocks& clocks;
  event::Wheel& wheel;
  memory::System& memory;
  std::int64_t issue_quantum = 16;
  std::uint64_t seed = 1;  // of random access patterns, beside each pattern's own
};

// Event kinds of Target::Sm that SMs send to themselves; memory::SmNotice has the others.
enum class SmEvent : std::uint8_t {
  Wake,      // a: warp slot
  SlotFree,  // a: scheduler
  RunEnds,   // a: scheduler and, from bit 8 on, the run's number
};

// Event kind of Target::Device that an SM sends when a block's slot is free: unit = SM, a = block
// slot.
inline constexpr std::uint8_t kBlockFree = 200;

class Sm {
 public:
  Sm(Surface& surface, std::uint16_t number);

  // Is there room for one more block of this launch?
  [[nodiscard]] bool fits(const Launch& launch) const;

  // Puts block number `block` of the launch on this SM now; fits() must hold.
  void place(Launch& launch, std::int64_t block);

  void handle(const event::Event& e);

  // For the host's cache: a warp that will be woken soon.
  void prefetch(std::uint32_t slot) const {
    const Warp& w = warps_[slot];
    __builtin_prefetch(&w);
    __builtin_prefetch(&w.done);
    __builtin_prefetch(&w.trip);
  }

  // A BlockFree event: books the block's end, frees its slot and returns its launch.
  Launch* retire(std::uint32_t block_slot);

  [[nodiscard]] bool idle() const { return resident_blocks_ == 0; }

  // One line per resident warp that waits: what it is, where, for what (for hang reports).
  [[nodiscard]] std::vector<std::string> waiting() const;

 private:
  void wake(std::uint32_t slot);
  void slot_free(std::uint32_t scheduler);
  void offer(std::uint32_t slot, std::int64_t cycle);
  void request_slot_event(Scheduler& s);

  // issue.cc
  struct Turn {            // a warp's turn at the issue slot
    std::int64_t granted;  // SM cycle at which it began
    std::int64_t cycle;    // now, in SM cycles
    std::int64_t budget;   // instructions it may still issue
    bool over = false;
  };

  void issue(std::uint32_t slot, std::int64_t cycle);
  void step(std::uint32_t slot, Turn& turn);
  [[nodiscard]] static std::int64_t operands_at(const Warp& w, const Instr& instr);
  void arithmetic(std::uint32_t slot, const Instr& instr, Turn& turn);
  std::int64_t book_run(std::uint32_t slot, const Instr& instr, std::int64_t first, std::int64_t n);
  [[nodiscard]] bool may_run_ahead(std::uint32_t slot, const Instr& instr, const Turn& turn);
  void run_ahead(std::uint32_t slot, const Instr& instr, Turn& turn);
  void settle(Scheduler& s, std::int64_t cycle);
  void run_ends(std::uint32_t which);
  void memory_access(std::uint32_t slot, const Instr& instr, Turn& turn);
  void some_accesses(std::uint32_t slot, const Instr& instr, Turn& turn);
  [[nodiscard]] std::int64_t alike(const Warp& w, const Instr& instr, const CompiledAccess& a,
                                   std::int64_t at, std::int64_t cycles) const;
  [[nodiscard]] static std::int64_t free_entries(const Warp& w, std::int64_t wanted);
  std::int64_t take_credit(std::uint32_t slot, bool is_load, int lines, std::int64_t wanted,
                           Turn& turn);
  void send_loads(std::uint32_t slot, memory::Access& access, bool bypass_l1);
  static void advance(Warp& w, const Instr& instr, std::int64_t n);
  void note_ready(std::uint32_t slot, std::uint32_t entry, Time ready);
  [[nodiscard]] Time data_ready(std::uint32_t slot, std::uint64_t blocking);
  void wait_loads(std::uint32_t slot, std::uint64_t blocking, Turn& turn);
  void barrier(std::uint32_t slot, Turn& turn);
  void open_barrier(Block& block, std::uint32_t except);
  void finish(std::uint32_t slot, Turn& turn);
  void pause(std::uint32_t slot, Reason reason, std::int64_t from, std::int64_t until, Turn& turn);
  void block_on(std::uint32_t slot, Reason reason, std::int64_t from, Turn& turn);
  void proceed(std::uint32_t slot, Reason reason, std::int64_t until, Turn& turn);
  void count_issue(std::uint32_t slot, const Instr& instr, std::int64_t n);
  void issue_now(std::uint32_t slot, const Instr& instr, Turn& turn, std::int64_t n = 1);
  [[nodiscard]] std::int64_t address(const Warp& w, const CompiledAccess& a,
                                     std::int64_t count_index) const;
  [[nodiscard]] const CompiledAccess::Request& request_at(const Warp& w, const CompiledAccess& a,
                                                          std::int64_t at);

  // shared_access.cc
  void shared_access(std::uint32_t slot, const Instr& instr, Turn& turn);
  void one_shared_access(std::uint32_t slot, const Instr& instr, Turn& turn);
  void wait_shared(std::uint32_t slot, std::int64_t newest, Turn& turn);
  [[nodiscard]] CompiledShared::Request shared_request(const Warp& w,
                                                       const CompiledShared& access) const;

  void loads_arrive(std::uint32_t parcel);
  void data_known(std::uint32_t slot);
  void stores_arrive(std::uint32_t parcel);
  void give_back(event::Credit& credit, Time when, int lines);
  void schedule_wake(std::uint32_t slot, Time at);
  void add_warp(Block& block, std::int32_t block_slot, std::int64_t order, Time placed);
  [[nodiscard]] std::uint32_t free_warp_slot(std::int64_t registers) const;

  [[nodiscard]] Scheduler& scheduler_of(std::uint32_t slot) { return schedulers_[home_[slot]]; }

  void book(Warp& w, std::int64_t cycle);
  void prepare_l1(const Launch& launch);

  Surface& surface_;
  std::uint16_t number_;
  std::vector<Scheduler> schedulers_;
  std::vector<std::uint8_t> home_;  // the scheduler of each warp slot
  std::vector<Warp> warps_;
  std::vector<Block> blocks_;
  std::int64_t resident_blocks_ = 0;
  std::int64_t free_shared_memory_;
  std::uint32_t l1_owner_ = 0xffffffffU;  // id of the launch that L1 was last prepared for
  std::uint64_t placed_ = 0;              // warps placed so far
  event::Server launcher_;
  event::CycleServer lsu_;
  unit::Duration cycle_;  // of the SM clock, rounded up
  event::Credit line_credit_, store_credit_;
  std::vector<Time> load_ready_;  // by warp slot and scoreboard entry, where partial waits need it
  CompiledAccess::Request random_request_;  // scratch of request_at
  // By warp slot; empty until an instruction of this SM accesses shared memory.
  std::vector<SharedScoreboard> shared_scoreboards_;
};

}  // namespace wavetail::sm
