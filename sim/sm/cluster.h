// SPDX-License-Identifier: Apache-2.0
// The resident thread block clusters: which block is where, and the barrier of each. Also accesses
// to a peer's shared memory that are under way.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/band.h"
#include "unit/quantity.h"

namespace wavetail::sm {

// Coordinates of rank `rank` within a cluster, x fastest.
[[nodiscard]] inline kernel::Dim3 rank_at(const kernel::Dim3& extent, std::int64_t rank) {
  return {rank % extent[0], rank / extent[0] % extent[1], rank / (extent[0] * extent[1])};
}

inline constexpr std::uint32_t kNoCluster = 0xffffffffU;

struct ClusterMember {
  std::uint16_t sm = 0;
  std::uint32_t block = 0;  // slot
  std::uint64_t placement = 0;
  kernel::Dim3 at{};  // coordinates within the cluster
};

struct Cluster {
  std::vector<ClusterMember> members;  // by rank
  kernel::Dim3 extent{1, 1, 1};
  std::int64_t live = 0;     // blocks
  std::int64_t running = 0;  // warps
  std::int64_t arrived = 0;
  std::uint32_t completed = 0;               // phases of its barrier
  std::int64_t latest = 0, complete_at = 0;  // SM cycles
  std::vector<std::uint32_t> waiters;        // SM x 2^16 + warp slot
};

struct PeerRequest {
  std::uint16_t from = 0;  // SM
  std::uint16_t warp = 0;  // slot
  std::uint8_t sequence = 0;
  int sectors = 0;
  unit::Duration latency;  // there and back, unloaded
};

class ClusterTable {
 public:
  // A cluster without members.
  std::uint32_t open(const kernel::Dim3& extent) {
    std::uint32_t id;
    if (free_.empty()) {
      id = static_cast<std::uint32_t>(clusters_.size());
      clusters_.emplace_back();
    } else {
      id = free_.back();
      free_.pop_back();
    }
    clusters_[id] = Cluster{};
    clusters_[id].extent = extent;
    return id;
  }

  Cluster& operator[](std::uint32_t id) { return clusters_[id]; }

  // A member has left.
  void leave(std::uint32_t id) {
    if (--clusters_[id].live == 0) { free_.push_back(id); }
  }

  std::uint32_t keep(const PeerRequest& request) {
    if (free_requests_.empty()) {
      requests_.push_back(request);
      return static_cast<std::uint32_t>(requests_.size() - 1);
    }
    const std::uint32_t id = free_requests_.back();
    free_requests_.pop_back();
    requests_[id] = request;
    return id;
  }

  [[nodiscard]] const PeerRequest& request(std::uint32_t id) const { return requests_[id]; }

  void release(std::uint32_t id) { free_requests_.push_back(id); }

 private:
  std::vector<Cluster> clusters_;
  std::vector<std::uint32_t> free_;
  std::vector<PeerRequest> requests_;
  std::vector<std::uint32_t> free_requests_;
};

// blockIdx of the nth block in order of placement: cluster by cluster.
[[nodiscard]] inline kernel::Dim3 block_at(const kernel::Kernel& k, std::int64_t n) {
  const std::int64_t size = kernel::volume(k.cluster);
  const kernel::Dim3 c = kernel::nth_cluster(k.grid, k, n / size);
  const kernel::Dim3 r = rank_at(k.cluster, n % size);
  return {c[0] + r[0], c[1] + r[1], c[2] + r[2]};
}

}  // namespace wavetail::sm
