// SPDX-License-Identifier: Apache-2.0
// The memory below the SMs' load/store units: L1 caches, crossbar, L2 slices, HBM channels.
//
// The life of a load here: load() looks up L1; what misses leaves as one request, and a run of
// streaming loads as one request for all of them. It reaches the L2 as one event (two, if the run
// spreads over both partitions): the SM gets a LoadsArrive and calls loads_arrive(). There every
// 256-byte piece takes its slice and, if it is not held, its HBM channel. From then on nothing can
// change the way back: the times at which the data cross the GPC's and the SM's port are booked
// ahead (event::Calendar), L1 learns when its lines will be there, and the SM when each load is
// complete. No further event is needed.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "event/calendar.h"
#include "event/server.h"
#include "event/wheel.h"
#include "memory/in_flight.h"
#include "memory/l1.h"
#include "memory/l2.h"
#include "memory/partial_sectors.h"
#include "memory/shape.h"
#include "memory/slice.h"
#include "memory/tags.h"
#include "memory/timing.h"
#include "result/result.h"

namespace wavetail::memory {

// Event kinds that this room sends to an SM (Target::Sm).
enum class SmNotice : std::uint8_t {
  LoadsArrive = 100,       // at the L2; a: parcel; call loads_arrive()
  StoresArrive = 101,      // a: parcel; call stores_arrive()
  BulkArrives = 102,       // a: bulk request; call bulk_arrives()
  BulkStoreArrives = 103,  // a: bulk request; call bulk_store_arrives()
};

// The stores of a launch, on all SMs.
struct Stores {
  std::int64_t under_way = 0;  // on their way to L2
  Time taken;                  // when L2 has taken the last of the others
};

// What a launch does on one SM is booked here.
struct Account {
  result::Counters* counters = nullptr;
  Stores* stores = nullptr;
  InFlight in_flight;
};

// Warp instructions to global memory: one, or a run of up to kMaxRun alike.
struct Access {
  const Shape* shape = nullptr;  // stays valid until the access is complete, unless `own_shape`
  std::int64_t base_line = 0;    // line number of the base address
  std::int64_t line_stride = 0;  // from one to the next
  std::uint16_t sm = 0;
  std::uint16_t warp = 0;          // the SM's own token
  std::uint8_t sequence = 0;       // the SM's own token
  std::uint8_t sequence_step = 1;  // from one access to the next
  std::uint8_t count = 1;
  bool atomic = false;
  bool own_shape = false;  // copy the shape: the caller's will change; only for one
  Time issued;             // when the warp issued the first one
  Duration issue_step;     // from one to the next
  Time departs;            // when the first one leaves the load/store unit
  Duration depart_step;    // from one to the next
  Account* account = nullptr;
};

inline constexpr int kMaxRun = 8;
// The longest time from one access of a run to the next.
inline constexpr Duration kLongestStep{UINT32_MAX};

// A part of a box of the TMA, at most kBulkBytes: rows of `row_bytes`, `pitch` apart.
struct BulkAccess {
  std::int64_t array_base = 0, array_bytes = 0;
  std::int64_t address = 0;  // of the first row
  std::int64_t rows = 1, row_bytes = 0, pitch = 0;
  std::uint16_t sm = 0;
  std::uint32_t token = 0;  // the SM's own
  Time issued;              // when the warp issued it
  Duration spread;          // from its first line to its last, leaving the engine
  Time departs;             // when its last line does
  Account* account = nullptr;

  [[nodiscard]] std::int64_t bytes() const { return rows * row_bytes; }
};

inline constexpr std::int64_t kBulkBytes = std::int64_t{kMaxSectors} * kSectorBytes;

class System {
 public:
  System(const gpu::GpuSpec& spec, const Clocks& clocks, event::Wheel& wheel, std::uint64_t seed);

  struct LoadOutcome {
    bool complete = false;  // it is known when its data are there
    int lines = 0;          // that are fetched
    int placeless = 0;      // of these, that L1 has no place for: they travel without one
    Time ready;             // when, if complete
  };

  // One load, through L1.
  LoadOutcome load(const Access& access);

  // Loads that do not look into L1.
  void stream(const Access& access);

  // The data leave through the SM's crossbar port. Atomics that return nothing are stores.
  void store(const Access& access);

  // One atomic that returns the old values: its operands leave as those of a store, the values come
  // back as the data of a load that skips L1.
  void atomic(const Access& access);

  // A load of which it is known when it is complete.
  struct Finished {
    std::uint16_t warp = 0;
    std::uint8_t sequence = 0;
    std::uint8_t lines = 0;  // of the instruction that have no place in L1
    Time ready;
  };

  // To be called at a LoadsArrive event: the loads themselves and all that waited for their lines.
  [[nodiscard]] std::span<const Finished> loads_arrive(std::uint32_t parcel);

  struct Accepted {
    int lines = 0;  // of store credit
    Time when;      // that they are free again
    std::uint16_t warp = 0;
    Time acknowledged;  // when the warp knows
  };

  // To be called at a StoresArrive event: what L2 has accepted, or will.
  [[nodiscard]] std::span<const Accepted> stores_arrive(std::uint32_t parcel);

