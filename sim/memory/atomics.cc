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
  count_load(c, shape, 1);
  c.egress_bytes += shape.sectors * kSectorBytes;
  access.account->in_flight.depart(access.issued, shape.sectors * kSectorBytes);
  const auto out = egress_[access.sm].reserve(
      access.departs, timing_.egress[static_cast<std::size_t>(shape.sectors)]);
  send(new_request(access), out.end + timing_.to_l2, 1, SmNotice::LoadsArrive);
}

// Calls f(line, its sectors among the touched ones, how long each takes its slice) for every line
// of the atomic that has such sectors in the page: as long as the operations on the line's busiest
// address take.
template <class F>
void System::for_each_line(const Request& r, std::int64_t page, const Sectors& touched,
                           F&& f) const {
  for (std::size_t i = 0; i < static_cast<std::size_t>(r.shape->lines); ++i) {
    const std::int64_t line = r.base_line + r.shape->delta[i];
    if (line / kLinesPerPage != page) { continue; }
    const auto w = static_cast<std::size_t>((line & 31) >> 4);
    Sectors wanted{};
    wanted[w] = touched[w] & 15ULL << (line & 15) * 4;
    if (wanted[w] != 0) { f(line, wanted, timing_.atomic * r.shape->operations[i]); }
  }
}

// An atomic on a page, at its home: what is not held is fetched, each sector takes its slice as
// long as its share of the operations, and is dirty.
void System::update(Time at, const Request& r, std::int64_t page, const Sectors& touched,
                    Served& served) {
  if (l2_.has_memory_side()) {
    update_memory_side(at, r, page, touched, served);
    return;
  }
  result::Counters& c = *r.account->counters;
  const Held held = hold(page, l2_.home_of(page));
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
  for_each_line(r, page, touched, [&](std::int64_t, const Sectors& wanted, Duration each) {
    serve(at, held, wanted, {fetched[0] & wanted[0], fetched[1] & wanted[1]},
          {.joins = false, .sector = each}, c, served);
  });
  const Time room = make_room(at, held, c);
  served.taken = std::max(served.taken, room);
  served.last = std::max(served.last, room);
}

// Private L2s cannot do it, for the same data may be in several of them: the parts of the
// memory-side cache in front of the channels do. What they change stays there.
void System::update_memory_side(Time at, const Request& r, std::int64_t page,
                                const Sectors& touched, Served& served) {
  result::Counters& c = *r.account->counters;
  for_each_line(r, page, touched, [&](std::int64_t line, const Sectors& wanted, Duration each) {
    const std::size_t w = wanted[0] != 0 ? 0 : 1;
    const Piece piece{page, w, wanted[w], place(line >> chunk_shift_)};
    const Time there = read_memory_side(at, piece, c);
    const Time done = channels_[piece.place.channel].read_cached(
        timing_.channel, there - timing_.from_memory_side, each * std::popcount(piece.sectors));
    served.taken = std::max(served.taken, done);
    served.first = std::min(served.first, done + timing_.from_memory_side);
    served.last = std::max(served.last, done + timing_.from_memory_side);
  });
}

// The part of an atomic that lies in one page, for the SM that waits for the old values; `at` and
// the times are those of read().
void System::update_for(const Request& r, Time at, bool at_home, std::int64_t page,
                        const Sectors& touched, Served& served) {
  const std::uint64_t home = l2_.home_for(side_of_sm_[r.sm], page);
  const Duration further = home != side_of_sm_[r.sm] ? timing_.far_extra : Duration{0};
  Served there;
  update(at_home ? at : at + further, r, page, touched, there);
  served.add(there, further);
}

}  // namespace wavetail::memory
