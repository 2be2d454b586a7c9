// SPDX-License-Identifier: Apache-2.0
// Boxes of the TMA beyond the SM: requested in parts of up to 16 KiB, each one event at the L2. The
// parts are looked up page by page.
//
// Rows of a box that are a pitch apart lie in a page each; looking up every one would be most of
// the work of a matrix product. Such boxes are looked up in pages of 32 rows x 128 bytes instead, a
// one-to-one rearrangement of the array's pages (docs/deviations.md, tile-pages). What L2 does not
// hold comes from where it lies: line by line, each from its own channel and row.
#include <algorithm>
#include <bit>

#include "memory/system.h"

namespace wavetail::memory {

namespace {

using Sectors = L2Directory::Sectors;

constexpr int kTileRows = 32;
constexpr int kSectorsPerWord = 64;
constexpr int kSectorsPerPage = kPageBytes / kSectorBytes;

std::uint64_t low_bits(std::int64_t n) { return n >= 64 ? ~0ULL : (1ULL << n) - 1; }

// Sectors [first, last) of a page.
Sectors run(std::int64_t first, std::int64_t last) {
  Sectors s{};
  for (std::int64_t word = 0; word < 2; ++word) {
    const std::int64_t from = std::clamp<std::int64_t>(first - 64 * word, 0, 64);
    const std::int64_t to = std::clamp<std::int64_t>(last - 64 * word, 0, 64);
    if (to > from) { s[static_cast<std::size_t>(word)] = low_bits(to) & ~low_bits(from); }
  }
  return s;
}

// A page as it is looked up: line i of it is the 128 bytes at `first` + i x `apart`.
struct Page {
  std::int64_t number = 0;
  std::int64_t first = 0, apart = kLineBytes;

