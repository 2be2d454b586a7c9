// SPDX-License-Identifier: Apache-2.0
// Boxes of the TMA beyond the SM: requested in parts of up to 16 KiB, each one event at the L2. The
// parts are looked up page by page.
//
// Rows of a box that are a pitch apart lie in a page each; looking up every one would be most of
// the work of a matrix product. Such boxes are looked up in pages of 32 rows x 128 bytes instead, a
// one-to-one rearrangement of the array's pages (docs/deviations.md, tile-pages).
#include <algorithm>
#include <bit>

#include "memory/system.h"

namespace wavetail::memory {

namespace {

constexpr int kTileRows = 32;

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

// Calls f(page, sectors touched, sectors covered completely) for each page of [from, to).
template <class F>
void for_each_linear_page(std::int64_t from, std::int64_t to, F&& f) {
  for (std::int64_t page = from / kPageBytes; page * kPageBytes < to; ++page) {
    const std::int64_t start = std::max(from - page * kPageBytes, std::int64_t{0});
    const std::int64_t end = std::min<std::int64_t>(to - page * kPageBytes, kPageBytes);
    const Sectors touched = run(start / kSectorBytes, (end + kSectorBytes - 1) / kSectorBytes);
    f(page, touched, run((start + kSectorBytes - 1) / kSectorBytes, end / kSectorBytes));
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
      f(b.array_base / kPageBytes + group * columns + c, tile(first, last, touched),
        tile(first, last, covered));
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
  bulks_[id] = Bulk{access, 0, false};
  return id;
}

// Whether some of it has its home in another partition than the SM. Every row lies where its own
// page does, however boxes are looked up.
bool System::reaches_far(const BulkAccess& b) const {
  const bool apart = b.rows > 1 && b.pitch != b.row_bytes;
  const std::int64_t rows = apart ? b.rows : 1, bytes = apart ? b.row_bytes : b.bytes();
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t at = b.address + r * b.pitch;
    for (std::int64_t page = at / kPageBytes; page * kPageBytes < at + bytes; ++page) {
      if (is_far(b.sm, page * kLinesPerPage)) { return true; }
    }
  }
  return false;
}

void System::send_to_l2(std::uint32_t id, SmNotice notice, Time departs, bool far) {
  Bulk& b = bulks_[id];
  b.far = far;
  const Time arrives = departs + timing_.to_l2 + (far ? timing_.far_extra : Duration{0});
  wheel_.schedule({arrives, event::Target::Sm, static_cast<std::uint8_t>(notice), b.sm, id});
}

// What the reader's side does not hold is as far away as the furthest of its rows.
void System::fetch(const BulkAccess& access) {
  result::Counters& c = *access.account->counters;
  c.tma_fetch_bytes += access.bytes();
  access.account->in_flight.depart(access.issued, access.bytes());
  bool held = true;
  for_each_bulk_page(access, [&](std::int64_t page, const Sectors& touched, const Sectors&) {
    held = held && is_held_near(access.sm, page, touched);
  });
  send_to_l2(new_bulk(access), SmNotice::BulkArrives, access.departs, !held && reaches_far(access));
}

void System::prefetch_bulk(std::uint32_t bulk) const {
  const Bulk& b = bulks_[bulk];
  for_each_bulk_page(b, [&](std::int64_t page, const Sectors&, const Sectors&) {
    l2_.prefetch(side_of_sm_[b.sm], page);
  });
}

// The GPC's port carries multicast data once, every receiver's port for itself. They begin with
// the first lines, which come back while the engine is still asking for the others.
std::int64_t System::bulk_arrives(std::uint32_t id, std::span<const std::uint16_t> receivers,
                                  std::span<Time> landed) {
  Bulk& b = bulks_[id];
  result::Counters& c = *b.account->counters;
  Served all;
  all.apart = b.rows > 1 && b.pitch != b.row_bytes && b.row_bytes <= kLineBytes;
  bool away = false;  // some page was looked up in the other partition
  for_each_bulk_page(b, [&](std::int64_t page, const Sectors& touched, const Sectors&) {
    b.sectors += sectors_of(touched);
    away = away || l2_.home_for(side_of_sm_[b.sm], page) != side_of_sm_[b.sm];
    read(wheel_.now(), b.far, side_of_sm_[b.sm], page, touched, c, all);
  });
  c.l2_read_sectors += b.sectors;
  const Duration back = timing_.from_l2 + (b.far && !away ? timing_.far_extra : Duration{0});
  const Time first = all.first + back - b.spread;
  const Time last = all.last + back;
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
  for_each_bulk_page(access, [&](std::int64_t, const Sectors& touched, const Sectors&) {
    bulks_[id].sectors += sectors_of(touched);
  });
  const std::int64_t sectors = bulks_[id].sectors;
  c.egress_bytes += sectors * kSectorBytes;
  Time out = access.departs;
  for (std::int64_t left = sectors; left > 0; left -= kMaxSectors) {  // unaligned rows have more
    const auto n = static_cast<std::size_t>(std::min<std::int64_t>(left, kMaxSectors));
    out = egress_[access.sm].reserve(access.departs, timing_.egress[n]).end;
  }
  send_to_l2(id, SmNotice::BulkStoreArrives, out, reaches_far(access));
  return out;
}

// As a store of a warp: accepted when every slice has turned to its piece and L2 has room.
void System::bulk_store_arrives(std::uint32_t id) {
  const Bulk& b = bulks_[id];
  result::Counters& c = *b.account->counters;
  Served served;
  served.taken = wheel_.now();
  for_each_bulk_page(b, [&](std::int64_t page, const Sectors& touched, const Sectors& covered) {
    c.l2_write_sectors += sectors_of(touched);
    Sectors partly{};
    for (std::size_t w = 0; w < 2; ++w) {
      static_cast<void>(partial_.complete(page, w, covered[w]));
      partly[w] = touched[w] & ~covered[w];
    }
    write(wheel_.now(), side_of_sm_[b.sm], page, touched, partly, c, served);
  });
  Stores& stores = *b.account->stores;
  --stores.under_way;
  stores.taken = std::max(stores.taken, served.taken);
  free_bulks_.push_back(id);
}

}  // namespace wavetail::memory
