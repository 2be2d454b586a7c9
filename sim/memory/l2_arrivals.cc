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
    L2Directory::Sectors all{};
    const std::uint64_t run = shape.lines == 16 ? ~0ULL : (1ULL << (4 * shape.lines)) - 1;
    all[static_cast<std::size_t>((start & 31) >> 4)] = run << (4 * (start & 15));
    f(start / kLinesPerPage, all, all);
    return;
  }
  int i = 0;
  while (i < shape.lines) {
    const std::int64_t page = (base_line + shape.delta[static_cast<std::size_t>(i)]) /
                              kLinesPerPage;
    L2Directory::Sectors touched{};
    L2Directory::Sectors covered{};
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

// Consecutive interleave units go round all channels; each round starts at a hashed channel, so
// that no power-of-two stride stays on a few of them, and any number of channels is filled evenly.
System::Place System::place(std::int64_t chunk) const {
  const auto n = static_cast<std::uint64_t>(chunk);
  const std::uint64_t round = channels_divider_.quotient(n);
  const std::uint64_t within = n - round * channels_divider_.divisor();
  const std::uint64_t start = channels_divider_.remainder(mix(round) >> 24);
  std::uint64_t channel = within + start;
  channel -= channel >= channels_divider_.divisor() ? channels_divider_.divisor() : 0;
  return {round, within, channel};
}

// The place of `chunk`, which follows the one at p.
System::Place System::after(const Place& p, std::int64_t chunk) const {
  if (p.within + 1 == channels_divider_.divisor()) { return place(chunk); }
  const std::uint64_t channel = p.channel + 1 == channels_divider_.divisor() ? 0 : p.channel + 1;
  return {p.round, p.within + 1, channel};
}

// Serves the sectors `wanted` of one word of a page's bitmap; those in `fetched` come from DRAM.
// Each interleave unit takes its slice, then, for what is missing, its channel; it is noted when
// fills will be there.
void System::serve_word(Time at, std::int64_t page, std::uint32_t frame, int word,
                        std::uint64_t wanted, std::uint64_t fetched, result::Counters& counters,
                        Served& served) {
  const int width = std::min(kSectorsPerWord, 4 << chunk_shift_);
  const std::uint64_t unit = width == kSectorsPerWord ? ~0ULL : (1ULL << width) - 1;
  std::int64_t known = INT64_MIN;  // the chunk whose place is known
  Place where{};
  for (std::uint64_t rest = wanted; rest != 0;) {
    const int low = std::countr_zero(rest) & ~(width - 1);
    const std::uint64_t sectors = (wanted >> low) & unit;
    const std::uint64_t missing = (fetched >> low) & unit;
    rest &= ~(unit << low);
    const std::int64_t chunk = (page * kLinesPerPage + word * 16 + low / 4) >> chunk_shift_;
    where = chunk == known + 1 ? after(where, chunk) : place(chunk);
    known = chunk;
    const auto slot = slices_[slice_of_channel_[where.channel]].reserve(
        at, timing_.slice[static_cast<std::size_t>(kSectorsPerHalf * std::popcount(bursts(sectors)))]);
    served.taken = std::max(served.taken, slot.start);
    Time ready = slot.end;
    if (missing != 0) {
      const int count = std::popcount(bursts(missing));
      counters.dram_read_bytes += count * 2 * kSectorBytes;
      ready = channels_[where.channel].read(timing_.channel, slot.end + timing_.to_dram,
                                            row_of(where), count) +
              timing_.from_dram;
    }
    for (int fill = low; fill < low + width; fill += kSectorsPerFill) {
      const int group = (word * kSectorsPerWord + fill) / kSectorsPerFill;
      if (missing != 0) { l2_.set_ready(frame, group, ready); }
      if ((sectors & ~missing) != 0) { ready = std::max(ready, l2_.ready(frame, group)); }
    }
    served.first = std::min(served.first, ready);
    served.last = std::max(served.last, ready);
  }
}

// The part of a load that lies in one page.
void System::serve_read(Time at, std::int64_t page, const L2Directory::Sectors& touched,
                        result::Counters& c, Served& served) {
  const std::uint32_t frame = l2_.find_or_claim(page);
  for (int word = 0; word < 2; ++word) {
    const std::uint64_t wanted = touched[static_cast<std::size_t>(word)];
    if (wanted == 0) { continue; }
    const std::uint64_t valid = l2_.valid(frame)[static_cast<std::size_t>(word)];
    const std::uint64_t fetched = whole_bursts(wanted & ~valid);
    c.l2_hit_sectors += std::popcount(wanted & valid);
    if (fetched != 0) {
      c.l2_fill_bytes += bytes_of(fetched);
      l2_.install(frame, word, fetched, 0);
    }
    serve_word(at, page, frame, word, wanted, fetched, c, served);
  }
  served.last = std::max(served.last, make_room(at, frame, c));
}

std::span<const System::Finished> System::loads_arrive(std::uint32_t parcel) {
  finished_.clear();
  const std::uint32_t id = parcel & kIdMask;
  const Request& r = requests_[id];
  std::uint32_t which = parcel >> kIdBits;
  const int first = std::countr_zero(which);
  const bool far = is_far(r.sm, r.base_line + r.shape->delta[0] + first * r.line_stride);
  for (; which != 0; which &= which - 1) { load_arrives(id, r, std::countr_zero(which), far); }
  return finished_;
}

// Access n of a load request reaches its partition.
void System::load_arrives(std::uint32_t id, const Request& r, int n, bool far) {
  result::Counters& c = *r.account->counters;
  const Time at = arrival(r, n, far);
  c.l2_read_sectors += r.shape->sectors;
  Served served;
  for_each_page(*r.shape, r.base_line + n * r.line_stride,
                [&](std::int64_t page, const L2Directory::Sectors& touched,
                    const L2Directory::Sectors&) { serve_read(at, page, touched, c, served); });
  const Duration back = timing_.from_l2 + (far ? timing_.far_extra : Duration{0});
  const Time done = way_back(r, n, served.first + back, served.last + back);
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
  const int first = std::countr_zero(which);
  const bool far = is_far(r.sm, r.base_line + r.shape->delta[0] + first * r.line_stride);
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

// The store is accepted when every slice has turned to its piece and L2 has room. Full sectors
// replace what was there; a sector that is only partly written and not held is
// fetched, which nobody waits for but which costs the channel its burst.
Time System::store_arrives(const Request& r, int n, bool far) {
  result::Counters& c = *r.account->counters;
  const Time at = arrival(r, n, far);
  c.l2_write_sectors += r.shape->sectors;
  Served served;
  served.taken = at;
  for_each_page(
      *r.shape, r.base_line + n * r.line_stride,
      [&](std::int64_t page, const L2Directory::Sectors& touched,
          const L2Directory::Sectors& covered) {
        const std::uint32_t frame = l2_.find_or_claim(page);
        const L2Directory::Sectors valid = l2_.valid(frame);
        for (int word = 0; word < 2; ++word) {
          const auto w = static_cast<std::size_t>(word);
          if (touched[w] == 0) { continue; }
          const std::uint64_t fetched = whole_bursts(touched[w] & ~covered[w] & ~valid[w]);
          c.l2_hit_sectors += std::popcount(touched[w] & valid[w]);
          c.l2_fill_bytes += bytes_of(fetched);
          l2_.install(frame, word, fetched | touched[w], touched[w]);
          serve_word(at, page, frame, word, touched[w], fetched, c, served);
        }
        served.taken = std::max(served.taken, make_room(at, frame, c));
      });
  return served.taken;
}

Time System::make_room(Time at, std::uint32_t keep, result::Counters& counters) {
  Time accepted{0};
  if (l2_.lines() > l2_.capacity_lines()) {
    l2_.shrink(keep, [&](std::int64_t page, const L2Directory::Sectors& dirty) {
      accepted = std::max(accepted, write_back(at, page, dirty, counters));
    });
  }
  return accepted;
}

// The dirty bursts of an evicted page join the write queues of their channels. Returns when the
// last queue has taken its share.
Time System::write_back(Time at, std::int64_t page, const L2Directory::Sectors& dirty,
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
      HbmChannel& channel = channels_[place(line >> chunk_shift_).channel];
      const int count = std::popcount(bursts((sectors >> low) & unit));
      accepted = std::max(accepted, channel.write(timing_.channel, at, count));
    }
  }
  return accepted;
}

}  // namespace wavetail::memory
