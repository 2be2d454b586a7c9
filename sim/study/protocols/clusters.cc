// SPDX-License-Identifier: Apache-2.0
// Shared memory of the other blocks of a cluster: dependent loads of one lane (ld.shared::cluster),
// and a ring in which every block copies from its neighbour's shared memory to its own.
#include <fmt/format.h>

#include "occupancy/occupancy.h"
#include "study/protocols/all.h"
#include "study/protocols/async.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kLoads = 2048;

kernel::Kernel of_clusters(const gpu::GpuSpec& gpu, std::int64_t clusters, std::int64_t cluster,
                           std::int64_t block, library::Listing code) {
  kernel::Kernel k = library::plain_kernel(gpu, {clusters * cluster, 1, 1}, block, 32,
                                           std::move(code));
  k.cluster = {cluster, 1, 1};
  return k;
}

kernel::Op peer_load(int width, int lanes, std::int64_t count, std::int64_t to) {
  kernel::Op op;
  op.kind = kernel::OpKind::PeerLoad;
  op.count = count;
  op.peer = {.width = width, .lanes = lanes, .to = to};
  return op;
}

// All blocks follow chains of their own; loads of one lane do not meet.
kernel::Kernel chase(const gpu::GpuSpec& gpu, std::int64_t cluster, std::int64_t to,
                     std::int64_t loads) {
  library::Listing code, body;
  body.op(peer_load(4, 1, 1, to));
  body.wait(0);
  code.prologue(1);
  code.op(cluster_barrier());
  code.repeat(loads, std::move(body));
  code.op(cluster_barrier());
  kernel::Kernel k = of_clusters(gpu, 1, cluster, gpu.sm.warp_size, std::move(code));
  k.shared_memory = unit::Bytes{4096};
  return k;
}

std::int64_t size_of(Params& params, const gpu::GpuSpec& gpu) {
  const std::int64_t cluster = params.count("cluster_size");
  if (cluster > gpu.sm.max_cluster) {
    throw Unmapped(
        fmt::format("cluster_size={}: {} has {} at most", cluster, gpu.name, gpu.sm.max_cluster));
  }
  return cluster;
}

// The ranks that a row names: its own, or the distance between two.
std::int64_t distance_of(Params& params, std::int64_t cluster) {
  params.ignore({"src_sm", "dst_sm"});  // where the ranks were
  if (params.has("src_rank")) {
    const std::int64_t from = params.count("src_rank", 0), to = params.count("dst_rank", 0);
    if (from >= cluster || to >= cluster) {
      throw Unmapped(fmt::format("ranks go from 0 to {}", cluster - 1));
    }
    return (to - from + cluster) % cluster;
  }
  if (params.has("from_")) {
    params.must_be("from_", "rank r");
    params.must_be("to", "other rank");
  }
  if (cluster < 2) { throw Unmapped("a cluster of one has no other rank"); }
  return 1;
}

}  // namespace

Plan dsmem_latency_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency", "latency_mean"});
  const std::int64_t cluster = size_of(params, gpu), to = distance_of(params, cluster);
  if (params.has("access")) {
    params.must_be("access", "dependent ld.shared::cluster over a 4096 B buffer");
  }
  std::vector<kernel::Kernel> kernels{chase(gpu, cluster, to, kLoads),
                                      chase(gpu, cluster, to, 2 * kLoads)};
  kernels[0].name = "short";
  kernels[1].name = "long";
  return {scenario_of(gpu, std::move(kernels), {0, 1}), Quantity::Time,
          [](const run::Happened& h) { return (seconds_of(h, 1) - seconds_of(h, 0)) / kLoads; }};
}

// The row's figure is the best over block sizes and loads under way: full blocks, four loads each.
Plan dsmem_throughput_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"bandwidth"});
  params.must_be("pattern", "ring copy");
  constexpr std::int64_t kBlock = 1024, kUnder = 4, kTrips = 32;
  const std::int64_t cluster = size_of(params, gpu);
  if (cluster < 2) { throw Unmapped("a ring of one copies from nobody"); }
  const std::int64_t clusters = occupancy::reachable_sms(gpu, cluster) / cluster;
  const auto ring_copy = [&](std::int64_t trips) {
    library::Listing code, body;
    body.op(peer_load(4, 0, kUnder, 1));
    body.wait(0);
    body.shared_store({.width = 4, .warp = gpu.sm.warp_size * 4}, kUnder);
    body.loop_step(1);
    code.prologue(1);
    code.op(cluster_barrier());
    code.repeat(trips, std::move(body));
    code.op(cluster_barrier());
    kernel::Kernel k = of_clusters(gpu, clusters, cluster, kBlock, std::move(code));
    k.shared_memory = unit::Bytes{kBlock * 4};
    return k;
  };
  std::vector<kernel::Kernel> kernels{ring_copy(kTrips), ring_copy(2 * kTrips)};
  kernels[0].name = "short";
  kernels[1].name = "long";
  const double bytes = static_cast<double>(clusters * cluster * kBlock * 4 * kUnder * kTrips);
  return {scenario_of(gpu, std::move(kernels), {0, 1}), Quantity::DataRate,
          [=](const run::Happened& h) { return bytes / (seconds_of(h, 1) - seconds_of(h, 0)); },
          gpu.sms()};
}

}  // namespace wavetail::study
