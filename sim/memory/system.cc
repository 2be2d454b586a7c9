// SPDX-License-Identifier: Apache-2.0
#include "memory/system.h"

#include <algorithm>
#include <bit>

namespace wavetail::memory {

using event::Event;
using event::Target;

System::System(const gpu::GpuSpec& spec, const Clocks& clocks, event::Wheel& wheel,
               std::uint64_t seed)
    : wheel_(wheel),
      timing_(spec, clocks),
      chunk_shift_(
          std::countr_zero(static_cast<std::uint64_t>(spec.hbm.interleave.count() / kLineBytes))),
      channels_divider_(static_cast<std::uint64_t>(spec.hbm.channels)),
      chunks_per_row_(static_cast<std::uint64_t>(
          std::max<std::int64_t>(1, spec.hbm.row / spec.hbm.interleave))),
      partitions_(static_cast<std::uint64_t>(spec.l2.partitions)),
      l2_(spec.l2.capacity.count() / kLineBytes),
      slices_(static_cast<std::size_t>(spec.l2.slices)),
      ingress_(static_cast<std::size_t>(spec.sms())),
      gpc_ingress_(spec.gpcs.size()),
      egress_(static_cast<std::size_t>(spec.sms())) {
  for (std::int64_t c = 0; c < spec.hbm.channels; ++c) {
    const auto gathered = mix(seed + static_cast<std::uint64_t>(c)) %
                          static_cast<std::uint64_t>(timing_.channel.drain_bursts);
    channels_.emplace_back(timing_.channel, static_cast<std::int64_t>(gathered));
    slice_of_channel_.push_back(static_cast<std::uint16_t>(c * spec.l2.slices / spec.hbm.channels));
  }
  for (std::size_t gpc = 0; gpc < spec.gpcs.size(); ++gpc) {
    const auto side = gpc * static_cast<std::size_t>(spec.l2.partitions) / spec.gpcs.size();
    gpc_of_sm_.insert(gpc_of_sm_.end(), static_cast<std::size_t>(spec.gpcs[gpc]),
                      static_cast<std::uint16_t>(gpc));
    side_of_sm_.insert(side_of_sm_.end(), static_cast<std::size_t>(spec.gpcs[gpc]),
                       static_cast<std::uint16_t>(side));
  }
  const std::int64_t l1_lines = spec.sm.unified_l1.count() / kLineBytes;
  for (std::int64_t sm = 0; sm < spec.sms(); ++sm) {
    l1_.emplace_back(l1_lines, static_cast<int>(spec.l1.ways),
                     seed + static_cast<std::uint64_t>(sm));
  }
}

std::uint32_t System::new_request(const Access& access, const Shape* shape) {
  std::uint32_t id;
  if (free_requests_.empty()) {
    id = static_cast<std::uint32_t>(requests_.size());
    requests_.emplace_back();
  } else {
    id = free_requests_.back();
    free_requests_.pop_back();
  }
  Request& r = requests_[id];
  r = Request{};
  r.shape = shape;
  r.base_line = access.base_line;
  r.account = access.account;
  r.issued = access.issued;
  r.warp = access.warp;
  r.sm = access.sm;
  r.sequence = access.sequence;
  r.lines = static_cast<std::uint8_t>(access.shape->lines);
  if (access.own_shape && shape == access.shape) {
    r.own_shape = keep_shape(*shape);
    r.shape = &shapes_[static_cast<std::size_t>(r.own_shape)];
  }
  return id;
}

void System::release_request(std::uint32_t id) {
  if (requests_[id].own_shape >= 0) { free_shapes_.push_back(requests_[id].own_shape); }
  free_requests_.push_back(id);
}

std::int32_t System::keep_shape(const Shape& shape) {
  if (free_shapes_.empty()) {
    shapes_.push_back(shape);
    return static_cast<std::int32_t>(shapes_.size() - 1);
  }
  const std::int32_t slot = free_shapes_.back();
  free_shapes_.pop_back();
  shapes_[static_cast<std::size_t>(slot)] = shape;
  return slot;
}

System::LoadOutcome System::load(const Access& access) {
  result::Counters& c = *access.account->counters;
  ++c.load_requests;
  c.load_sectors += access.shape->sectors;
  c.useful_load_bytes += access.shape->useful_bytes;
  c.distinct_bytes += access.shape->distinct_bytes;
  if (!access.bypass_l1) { return load_through_l1(access); }
  const std::uint32_t id = new_request(access, access.shape);
  requests_[id].waits = 1;
  requests_[id].bytes = access.shape->sectors * kSectorBytes;
  send(id, access.departs);
  return {};
}

// Splits the instruction into sectors that L1 has, sectors that are on their way already, and the
// rest, which becomes a request of its own.
System::LoadOutcome System::load_through_l1(const Access& access) {
  const Shape& shape = *access.shape;
  L1& l1 = l1_[access.sm];
  Shape& rest = rest_;
  rest.lines = rest.sectors = 0;
  rest.dense = false;
  merged_with_.clear();
  int hits = 0;
  int pending = 0;
  for (int i = 0; i < shape.lines; ++i) {
    const auto n = static_cast<std::size_t>(i);
    const L1::Lookup found = l1.find(access.base_line + shape.delta[n], shape.mask[n]);
    hits += std::popcount(found.hit);
    pending += std::popcount(found.pending);
    if (found.pending != 0 && (merged_with_.empty() || merged_with_.back() != found.request)) {
      merged_with_.push_back(found.request);
    }
    if (found.miss != 0) {
      const auto m = static_cast<std::size_t>(rest.lines++);
      missed_[m] = found;
      rest.delta[m] = shape.delta[n];
      rest.mask[m] = found.miss;
      rest.sectors += std::popcount(found.miss);
    }
  }
  access.account->counters->l1_sectors += shape.sectors;
  access.account->counters->l1_hit_sectors += hits;
  access.account->counters->l1_pending_sectors += pending;
  if (rest.lines == 0 && merged_with_.empty()) { return {true, access.departs + timing_.l1_hit}; }
  const bool whole = rest.sectors == shape.sectors;
  const std::uint32_t id = new_request(access, &shape);
  if (!whole) {
    if (requests_[id].own_shape >= 0) { free_shapes_.push_back(requests_[id].own_shape); }
    requests_[id].own_shape = keep_shape(rest);
    requests_[id].shape = &shapes_[static_cast<std::size_t>(requests_[id].own_shape)];
  }
  for (const std::uint32_t other : merged_with_) {
    std::uint32_t node = free_dependents_;
    if (node == kNone) {
      node = static_cast<std::uint32_t>(dependents_.size());
      dependents_.emplace_back();
    } else {
      free_dependents_ = dependents_[node].next;
    }
    dependents_[node] = {id, requests_[other].dependents};
    requests_[other].dependents = node;
  }
  requests_[id].waits = static_cast<std::uint16_t>(merged_with_.size());
  if (rest.lines > 0) {
    ++requests_[id].waits;
    for (std::size_t m = 0; m < static_cast<std::size_t>(rest.lines); ++m) {
      l1.await(missed_[m], id);
    }
    requests_[id].in_l1 = true;
    requests_[id].bytes = rest.sectors * kSectorBytes;
    send(id, access.departs);
  }
  return {};
}

bool System::is_far(std::uint16_t sm, std::int64_t line) const {
  const std::uint64_t page = mix(static_cast<std::uint64_t>(line) / kLinesPerPage);
  return partitions_.remainder(page >> 20) != side_of_sm_[sm];
}

// A load request is small; its way out is a constant delay.
void System::send(std::uint32_t id, Time departs) {
  Request& r = requests_[id];
  r.account->in_flight.depart(r.issued, r.bytes);
  r.far = is_far(r.sm, r.base_line + r.shape->delta[0]);
  const Time arrives = departs + timing_.to_l2 + (r.far ? timing_.far_extra : Duration{0});
  wheel_.schedule(
      {arrives, Target::Memory, static_cast<std::uint8_t>(Kind::LoadArrives), r.sm, id});
}

void System::store(const Access& access) {
  result::Counters& c = *access.account->counters;
  const Shape& shape = *access.shape;
  ++c.store_requests;
  c.store_sectors += shape.sectors;
  c.useful_store_bytes += shape.useful_bytes;
  c.distinct_bytes += shape.distinct_bytes;
  c.egress_bytes += shape.sectors * kSectorBytes;
  ++*access.account->stores_under_way;
  const std::uint32_t id = new_request(access, access.shape);
  const auto out = egress_[access.sm].reserve(
      access.departs, timing_.egress[static_cast<std::size_t>(shape.sectors)]);
  const bool far = is_far(access.sm, access.base_line + shape.delta[0]);
  const Time arrives = out.end + timing_.to_l2 + (far ? timing_.far_extra : Duration{0});
  wheel_.schedule(
      {arrives, Target::Memory, static_cast<std::uint8_t>(Kind::StoreArrives), access.sm, id});
}

void System::handle(const Event& e) {
  switch (static_cast<Kind>(e.kind)) {
    case Kind::LoadArrives: load_arrives(e.a); break;
    case Kind::StoreArrives: store_arrives(e.a); break;
    case Kind::BulkArrives: bulk_arrives(e.a); break;
    case Kind::BulkStoreArrives: bulk_store_arrives(e.a); break;
  }
}

void System::prefetch_tags(std::uint32_t request) const {
  const Request& r = requests_[request];
  l2_.prefetch((r.base_line + r.shape->delta[0]) / kLinesPerPage);
}

int System::accepted(std::uint32_t request) {
  const Request& r = requests_[request];
  --*r.account->stores_under_way;
  release_request(request);
  return r.lines;
}

// The data cross the GPC's and the SM's port: they could start when the first piece was there and
// cannot end before the last one has followed.
void System::finish_trip(std::uint32_t id) {
  finished_.clear();
  Request& r = requests_[id];
  result::Counters& c = *r.account->counters;
  const auto sectors = static_cast<std::size_t>(r.bytes / kSectorBytes);
  const Time now = wheel_.now();
  const Time
      gpc = gpc_ingress_[gpc_of_sm_[r.sm]].reserve(r.first_data, timing_.gpc_ingress[sectors]).end;
  const Time port = ingress_[r.sm].reserve(r.first_data, timing_.ingress[sectors]).end;
  const Time done = std::max({port, gpc, now + timing_.ingress[1]});
  c.ingress_bytes += r.bytes;
  c.latency_bytes += r.bytes;
  c.latency_ps_sum += (done - r.issued).count() * r.bytes;
  r.account->in_flight.arrive(now, done, r.bytes);
  if (r.in_l1) {
    L1& l1 = l1_[r.sm];
    for (int i = 0; i < r.shape->lines; ++i) {
      l1.fill(r.base_line + r.shape->delta[static_cast<std::size_t>(i)], id);
    }
  }
  std::uint32_t node = r.dependents;
  while (node != kNone) {
    const Dependent d = dependents_[node];
    dependents_[node].next = free_dependents_;
    free_dependents_ = node;
    part_arrived(d.request, done);
    node = d.next;
  }
  part_arrived(id, done);
}

// One of the fills that a load waits for is there.
void System::part_arrived(std::uint32_t id, Time ready) {
  Request& r = requests_[id];
  r.first_data = std::max(r.first_data, ready);
  if (--r.waits == 0) {
    finished_.push_back({r.warp, r.sequence, r.lines, r.first_data});
    release_request(id);
  }
}

}  // namespace wavetail::memory