  // bulk.cc. Requests the lines from L2; BulkArrives follows when they are there.
  void fetch(const BulkAccess& access);

  // To be called at a BulkArrives event: the data will land in the shared memory of every receiver
  // at the times written to `landed`. Returns the access' bytes.
  std::int64_t bulk_arrives(std::uint32_t request, std::span<const std::uint16_t> receivers,
                            std::span<Time> landed);

  [[nodiscard]] std::uint32_t token_of(std::uint32_t request) const {
    return bulks_[request].token;
  }

  // Sends the bytes to L2 now; returns when they have left through the SM's port. BulkStoreArrives
  // follows.
  Time send_bulk(const BulkAccess& access);
  void bulk_store_arrives(std::uint32_t request);

  // Data of one SM for a peer of its cluster, `sectors` of 32 B, take the SM's port out.
  Time send_to_peer(std::uint16_t sm, Time departs, int sectors) {
    return egress_[sm].reserve(departs, timing_.egress[static_cast<std::size_t>(sectors)]).end;
  }

  [[nodiscard]] Time egress_free_at(std::uint16_t sm) const { return egress_[sm].free_at(); }

  // For the host's cache: what the arrival of a bulk request will touch.
  void prefetch_bulk(std::uint32_t bulk) const;

  // For the host's cache: the request itself, then (once that is there) what its arrival will
  // touch.
  void prefetch(std::uint32_t parcel) const { __builtin_prefetch(&requests_[parcel & kIdMask]); }

  void prefetch_tags(std::uint32_t parcel) const;

  // The warp that a request will return to.
  [[nodiscard]] std::uint32_t warp_of(std::uint32_t parcel) const {
    return requests_[parcel & kIdMask].warp;
  }

  // Sizes SM `sm`'s L1; forgets its contents.
  void resize_l1(std::uint16_t sm, std::int64_t lines) { l1_[sm].resize(lines); }

  // memory_side.cc. Private L2s hand over what is dirty in them, as they do when a launch is
  // complete.
  void write_back_private(Time at, result::Counters& counters);

  [[nodiscard]] L2& l2() { return l2_; }

  // Whether a line lies in another partition of L2 than the SM.
  [[nodiscard]] bool is_far(std::uint16_t sm, std::int64_t line) const;

  [[nodiscard]] const Timing& timing() const { return timing_; }

  // The SM clock has changed.
  void follow(const Clocks& clocks) { timing_.follow(clocks); }

  // The tag banks of every L1.
  [[nodiscard]] const TagBanks& tags() const { return tags_; }

