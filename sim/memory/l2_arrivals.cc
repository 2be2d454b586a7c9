// SPDX-License-Identifier: Apache-2.0
// What happens when a request reaches the L2. Its sectors are handled page by page as bitmaps, and
// within a page interleave unit by interleave unit: each takes its slice and, for what is missing,
// its channel.
#include <algorithm>
#include <bit>

#include "memory/bursts.h"
#include "memory/system.h"

namespace wavetail::memory {

namespace {

constexpr int kSectorsPerWord = 64;
constexpr int kSectorsPerFill = 4 * L2Directory::kLinesPerFill;
constexpr int kLinesPerUnit = 2;  // that one slice of a private L2 has
constexpr std::uint64_t kChannelKey = 0x9e3779b97f4a7c15ULL;
constexpr int kLargePageShift = 21 - 7;  // 2 MiB in lines

// Calls f(page, sectors touched) for each page of the shape, in the shape's order; lines of one
// page that do not follow each other come as several calls.
template <class F>
void for_each_page(const Shape& shape, std::int64_t base_line, F&& f) {
  const std::int64_t start = base_line + shape.delta[0];
  if (shape.dense && (start & 15) + shape.lines <= 16) {  // within one word of the bitmap
    Sectors all{};
    const std::uint64_t run = shape.lines == 16 ? ~0ULL : (1ULL << (4 * shape.lines)) - 1;
    all[static_cast<std::size_t>((start & 31) >> 4)] = run << (4 * (start & 15));
    f(start / kLinesPerPage, all);
    return;
  }
  int i = 0;
  while (i < shape.lines) {
    const std::int64_t page = (base_line + shape.delta[static_cast<std::size_t>(i)]) /
                              kLinesPerPage;
    Sectors touched{};
    for (; i < shape.lines; ++i) {
      const auto n = static_cast<std::size_t>(i);
      const std::int64_t line = base_line + shape.delta[n];
      if (line / kLinesPerPage != page) { break; }
      const auto word = static_cast<std::size_t>((line & 31) >> 4);
      const auto shift = static_cast<int>(line & 15) * 4;
      touched[word] |= static_cast<std::uint64_t>(shape.mask[n]) << shift;
    }
    f(page, touched);
  }
}

// Of an interleave unit's sectors, `width` from the page's `first` on, some are `fetched` and will
// be there at `ready`, some are `held`, at the latest when their own fills are. Returns when all
// are.
Time note_fills(L2Directory& l2, std::uint32_t frame, int first, int width, bool fetched, bool held,
                Time ready) {
  for (int sector = first; sector < first + width; sector += kSectorsPerFill) {
    const int group = sector / kSectorsPerFill;
    if (fetched) { l2.set_ready(frame, group, ready); }
    if (held) { ready = std::max(ready, l2.ready(frame, group)); }
  }
  return ready;
}

}  // namespace

// The interleave units of each 2 MiB page are dealt out to the channels evenly, in an order that is
// scrambled anew for every page: no stride stays on a few channels, and units that are asked for
// together meet in some by chance. Units as far apart as there are channels share a row. Behind a
// memory-side cache every unit has a channel by chance alone: the streams of an MI300X lose
// bandwidth as they do where units meet that often (RRZE-HPC/gpu-benches).
System::Place System::place(std::int64_t chunk) const {
  const auto n = static_cast<std::uint64_t>(chunk);
  if (l2_.has_memory_side()) {
    return {static_cast<std::int64_t>(chunks_per_row_.quotient(channels_divider_.quotient(n))),
            channels_divider_.remainder(mix(n + kChannelKey) >> 24)};
  }
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

// The slice of partition `side` that has a line. It leads to the line's channel, or, in a private
// L2, the units of 256 B go round its slices, each round from a hashed one on.
std::size_t System::slice_of(std::uint64_t side, std::int64_t line, std::uint64_t channel) const {
  if (!l2_.has_memory_side()) { return slice_of_channel_[side * channels_.size() + channel]; }
  const auto unit = static_cast<std::uint64_t>(line) / kLinesPerUnit;
  const std::uint64_t within = slices_divider_.remainder(
      unit + (mix(slices_divider_.quotient(unit)) >> 24));
  return slice_of_channel_[side * channels_.size()] + within;
}

// Serves the sectors `wanted` of a page from one partition; those in `fetched` come from DRAM. Each
// interleave unit takes its slice (neighbours in one slice together), then, for what is missing,
// its channel; it is noted when fills will be there.
void System::serve(Time at, const Held& held, const Sectors& wanted, const Sectors& fetched,
                   const Use& use, result::Counters& counters, Served& served) {
  L2Directory& l2 = l2_.partition(held.side);
  const int most = l2_.has_memory_side() ? 4 * kLinesPerUnit : kSectorsPerWord;
  const int width = std::min(most, 4 << chunk_shift_);
  const std::uint64_t unit = width == kSectorsPerWord ? ~0ULL : (1ULL << width) - 1;
  std::int64_t known = INT64_MIN,
               first = 0;  // the chunk whose place is known; a line, see `single`
  Place where{};
  std::size_t slice = 0;
  int waiting = 0, asked = 0;  // sectors for `slice`: in whole halves of lines, and wanted ones
  std::uint64_t single = 0;    // which of the unit that begins with line `first`, if all are of it
  const auto turn = [&] {
    const Duration service = std::max(timing_.slice[static_cast<std::size_t>(waiting)],
                                      use.sector * asked);
    Slice& s = slices_[slice];
    const auto slot = !use.joins    ? s.change(at, service)
                      : single != 0 ? s.read(at, first, single, service)
                                    : s.reserve(at, service);
    served.taken = std::max(served.taken, slot.start);
    waiting = asked = 0;
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
      const std::int64_t line = held.page * kLinesPerPage + word * 16 + low / 4;
      const std::int64_t chunk = line >> chunk_shift_;
      const Place next = chunk != known ? place(chunk) : where;
      const std::size_t here = slice_of(held.side, line, next.channel);
      if (waiting != 0 && (here != slice || missing != 0)) { there(turn()); }
      single = waiting == 0 ? sectors : 0;
      first = line;
      where = next;
      known = chunk;
      slice = here;
      asked += std::popcount(sectors);
      waiting += kSectorsPerHalf * std::popcount(bursts(sectors));
      Time ready;
      if (missing != 0) {
        ready = fetch_piece(turn(), {held.page, w, missing << low, where, served.apart}, counters);
      }
      ready = note_fills(l2, held.frame, word * kSectorsPerWord + low, width, missing != 0,
                         (sectors & ~missing) != 0, ready);
      if (missing != 0) { served.first = std::min(served.first, ready); }
      served.last = std::max(served.last, ready);
    }
  }
  if (waiting != 0) { there(turn()); }
}

// What L2 lacks of one interleave unit: asked for by its slice at `at`; returns when the slice has
// it.
Time System::fetch_piece(Time at, const Piece& piece, result::Counters& counters) {
  if (l2_.has_memory_side()) { return read_memory_side(at, piece, counters); }
  const int count = std::popcount(bursts(piece.sectors));
  counters.dram_read_bytes += count * 2 * kSectorBytes;
  if (piece.apart) {
    return channels_[piece.place.channel].read_apart(timing_.channel, at + timing_.to_dram, count) +
           timing_.from_dram;
  }
  return channels_[piece.place.channel].read(timing_.channel, at + timing_.to_dram, piece.place.row,
                                             count) +
         timing_.from_dram;
}

// A read of a page in its home partition, from `at` on.
void System::read_home(Time at, const Held& held, const Sectors& touched, result::Counters& c,
                       Served& served) {
  L2Directory& l2 = l2_.partition(held.side);
  Sectors fetched{};
  for (std::size_t w = 0; w < 2; ++w) {
    const std::uint64_t known = touched[w] & l2.valid(held.frame)[w];
    const std::uint64_t valid = known & ~partial_.complete(held.page, w, known);
    fetched[w] = whole_bursts(touched[w] & ~valid);
    c.l2_hit_sectors += std::popcount(touched[w] & valid);
    l2.touch(held.frame, static_cast<int>(w), touched[w]);
    if (fetched[w] == 0) { continue; }
    c.l2_fill_bytes += bytes_of(fetched[w]);
    l2.install(held.frame, static_cast<int>(w), fetched[w], 0);
  }
  serve(at, held, touched, fetched, {.joins = true, .sector = {}}, c, served);
  served.last = std::max(served.last, make_room(at, held, c));
}

// A read by an SM beside partition `reader`. The request is at that partition at `at`, or, if it
// was known to go further, at the page's home. What the reader's side has no copy of comes from
// home and leaves a copy. Times are those at the reader's partition.
void System::read(Time at, bool at_home, std::uint64_t reader, std::int64_t page,
                  const Sectors& touched, result::Counters& c, Served& served) {
  const std::uint64_t home = l2_.home_for(reader, page);
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
  if ((here[0] | here[1]) != 0) {
    serve(at, copy, here, {}, {.joins = true, .sector = {}}, c, served);
  }
  if ((beyond[0] | beyond[1]) == 0) { return; }
  Served there;
  there.apart = served.apart;
  read_home(at_home ? at : at + timing_.far_extra, hold(page, home), beyond, c, there);
  there.last = std::max(there.last, cross(home, there.first, beyond));
  served.add(there, timing_.far_extra);
  for (int word = 0; word < 2; ++word) {
    near.install(copy.frame, word, beyond[static_cast<std::size_t>(word)], 0);
  }
  near.set_ready(copy.frame, beyond, there.last + timing_.far_extra);
  static_cast<void>(make_room(at, copy, c));  // copies are clean
}

// Data of a page leave partition `from` for another die from `at` on; returns when they are there,
// the link's own latency apart, which is part of the way between partitions.
Time System::cross(std::uint64_t from, Time at, const Sectors& sectors) {
  if (link_.empty()) { return at; }
  const int n = std::popcount(sectors[0]) + std::popcount(sectors[1]);
  return link_[from].reserve(at, timing_.link[static_cast<std::size_t>(n)]);
}

// A store to a page, at its home. Sectors of `partly` that are not held are fetched, which nobody
// waits for but which costs the channel its burst; the others replace what was there, or their
// missing part is known to `partial_`. Copies elsewhere are gone; those in private L2s stay.
void System::write(Time at, std::uint64_t writer, std::int64_t page, const Sectors& touched,
                   const Sectors& partly, result::Counters& c, Served& served) {
  const std::uint64_t home = l2_.home_for(writer, page);
  const Held held = hold(page, home);
  L2Directory& l2 = l2_.partition(home);
  Sectors fetched{};
  for (std::size_t w = 0; w < 2; ++w) {
    if (touched[w] == 0) { continue; }
    const std::uint64_t valid = l2.valid(held.frame)[w];
    fetched[w] = whole_bursts(partly[w] & ~valid);
    c.l2_hit_sectors += std::popcount(touched[w] & valid);
    c.l2_fill_bytes += bytes_of(fetched[w]);
    l2.install(held.frame, static_cast<int>(w), fetched[w] | touched[w], touched[w]);
  }
  forget_copies(home, page, touched);
  if (writer != home) { at = std::max(at, cross(writer, at, touched)); }
  serve(at, held, touched, fetched, {}, c, served);
  served.taken = std::max(served.taken, make_room(at, held, c));
}

// Copies of a page's sectors outside its home are not true any more.
void System::forget_copies(std::uint64_t home, std::int64_t page, const Sectors& sectors) {
  if (l2_.has_memory_side()) { return; }
  for (std::uint64_t side = 0; side < l2_.partitions(); ++side) {
    if (side != home) { l2_.partition(side).invalidate(page, sectors); }
  }
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
                [&](std::int64_t page, const Sectors& touched) {
                  if (r.atomic) {
                    update_for(r, at, at_home, page, touched, served);
                  } else {
                    read(at, at_home, side_of_sm_[r.sm], page, touched, c, served);
                  }
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
    accepted_.push_back({r.lines, taken, r.warp, taken + timing_.acknowledgement});
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
  const std::uint64_t writer = side_of_sm_[r.sm];
  const std::int64_t base_line = r.base_line + n * r.line_stride;
  const bool words = !r.atomic && (r.shape->partial || !partial_.empty());
  if (words) { note_words(writer, *r.shape, base_line); }
  for_each_page(*r.shape, base_line, [&](std::int64_t page, const Sectors& touched) {
    if (r.atomic) {
      update(at, r, page, touched, served);
    } else {
      write(at, writer, page, touched, {}, c, served);
    }
  });
  return served.taken;
}

// Which words a store brings of each sector, before it does.
void System::note_words(std::uint64_t writer, const Shape& shape, std::int64_t base_line) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.lines); ++i) {
    const std::int64_t line = base_line + shape.delta[i], page = line / kLinesPerPage;
    const Sectors held = l2_.partition(l2_.home_for(writer, page)).held(page);
    for (unsigned s = 0; s < 4; ++s) {
      if ((shape.mask[i] >> s & 1) == 0) { continue; }
      const auto bit = static_cast<std::size_t>(line % kLinesPerPage * 4 + s);
      partial_.write(line * 4 + s, static_cast<std::uint8_t>(shape.words[i] >> (8 * s)),
                     (held[bit / 64] >> (bit % 64) & 1) != 0);
    }
  }
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

