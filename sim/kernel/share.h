// SPDX-License-Identifier: Apache-2.0
// How the blocks of a launch share out a grid of tiles that is not one tile per block: what
// persistent kernels and stream-K do with their loops. The blocks of a cluster take neighbouring
// tiles, so that the unit is a cluster and the group of tiles that it takes at once.
//
//   132 blocks, 140 tiles of 128 steps, dealt out:   block 3 takes tiles 3 and 135, all steps
//   the same, contiguous:  17,920 steps, 135 or 136 per block; block 1 takes steps 0..14 of tile 2,
//   then 7..127 of tile 1
#pragma once

#include "kernel/band.h"

namespace wavetail::kernel {

// A stretch of one tile's steps that a cluster works on.
struct Portion {
  Dim3 tile{};                       // of the cluster's first block
  std::int64_t first = 0, last = 0;  // steps, `last` excluded
};

// Ways of DivergeBy::Portion: a whole tile, steps that others continue, the last steps of a tile.
enum class PortionWay : std::uint8_t { Whole, Early, Last };

[[nodiscard]] inline PortionWay way_of(const Portion& p, const Shares& s) {
  if (p.last != s.steps) { return PortionWay::Early; }
  return p.first == 0 ? PortionWay::Whole : PortionWay::Last;
}

// Clusters of the launch, and groups of tiles that they share out.
[[nodiscard]] inline std::int64_t clusters_of(const Kernel& k) {
  return volume(k.grid) / volume(k.cluster);
}

[[nodiscard]] inline std::int64_t tile_groups_of(const Kernel& k) {
  return volume(k.shares->tiles) / volume(k.cluster);
}

// Number of the cluster that a block belongs to, x fastest.
[[nodiscard]] inline std::int64_t cluster_of(const Kernel& k, const Dim3& block) {
  const std::int64_t x = k.grid[0] / k.cluster[0], y = k.grid[1] / k.cluster[1];
  return (block[2] / k.cluster[2] * y + block[1] / k.cluster[1]) * x + block[0] / k.cluster[0];
}

// Steps that cluster `c` leaves out of its first tile, if it is staggered.
[[nodiscard]] inline std::int64_t skipped_steps(const Kernel& k, std::int64_t c) {
  const Shares& s = *k.shares;
  return c < s.staggered ? s.steps - (c + 1) * s.steps / s.staggered : 0;
}

// Of all clusters together.
[[nodiscard]] inline std::int64_t total_steps(const Kernel& k) {
  std::int64_t steps = tile_groups_of(k) * k.shares->steps;
  for (std::int64_t c = 0; c < k.shares->staggered; ++c) { steps -= skipped_steps(k, c); }
  return steps;
}

// The first of all steps, tile group by tile group, that contiguous cluster `c` takes.
[[nodiscard]] inline std::int64_t first_step(const Kernel& k, std::int64_t c) {
  return c * (tile_groups_of(k) * k.shares->steps) / clusters_of(k);
}

// How many portions cluster `c` works through.
[[nodiscard]] inline std::int64_t portions_of(const Kernel& k, std::int64_t c) {
  const std::int64_t groups = tile_groups_of(k), clusters = clusters_of(k);
  if (!k.shares->contiguous) { return c >= groups ? 0 : (groups - c - 1) / clusters + 1; }
  const std::int64_t from = first_step(k, c), to = first_step(k, c + 1);
  return from == to ? 0 : (to - 1) / k.shares->steps - from / k.shares->steps + 1;
}

// The nth portion of cluster `c`. A contiguous share is gone through from its last tile to its
// first, as CUTLASS does: at any time all clusters are at about the same step of K, and what others
// have to continue is done first.
[[nodiscard]] inline Portion portion_of(const Kernel& k, std::int64_t c, std::int64_t n) {
  const Shares& s = *k.shares;
  Portion p{{}, 0, s.steps};
  std::int64_t group = c + n * clusters_of(k);
  if (s.contiguous) {
    const std::int64_t from = first_step(k, c), to = first_step(k, c + 1);
    group = (to - 1) / s.steps - n;
    p.first = from > group * s.steps ? from - group * s.steps : 0;
    p.last = n == 0 ? to - group * s.steps : s.steps;
  } else if (n == 0) {
    p.first = skipped_steps(k, c);
  }
  p.tile = nth_cluster(s.tiles, k, group);
  return p;
}

// What all clusters come to together.
struct PortionCount {
  std::int64_t portions = 0, whole = 0, early = 0, last = 0;
};

[[nodiscard]] inline PortionCount count_portions(const Kernel& k) {
  PortionCount n;
  if (!k.shares->contiguous) {
    n.portions = n.whole = tile_groups_of(k);
    for (std::int64_t c = 0; c < k.shares->staggered; ++c) {
      if (skipped_steps(k, c) == 0) { continue; }
      --n.whole;
      ++n.last;
    }
    return n;
  }
  for (std::int64_t c = 0; c < clusters_of(k); ++c) {
    const std::int64_t portions = portions_of(k, c);
    n.portions += portions;
    for (std::int64_t i = 0; i < portions; ++i) {
      const PortionWay way = way_of(portion_of(k, c, i), *k.shares);
      n.whole += way == PortionWay::Whole ? 1 : 0;
      n.early += way == PortionWay::Early ? 1 : 0;
      n.last += way == PortionWay::Last ? 1 : 0;
    }
  }
  return n;
}

}  // namespace wavetail::kernel
