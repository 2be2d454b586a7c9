// SPDX-License-Identifier: Apache-2.0
#include "device/replay.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

namespace wavetail::device {

using memory::kPageBytes;
using memory::L2;

namespace {

L2::Range pages_of(const sm::Launch& launch, std::size_t array) {
  const std::int64_t first = launch.array_base[array] / kPageBytes;
  const std::int64_t bytes = launch.kernel->arrays[array].bytes.count();
  return {first, first + (bytes + kPageBytes - 1) / kPageBytes};
}

std::vector<L2::Range> ranges_of(const sm::Launch& launch) {
  std::vector<L2::Range> ranges;
  for (std::size_t a = 0; a < launch.array_base.size(); ++a) {
    ranges.push_back(pages_of(launch, a));
  }
  return ranges;
}

std::int64_t rounded(std::int64_t n, std::int64_t grain) { return (n + grain / 2) / grain; }

// n of `all` to a sixteenth or to `coarse`, whichever is less: a kernel may live on a small part of
// an array. Of an array no larger than that to a quarter of the array.
std::int64_t step_of(std::int64_t n, std::int64_t all, std::int64_t coarse) {
  if (all <= coarse) { return rounded(4 * n, all); }
  const auto grain = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(n / 16, 1, coarse))));
  return rounded(n, grain) * grain;
}

// In which partition each page of a small array lies, or how many do in each; beyond some hundred
// pages that is the same for every copy.
void add_sides(std::vector<std::int64_t>& key, const L2& l2, L2::Range pages) {
  constexpr std::int64_t kFew = 8, kMany = 1024;
  const std::int64_t n = pages.last - pages.first;
  if (l2.partitions() == 1 || l2.has_memory_side() || n > kMany) { return; }
  std::vector<std::int64_t> in(l2.partitions(), 0);
  for (std::int64_t page = pages.first; page < pages.last; ++page) {
    const std::uint64_t side = l2.home_of(page);
    ++in[side];
    if (n <= kFew) { key.push_back(static_cast<std::int64_t>(side)); }
  }
  for (std::size_t side = 1; n > kFew && side < in.size(); ++side) {
    key.push_back(rounded(in[side], std::max<std::int64_t>(1, n / 16)));
  }
}

// Whether what the launch reads and writes pushes everything else out of L2 before long.
bool fills_l2(const sm::Launch& launch, const L2& l2) {
  constexpr std::int64_t kTimes = 4;
  std::int64_t bytes = 0;
  for (const kernel::Array& array : launch.kernel->arrays) { bytes += array.bytes.count(); }
  return bytes >= kTimes * l2.capacity_lines() * memory::kLineBytes;
}

}  // namespace

Replay::Held Replay::held(const sm::Launch& launch, const L2& l2) {
  return l2.census(ranges_of(launch));
}

Replay::Key Replay::key(const sm::Launch& launch, memory::System& memory, const Held& held) {
  const L2& l2 = memory.l2();
  const std::int64_t coarse = std::max<std::int64_t>(1, l2.capacity_lines() / 256);
  // How full L2 is decides whether lines must leave for new ones, and matters no further: a full
  // one holds between eleven twelfths of its capacity and all of it (L2Directory).
  const std::int64_t full = std::min<std::int64_t>(3, l2.lines() * 4 / l2.capacity_lines());
  Key all{{launch.kernel_index, full, rounded(l2.dirty_sectors(), 4 * coarse)},
          {launch.kernel_index, fills_l2(launch, l2) ? 1 : full / 3},
          {l2.dirty_sectors()}};
  std::vector<std::int64_t>& key = all.rounded;
  if (l2.has_memory_side()) {
    key.push_back(std::min<std::int64_t>(3, l2.private_lines() * 4 / l2.private_capacity_lines()));
  }
  for (std::size_t a = 0; a < launch.array_base.size(); ++a) {
    const std::int64_t lines = launch.kernel->arrays[a].bytes.count() / memory::kLineBytes + 1;
    key.push_back(step_of(held[a].lines, lines, coarse));
    key.push_back(step_of(held[a].dirty_sectors, 4 * lines, 4 * coarse));
    if (l2.has_memory_side()) {
      const std::int64_t most = lines * static_cast<std::int64_t>(l2.memory_side());
      const std::int64_t step = std::max<std::int64_t>(1, l2.private_capacity_lines() / 256);
      key.push_back(step_of(held[a].private_lines, most, step));
    }
    const kernel::Array& array = launch.kernel->arrays[a];
    all.sectors.push_back(held[a].lines * (memory::kLineBytes / memory::kSectorBytes));
    all.sectors.push_back(held[a].dirty_sectors);
    if (array.per_launch || array.copies > 1) {
      add_sides(key, l2, pages_of(launch, a));
      add_sides(all.kind, l2, pages_of(launch, a));
    }
  }
  return all;
}

