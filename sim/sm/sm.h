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

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "event/credit.h"
#include "event/server.h"
#include "event/wheel.h"
#include "gpu/spec.h"
#include "memory/clocks.h"
#include "memory/system.h"
#include "sm/cluster.h"
#include "sm/launch.h"
#include "sm/mbarrier.h"
#include "sm/scheduler.h"
#include "sm/share.h"
#include "sm/shared_scoreboard.h"
#include "sm/warp.h"

namespace wavetail::sm {

class Sm;

// What all SMs of a machine share.
struct Surface {
  const gpu::GpuSpec& gpu;
  const memory::Clocks& clocks;
  event::Wheel& wheel;
  memory::System& memory;
  std::int64_t issue_quantum = 16;
  std::uint64_t seed = 1;  // of random access patterns, beside each pattern's own
  Sm* sms = nullptr;       // all of them, by number
  ClusterTable clusters{};
  std::string fault{};  // the first thing a program did that hardware has no rule for
};

// Event kinds of Target::Sm that SMs send to themselves; memory::SmNotice has the others.
enum class SmEvent : std::uint8_t {
  Wake,          // a: warp slot
  SlotFree,      // a: scheduler
  RunEnds,       // a: scheduler and, from bit 8 on, the run's number
  BulkOut,       // a: piece of a bulk store that the TMA has read
  PeerArrives,   // a: request for this SM's shared memory
  PeerReturned,  // a: the same, its data are back
  WakeMany,      // a: number of a set of warp slots
};

// Loads have a `sequence` below; from here on it is a group of cp.async.
inline constexpr std::uint8_t kCopySequence = 128;

// Event kind of Target::Device that an SM sends when a block's slot is free: unit = SM, a = block
// slot.
inline constexpr std::uint8_t kBlockFree = 200;
// That every warp of a launch has ended one more tile: a = Launch::id.
inline constexpr std::uint8_t kRoundEnded = 201;
// That the warps of a launch have ended as many trips of their long loops as there are warps.
inline constexpr std::uint8_t kTripsEnded = 202;

class Sm {
 public:
  Sm(Surface& surface, std::uint16_t number);

  // Is there room for one more block of this launch?
  [[nodiscard]] bool fits(const Launch& launch) const;

  // Puts block number `block` of the launch on this SM now; fits() must hold. `cluster`: the open
  // cluster that it joins as the next rank.
  void place(Launch& launch, std::int64_t block, std::uint32_t cluster = kNoCluster);

  void handle(const event::Event& e);

  // For the host's cache: a warp that will be woken soon.
  void prefetch(std::uint32_t slot) const {
    const Warp& w = warps_[slot];
    __builtin_prefetch(&w);
    __builtin_prefetch(&w.done);
    __builtin_prefetch(&w.trip);
  }

  // The same for a set of warps that one event wakes.
  void prefetch_many(std::uint32_t mask) const;

  // A BlockFree event: books the block's end, frees its slot and returns its launch.
  Launch* retire(std::uint32_t block_slot);

  [[nodiscard]] bool idle() const { return resident_blocks_ == 0; }

  // Of the launch's warps whose programs have long loops.
  struct InLoops {
    std::int64_t warps = 0;
    std::int64_t outside = 0;      // of them, in none of their long loops now, or yet to leap
    std::int64_t furthest = 0;     // the most trips that one has ended
    std::int64_t end = INT64_MAX;  // the fewest that one has in all
  };

  void count_in_loops(const Launch& launch, InLoops& sum) const;
  // All of them are in a loop: behind trip `from`, which none has reached, each goes on as if
  // LoopTrips::leap more were over. So what one has brought to L2 others still find there.
  void leave_out_trips(const Launch& launch, std::int64_t from);

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
    int steps = 0;  // instructions that it has passed
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
                                   const CompiledAccess::Request& request, std::int64_t at) const;
  [[nodiscard]] static std::int64_t free_entries(const Warp& w, std::int64_t wanted);
  std::int64_t take_credit(std::uint32_t slot, bool is_load, int lines, std::int64_t wanted,
                           Turn& turn);
  memory::Access request_of_run(std::uint32_t slot, const CompiledAccess& a,
                                const CompiledAccess::Request& request, std::int64_t at,
                                std::int64_t n, const Turn& turn);
  std::int64_t count_wavefronts(const memory::Access& access,
                                const CompiledAccess::Request& request) const;
  void send_loads(std::uint32_t slot, memory::Access& access, bool bypass_l1);
  memory::System::LoadOutcome load_through_l1(const memory::Access& access);
  static void advance(Warp& w, const Instr& instr, std::int64_t n);
  void note_ready(std::uint32_t slot, std::uint32_t entry, Time ready);
  [[nodiscard]] Time data_ready(std::uint32_t slot, std::uint64_t blocking);
  void wait_loads(std::uint32_t slot, std::uint64_t blocking, Turn& turn);
  void tile_ended(Warp& warp, std::int64_t& trip);
  void next_trip(Warp& warp, const Instr& instr, std::int64_t& trip) const;
  [[nodiscard]] std::int64_t trips_of_loop(std::uint32_t slot, const LongLoop& loop) const;
  void share_step(std::uint32_t slot, const Instr& instr);
  void index_step(std::uint32_t slot, const Instr& instr);
  void take_portion(std::uint32_t slot, std::int64_t n);

