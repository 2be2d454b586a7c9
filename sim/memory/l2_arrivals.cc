// SPDX-License-Identifier: Apache-2.0
// What happens when a request reaches the L2. Its sectors are handled page by page as bitmaps, and
// within a page interleave unit by interleave unit: each takes its slice and, for what is missing,
// its channel.
#include <algorithm>
#include <bit>

#include "memory/system.h"

namespace wavetail::memory {

using event::Target;

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
  return {static_cast<std::size_t>(channel),
          static_cast<std::int64_t>(chunks_per_row_.quotient(round))};
}

// A piece takes its slice, then, for what is missing, its channel.
System::PieceTimes System::serve(const Piece& piece, result::Counters& counters) {
  const Place at = place(piece.chunk);
  const auto slot = slices_[slice_of_channel_[at.channel]].reserve(
      wheel_.now(), timing_.slice[static_cast<std::size_t>(piece.sectors)]);
  if (piece.bursts == 0) { return {slot.start, slot.end}; }
  counters.dram_read_bytes += piece.bursts * 2 * kSectorBytes;
  return {slot.start, channels_[at.channel].read(timing_.channel, slot.end + timing_.to_dram,
                                                 at.row, piece.bursts) +
                          timing_.from_dram};
}

// Serves the sectors `wanted` of one word of a page's bitmap; those in `fetched` come from DRAM.
// Notes when fills will be there; returns when the last slice turned to its piece, and when the
// first and the last piece have their data.
System::Served System::serve_word(std::int64_t page, std::uint32_t frame, int word,
                                  std::uint64_t wanted, std::uint64_t fetched,
                                  result::Counters& counters) {
  Served served{Time{}, Time{INT64_MAX}, Time{}};
  const int width = std::min(kSectorsPerWord, 4 << chunk_shift_);
  const std::uint64_t unit = width == kSectorsPerWord ? ~0ULL : (1ULL << width) - 1;
  for (std::uint64_t rest = wanted; rest != 0;) {
    const int low = std::countr_zero(rest) & ~(width - 1);
    const std::uint64_t sectors = (wanted >> low) & unit;
    const std::uint64_t missing = (fetched >> low) & unit;
    rest &= ~(unit << low);
    const std::int64_t line = page * kLinesPerPage + word * 16 + low / 4;
    const Piece piece{line >> chunk_shift_, std::popcount(sectors), std::popcount(bursts(missing))};
    const PieceTimes times = serve(piece, counters);
    served.taken = std::max(served.taken, times.taken);
    Time ready = times.ready;
    for (int fill = low; fill < low + width; fill += kSectorsPerFill) {
      const int group = (word * kSectorsPerWord + fill) / kSectorsPerFill;
      if (missing != 0) { l2_.set_ready(frame, group, ready); }
      if ((sectors & ~missing) != 0) { ready = std::max(ready, l2_.ready(frame, group)); }
    }
    served.first = std::min(served.first, ready);
    served.last = std::max(served.last, ready);
  }
  return served;
}

void System::load_arrives(std::uint32_t id) {
  Request& r = requests_[id];
  result::Counters& c = *r.account->counters;
  c.l2_read_sectors += r.shape->sectors;
  Served all{Time{}, Time{INT64_MAX}, Time{}};
  for_each_page(
      *r.shape, r.base_line,
      [&](std::int64_t page, const L2Directory::Sectors& touched, const L2Directory::Sectors&) {
        const std::uint32_t frame = l2_.find_or_claim(page);
        const L2Directory::Sectors valid = l2_.valid(frame);
        for (int word = 0; word < 2; ++word) {
          const auto w = static_cast<std::size_t>(word);
          if (touched[w] == 0) { continue; }
          const std::uint64_t fetched = whole_bursts(touched[w] & ~valid[w]);
          c.l2_hit_sectors += std::popcount(touched[w] & valid[w]);
          c.l2_fill_bytes += bytes_of(fetched);
          l2_.install(frame, word, fetched, 0);
          const Served served = serve_word(page, frame, word, touched[w], fetched, c);
          all.first = std::min(all.first, served.first);
          all.last = std::max(all.last, served.last);
        }
        all.last = std::max(all.last, make_room(frame, c));
      });
  const Duration back = timing_.from_l2 + (r.far ? timing_.far_extra : Duration{0});
  r.first_data = all.first + back;
  wheel_.schedule(
      {all.last + back, Target::Sm, static_cast<std::uint8_t>(SmNotice::LoadReturned), r.sm, id});
}

// The store is accepted when every slice has turned to its piece and L2 has room. Full sectors
// replace what was there; a sector that is only partly written and not held is
// fetched, which nobody waits for but which costs the channel its burst.
void System::store_arrives(std::uint32_t id) {
  Request& r = requests_[id];
  result::Counters& c = *r.account->counters;
  c.l2_write_sectors += r.shape->sectors;
  Time accepted = wheel_.now();
  for_each_page(
      *r.shape, r.base_line,
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
          const Served served = serve_word(page, frame, word, touched[w], fetched, c);
          accepted = std::max(accepted, served.taken);
        }
        accepted = std::max(accepted, make_room(frame, c));
      });
  wheel_.schedule(
      {accepted, Target::Sm, static_cast<std::uint8_t>(SmNotice::StoreAccepted), r.sm, id});
}

Time System::make_room(std::uint32_t keep, result::Counters& counters) {
  Time accepted{0};
  if (l2_.lines() > l2_.capacity_lines()) {
    l2_.shrink(keep, [&](std::int64_t page, const L2Directory::Sectors& dirty) {
      accepted = std::max(accepted, write_back(page, dirty, counters));
    });
  }
  return accepted;
}

// The dirty bursts of an evicted page join the write queues of their channels. Returns when the
// last queue has taken its share.
Time System::write_back(std::int64_t page, const L2Directory::Sectors& dirty,
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
      accepted = std::max(accepted, channel.write(timing_.channel, wheel_.now(), count));
    }
  }
  return accepted;
}

}  // namespace wavetail::memory
