// SPDX-License-Identifier: Apache-2.0
#include "memory/system.h"

#include <algorithm>
#include <bit>

namespace wavetail::memory {

using event::Target;

System::System(const gpu::GpuSpec& spec, const Clocks& clocks, event::Wheel& wheel,
               std::uint64_t seed)
    : wheel_(wheel),
      timing_(spec, clocks),
      tags_(spec.l1.tag_banks),
      chunk_shift_(
          std::countr_zero(static_cast<std::uint64_t>(spec.hbm.interleave.count() / kLineBytes))),
      channels_divider_(static_cast<std::uint64_t>(spec.hbm.channels)),
      chunks_per_row_(static_cast<std::uint64_t>(
          std::max<std::int64_t>(1, spec.hbm.row / spec.hbm.interleave))),
      slices_divider_(static_cast<std::uint64_t>(
          std::max<std::int64_t>(1, spec.l2.slices / spec.l2.partitions))),
      l2_(spec.l2.capacity.count() / kLineBytes, spec.l2.partitions,
          spec.memory_side.capacity.count() / kLineBytes),
      slices_(static_cast<std::size_t>(spec.l2.slices)),
      egress_(static_cast<std::size_t>(spec.sms())),
      ingress_(static_cast<std::size_t>(spec.sms())),
      gpc_ingress_(spec.gpcs.size()),
      link_(timing_.link.empty() ? 0 : static_cast<std::size_t>(spec.l2.partitions)) {
  for (std::int64_t c = 0; c < spec.hbm.channels; ++c) {
    const auto gathered = mix(seed + static_cast<std::uint64_t>(c)) %
                          static_cast<std::uint64_t>(timing_.channel.drain_bursts);
    channels_.emplace_back(timing_.channel, static_cast<std::int64_t>(gathered));
  }
  for (std::int64_t side = 0; side < spec.l2.partitions; ++side) {
    const std::int64_t first = side * spec.l2.slices / spec.l2.partitions;
    const std::int64_t count = (side + 1) * spec.l2.slices / spec.l2.partitions - first;
    for (std::int64_t c = 0; c < spec.hbm.channels; ++c) {
      slice_of_channel_.push_back(
          static_cast<std::uint16_t>(first + c * count / spec.hbm.channels));
    }
  }
  for (std::size_t gpc = 0; gpc < spec.gpcs.size(); ++gpc) {
    const auto side = gpc * static_cast<std::size_t>(spec.l2.partitions) / spec.gpcs.size();
    gpc_of_sm_.insert(gpc_of_sm_.end(), static_cast<std::size_t>(spec.gpcs[gpc]),
                      static_cast<std::uint16_t>(gpc));
    side_of_sm_.insert(side_of_sm_.end(), static_cast<std::size_t>(spec.gpcs[gpc]),
                       static_cast<std::uint16_t>(side));
  }
  const L1::Form form{.lines = spec.sm.unified_l1.count() / kLineBytes,
                      .ways = spec.l1.ways,
                      .age = clocks.sm.span(spec.l1.age),
                      .pending = spec.l1.pending};
  l1_.reserve(static_cast<std::size_t>(spec.sms()));
  for (std::int64_t sm = 0; sm < spec.sms(); ++sm) {
    l1_.emplace_back(form, seed + static_cast<std::uint64_t>(sm));
  }
}

std::uint32_t System::new_request(const Access& access) {
  std::uint32_t id;
  if (free_requests_.empty()) {
    id = static_cast<std::uint32_t>(requests_.size());
    requests_.emplace_back();
    extras_.emplace_back();
  } else {
    id = free_requests_.back();
    free_requests_.pop_back();
  }
  Request& r = requests_[id];
  r.shape = access.shape;
  r.base_line = access.base_line;
  r.line_stride = access.line_stride;
  r.account = access.account;
  r.issued = access.issued;
  r.issue_step = static_cast<std::uint32_t>(access.issue_step.count());
  r.depart_step = static_cast<std::uint32_t>(access.depart_step.count());
  r.warp = access.warp;
  r.sm = access.sm;
  r.sequence = access.sequence;
  r.lines = static_cast<std::uint8_t>(access.shape->lines);
  r.waits = access.count;
  r.has_extra = false;
  r.steps = access.sequence_step != 0;
  r.atomic = access.atomic;
  if (access.own_shape) { give_own_shape(id, *access.shape); }
  return id;
}

void System::release_request(std::uint32_t id) {
  if (requests_[id].has_extra) {
    Extra& extra = extras_[id];
    if (extra.own_shape >= 0) { free_shapes_.push_back(extra.own_shape); }
    extra = Extra{};
  }
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

void System::give_own_shape(std::uint32_t id, const Shape& shape) {
  Extra& extra = extras_[id];
  if (extra.own_shape >= 0) { free_shapes_.push_back(extra.own_shape); }
  extra.own_shape = keep_shape(shape);
  requests_[id].shape = &shapes_[static_cast<std::size_t>(extra.own_shape)];
  requests_[id].has_extra = true;
}

void System::count_load(result::Counters& c, const Shape& shape, int n) {
  c.load_requests += n;
  c.load_sectors += n * shape.sectors;
  c.useful_load_bytes += n * shape.useful_bytes;
  c.distinct_bytes += n * shape.distinct_bytes;
}

void System::stream(const Access& access) {
  Account& account = *access.account;
  count_load(*account.counters, *access.shape, access.count);
  const std::int64_t bytes = access.shape->sectors * kSectorBytes;
  for (int n = 0; n < access.count; ++n) {
    account.in_flight.depart(access.issued + access.issue_step * n, bytes);
  }
  send(new_request(access), access.departs + timing_.to_l2, access.count, SmNotice::LoadsArrive);
}

// Splits the instruction into sectors that L1 has, sectors that are on their way already, and the
// rest, which becomes a request of its own.
System::LoadOutcome System::load(const Access& access) {
  const Shape& shape = *access.shape;
  L1& l1 = l1_[access.sm];
  std::uint32_t id = kNone;
  Shape& rest = rest_;
  rest.lines = rest.sectors = 0;
  rest.dense = false;
  merged_with_.clear();
  int hits = 0, pending = 0, placeless = 0;
  Time ready = access.departs + timing_.l1_hit;
  for (int i = 0; i < shape.lines; ++i) {
    const auto n = static_cast<std::size_t>(i);
    const L1::Lookup found = l1.find(access.base_line + shape.delta[n], shape.mask[n],
                                     access.departs, merged_with_);
    hits += std::popcount(found.hit);
    pending += std::popcount(found.pending);
    ready = std::max(ready, found.ready);
    if (found.miss == 0) { continue; }
    if (id == kNone) { id = new_request(access); }
    l1.await(found, id);
    placeless += found.way < 0 ? 1 : 0;
    const auto m = static_cast<std::size_t>(rest.lines++);
    rest.delta[m] = shape.delta[n];
    rest.mask[m] = found.miss;
    rest.sectors += std::popcount(found.miss);
  }
  result::Counters& c = *access.account->counters;
  count_load(c, shape, 1);
  c.l1_sectors += shape.sectors;
  c.l1_hit_sectors += hits;
  c.l1_pending_sectors += pending;
  if (rest.lines == 0 && merged_with_.empty()) { return {true, 0, 0, ready}; }
  if (id == kNone) { id = new_request(access); }
  Request& r = requests_[id];
  r.has_extra = true;
  r.lines = static_cast<std::uint8_t>(placeless);
  extras_[id].ready = ready;
  if (rest.sectors != shape.sectors) { give_own_shape(id, rest); }
  for (const std::uint32_t other : merged_with_) { depend_on(other, id); }
  r.waits = static_cast<std::uint8_t>(merged_with_.size() + (rest.lines > 0 ? 1 : 0));
  if (rest.lines > 0) {
    extras_[id].in_l1 = placeless < rest.lines;
    access.account->in_flight.depart(access.issued, rest.sectors * kSectorBytes);
    send(id, access.departs + timing_.to_l2, 1, SmNotice::LoadsArrive);
  }
  return {false, rest.lines, placeless, {}};
}

// Load `id` needs lines that `other` brings.
void System::depend_on(std::uint32_t other, std::uint32_t id) {
  std::uint32_t node = free_dependents_;
  if (node == kNone) {
    node = static_cast<std::uint32_t>(dependents_.size());
    dependents_.emplace_back();
  } else {
    free_dependents_ = dependents_[node].next;
  }
  dependents_[node] = {id, extras_[other].dependents};
  extras_[other].dependents = node;
}

bool System::is_far(std::uint16_t sm, std::int64_t line) const {
  return l2_.home_for(side_of_sm_[sm], line / kLinesPerPage) != side_of_sm_[sm];
}

// Whether the reader's side of L2 has all that is wanted.
bool System::is_held_near(std::uint16_t sm, std::int64_t page, const Sectors& wanted) const {
  const Sectors held = l2_.partition(side_of_sm_[sm]).held(page);
  return ((wanted[0] & ~held[0]) | (wanted[1] & ~held[1])) == 0;
}

// The request's way out is a constant delay, longer to the far partition: its accesses arrive as
// one event at each partition, when the first of them does, and are handled each at its own time.
// The first line decides for the whole access; whether there is a copy of it on the reader's side
// is looked up now.
void System::send(std::uint32_t id, Time arrives, int count, SmNotice notice) {
  Request& r = requests_[id];
  r.way_to_l2 = arrives - r.issued;
  std::uint32_t far = 0;
  std::int64_t line = r.base_line + r.shape->delta[0];
  for (int n = 0; n < count; ++n, line += r.line_stride) {
    bool goes_far = is_far(r.sm, line);
    if (goes_far && notice == SmNotice::LoadsArrive && !r.atomic) {
      Sectors first{};
      first[static_cast<std::size_t>((line & 31) >> 4)] = std::uint64_t{r.shape->mask[0]}
                                                          << (line & 15) * 4;
      goes_far = !is_held_near(r.sm, line / kLinesPerPage, first);
    }
    far |= (goes_far ? 1U : 0U) << n;
  }
  const std::uint32_t near = ((1U << count) - 1) & ~far;
  for (const std::uint32_t part : {near, far}) {
    if (part == 0) { continue; }
    wheel_.schedule({arrival(r, std::countr_zero(part), part == far), Target::Sm,
                     static_cast<std::uint8_t>(notice), r.sm, id | part << kIdBits});
  }
}

// When access n of the request reaches the L2.
Time System::arrival(const Request& r, int n, bool far) const {
  return r.issued + r.way_to_l2 + Duration{r.depart_step} * n +
         (far ? timing_.far_extra : Duration{0});
}

void System::store(const Access& access) {
  result::Counters& c = *access.account->counters;
  const Shape& shape = *access.shape;
  const int n = access.count;
  c.store_requests += n;
  c.store_sectors += n * shape.sectors;
  c.useful_store_bytes += n * shape.useful_bytes;
  c.distinct_bytes += n * shape.distinct_bytes;
  c.egress_bytes += n * shape.sectors * kSectorBytes;
  access.account->stores->under_way += n;
  const Duration each = timing_.egress[static_cast<std::size_t>(shape.sectors)];
  if (n == 1 || std::max(each, access.depart_step) <= kLongestStep) {
    store_run(access, each);
    return;
  }
  Access one = access;  // they are too far apart for one request
  one.count = 1;
  for (int i = 0; i < n; ++i) {
    store_run(one, each);
    one.base_line += access.line_stride;
    one.issued += access.issue_step;
    one.departs += access.depart_step;
  }
}

// The stores of one request leave through the SM's port, which takes `each` for one.
void System::store_run(const Access& access, Duration each) {
  const auto out = egress_[access.sm].reserve(access.departs, each * access.count);
  const std::uint32_t id = new_request(access);
  const Duration step = access.count == 1 ? Duration{0} : std::max(each, access.depart_step);
  requests_[id].depart_step = static_cast<std::uint32_t>(step.count());
  send(id, out.start + each + timing_.to_l2, access.count, SmNotice::StoresArrive);
}

void System::prefetch_tags(std::uint32_t parcel) const {
  const Request& r = requests_[parcel & kIdMask];
  std::int64_t line = r.base_line + r.shape->delta[0];
  std::int64_t last = -1;
  for (std::uint32_t which = parcel >> kIdBits; which != 0; which >>= 1, line += r.line_stride) {
    const std::int64_t page = line / kLinesPerPage;
    if ((which & 1) == 0 || page == last) { continue; }
    l2_.prefetch(side_of_sm_[r.sm], page);
    last = page;
  }
}

// The data cross the GPC's and the SM's port: they can start when the first piece is there and
// cannot end before the last one has followed.
Time System::way_back(const Request& r, int n, Time first, Time last) {
  result::Counters& c = *r.account->counters;
  const auto sectors = static_cast<std::size_t>(r.shape->sectors);
  const std::int64_t bytes = r.shape->sectors * kSectorBytes;
  const Time gpc = gpc_ingress_[gpc_of_sm_[r.sm]].reserve(first, timing_.gpc_ingress[sectors]);
  const Time port = ingress_[r.sm].reserve(first, timing_.ingress[sectors]);
  const Time done = std::max({port, gpc, last + timing_.ingress[1]});
  c.ingress_bytes += bytes;
  c.latency_bytes += bytes;
  c.latency_ps_sum += (done - r.issued - Duration{static_cast<std::int64_t>(r.issue_step) * n})
                          .count() *
                      bytes;
  r.account->in_flight.arrive(wheel_.now(), done, bytes);
  return done;
}

// A load through L1 is on its way back: L1 learns when its lines will be there, and so do the loads
// that wait for them.
void System::resolve(std::uint32_t id, Time done) {
  const Request& r = requests_[id];
  const Extra extra = extras_[id];
  if (extra.in_l1) {
    L1& l1 = l1_[r.sm];
    for (int i = 0; i < r.shape->lines; ++i) {
      l1.due(r.base_line + r.shape->delta[static_cast<std::size_t>(i)], id, done);
    }
  }
  std::uint32_t node = extra.dependents;
  while (node != kNone) {
    const Dependent d = dependents_[node];
    dependents_[node].next = free_dependents_;
    free_dependents_ = node;
    part_arrived(d.request, done);
    node = d.next;
  }
  part_arrived(id, done);
}

// It is known when one of the fills that a load through L1 waits for will be there.
void System::part_arrived(std::uint32_t id, Time ready) {
  Request& r = requests_[id];
  Time& latest = extras_[id].ready;
  latest = std::max(latest, ready);
  if (--r.waits == 0) {
    finished_.push_back({r.warp, r.sequence, r.lines, latest});
    release_request(id);
  }
}

}  // namespace wavetail::memory
