// SPDX-License-Identifier: Apache-2.0
// The copy engine of an SM (TMA). One elected thread of a role's first warp hands it boxes; the
// engine goes through them line by line, a few boxes at a time, and the lines travel in pieces of
// up to 16 KiB. Data that land complete the transaction of an mbarrier, in every block that the box
// is for.
#include <algorithm>
#include <utility>

#include "sm/sm.h"

namespace wavetail::sm {

using event::Target;
using memory::BulkAccess;

namespace {

constexpr std::int64_t kUnit = isa::kThousandths;

// Calls f(piece) for the parts of a plane of at most kBulkBytes each: whole rows, in multiples of
// 32 where there are as many; a contiguous range in aligned parts.
template <class F>
void for_each_piece(const BulkAccess& box, F&& f) {
  BulkAccess piece = box;
  if (box.rows > 1 && box.pitch != box.row_bytes && box.row_bytes <= memory::kBulkBytes) {
    std::int64_t rows = memory::kBulkBytes / box.row_bytes;
    rows = rows >= 32 ? rows / 32 * 32 : rows;
    for (std::int64_t r = 0; r < box.rows; r += rows) {
      piece.address = box.address + r * box.pitch;
      piece.rows = std::min(rows, box.rows - r);
      f(piece);
    }
    return;
  }
  const bool contiguous = box.pitch == box.row_bytes;
  const std::int64_t rows = contiguous ? 1 : box.rows;
  const std::int64_t bytes = contiguous ? box.bytes() : box.row_bytes;
  piece.rows = 1;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t at = box.address + r * box.pitch;
    const std::int64_t end = at + bytes;
    while (at < end) {
      const std::int64_t next = (at / memory::kBulkBytes + 1) * memory::kBulkBytes;
      piece.address = at;
      piece.row_bytes = piece.pitch = std::min(next, end) - at;
      f(piece);
      at += piece.row_bytes;
    }
  }
}

// A box that would reach beyond its array's end moves down by whole rows, so that boxes side by
// side in a row, the steps of a product, stay different ones.
std::int64_t inside(const CompiledBox& c, std::int64_t at) {
  const std::int64_t beyond = at + c.box.extent() - c.array_bytes;
  if (beyond <= 0) { return at; }
  const std::int64_t rows = c.box.rows > 1 ? (beyond + c.box.pitch - 1) / c.box.pitch : 0;
  const std::int64_t down = std::max(beyond, rows * c.box.pitch);
  return down <= at ? at - down : at - beyond;
}

// The axes along which a box lands in other blocks.
std::array<bool, 3> landing(const kernel::Box& box) {
  return box.split ? std::array<bool, 3>{} : box.multicast;
}

// Leaves out the rows beyond the end of the array, but for one: a box of none would never land.
void clip(BulkAccess& a) {
  const std::int64_t room = a.array_base + a.array_bytes - a.address;
  a.rows = std::clamp<std::int64_t>((room + a.pitch - a.row_bytes) / a.pitch, 0, a.rows);
  if (a.rows > 0 && room >= a.row_bytes) { return; }
  a.rows = 1;
  a.address = std::max(a.array_base, a.array_base + a.array_bytes - a.row_bytes);
}

}  // namespace

// The box of a block; with multicast its share of the box of the first block that has the same
// coordinates on the other axes: nothing, if that one fetches it alone.
BulkAccess Sm::bulk_access(const Warp& w, const CompiledBox& c) const {
  const kernel::Dim3& index = index_of(w);
  const kernel::Dim3& extent = w.launch->kernel->cluster;
  std::int64_t at = c.place.offset;
  std::int64_t share = 0;  // which one, along the multicast axes, x fastest
  std::int64_t times = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t within = c.box.multicast[axis] ? index[axis] % extent[axis] : 0;
    at += axis == 2 ? c.place.of_z(index[axis] - within)
                    : (index[axis] - within) * c.place.block[axis];
    share += within * times;
    times *= c.box.multicast[axis] ? extent[axis] : 1;
  }
  for (std::size_t d = 0; d < static_cast<std::size_t>(c.place.depth); ++d) {
    at += w.trip[d] * c.place.loop[d];
  }
  if (!c.box.clip) {
    at %= c.place.wrap;
    at += at < 0 ? c.place.wrap : 0;
    at = inside(c, at);
  }
  BulkAccess a;
  a.array_base = w.launch->array_base[static_cast<std::size_t>(c.place.array)];
  a.array_bytes = c.array_bytes;
  a.address = a.array_base + at + share * (c.box.rows > 1 ? c.rows * c.box.pitch : c.row_bytes);
  a.rows = c.box.leader && share > 0 ? 0 : c.rows;
  a.row_bytes = c.row_bytes;
  a.pitch = c.box.pitch;
  if (c.box.clip) { clip(a); }
  a.sm = number_;
  a.account = &w.launch->presence[number_].account;
  return a;
}