void Replay::settle(Key& key, const Nearness& near) const {
  const auto kin = kinds_.find(key.kind);
  if (near.share <= 0 || kin == kinds_.end() || entries_.contains(key.rounded)) { return; }
  const Numbers* nearest = nullptr;
  std::int64_t least = 0;
  for (const Numbers& other : kin->second) {
    const Numbers& sectors = entries_.at(other).record->sectors;
    std::int64_t apart = 0;
    for (std::size_t i = 0; i < key.sectors.size(); ++i) {
      apart += std::abs(key.sectors[i] - sectors[i]);
    }
    if (nearest == nullptr || apart < least) {
      nearest = &other;
      least = apart;
    }
  }
  const Point& known = entries_.at(*nearest).points.front();
  const double time = unit::seconds(known.times.duration) * near.share;
  if (static_cast<double>(least * memory::kSectorBytes) <= time * near.bytes_per_s) {
    key.rounded = *nearest;
  }
}

const std::vector<Replay::Point>& Replay::points(const Key& key) const {
  static const std::vector<Point> none;
  const auto found = entries_.find(key.rounded);
  return found == entries_.end() ? none : found->second.points;
}

const Replay::Point& Replay::nearest(const std::vector<Point>& points, unit::Hertz clock) {
  const auto distance = [&](const Point& p) { return std::abs((p.clock - clock).count()); };
  return *std::min_element(points.begin(), points.end(), [&](const Point& a, const Point& b) {
    return distance(a) < distance(b);
  });
}

std::optional<Replay::Repeated> Replay::repeat(const Key& key, sm::Launch& launch, L2& l2,
                                               unit::Hertz clock) const {
  const auto found = entries_.find(key.rounded);
  if (found == entries_.end()) { return std::nullopt; }
  const Record& r = *found->second.record;
  const Point& point = nearest(found->second.points, clock);
  launch.counters += point.counters;
  launch.skipped_trips = r.skipped_trips;
  launch.skipped_waves = r.skipped_waves;
  for (std::size_t sm = 0; sm < launch.presence.size(); ++sm) {
    launch.presence[sm].reached = r.reached[sm];
  }
  const auto page_of = [&](const Left& l) {
    L2::PageState state = l.state;
    state.page += launch.array_base[l.array] / kPageBytes;
    return state;
  };
  for (const Left& l : r.left) {
    if (l.unnamed == 0) { l2.forget(page_of(l)); }
  }
  // What that displaces was written back by the earlier one's account.
  for (const Left& l : r.left) {
    if (l.unnamed != 0) {
      l2.add_unnamed(l.side, l.unnamed);
    } else {
      l2.restore(page_of(l));
    }
  }
  return point.times;
}

// Lines that nobody will ask for are gathered to a twelfth of a partition.
std::vector<Replay::Left> Replay::left_by(const sm::Launch& launch, const L2& l2) {
  const std::vector<L2::Range> ranges = ranges_of(launch);
  std::vector<Left> left;
  std::vector<std::int64_t> unnamed(l2.partitions(), 0);
  for (L2::PageState s : l2.pages_within(ranges)) {
    std::size_t a = 0;
    while (s.page < ranges[a].first || s.page >= ranges[a].last) { ++a; }
    const std::uint64_t side = (l2.home_of(s.page) + s.from_home) % l2.partitions();
    if (launch.array_once[a] && (s.dirty[0] | s.dirty[1]) == 0) {
      unnamed[side] += memory::lines_of(s.valid);
      if (unnamed[side] < std::max<std::int64_t>(1, l2.partition(side).capacity_lines() / 12)) {
        continue;
      }
      left.push_back({0, {}, side, std::exchange(unnamed[side], 0)});
    } else {
      s.page -= ranges[a].first;
      left.push_back({a, s, side, 0});
    }
  }
  for (std::uint64_t side = 0; side < unnamed.size(); ++side) {
    if (unnamed[side] != 0) { left.push_back({0, {}, side, unnamed[side]}); }
  }
  return left;
}

void Replay::remember(const Key& key, const sm::Launch& launch, unit::Time now, const L2& l2,
                      unit::Hertz clock) {
  Record r;
  for (const sm::Presence& p : launch.presence) { r.reached.push_back(p.reached); }
  r.left = left_by(launch, l2);
  r.profile = launch.spent;
  r.skipped_trips = launch.skipped_trips;
  r.skipped_waves = launch.skipped_waves;
  r.sectors = key.sectors;
  const Repeated times{launch.ended - launch.started, now - launch.ended};
  Entry entry{std::make_shared<const Record>(std::move(r)), {{clock, times, launch.counters}}};
  const bool fresh = entries_.insert_or_assign(key.rounded, std::move(entry)).second;
  if (fresh) { kinds_[key.kind].push_back(key.rounded); }
}

void Replay::add(const Key& key, const Point& point) {
  std::vector<Point>& points = entries_.at(key.rounded).points;
  points.push_back(point);
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.clock > b.clock; });
}

}  // namespace wavetail::device
