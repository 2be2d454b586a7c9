// SPDX-License-Identifier: Apache-2.0
// The memory below the SMs' load/store units: L1 caches, crossbar, L2 slices, HBM channels.
//
// The life of a load here: load() looks up L1; what misses leaves as one request and reaches the L2
// as one event (load_arrives), where every 256-byte piece takes its slice and, if it is not held,
// its HBM channel; when the last piece is back at the SM's crossbar port the SM gets a LoadReturned
// event and calls returned(), which takes the port, fills L1 and says which loads are complete and
// when.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "event/server.h"
#include "event/wheel.h"
#include "memory/in_flight.h"
#include "memory/l1.h"
#include "memory/l2_directory.h"
#include "memory/shape.h"
#include "memory/timing.h"
#include "result/result.h"

namespace wavetail::memory {

// Event kinds that this room sends to an SM (Target::Sm).
enum class SmNotice : std::uint8_t {
  LoadReturned = 100,   // a: request; call returned()
  StoreAccepted = 101,  // a: request; call accepted()
  BulkArrived = 102,    // a: bulk request; call bulk_arrived()
  BulkAccepted = 103,   // a: bulk request; call bulk_accepted()
};

// What a launch does on one SM is booked here.
struct Account {
  result::Counters* counters = nullptr;
  std::int64_t* stores_under_way = nullptr;  // of the launch, on all SMs
  InFlight in_flight;
};

// One warp instruction to global memory.
struct Access {
  const Shape* shape = nullptr;  // stays valid until the access is complete, unless `own_shape`
  std::int64_t base_line = 0;    // line number of the base address
  std::uint16_t sm = 0;
  std::uint16_t warp = 0;     // the SM's own token
  std::uint8_t sequence = 0;  // the SM's own token
  bool bypass_l1 = false;
  bool own_shape = false;  // copy the shape: the caller's will change
  Time issued;             // when the warp issued it
  Time departs;            // when it leaves the load/store unit
  Account* account = nullptr;
};

// A part of a box of the TMA, at most kBulkBytes: rows of `row_bytes`, `pitch` apart.
struct BulkAccess {
  std::int64_t array_base = 0, array_bytes = 0;
  std::int64_t address = 0;  // of the first row
  std::int64_t rows = 1, row_bytes = 0, pitch = 0;
  std::uint16_t sm = 0;
  std::uint32_t token = 0;  // the SM's own
  Time issued;              // when the warp issued it
  Time departs;             // when its last line leaves the engine
  Account* account = nullptr;

  [[nodiscard]] std::int64_t bytes() const { return rows * row_bytes; }
};

inline constexpr std::int64_t kBulkBytes = std::int64_t{kMaxSectors} * kSectorBytes;

class System {
 public:
  System(const gpu::GpuSpec& spec, const Clocks& clocks, event::Wheel& wheel, std::uint64_t seed);

  struct LoadOutcome {
    bool complete = false;  // every sector hit L1
    Time ready;             // when the data are there, if complete
  };

  LoadOutcome load(const Access& access);

  // The data leave through the SM's crossbar port; StoreAccepted follows when the L2 has taken
  // them.
  void store(const Access& access);

  // A load that is complete.
  struct Finished {
    std::uint16_t warp = 0;
    std::uint8_t sequence = 0;
    int lines = 0;  // of the instruction
    Time ready;
  };

  // To be called at a LoadReturned event; finished(Finished) for the request itself and for every
  // load that waited for its lines.
  template <class F>
  void returned(std::uint32_t request, F&& finished) {
    finish_trip(request);
    for (const Finished& f : finished_) { finished(f); }
  }

  // To be called at a StoreAccepted event: lines of store credit that are free again.
  [[nodiscard]] int accepted(std::uint32_t request);

  // bulk.cc. Requests the lines from L2; BulkArrived follows when the last one is at the port.
  void fetch(const BulkAccess& access);

  // To be called at a BulkArrived event: the data land in the shared memory of every receiver, at
  // the times written to `landed`. Returns the access' token.
  struct BulkDone {
    std::uint32_t token = 0;
    std::int64_t bytes = 0;
  };

  BulkDone bulk_arrived(std::uint32_t request, std::span<const std::uint16_t> receivers,
                        std::span<Time> landed);

  [[nodiscard]] std::uint32_t token_of(std::uint32_t request) const {
    return bulks_[request].token;
  }

  // Sends the bytes to L2 now; returns when they have left through the SM's port. BulkAccepted
  // follows.
  Time send_bulk(const BulkAccess& access);
  void bulk_accepted(std::uint32_t request);

  // Data of one SM for a peer of its cluster, `sectors` of 32 B, take the SM's port out.
  Time send_to_peer(std::uint16_t sm, Time departs, int sectors) {
    return egress_[sm].reserve(departs, timing_.egress[static_cast<std::size_t>(sectors)]).end;
  }

  [[nodiscard]] Time egress_free_at(std::uint16_t sm) const { return egress_[sm].free_at(); }

  // For the host's cache: what a BulkArrives event will touch.
  void prefetch_bulk(std::uint32_t bulk) const;

