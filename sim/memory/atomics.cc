// SPDX-License-Identifier: Apache-2.0
// Atomics: read, modified and written back in the slice of L2 where their sectors are at home. What
// returns nothing leaves the SM as a store does; what returns the old values waits for them as for
// a load that skips L1.
#include <bit>

#include "memory/bursts.h"
#include "memory/system.h"

namespace wavetail::memory {

void System::atomic(const Access& access) {
  const Shape& shape = *access.shape;
  result::Counters& c = *access.account->counters;
  ++c.load_requests;
  c.load_sectors += shape.sectors;
  c.useful_load_bytes += shape.useful_bytes;
  c.distinct_bytes += shape.distinct_bytes;
  c.egress_bytes += shape.sectors * kSectorBytes;
  access.account->in_flight.depart(access.issued, shape.sectors * kSectorBytes);
  const auto out = egress_[access.sm].reserve(
      access.departs, timing_.egress[static_cast<std::size_t>(shape.sectors)]);
  send(new_request(access), out.end + timing_.to_l2, 1, SmNotice::LoadsArrive);
}

// An atomic on a page, at its home: what is not held is fetched, each sector takes its slice as
// long as the operations that follow each other on one address, and is dirty.
void System::update(Time at, const Held& held, const Sectors& touched, int operations,
                    result::Counters& c, Served& served) {
  L2Directory& l2 = l2_.partition(held.side);
  Sectors fetched{};
  for (std::size_t w = 0; w < 2; ++w) {
    if (touched[w] == 0) { continue; }
    const std::uint64_t known = touched[w] & l2.valid(held.frame)[w];
    const std::uint64_t valid = known & ~partial_.complete(held.page, w, known);
    fetched[w] = whole_bursts(touched[w] & ~valid);
    c.l2_hit_sectors += std::popcount(valid);
    c.l2_fill_bytes += bytes_of(fetched[w]);
    l2.install(held.frame, static_cast<int>(w), fetched[w] | touched[w], touched[w]);
  }
  forget_copies(held.side, held.page, touched);
  serve(at, held, touched, fetched, {.joins = false, .sector = timing_.atomic * operations}, c,
        served);
  const Time room = make_room(at, held, c);
  served.taken = std::max(served.taken, room);
  served.last = std::max(served.last, room);
}

// The part of an atomic that lies in one page, for the SM that waits for the old values; `at` and
// the times are those of read().
void System::update_for(const Request& r, Time at, bool at_home, std::int64_t page,
                        const Sectors& touched, Served& served) {
  const std::uint64_t home = l2_.home_for(side_of_sm_[r.sm], page);
  const Duration further = home != side_of_sm_[r.sm] ? timing_.far_extra : Duration{0};
  Served there;
  update(at_home ? at : at + further, hold(page, home), touched, r.operations, *r.account->counters,
         there);
  served.add(there, further);
}

}  // namespace wavetail::memory