  // What strides per block refer to: the block, or the tile of its share that the warp is at.
  [[nodiscard]] const kernel::Dim3& index_of(const Warp& w) const {
    if (w.code->shares) { return shares_[static_cast<std::size_t>(&w - warps_.data())].index; }
    return blocks_[static_cast<std::size_t>(w.block)].index;
  }

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
  void random_lanes(const Warp& w, const CompiledAccess& a, std::span<std::int64_t> offsets) const;

  // shared_access.cc
  void shared_access(std::uint32_t slot, const Instr& instr, Turn& turn);
  void one_shared_access(std::uint32_t slot, const Instr& instr, Turn& turn);
  void wait_shared(std::uint32_t slot, std::int64_t newest, Turn& turn);
  [[nodiscard]] CompiledShared::Request shared_request(const Warp& w,
                                                       const CompiledShared& access) const;

  // async.cc
  void async_step(std::uint32_t slot, const Instr& instr, Turn& turn);
  void prepare_async(std::uint32_t block_slot);
  void join_cluster(std::uint32_t block_slot, std::uint32_t cluster);
  [[nodiscard]] bool async_done(std::uint32_t slot, Turn& turn);
  void end_block(std::uint32_t block_slot);
  void pass(std::uint32_t slot, Reason reason, std::int64_t until, std::int64_t short_wait,
            Turn& turn);
  void block_async(std::uint32_t slot, Reason reason, AsyncWarp::On on, Turn& turn);

  struct Party {  // a warp and the instruction it is at
    const Sm* sm;
    std::uint32_t slot;
    std::int32_t pc;
  };

  void fault(const Party& who, const std::string& what) const;
  [[nodiscard]] std::string waits_for(std::size_t slot) const;
  [[nodiscard]] bool waits_elsewhere(std::size_t slot) const;
  [[nodiscard]] std::string place_of(const Warp& w) const;

  // mbarrier.cc
  struct Phase {  // the nth use of an mbarrier of one of this SM's blocks
    std::uint32_t block;
    std::int32_t mbarrier;
    std::uint32_t nth;
  };

  void mbarrier_wait(std::uint32_t slot, const Instr& instr, Turn& turn);
  void mbarrier_arrive(std::uint32_t slot, const Instr& instr, Turn& turn);
  void arrive(const Phase& phase, std::int64_t bytes_to_come, Time at, const Party& who);

  // At an mbarrier of another block, unless it has left.
  struct Arrival {
    std::int32_t mbarrier;
    std::uint32_t nth;
    std::int64_t bytes_to_come;
  };

  void arrive_there(const ClusterMember& m, const Arrival& arrival, Time at, const Party& who);
  void land(const Phase& phase, std::uint64_t placement, std::int64_t bytes, Time at);
  void try_complete(const Phase& phase);
  [[nodiscard]] MbarrierStage& stage_of(const Phase& phase);
  [[nodiscard]] const isa::MbarrierPlan& plan_of(const Phase& phase) const;
  void check_consumed(const Phase& phase);
  [[nodiscard]] std::string describe(const Phase& phase) const;

  // barriers.cc
  void numbered_barrier(std::uint32_t slot, const Instr& instr, Turn& turn);
  void cluster_barrier(std::uint32_t slot, const Instr& instr, Turn& turn);
  void complete_cluster(Cluster& cluster);

  // cp_async.cc
  void copy(std::uint32_t slot, const Instr& instr, Turn& turn);
  void some_copies(std::uint32_t slot, const Instr& instr, Turn& turn);
  void copy_known(const memory::System::Finished& finished);
  void complete_copies(std::uint32_t slot);
  void wait_copies(std::uint32_t slot, std::uint32_t wanted, Turn& turn);

  // tensor.cc
  void wgmma(std::uint32_t slot, const Instr& instr, Turn& turn);
  [[nodiscard]] bool join_warpgroup(std::uint32_t slot, Turn& turn);
  static void write_beside_wgmma(Scheduler& s, std::int64_t first, std::int64_t n);
  void wgmma_wait(std::uint32_t slot, std::int64_t left, Turn& turn);
  void mma(std::uint32_t slot, const Instr& instr, Turn& turn);