std::uint32_t Sm::keep(const Bulk& bulk) {
  if (free_bulks_.empty()) {
    bulks_.push_back(bulk);
    return static_cast<std::uint32_t>(bulks_.size() - 1);
  }
  const std::uint32_t id = free_bulks_.back();
  free_bulks_.pop_back();
  bulks_[id] = bulk;
  return id;
}

// One of the engine's boxes takes a piece: every part of a row within a 128 B line is a request.
// Notes when the last one leaves it, and how long it has been at it.
void Sm::engine(BulkAccess& piece, std::int64_t cycle, unit::Duration delay,
                event::CycleServer& lane) const {
  const gpu::TmaSpec& tma = surface_.gpu.tma;
  const std::int64_t rate = tma.rate.count();  // thousandths of a byte per cycle
  const auto cost = [&](std::int64_t bytes) {
    const std::int64_t share = (bytes * tma.boxes * kUnit * kUnit + rate - 1) / rate;
    return bytes == 0 ? 0 : std::max(share, tma_request_);
  };
  const std::int64_t lines = piece.row_bytes / memory::kLineBytes;
  const std::int64_t row = lines * cost(memory::kLineBytes) +
                           cost(piece.row_bytes % memory::kLineBytes);
  const auto slot = lane.reserve(cycle * kUnit, row * piece.rows);
  piece.departs = surface_.clocks.sm.edge((slot.end + kUnit - 1) / kUnit) + delay;
  piece.spread = surface_.clocks.sm.span(unit::Cycles{(slot.end - slot.start) / kUnit});
}

// Calls f(piece) for all parts of a box, each with the place in the engine that it has taken.
template <class F>
void Sm::through_engine(const BulkAccess& box, const kernel::Box& shape, std::int64_t cycle,
                        unit::Duration delay, F&& f) {
  const auto lane = std::min_element(tma_.begin(), tma_.end(), [](const auto& a, const auto& b) {
    return a.free_at() < b.free_at();
  });
  BulkAccess plane = box;
  for (std::int64_t p = 0; p < shape.planes; ++p) {
    plane.address = box.address + p * shape.plane_pitch;
    for_each_piece(plane, [&](BulkAccess piece) {
      engine(piece, cycle, delay, *lane);
      f(piece);
    });
  }
}

void Sm::tma_load(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  if (w.index != 0) {  // the elected thread is another warp's
    ++w.pc;
    --turn.budget;
    return;
  }
  const auto block_slot = static_cast<std::uint32_t>(w.block);
  auto& cursor = async_[slot].cursors[static_cast<std::size_t>(instr.mbarrier)];
  const Phase phase{block_slot, instr.mbarrier, cursor.signals++};
  const CompiledBulk& bulk = w.code->bulks[static_cast<std::size_t>(instr.object)];
  const std::int64_t cycle = turn.cycle;
  issue_now(slot, instr, turn);
  const Time issued = surface_.clocks.sm.edge(cycle);
  const Party who{this, slot, w.pc};
  if (bulk.pair) {
    arrive_there(of_pair(block_slot, 0), {phase.mbarrier, phase.nth, bulk.bytes}, issued, who);
  } else {
    arrive(phase, bulk.bytes, issued, who);
  }
  const gpu::TmaSpec& tma = surface_.gpu.tma;
  for (const CompiledBox& box : bulk.boxes) {
    BulkAccess access = bulk_access(w, box);
    if (access.rows == 0) { continue; }  // another block's to fetch
    access.issued = issued;
    const unit::Cycles latency = tma.latency +
                                 (box.box.tensor_map ? tma.tensor_map : unit::Cycles{0});
    const unit::Duration delay = surface_.clocks.sm.span(latency);
    const Block& b = blocks_[block_slot];
    const std::int64_t zeros = box.box.clip ? (box.rows - access.rows) * box.row_bytes : 0;
    access.token = keep(
        {phase, b.placement, landing(box.box), bulk.pair, 0, {}, slot, false, zeros});
    through_engine(access, box.box, cycle, delay, [&](const BulkAccess& piece) {
      ++bulks_[access.token].pieces;
      ++sync_[block_slot].bulk_under_way;
      surface_.memory.fetch(piece);
    });
  }
  ++w.pc;
}

