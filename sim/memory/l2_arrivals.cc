// SPDX-License-Identifier: Apache-2.0
// What happens when a request reaches the L2. Its sectors are handled page by page as bitmaps, and
// within a page interleave unit by interleave unit: each takes its slice and, for what is missing,
// its channel.
#include <algorithm>
#include <bit>

#include "memory/system.h"

namespace wavetail::memory {

namespace {

constexpr int kSectorsPerWord = 64;
constexpr int kSectorsPerFill = 4 * L2Directory::kLinesPerFill;
constexpr int kLargePageShift = 21 - 7;  // 2 MiB in lines

// One bit (the lower) per pair of sectors that has any bit set: the 64 B bursts of DRAM.
std::uint64_t bursts(std::uint64_t sectors) {
  return (sectors | sectors >> 1) & 0x5555555555555555ULL;
}

// All sectors of those bursts.
std::uint64_t whole_bursts(std::uint64_t sectors) { return bursts(sectors) * 3; }

std::int64_t bytes_of(std::uint64_t sectors) { return std::popcount(sectors) * kSectorBytes; }

// Calls f(page, sectors touched, sectors covered completely) for each page of the shape, in the
// shape's order; lines of one page that do not follow each other come as several calls.
template <class F>
void for_each_page(const Shape& shape, std::int64_t base_line, F&& f) {
  const std::int64_t start = base_line + shape.delta[0];
  if (shape.dense && (start & 15) + shape.lines <= 16) {  // within one word of the bitmap
    Sectors all{};
    const std::uint64_t run = shape.lines == 16 ? ~0ULL : (1ULL << (4 * shape.lines)) - 1;
    all[static_cast<std::size_t>((start & 31) >> 4)] = run << (4 * (start & 15));
    f(start / kLinesPerPage, all, all);
    return;
  }
  int i = 0;
  while (i < shape.lines) {
    const std::int64_t page = (base_line + shape.delta[static_cast<std::size_t>(i)]) /
                              kLinesPerPage;
    Sectors touched{};
    Sectors covered{};
    for (; i < shape.lines; ++i) {
      const auto n = static_cast<std::size_t>(i);
      const std::int64_t line = base_line + shape.delta[n];
      if (line / kLinesPerPage != page) { break; }
      const auto word = static_cast<std::size_t>((line & 31) >> 4);
      const auto shift = static_cast<int>(line & 15) * 4;
      touched[word] |= static_cast<std::uint64_t>(shape.mask[n]) << shift;
      covered[word] |= static_cast<std::uint64_t>(shape.covered[n]) << shift;
    }
    f(page, touched, covered);
  }
}

}  // namespace

// The interleave units of each 2 MiB page are dealt out to the channels evenly, in an order that is
// scrambled anew for every page: no stride stays on a few channels, and units that are asked for
// together meet in some by chance. Units as far apart as there are channels share a row.
System::Place System::place(std::int64_t chunk) const {
  const auto n = static_cast<std::uint64_t>(chunk);
  const int bits = kLargePageShift - chunk_shift_;
  const std::uint64_t mask = (1ULL << bits) - 1, key = mix(n >> bits);
  std::uint64_t within = (n ^ key) & mask;
  for (int round = 0; round < 2; ++round) {  // one-to-one
    within = within * 0x9e3779b1U & mask;
    within ^= within >> (bits + 1) / 2;
  }
  return {static_cast<std::int64_t>(chunks_per_row_.quotient(channels_divider_.quotient(n))),
          channels_divider_.remainder(within + (key >> 40))};
}

// Serves the sectors `wanted` of a page from one partition; those in `fetched` come from DRAM. Each
// interleave unit takes its slice (neighbours in one slice together), then, for what is missing,
// its channel; it is noted when fills will be there.
void System::serve(Time at, const Held& held, const Sectors& wanted, const Sectors& fetched,
                   result::Counters& counters, Served& served) {
  L2Directory& l2 = l2_.partition(held.side);
  const int width = std::min(kSectorsPerWord, 4 << chunk_shift_);
  const std::uint64_t unit = width == kSectorsPerWord ? ~0ULL : (1ULL << width) - 1;
  const std::uint16_t* slice_of_channel = &slice_of_channel_[held.side * channels_.size()];
  std::int64_t known = INT64_MIN;  // the chunk whose place is known
  Place where{};
  std::size_t slice = SIZE_MAX;
  int waiting = 0;  // sectors for `slice`
  const auto turn = [&] {
    const auto slot = slices_[slice].reserve(at, timing_.slice[static_cast<std::size_t>(waiting)]);
    served.taken = std::max(served.taken, slot.start);
    waiting = 0;
    return slot.end;
  };
  const auto there = [&](Time ready) {
    served.first = std::min(served.first, ready);
    served.last = std::max(served.last, ready);
  };
  for (int word = 0; word < 2; ++word) {
    const auto w = static_cast<std::size_t>(word);
    for (std::uint64_t rest = wanted[w]; rest != 0;) {
      const int low = std::countr_zero(rest) & ~(width - 1);
      const std::uint64_t sectors = (wanted[w] >> low) & unit;
      const std::uint64_t missing = (fetched[w] >> low) & unit;
      rest &= ~(unit << low);
      const std::int64_t chunk = (held.page * kLinesPerPage + word * 16 + low / 4) >> chunk_shift_;
      if (chunk != known) { where = place(chunk); }
      known = chunk;
      const std::size_t here = slice_of_channel[where.channel];
      if (waiting != 0 && (here != slice || missing != 0)) { there(turn()); }
      slice = here;
      waiting += std::popcount(sectors);
      Time ready;
      if (missing != 0) {
        const int count = std::popcount(bursts(missing));
        counters.dram_read_bytes += count * 2 * kSectorBytes;
        ready = channels_[where.channel].read(timing_.channel, turn() + timing_.to_dram, where.row,
                                              count) +
                timing_.from_dram;
      }
      for (int fill = low; fill < low + width; fill += kSectorsPerFill) {
        const int group = (word * kSectorsPerWord + fill) / kSectorsPerFill;
        if (missing != 0) { l2.set_ready(held.frame, group, ready); }
        if ((sectors & ~missing) != 0) { ready = std::max(ready, l2.ready(held.frame, group)); }
      }
      if (missing != 0) {
        there(ready);
      } else {
        served.last = std::max(served.last, ready);
      }
    }
  }
  if (waiting != 0) { there(turn()); }
}

// A read of a page in its home partition, from `at` on.
void System::read_home(Time at, const Held& held, const Sectors& touched, result::Counters& c,
                       Served& served) {
  L2Directory& l2 = l2_.partition(held.side);
  Sectors fetched{};
  for (std::size_t w = 0; w < 2; ++w) {
    const std::uint64_t valid = l2.valid(held.frame)[w];
    fetched[w] = whole_bursts(touched[w] & ~valid);
    c.l2_hit_sectors += std::popcount(touched[w] & valid);
    l2.touch(held.frame, static_cast<int>(w), touched[w]);
    if (fetched[w] == 0) { continue; }
    c.l2_fill_bytes += bytes_of(fetched[w]);
    l2.install(held.frame, static_cast<int>(w), fetched[w], 0);
  }
  serve(at, held, touched, fetched, c, served);
  served.last = std::max(served.last, make_room(at, held, c));
}

// A read by an SM beside partition `reader`. The request is at that partition at `at`, or, if it
// was known to go further, at the page's home. What the reader's side has no copy of comes from
// home and leaves a copy. Times are those at the reader's partition.
void System::read(Time at, bool at_home, std::uint64_t reader, std::int64_t page,
                  const Sectors& touched, result::Counters& c, Served& served) {
  const std::uint64_t home = l2_.home_of(page);
  if (home == reader) {
    read_home(at, hold(page, home), touched, c, served);
    return;
  }
  const Held copy = hold(page, reader);
  L2Directory& near = l2_.partition(reader);
  Sectors here{}, beyond{};
  for (std::size_t w = 0; w < 2; ++w) {
    here[w] = touched[w] & near.valid(copy.frame)[w];
    beyond[w] = touched[w] & ~here[w];
    c.l2_hit_sectors += std::popcount(here[w]);
    near.touch(copy.frame, static_cast<int>(w), here[w]);
  }
  if ((here[0] | here[1]) != 0) { serve(at, copy, here, {}, c, served); }
  if ((beyond[0] | beyond[1]) == 0) { return; }
  Served there;
  read_home(at_home ? at : at + timing_.far_extra, hold(page, home), beyond, c, there);
  served.add(there, timing_.far_extra);
  for (int word = 0; word < 2; ++word) {
    near.install(copy.frame, word, beyond[static_cast<std::size_t>(word)], 0);
  }
  near.set_ready(copy.frame, beyond, there.last + timing_.far_extra);
  static_cast<void>(make_room(at, copy, c));  // copies are clean
}

// A store to a page, at its home. Full sectors replace what was there; a sector that is only partly
// written and not held is fetched, which nobody waits for but which costs the channel its burst.
// Copies elsewhere are gone.
void System::write(Time at, std::int64_t page, const Sectors& touched, const Sectors& covered,
                   result::Counters& c, Served& served) {
  const std::uint64_t home = l2_.home_of(page);
  const Held held = hold(page, home);
  L2Directory& l2 = l2_.partition(home);
  Sectors fetched{};
  for (std::size_t w = 0; w < 2; ++w) {
    if (touched[w] == 0) { continue; }
    const std::uint64_t valid = l2.valid(held.frame)[w];
    fetched[w] = whole_bursts(touched[w] & ~covered[w] & ~valid);
    c.l2_hit_sectors += std::popcount(touched[w] & valid);
    c.l2_fill_bytes += bytes_of(fetched[w]);
    l2.install(held.frame, static_cast<int>(w), fetched[w] | touched[w], touched[w]);
  }
  for (std::uint64_t side = 0; side < l2_.partitions(); ++side) {
    if (side != home) { l2_.partition(side).invalidate(page, touched); }
  }
  serve(at, held, touched, fetched, c, served);
  served.taken = std::max(served.taken, make_room(at, held, c));
}

std::span<const System::Finished> System::loads_arrive(std::uint32_t parcel) {
  finished_.clear();
  const std::uint32_t id = parcel & kIdMask;
  const Request& r = requests_[id];
  std::uint32_t which = parcel >> kIdBits;
  const bool at_home = wheel_.now() > arrival(r, std::countr_zero(which), false);
  for (; which != 0; which &= which - 1) { load_arrives(id, r, std::countr_zero(which), at_home); }
  return finished_;
}

// Access n of a load request reaches a partition.
void System::load_arrives(std::uint32_t id, const Request& r, int n, bool at_home) {
  result::Counters& c = *r.account->counters;
  const Time at = arrival(r, n, at_home);
  c.l2_read_sectors += r.shape->sectors;
  Served served;
  for_each_page(*r.shape, r.base_line + n * r.line_stride,
                [&](std::int64_t page, const Sectors& touched, const Sectors&) {
                  read(at, at_home, side_of_sm_[r.sm], page, touched, c, served);
                });
  const Time done = way_back(r, n, served.first + timing_.from_l2, served.last + timing_.from_l2);
  if (r.has_extra) {
    resolve(id, done);
    return;
  }
  finished_.push_back(
      {r.warp, static_cast<std::uint8_t>(r.sequence + (r.steps ? n : 0)), r.lines, done});
  if (--requests_[id].waits == 0) { release_request(id); }
}

std::span<const System::Accepted> System::stores_arrive(std::uint32_t parcel) {
  accepted_.clear();
  const std::uint32_t id = parcel & kIdMask;
  Request& r = requests_[id];
  std::uint32_t which = parcel >> kIdBits;
  const bool far = wheel_.now() > arrival(r, std::countr_zero(which), false);
  for (; which != 0; which &= which - 1) {
    const Time taken = store_arrives(r, std::countr_zero(which), far);
    accepted_.push_back({r.lines, taken});
    Stores& stores = *r.account->stores;
    --stores.under_way;
    stores.taken = std::max(stores.taken, taken);
    --r.waits;
  }
  if (r.waits == 0) { release_request(id); }
  return accepted_;
}

// The store is accepted when every slice has turned to its piece and L2 has room.
Time System::store_arrives(const Request& r, int n, bool far) {
  result::Counters& c = *r.account->counters;
  const Time at = arrival(r, n, far);
  c.l2_write_sectors += r.shape->sectors;
  Served served;
  served.taken = at;
  for_each_page(*r.shape, r.base_line + n * r.line_stride,
                [&](std::int64_t page, const Sectors& touched, const Sectors& covered) {
                  write(at, page, touched, covered, c, served);
                });
  return served.taken;
}

Time System::make_room(Time at, const Held& keep, result::Counters& counters) {
  Time accepted{0};
  L2Directory& l2 = l2_.partition(keep.side);
  if (l2.overfull(keep.frame)) {
    l2.shrink(keep.frame, [&](std::int64_t page, const Sectors& dirty) {
      accepted = std::max(accepted, write_back(at, page, dirty, counters));
    });
  }
  return accepted;
}

// The dirty bursts of an evicted page join the write queues of their channels. Returns when the
// last queue has taken its share.
Time System::write_back(Time at, std::int64_t page, const Sectors& dirty,
                        result::Counters& counters) {
  Time accepted{0};
  const int width = std::min(kSectorsPerWord, 4 << chunk_shift_);
  const std::uint64_t unit = width == kSectorsPerWord ? ~0ULL : (1ULL << width) - 1;
  for (int word = 0; word < 2; ++word) {
    const std::uint64_t sectors = dirty[static_cast<std::size_t>(word)];
    counters.l2_writeback_bytes += bytes_of(sectors);
    counters.dram_write_bytes += bytes_of(sectors);
    for (std::uint64_t rest = sectors; rest != 0;) {
      const int low = std::countr_zero(rest) & ~(width - 1);
      rest &= ~(unit << low);
      const std::int64_t line = page * kLinesPerPage + word * 16 + low / 4;
      const Place where = place(line >> chunk_shift_);
      const int count = std::popcount(bursts((sectors >> low) & unit));
      accepted = std::max(accepted,
                          channels_[where.channel].write(timing_.channel, at, where.row, count));
    }
  }
  return accepted;
}

}  // namespace wavetail::memory