// The dirty bursts of an evicted page join the write queues of their channels; sectors that are not
// complete are filled before. A memory-side cache keeps a copy. Returns when the last queue has
// taken its share.
Time System::write_back(Time at, std::int64_t page, const Sectors& dirty,
                        result::Counters& counters) {
  Time accepted{0};
  if (l2_.has_memory_side()) { copy_to_memory_side(page, dirty); }
  const int width = std::min(kSectorsPerWord, 4 << chunk_shift_);
  const std::uint64_t unit = width == kSectorsPerWord ? ~0ULL : (1ULL << width) - 1;
  for (std::size_t w = 0; w < 2; ++w) {
    const std::uint64_t sectors = dirty[w];
    counters.l2_writeback_bytes += bytes_of(sectors);
    counters.dram_write_bytes += bytes_of(sectors);
    const std::uint64_t fills = whole_bursts(partial_.complete(page, w, sectors));
    counters.l2_fill_bytes += bytes_of(fills);
    for (std::uint64_t rest = sectors; rest != 0;) {
      const int low = std::countr_zero(rest) & ~(width - 1);
      rest &= ~(unit << low);
      const std::int64_t line = page * kLinesPerPage + static_cast<std::int64_t>(w) * 16 + low / 4;
      const Place where = place(line >> chunk_shift_);
      HbmChannel& channel = channels_[where.channel];
      if (const std::uint64_t missing = (fills >> low) & unit; missing != 0) {
        static_cast<void>(
            fetch_piece(at - timing_.to_dram, {page, w, missing << low, where}, counters));
      }
      const int count = std::popcount(bursts((sectors >> low) & unit));
      accepted = std::max(accepted, channel.write(timing_.channel, at, where.row, count));
    }
  }
  return accepted;
}

}  // namespace wavetail::memory