// The blocks that a box is for.
void Sm::find_receivers(const Bulk& bulk) {
  const Block& own = blocks_[bulk.phase.block];
  receivers_.clear();
  if (own.cluster == kNoCluster) {
    receivers_.push_back({number_, bulk.phase.block, own.placement, {}});
    return;
  }
  const Cluster& c = surface_.clusters[own.cluster];
  const kernel::Dim3& here = c.members[static_cast<std::size_t>(own.rank)].at;
  for (const ClusterMember& m : c.members) {
    bool receives = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      receives = receives && (bulk.multicast[axis] || here[axis] == m.at[axis]);
    }
    if (receives) { receivers_.push_back(m); }
  }
}

// A piece has reached the L2: it is known when it will land in every block that the box is for.
void Sm::bulk_arrives(std::uint32_t request) {
  constexpr std::size_t kMost = 64;
  const std::uint32_t token = surface_.memory.token_of(request);
  const Bulk& bulk = bulks_[token];
  const Phase phase = bulk.phase;
  const bool pair = bulk.pair;
  find_receivers(bulk);
  const std::size_t n = std::min(receivers_.size(), kMost);
  std::uint16_t sms[kMost];
  Time landed[kMost];
  for (std::size_t i = 0; i < n; ++i) { sms[i] = receivers_[i].sm; }
  const std::int64_t bytes = surface_.memory.bulk_arrives(request, {sms, n}, {landed, n}) +
                             std::exchange(bulks_[token].zeros, 0);
  if (--bulks_[token].pieces == 0) { free_bulks_.push_back(token); }
  Time last{};
  for (std::size_t i = 0; i < n; ++i) {
    last = std::max(last, landed[i]);
    const ClusterMember& r = receivers_[i];
    const ClusterMember m = pair ? surface_.sms[r.sm].of_pair(r.block, 0) : r;
    surface_.sms[m.sm].land({m.block, phase.mbarrier, phase.nth}, m.placement, bytes, landed[i]);
  }
  bulk_done(phase.block, last);
}

// The boxes of one instruction are one group; the engine reads them, then they leave piece by
// piece.
void Sm::tma_store(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  if (w.index != 0) {
    ++w.pc;
    --turn.budget;
    return;
  }
  const auto block_slot = static_cast<std::uint32_t>(w.block);
  const CompiledBulk& bulk = w.code->bulks[static_cast<std::size_t>(instr.object)];
  const std::int64_t cycle = turn.cycle;
  issue_now(slot, instr, turn);
  ++w.pc;
  ++async_[slot].stores_issued;
  std::uint32_t last = 0;
  const unit::Duration delay = surface_.clocks.sm.span(surface_.gpu.tma.latency);
  for (const CompiledBox& box : bulk.boxes) {
    through_engine(bulk_access(w, box), box.box, cycle, delay, [&](const BulkAccess& piece) {
      ++sync_[block_slot].bulk_under_way;
      last = keep({{block_slot, -1, 0}, 0, {}, false, 1, piece, slot, false});
      surface_.wheel.schedule(
          {piece.departs, Target::Sm, static_cast<std::uint8_t>(SmEvent::BulkOut), number_, last});
    });
  }
  bulks_[last].last = true;
}

void Sm::bulk_out(std::uint32_t id) {
  const Bulk piece = bulks_[id];
  free_bulks_.push_back(id);
  const Time out = surface_.memory.send_bulk(piece.access);
  AsyncWarp& a = async_[piece.warp];
  a.stores_at = std::max(a.stores_at, out);
  if (piece.last) {
    ++a.stores_left;
    if (a.on == AsyncWarp::On::Stores && a.stores_left >= a.stores_wanted) {
      a.on = AsyncWarp::On::Nothing;
      schedule_wake(piece.warp, a.stores_at);
    }
  }
  bulk_done(piece.phase.block, out);
}

// cp.async.bulk.wait_group.read: shared memory may be written again.
void Sm::tma_store_wait(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  ++w.pc;
  if (w.index != 0) {
    --turn.budget;
    return;
  }
  issue_now(slot, instr, turn);
  AsyncWarp& a = async_[slot];
  const auto left = static_cast<std::uint32_t>(
      std::min<std::int64_t>(instr.count, a.stores_issued));
  a.stores_wanted = a.stores_issued - left;
  if (a.stores_left < a.stores_wanted) {
    block_async(slot, Reason::LongScoreboard, AsyncWarp::On::Stores, turn);
    return;
  }
  if (left == 0) {
    proceed(slot, Reason::LongScoreboard, surface_.clocks.sm.at_or_after(a.stores_at), turn);
  }
}

}  // namespace wavetail::sm