  // Whether the event is about a request() of load() or store().
  [[nodiscard]] static bool concerns_request(const event::Event& e) {
    return e.kind <= static_cast<std::uint8_t>(Kind::StoreArrives);
  }

  void handle(const event::Event& e);

  // For the host's cache: the request itself, then (once that is there) what its arrival will
  // touch.
  void prefetch(std::uint32_t request) const { __builtin_prefetch(&requests_[request]); }

  void prefetch_tags(std::uint32_t request) const;

  // The warp that a request will return to.
  [[nodiscard]] std::uint32_t warp_of(std::uint32_t request) const {
    return requests_[request].warp;
  }

  // Sizes SM `sm`'s L1; forgets its contents.
  void resize_l1(std::uint16_t sm, std::int64_t lines) { l1_[sm].resize(lines); }

  [[nodiscard]] L2Directory& l2() { return l2_; }

  [[nodiscard]] const Timing& timing() const { return timing_; }

  [[nodiscard]] std::size_t requests_under_way() const {
    return requests_.size() - free_requests_.size() + bulks_.size() - free_bulks_.size();
  }

 private:
  enum class Kind : std::uint8_t { LoadArrives, StoreArrives, BulkArrives, BulkStoreArrives };
  static constexpr std::uint32_t kNone = 0xffffffffU;

  // One line of the host's cache.
  struct alignas(64) Request {
    const Shape* shape = nullptr;
    std::int64_t base_line = 0;
    Account* account = nullptr;
    Time issued;
    Time first_data;  // at the SM's port; later: the latest of the fills it waited for
    std::uint32_t dependents = kNone;
    std::int32_t own_shape = -1;
    std::int32_t bytes = 0;  // beyond L1
    std::uint16_t warp = 0;
    std::uint16_t sm = 0;
    std::uint16_t waits = 0;  // fills this load still waits for
    std::uint8_t sequence = 0;
    std::uint8_t lines = 0;  // of the instruction
    bool in_l1 = false;      // its fill has lines allocated in L1
    bool far = false;        // goes to the other L2 partition
  };

  struct Dependent {
    std::uint32_t request, next;
  };

  struct Bulk : BulkAccess {
    Time first_data;  // at the SM's port
    std::int64_t sectors = 0;
    bool far = false;
  };

  // One interleave unit of a request at its slice.
  struct Piece {
    std::int64_t chunk = -1;
    int sectors = 0, bursts = 0;  // all, and those that DRAM has to bring
  };

  std::uint32_t new_request(const Access& access, const Shape* shape);
  void release_request(std::uint32_t id);
  std::int32_t keep_shape(const Shape& shape);
  LoadOutcome load_through_l1(const Access& access);
  void send(std::uint32_t id, Time departs);
  void load_arrives(std::uint32_t id);
  void store_arrives(std::uint32_t id);

  struct PieceTimes {
    Time taken, ready;  // the slice turns to it; its data are at the slice
  };

  struct Served {
    Time taken, first, last;
  };

  std::uint32_t new_bulk(const BulkAccess& access);
  void send_to_l2(std::uint32_t id, Kind kind, Time departs);
  void bulk_arrives(std::uint32_t id);
  void bulk_store_arrives(std::uint32_t id);
  Served serve_page(std::int64_t page, std::uint32_t frame, const L2Directory::Sectors& wanted,
                    const L2Directory::Sectors& fetched, result::Counters& counters);
  PieceTimes serve(const Piece& piece, result::Counters& counters);
  Served serve_word(std::int64_t page, std::uint32_t frame, int word, std::uint64_t wanted,
                    std::uint64_t fetched, result::Counters& counters);
  Time write_back(std::int64_t page, const L2Directory::Sectors& dirty, result::Counters& counters);
  Time make_room(std::uint32_t keep, result::Counters& counters);
  void finish_trip(std::uint32_t id);
  void part_arrived(std::uint32_t id, Time ready);
  [[nodiscard]] bool is_far(std::uint16_t sm, std::int64_t line) const;

  struct Place {
    std::size_t channel;
    std::int64_t row;
  };

  [[nodiscard]] Place place(std::int64_t chunk) const;

  event::Wheel& wheel_;
  Timing timing_;
  int chunk_shift_;  // line number >> chunk_shift_ = interleave unit
  Divider channels_divider_, chunks_per_row_, partitions_;
  std::vector<std::uint16_t> slice_of_channel_, gpc_of_sm_, side_of_sm_;
  std::vector<L1> l1_;
  L2Directory l2_;
  std::vector<event::Server> slices_, ingress_, gpc_ingress_, egress_;
  std::vector<HbmChannel> channels_;
  std::vector<Request> requests_;
  std::vector<std::uint32_t> free_requests_;
  std::vector<Dependent> dependents_;
  std::uint32_t free_dependents_ = kNone;
  std::deque<Shape> shapes_;
  std::vector<std::int32_t> free_shapes_;
  std::vector<Finished> finished_;
  std::vector<Bulk> bulks_;
  std::vector<std::uint32_t> free_bulks_;
  // Scratch of load_through_l1.
  std::vector<std::uint32_t> merged_with_;
  Shape rest_;
  std::array<L1::Lookup, kMaxLines> missed_;
};

}  // namespace wavetail::memory
