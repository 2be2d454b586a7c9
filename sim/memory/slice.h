// SPDX-License-Identifier: Apache-2.0
// One slice of L2: it serves requests in order of arrival, and those for the same sectors that meet
// in its queue together. Reads of different SMs that go through memory in step do (Nsight Compute
// names the unit in front of L2 that does this the L2 request coalescer, `lrc`).
#pragma once

#include <array>
#include <cstdint>

#include "event/server.h"

namespace wavetail::memory {

class Slice {
 public:
  using Slot = event::Server::Slot;

  // A read of several pieces.
  Slot reserve(unit::Time at, unit::Duration amount) { return server_.reserve(at, amount); }

  // A store or an atomic: reads behind it do not join those in front of it.
  Slot change(unit::Time at, unit::Duration amount) {
    for (Waiting& w : waiting_) { w.unit = -1; }
    return server_.reserve(at, amount);
  }

  // A read of `sectors` (bits) of the unit that begins with line `unit`, which takes `amount`. If a
  // read that brings them waits in the queue, and its turn is yet to come, both are one.
  Slot read(unit::Time at, std::int64_t unit, std::uint64_t sectors, unit::Duration amount) {
    if (server_.free_at() <= at) { return server_.reserve(at, amount); }
    for (const Waiting& w : waiting_) {
      if (w.unit == unit && (sectors & ~w.sectors) == 0 && w.slot.start > at) { return w.slot; }
    }
    const Slot slot = server_.reserve(at, amount);
    waiting_[next_] = {unit, sectors, slot};
    next_ = (next_ + 1) % waiting_.size();
    return slot;
  }

 private:
  struct Waiting {
    std::int64_t unit = -1;
    std::uint64_t sectors = 0;
    Slot slot{};
  };

  event::Server server_;
  std::array<Waiting, 4> waiting_;
  std::size_t next_ = 0;
};

}  // namespace wavetail::memory