  [[nodiscard]] std::size_t requests_under_way() const {
    return requests_.size() - free_requests_.size() + bulks_.size() - free_bulks_.size();
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  // What an event carries: the number of a request, and which of its accesses arrive.
  static constexpr int kIdBits = 24;
  static constexpr std::uint32_t kIdMask = (1U << kIdBits) - 1;

  // One line of the host's cache.
  struct alignas(64) Request {
    const Shape* shape = nullptr;
    std::int64_t base_line = 0, line_stride = 0;
    Account* account = nullptr;
    Time issued;
    Duration way_to_l2;                             // from `issued` to the near L2
    std::uint32_t issue_step = 0, depart_step = 0;  // picoseconds, at most kLongestStep
    std::uint16_t warp = 0, sm = 0;
    std::uint8_t sequence = 0;
    std::uint8_t lines = 0;      // of the instruction that have no place in L1
    std::uint8_t waits = 0;      // fills a load still waits for, accesses that have yet to arrive
    bool has_extra : 1 = false;  // goes through L1, or has a shape of its own: see extras_
    bool steps : 1 = true;       // `sequence` counts
    bool atomic : 1 = false;
  };

  static_assert(sizeof(Request) == 64);

  // What requests through L1 and those with shapes of their own need beside that.
  struct Extra {
    Time ready;  // the latest of what the load has waited for so far
    std::uint32_t dependents = kNone;
    std::int32_t own_shape = -1;
    bool in_l1 = false;  // its fill has lines allocated in L1
  };

  struct Dependent {
    std::uint32_t request, next;
  };

  struct Bulk : BulkAccess {
    std::int64_t sectors = 0;
    bool far = false;
  };

  static void count_load(result::Counters& counters, const Shape& shape, int n);
  void store_run(const Access& access, Duration each);
  std::uint32_t new_request(const Access& access);
  void release_request(std::uint32_t id);
  std::int32_t keep_shape(const Shape& shape);
  void give_own_shape(std::uint32_t id, const Shape& shape);
  void depend_on(std::uint32_t other, std::uint32_t id);
  void send(std::uint32_t id, Time arrives, int count, SmNotice notice);
  void load_arrives(std::uint32_t id, const Request& r, int n, bool at_home);
  Time store_arrives(const Request& r, int n, bool far);
  [[nodiscard]] Time arrival(const Request& r, int n, bool far) const;

  // Times at the partition that was asked.
  struct Served {
    Time taken;             // the last slice has turned to its piece
    Time first{INT64_MAX};  // the first piece has its data at its slice
    Time last;              // the last one has
    // Of a box whose rows are a line or less, a pitch apart: each interleave unit opens a DRAM row.
    bool apart = false;

    void add(const Served& other, Duration later) {
      taken = std::max(taken, other.taken + later);
      first = std::min(first, other.first + later);
      last = std::max(last, other.last + later);
    }
  };

  // Sectors of a page that lies in one partition.
  struct Held {
    std::int64_t page = 0;
    std::uint64_t side = 0;
    std::uint32_t frame = 0;
  };

  Held hold(std::int64_t page, std::uint64_t side) {
    return {page, side, l2_.partition(side).find_or_claim(page)};
  }

  // What a slice does with a request.
  struct Use {
    bool joins = false;  // a read: one that waits for the same sectors (Slice::read)
    Duration sector;     // at least that long per sector
  };

  void serve(Time at, const Held& held, const Sectors& wanted, const Sectors& fetched,
             const Use& use, result::Counters& counters, Served& served);
  void read_home(Time at, const Held& held, const Sectors& touched, result::Counters& counters,
                 Served& served);
  void read(Time at, bool at_home, std::uint64_t reader, std::int64_t page, const Sectors& touched,
            result::Counters& counters, Served& served);
  void note_words(std::uint64_t writer, const Shape& shape, std::int64_t base_line);
  void write(Time at, std::uint64_t writer, std::int64_t page, const Sectors& touched,
             const Sectors& partly, result::Counters& counters, Served& served);
  void update(Time at, const Request& r, std::int64_t page, const Sectors& touched, Served& served);
  void update_for(const Request& r, Time at, bool at_home, std::int64_t page,
                  const Sectors& touched, Served& served);
  template <class F>
  void for_each_line(const Request& r, std::int64_t page, const Sectors& touched, F&& f) const;
  void update_memory_side(Time at, const Request& r, std::int64_t page, const Sectors& touched,
                          Served& served);
  void forget_copies(std::uint64_t home, std::int64_t page, const Sectors& sectors);
  Time write_back(Time at, std::int64_t page, const Sectors& dirty, result::Counters& counters);
  Time make_room(Time at, const Held& keep, result::Counters& counters);
  [[nodiscard]] Time cross(std::uint64_t from, Time at, const Sectors& sectors);
  Time way_back(const Request& r, int n, Time first, Time last);
  void resolve(std::uint32_t id, Time done);
  std::uint32_t new_bulk(const BulkAccess& access);
  void send_to_l2(std::uint32_t id, SmNotice notice, Time departs, bool far);
  void part_arrived(std::uint32_t id, Time ready);
  [[nodiscard]] bool reaches_far(const BulkAccess& b) const;
  [[nodiscard]] bool is_held_near(std::uint16_t sm, std::int64_t page, const Sectors& wanted) const;

  // Where an interleave unit lives.
  struct Place {
    std::int64_t row = 0;
    std::uint64_t channel = 0;
  };

  [[nodiscard]] Place place(std::int64_t chunk) const;
  [[nodiscard]] std::size_t slice_of(std::uint64_t side, std::int64_t line,
                                     std::uint64_t channel) const;

  // Sectors of one interleave unit, whole bursts, in word `word` of a page's bitmap.
  struct Piece {
    std::int64_t page = 0;
    std::size_t word = 0;
    std::uint64_t sectors = 0;
    Place place;
    bool apart = false;  // as Served
  };

  Time fetch_piece(Time at, const Piece& piece, result::Counters& counters);
  Time read_memory_side(Time at, const Piece& piece, result::Counters& counters);
  void copy_to_memory_side(std::int64_t page, const Sectors& sectors);

  event::Wheel& wheel_;
  Timing timing_;
  TagBanks tags_;
  int chunk_shift_;  // line number >> chunk_shift_ = interleave unit
  Divider channels_divider_, chunks_per_row_;
  std::vector<std::uint16_t> slice_of_channel_;  // of each partition, one after the other
  Divider slices_divider_;                       // slices of one private L2
  std::vector<std::uint16_t> gpc_of_sm_, side_of_sm_;
  std::vector<L1> l1_;
  L2 l2_;
  PartialSectors partial_;
  std::vector<Slice> slices_;
  std::vector<event::Server> egress_;
  std::vector<event::Calendar> ingress_, gpc_ingress_;
  std::vector<event::Calendar> link_;  // between dies, by the partition that data leave
  std::vector<HbmChannel> channels_;
  std::vector<Request> requests_;
  std::vector<std::uint32_t> free_requests_;
  std::vector<Dependent> dependents_;
  std::uint32_t free_dependents_ = kNone;
  std::deque<Shape> shapes_;
  std::vector<std::int32_t> free_shapes_;
  std::vector<Extra> extras_;  // by request
  // Scratch.
  std::vector<Finished> finished_;
  std::vector<Accepted> accepted_;
  std::vector<Bulk> bulks_;
  std::vector<std::uint32_t> free_bulks_;
  std::vector<std::uint32_t> merged_with_;
  Shape rest_;
};

}  // namespace wavetail::memory