  // tcgen05.cc
  void tcgen05_step(std::uint32_t slot, const Instr& instr, Turn& turn);
  void tcgen05_engine(std::uint32_t slot, const Instr& instr, Turn& turn);
  void tcgen05_commit(std::uint32_t slot, const Instr& instr, Turn& turn);
  void tmem_access(std::uint32_t slot, const Instr& instr, Turn& turn);
  [[nodiscard]] ClusterMember of_pair(std::uint32_t block_slot, std::int64_t which) const;

  // tma.cc
  struct Bulk {  // a box under way, or a piece of one that leaves
    Phase phase;
    std::uint64_t placement;
    std::array<bool, 3> multicast;
    bool pair;            // lands at the mbarrier of the receiver's pair
    std::int64_t pieces;  // still under way
    memory::BulkAccess access;
    std::uint32_t warp;      // slot
    bool last;               // piece of its group
    std::int64_t zeros = 0;  // bytes of rows beyond the tensor, which land with its first piece
  };

  void tma_load(std::uint32_t slot, const Instr& instr, Turn& turn);
  void tma_store(std::uint32_t slot, const Instr& instr, Turn& turn);
  void tma_store_wait(std::uint32_t slot, const Instr& instr, Turn& turn);
  [[nodiscard]] memory::BulkAccess bulk_access(const Warp& w, const CompiledBox& box) const;
  std::uint32_t keep(const Bulk& bulk);
  void engine(memory::BulkAccess& piece, std::int64_t cycle, unit::Duration delay,
              event::CycleServer& lane) const;
  template <class F>
  void through_engine(const memory::BulkAccess& box, const kernel::Box& shape, std::int64_t cycle,
                      unit::Duration delay, F&& f);
  void find_receivers(const Bulk& bulk);
  void bulk_arrives(std::uint32_t request);
  void bulk_out(std::uint32_t piece);
  void bulk_done(std::uint32_t block_slot, Time at);
  void drain(Block& block, std::int64_t cycle);

  // peer.cc
  void peer_access(std::uint32_t slot, const Instr& instr, Turn& turn);
  void one_peer_load(std::uint32_t slot, const CompiledPeer& peer, Time departs);
  void peer_arrives(std::uint32_t request);
  void peer_returned(std::uint32_t request);
  [[nodiscard]] unit::Duration peer_latency(const Cluster& cluster) const;

  void loads_arrive(std::uint32_t parcel);
  void load_known(std::uint32_t slot, std::uint32_t entry, Time ready);
  void data_known(std::uint32_t slot);
  void stores_arrive(std::uint32_t parcel);
  void acknowledge(const memory::System::Accepted& store);
  bool stores_acknowledged(std::uint32_t slot, Turn& turn);
  void give_back(event::Credit& credit, Time when, int lines);
  void schedule_wake(std::uint32_t slot, Time at);
  void schedule_wakes(std::uint64_t slots, Time at);
  void wake_many(std::uint32_t mask);
  void add_warp(Block& block, std::int32_t block_slot, std::int64_t order, Time placed);
  [[nodiscard]] std::uint32_t free_warp_slot(std::int64_t registers) const;

  [[nodiscard]] Scheduler& scheduler_of(std::uint32_t slot) { return schedulers_[home_[slot]]; }

  void book(Warp& w, std::int64_t cycle);
  void prepare_l1(const Launch& launch);

  static constexpr std::uint32_t kNoWake = 0xffffffffU;

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
  event::Credit line_credit_, store_credit_;
  bool waits_for_stores_;
  std::vector<Time> load_ready_;  // by warp slot and scoreboard entry, where partial waits need it
  CompiledAccess::Request own_request_;  // scratch of request_at, for shapes not in a table
  // By warp slot; empty until an instruction of this SM accesses shared memory.
  std::vector<SharedScoreboard> shared_scoreboards_;
  std::vector<WarpShare> shares_;  // by warp slot; empty until a kernel needs it
  std::vector<AsyncWarp> async_;   // by warp slot; empty until a kernel needs it
  std::vector<BlockSync> sync_;    // by block slot; empty until a kernel needs it
  std::uint64_t placements_ = 0;   // blocks placed so far
  // The tensor core as tcgen05's engine: thousandths of a cycle.
  event::CycleServer tcgen05_;
  std::vector<event::CycleServer> tma_;  // boxes at once; thousandths of a cycle
  std::int64_t tma_request_;             // the least of a request, likewise
  std::vector<Bulk> bulks_;
  std::vector<std::uint32_t> free_bulks_;
  std::vector<ClusterMember> receivers_;  // scratch of bulk_arrives
  // Warps that an event wakes together, by its number; the newest and when it comes.
  std::vector<std::uint64_t> wake_masks_;
  std::vector<std::uint32_t> free_wake_masks_;
  std::uint32_t newest_wake_ = kNoWake;
  Time newest_wake_at_;
};

}  // namespace wavetail::sm
