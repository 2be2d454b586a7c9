// SPDX-License-Identifier: Apache-2.0
// Tiles that several blocks need (tma2dmcast_tput of microbench-blackwell): four warps per block,
// one block per SM; in every trip each warp has a tile of its own fetched and waits for it, then
// the whole cluster waits for its blocks. Blocks of a cluster read the same tiles
// (implicit_l2_intra), get them by multicast, which the cluster's first block asks for
// (explicit_mcast), or read tiles of their own (no_sharing); or groups of blocks without a cluster
// read the same (implicit_l2_cross).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "study/protocols/all.h"
#include "study/protocols/async.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kWarps = 4, kElement = 4, kData = std::int64_t{2} << 30;
constexpr double kLeadBytes = 24e6, kMeasuredBytes = 96e6;
constexpr std::int64_t kLeadTrips = 8, kMeasuredTrips = 48;

struct Tiles {
  std::int64_t rows, row_bytes;
  std::int64_t blocks, cluster;
  std::int64_t readers;  // blocks that read the same tile
  bool multicast;

  [[nodiscard]] std::int64_t tile() const { return rows * row_bytes; }

  // New data per trip.
  [[nodiscard]] std::int64_t trip_bytes() const { return blocks / readers * kWarps * tile(); }
};

// Blocks that read the same lie side by side along x, groups of them along y.
kernel::Kernel readers(const gpu::GpuSpec& gpu, const Tiles& t, std::int64_t trips) {
  kernel::Kernel k;
  k.grid = {t.readers, t.blocks / t.readers, 1};
  k.cluster = t.readers == t.cluster ? kernel::Dim3{t.cluster, 1, 1}
                                     : kernel::Dim3{1, t.cluster, 1};
  k.block = kWarps * gpu.sm.warp_size;
  k.registers = 32;
  k.shared_memory = gpu.sm.shared_memory_per_block;
  k.arrays = {{"data", unit::Bytes{trips * t.trip_bytes()}, false}};
  for (std::int64_t w = 0; w < kWarps; ++w) {
    k.mbarriers.push_back(ring(fmt::format("bar{}", w), 1));
    kernel::Box b = box(t.rows, t.row_bytes, t.row_bytes,
                        {.block_y = kWarps * t.tile(), .loop = {t.trip_bytes()}});
    b.offset = w * t.tile();
    b.multicast[0] = t.multicast;
    b.leader = t.multicast;
    library::Listing code, body;
    body.int32(kNextOfStep, 1);
    body.op(tma_load({b}, static_cast<int>(w)));
    body.op(mbarrier_wait(static_cast<int>(w)));
    body.op(cluster_barrier());
    code.prologue(1);
    code.op(cluster_barrier());
    code.repeat(trips, std::move(body));
    k.roles.push_back({fmt::format("warp{}", w), 1, {}, code.take()});
  }
  return k;
}

}  // namespace

Plan tma_multicast_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  const std::string mode = params.one_of(
      "mode", std::array<std::string_view, 4>{"implicit_l2_intra", "explicit_mcast", "no_sharing",
                                              "implicit_l2_cross"});
  const std::int64_t cluster = params.count("cluster"), sharing = params.count("sharing");
  const auto [width, height] = sides_of("box", params.word("box"), "");
  const bool cross = mode == "implicit_l2_cross";
  if (cross ? cluster != 1 : sharing != cluster) {
    throw Unmapped(fmt::format("cluster={}, sharing={}: {} has {}", cluster, sharing, mode,
                               cross ? "no clusters" : "one and the same for both"));
  }
  Tiles t{.rows = height,
          .row_bytes = width * kElement,
          .blocks = gpu.sms() / sharing * sharing,
          .cluster = cluster,
          .readers = mode == "no_sharing" ? 1 : sharing,
          .multicast = mode == "explicit_mcast" && cluster > 1};
  if (t.blocks == 0) { throw Unmapped(fmt::format("sharing={}: more than the SMs", sharing)); }
  params.agrees("tile_bytes", t.tile());
  const std::int64_t trips = kData / t.trip_bytes();
  params.agrees("tma_instr", trips * t.blocks * kWarps);
  const auto bytes = static_cast<double>(t.trip_bytes());
  const Steady run = steady(gpu,
                            LongLoop{.rounds = trips,
                                     .lead = rounds_for(kLeadBytes, bytes, kLeadTrips),
                                     .between = rounds_for(kMeasuredBytes, bytes, kMeasuredTrips),
                                     .make = [=](std::int64_t n) { return readers(gpu, t, n); }});
  return {run.scenario, Quantity::Time, run.seconds};
}

}  // namespace wavetail::study
