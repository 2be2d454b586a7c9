// SPDX-License-Identifier: Apache-2.0
// The memory-side cache: what private L2s lack is looked up in it, on the way to the channel. Each
// channel has its part of the cache in front of it; hits take their turn among the channel's other
// accesses, at the cache's own rate. It only ever holds what DRAM has as well: a write goes through
// it and leaves a copy, so that nothing has to be written when a line leaves.
#include <algorithm>
#include <bit>

#include "memory/bursts.h"
#include "memory/system.h"

namespace wavetail::memory {

namespace {

constexpr int kGroupsPerWord = 4;
constexpr int kSectorsPerGroup = 4 * L2Directory::kLinesPerFill;

// When the last of these sectors of a word that are still on their way is there.
Time last_ready(const L2Directory& cache, std::uint32_t frame, std::size_t word,
                std::uint64_t sectors) {
  Time last;
  for (int group = 0; group < kGroupsPerWord; ++group) {
    if ((sectors >> (kSectorsPerGroup * group) & 0xffff) == 0) { continue; }
    last = std::max(last, cache.ready(frame, static_cast<int>(word) * kGroupsPerWord + group));
  }
  return last;
}

void forget_oldest(L2Directory& cache, std::uint32_t keep) {
  if (cache.overfull(keep)) {
    cache.shrink(keep, [](std::int64_t, const Sectors&) {});  // nothing is dirty
  }
}

}  // namespace

// A request of an L2's slice, which it leaves at `at`; returns when the slice has the data.
Time System::read_memory_side(Time at, const Piece& piece, result::Counters& c) {
  const Held held = hold(piece.page, l2_.memory_side());
  L2Directory& cache = l2_.partition(held.side);
  const int word = static_cast<int>(piece.word);
  const std::uint64_t lacking = whole_bursts(piece.sectors & ~cache.valid(held.frame)[piece.word]);
  const std::uint64_t found = piece.sectors & ~lacking;
  c.memory_side_sectors += std::popcount(piece.sectors);
  c.memory_side_hit_sectors += std::popcount(found);
  HbmChannel& channel = channels_[piece.place.channel];
  const Time there = at + timing_.to_dram;
  Time ready;
  if (found != 0) {
    cache.touch(held.frame, word, found);
    const Time served = channel.read_cached(
        timing_.channel, there, timing_.memory_side_burst * std::popcount(bursts(found)));
    ready = std::max(served, last_ready(cache, held.frame, piece.word, found)) +
            timing_.from_memory_side;
  }
  if (lacking != 0) {
    const int count = std::popcount(bursts(lacking));
    c.dram_read_bytes += bytes_of(lacking);
    const Time read = channel.read(timing_.channel, there, piece.place.row, count) +
                      timing_.from_dram;
    cache.install(held.frame, word, lacking, 0);
    Sectors fetched{};
    fetched[piece.word] = lacking;
    cache.set_ready(held.frame, fetched, read - timing_.from_memory_side);
    ready = std::max(ready, read);
  }
  forget_oldest(cache, held.frame);
  return ready;
}

// Sectors of a page that an L2 writes back leave a copy.
void System::copy_to_memory_side(std::int64_t page, const Sectors& sectors) {
  const Held held = hold(page, l2_.memory_side());
  L2Directory& cache = l2_.partition(held.side);
  for (std::size_t w = 0; w < sectors.size(); ++w) {
    if (sectors[w] != 0) { cache.install(held.frame, static_cast<int>(w), sectors[w], 0); }
  }
  forget_oldest(cache, held.frame);
}

void System::write_back_private(Time at, result::Counters& counters) {
  for (std::uint64_t side = 0; side < l2_.partitions() && l2_.has_memory_side(); ++side) {
    l2_.partition(side).clean([&](std::int64_t page, const Sectors& dirty) {
      static_cast<void>(write_back(at, page, dirty, counters));
    });
  }
}

}  // namespace wavetail::memory