  [[nodiscard]] bool tile() const { return apart != kLineBytes; }
};

// Calls f(page, sectors touched, sectors covered completely) for each page of [from, to).
template <class F>
void for_each_linear_page(std::int64_t from, std::int64_t to, F&& f) {
  for (std::int64_t page = from / kPageBytes; page * kPageBytes < to; ++page) {
    const std::int64_t start = std::max(from - page * kPageBytes, std::int64_t{0});
    const std::int64_t end = std::min<std::int64_t>(to - page * kPageBytes, kPageBytes);
    const Sectors touched = run(start / kSectorBytes, (end + kSectorBytes - 1) / kSectorBytes);
    f(Page{page, page * kPageBytes}, touched,
      run((start + kSectorBytes - 1) / kSectorBytes, end / kSectorBytes));
  }
}

// Lines [first, last) of 32, each with the sectors `nibble`.
Sectors tile(std::int64_t first, std::int64_t last, std::uint64_t nibble) {
  Sectors s = run(4 * first, 4 * last);
  for (std::uint64_t& word : s) { word &= nibble * 0x1111111111111111ULL; }
  return s;
}

// Rows of the array that fill whole tiles.
std::int64_t tiled_rows(const BulkAccess& b) {
  const bool fits = b.pitch % kLineBytes == 0 && b.array_base % kPageBytes == 0;
  return fits ? b.array_bytes / b.pitch / kTileRows * kTileRows : 0;
}

// The part of a box within one column of 128 bytes.
template <class F>
void for_each_tile(const BulkAccess& b, std::int64_t row, std::int64_t column, F&& f) {
  const std::int64_t columns = b.pitch / kLineBytes;
  for (std::int64_t c = column / kLineBytes; c * kLineBytes < column + b.row_bytes; ++c) {
    const std::int64_t start = std::max(column - c * kLineBytes, std::int64_t{0});
    const std::int64_t end = std::min<std::int64_t>(column + b.row_bytes - c * kLineBytes,
                                                    kLineBytes);
    const std::uint64_t touched = low_bits((end + kSectorBytes - 1) / kSectorBytes) &
                                  ~low_bits(start / kSectorBytes);
    const std::uint64_t covered = low_bits(end / kSectorBytes) &
                                  ~low_bits((start + kSectorBytes - 1) / kSectorBytes);
    for (std::int64_t group = row / kTileRows; group * kTileRows < row + b.rows; ++group) {
      const std::int64_t first = std::max(row - group * kTileRows, std::int64_t{0});
      const std::int64_t last = std::min<std::int64_t>(row + b.rows - group * kTileRows, kTileRows);
      const std::int64_t origin = b.array_base + group * kTileRows * b.pitch + c * kLineBytes;
      f(Page{b.array_base / kPageBytes + group * columns + c, origin, b.pitch},
        tile(first, last, touched), tile(first, last, covered));
    }
  }
}

template <class F>
void for_each_bulk_page(const BulkAccess& b, F&& f) {
  if (b.rows == 1 || b.pitch == b.row_bytes) {
    for_each_linear_page(b.address, b.address + b.bytes(), f);
    return;
  }
  const std::int64_t offset = b.address - b.array_base;
  const std::int64_t row = offset / b.pitch;
  const std::int64_t column = offset % b.pitch;
  if (row + b.rows <= tiled_rows(b) && column + b.row_bytes <= b.pitch) {
    for_each_tile(b, row, column, f);
    return;
  }
  for (std::int64_t r = 0; r < b.rows; ++r) {
    for_each_linear_page(b.address + r * b.pitch, b.address + r * b.pitch + b.row_bytes, f);
  }
}

std::int64_t sectors_of(const Sectors& s) { return std::popcount(s[0]) + std::popcount(s[1]); }

Sectors without(const Sectors& some, const Sectors& others) {
  return {some[0] & ~others[0], some[1] & ~others[1]};
}

std::uint64_t whole_bursts(std::uint64_t sectors) {
  return ((sectors | sectors >> 1) & 0x5555555555555555ULL) * 3;
}

// When the last fill under way for one of these sectors of a page is there.
Time filled_at(const L2Directory& l2, std::uint32_t frame, const Sectors& wanted) {
  Time last{};
  for (int group = 0; group < kLinesPerPage / L2Directory::kLinesPerFill; ++group) {
    const std::uint64_t sectors = wanted[static_cast<std::size_t>(group >> 2)];
    if ((sectors >> (16 * (group & 3)) & 0xffff) != 0) {
      last = std::max(last, l2.ready(frame, group));
    }
  }
  return last;
}

}  // namespace

std::uint32_t System::new_bulk(const BulkAccess& access) {
  std::uint32_t id;
  if (free_bulks_.empty()) {
    id = static_cast<std::uint32_t>(bulks_.size());
    bulks_.emplace_back();
  } else {
    id = free_bulks_.back();
    free_bulks_.pop_back();
  }
  bulks_[id] = Bulk{access, 0, false, false};
  return id;
}

// Every row lies where its own page does, however boxes are looked up.
void System::find_sides(Bulk& b) const {
  const bool apart = b.rows > 1 && b.pitch != b.row_bytes;
  const std::int64_t rows = apart ? b.rows : 1, bytes = apart ? b.row_bytes : b.bytes();
  for (std::int64_t r = 0; r < rows && !(b.near && b.far); ++r) {
    const std::int64_t at = b.address + r * b.pitch;
    for (std::int64_t page = at / kPageBytes; page * kPageBytes < at + bytes; ++page) {
      (is_far(b.sm, page * kLinesPerPage) ? b.far : b.near) = true;
    }
  }
}

// Arrives with what of it is near; the rest is as much later as its way is longer.
void System::send_to_l2(std::uint32_t id, SmNotice notice, Time departs) {
  Bulk& b = bulks_[id];
  find_sides(b);
  const Time arrives = departs + timing_.to_l2 + (b.near ? Duration{0} : timing_.far_extra);
  wheel_.schedule({arrives, event::Target::Sm, static_cast<std::uint8_t>(notice), b.sm, id});
}

void System::fetch(const BulkAccess& access) {
  result::Counters& c = *access.account->counters;
  c.tma_fetch_bytes += access.bytes();
  access.account->in_flight.depart(access.issued, access.bytes());
  send_to_l2(new_bulk(access), SmNotice::BulkArrives, access.departs);
}

// A page interleave unit by interleave unit, as serve_word() does it, with what is common to the
// units of one round of the channels computed once. Consecutive units of one slice take it in one
// reservation.
void System::serve_page(std::int64_t page, std::uint32_t frame, const Sectors& wanted,
                        const Sectors& fetched, result::Counters& counters, Served& served) {
  const int unit_sectors = std::min(kSectorsPerWord, 4 << chunk_shift_);
  const std::uint64_t unit = low_bits(unit_sectors);
  const std::int64_t first = page * kLinesPerPage >> chunk_shift_;
  std::int64_t known = INT64_MIN;  // the chunk whose place is known
  Place at{};
  const Time now = wheel_.now();
  std::size_t slice = SIZE_MAX;
  int waiting = 0;  // sectors for `slice`
  const auto flush = [&] {
    if (waiting == 0) { return; }
    const auto slot = slices_[slice].reserve(now, timing_.slice[static_cast<std::size_t>(waiting)]);
    served.taken = std::max(served.taken, slot.start);
    served.first = std::min(served.first, slot.end);
    served.last = std::max(served.last, slot.end);
    waiting = 0;
  };
  for (int low = 0; low < kSectorsPerPage; low += unit_sectors) {
    const auto word = static_cast<std::size_t>(low >> 6);
    const std::uint64_t sectors = (wanted[word] >> (low & 63)) & unit;
    if (sectors == 0) { continue; }
    const std::int64_t here = first + (low / 4 >> chunk_shift_);
    if (here != known) { at = here == known + 1 ? after(at, here) : place(here); }
    known = here;
    const std::uint64_t missing = (fetched[word] >> (low & 63)) & unit;
    if (slice_of_channel_[at.channel] != slice || missing != 0) { flush(); }
    slice = slice_of_channel_[at.channel];
    waiting += std::popcount(sectors);
    if (missing == 0) { continue; }
    const int bursts = std::popcount(missing & 0x5555555555555555ULL);
    const auto slot = slices_[slice].reserve(now, timing_.slice[static_cast<std::size_t>(waiting)]);
    waiting = 0;
    counters.dram_read_bytes += bursts * std::int64_t{2 * kSectorBytes};
    const Time ready = channels_[at.channel].read(timing_.channel, slot.end + timing_.to_dram,
                                                  row_of(at), bursts) +
                       timing_.from_dram;
    served.taken = std::max(served.taken, slot.start);
    served.first = std::min(served.first, ready);
    served.last = std::max(served.last, ready);
    for (int fill = low; fill < low + unit_sectors; fill += 4 * L2Directory::kLinesPerFill) {
      l2_.set_ready(frame, fill / (4 * L2Directory::kLinesPerFill), ready);
    }
  }
  flush();
  served.last = std::max(served.last, filled_at(l2_, frame, wanted));
}

// The lines of a tile that have to be fetched, one by one.
void System::fetch_lines(std::int64_t first, std::int64_t apart, std::uint32_t frame,
                         const Sectors& fetched, result::Counters& counters, Served& served) {
  const Time now = wheel_.now();
  Time group_ready;  // of four lines, whose arrival is noted together
  for (int line = 0; line < kLinesPerPage; ++line) {
    const std::uint64_t sectors = fetched[static_cast<std::size_t>(line >> 4)] >> 4 * (line & 15) &
                                  0xf;
    if (sectors != 0) {
      const Place at = place((first + line * apart) / kLineBytes >> chunk_shift_);
      const int bursts = std::popcount(sectors) / 2;
      const auto slot = slices_[slice_of_channel_[at.channel]].reserve(
          now, timing_.slice[static_cast<std::size_t>(2 * bursts)]);
      const Time ready = channels_[at.channel].read(timing_.channel, slot.end + timing_.to_dram,
                                                    row_of(at), bursts) +
                         timing_.from_dram;
      counters.dram_read_bytes += bursts * std::int64_t{2 * kSectorBytes};
      served.taken = std::max(served.taken, slot.start);
      served.first = std::min(served.first, ready);
      group_ready = std::max(group_ready, ready);
    }
    if ((line + 1) % L2Directory::kLinesPerFill != 0 || group_ready == Time{}) { continue; }
    l2_.set_ready(frame, line / L2Directory::kLinesPerFill, group_ready);
    served.last = std::max(served.last, group_ready);
    group_ready = Time{};
  }
}

void System::prefetch_bulk(std::uint32_t bulk) const {
  const Bulk& b = bulks_[bulk];
  for_each_bulk_page(
      b, [&](const Page& page, const Sectors&, const Sectors&) { l2_.prefetch(page.number); });
}

// The GPC's port carries multicast data once, every receiver's port for itself. They begin with
// the first lines, which come back while the engine is still asking for the others.
std::int64_t System::bulk_arrives(std::uint32_t id, std::span<const std::uint16_t> receivers,
                                  std::span<Time> landed) {
  Bulk& b = bulks_[id];
  result::Counters& c = *b.account->counters;
  Served all;
  for_each_bulk_page(b, [&](const Page& page, const Sectors& touched, const Sectors&) {
    const std::uint32_t frame = l2_.find_or_claim(page.number);
    const Sectors valid = l2_.valid(frame);
    Sectors fetched{};
    for (std::size_t w = 0; w < 2; ++w) {
      fetched[w] = whole_bursts(touched[w] & ~valid[w]);
      c.l2_hit_sectors += std::popcount(touched[w] & valid[w]);
      c.l2_fill_bytes += std::popcount(fetched[w]) * std::int64_t{kSectorBytes};
      if (fetched[w] != 0) { l2_.install(frame, static_cast<int>(w), fetched[w], 0); }
    }
    b.sectors += sectors_of(touched);
    serve_page(page.number, frame, page.tile() ? without(touched, fetched) : touched,
               page.tile() ? Sectors{} : fetched, c, all);
    if (page.tile()) { fetch_lines(page.first, page.apart, frame, fetched, c, all); }
    all.last = std::max(all.last, make_room(wheel_.now(), frame, c));
  });
  c.l2_read_sectors += b.sectors;
  const Duration back = timing_.from_l2 + (b.near ? Duration{0} : timing_.far_extra);
  const Time first = all.first + back - b.spread;
  const Time last = all.last + back + (b.near && b.far ? timing_.far_extra * 2 : Duration{0});
  const auto sectors = static_cast<std::size_t>(std::min<std::int64_t>(b.sectors, kMaxSectors));
  const Time gpc = gpc_ingress_[gpc_of_sm_[b.sm]].reserve(first, timing_.gpc_ingress[sectors]);
  Time done = last;
  for (std::size_t i = 0; i < receivers.size(); ++i) {
    const Time port = ingress_[receivers[i]].reserve(first, timing_.landing[sectors]);
    landed[i] = std::max({port, gpc, last + timing_.landing[1]});
    done = std::max(done, landed[i]);
    c.tma_load_bytes += b.bytes();
  }
  c.ingress_bytes += b.sectors * kSectorBytes;
  c.latency_bytes += b.bytes();
  c.latency_ps_sum += (done - b.issued).count() * b.bytes();
  b.account->in_flight.arrive(wheel_.now(), done, b.bytes());
  free_bulks_.push_back(id);
  return b.bytes();
}

Time System::send_bulk(const BulkAccess& access) {
  result::Counters& c = *access.account->counters;
  c.tma_store_bytes += access.bytes();
  ++access.account->stores->under_way;
  const std::uint32_t id = new_bulk(access);
  for_each_bulk_page(access, [&](const Page&, const Sectors& touched, const Sectors&) {
    bulks_[id].sectors += sectors_of(touched);
  });
  const std::int64_t sectors = bulks_[id].sectors;
  c.egress_bytes += sectors * kSectorBytes;
  Time out = access.departs;
  for (std::int64_t left = sectors; left > 0; left -= kMaxSectors) {  // unaligned rows have more
    const auto n = static_cast<std::size_t>(std::min<std::int64_t>(left, kMaxSectors));
    out = egress_[access.sm].reserve(access.departs, timing_.egress[n]).end;
  }
  send_to_l2(id, SmNotice::BulkStoreArrives, out);
  return out;
}

// As a store of a warp: accepted when every slice has turned to its piece and L2 has room.
void System::bulk_store_arrives(std::uint32_t id) {
  const Bulk& b = bulks_[id];
  result::Counters& c = *b.account->counters;
  Served served;
  served.taken = wheel_.now();
  for_each_bulk_page(b, [&](const Page& page, const Sectors& touched, const Sectors& covered) {
    const std::uint32_t frame = l2_.find_or_claim(page.number);
    const Sectors valid = l2_.valid(frame);
    Sectors fetched{};
    for (std::size_t w = 0; w < 2; ++w) {
      fetched[w] = whole_bursts(touched[w] & ~covered[w] & ~valid[w]);
      c.l2_hit_sectors += std::popcount(touched[w] & valid[w]);
      c.l2_fill_bytes += std::popcount(fetched[w]) * std::int64_t{kSectorBytes};
      if (touched[w] != 0) {
        l2_.install(frame, static_cast<int>(w), fetched[w] | touched[w], touched[w]);
      }
    }
    c.l2_write_sectors += sectors_of(touched);
    serve_page(page.number, frame, page.tile() ? without(touched, fetched) : touched,
               page.tile() ? Sectors{} : fetched, c, served);
    if (page.tile()) { fetch_lines(page.first, page.apart, frame, fetched, c, served); }
    served.taken = std::max(served.taken, make_room(wheel_.now(), frame, c));
  });
  Stores& stores = *b.account->stores;
  --stores.under_way;
  stores.taken = std::max(stores.taken, served.taken);
  free_bulks_.push_back(id);
}

}  // namespace wavetail::memory
