// SPDX-License-Identifier: Apache-2.0
// Protocols of asynchronous copies, clusters and L2 partitions: what a row must say, the words with
// which it is skipped otherwise, and that what is simulated moves the bytes that it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rows.h"

namespace wavetail::study {
namespace {

using testing::HasSubstr;

std::string reason(const std::string& gpu, const std::string& kind, const std::string& params,
                   const std::string& metric, const std::string& unit) {
  try {
    (void)plan_of(row(gpu, kind, params, metric, unit), shipped_gpu(gpu));
  } catch (const Unmapped& why) { return why.what(); }
  return "planned";
}

std::string boxes(const std::string& tma, const std::string& box, int load) {
  return "tma=" + tma + ";box=" + box + ";load_bytes=" + std::to_string(load) +
         ";grid=114;block=1;blocks_per_sm=1;in_flight_per_block=1;total_bytes=4294967296;elem=fp32";
}

std::string boxes_reason(const std::string& params) {
  return reason("h800-pcie", "tma_throughput", params, "time", "ms");
}

TEST(Boxes, ARowSaysTheShape) {
  EXPECT_EQ(boxes_reason(boxes("bulk_1d_nontensor", "linear", 1024)), "planned");
  EXPECT_EQ(boxes_reason(boxes("tensor_2d", "X=96xY=32", 12288)), "planned");
  EXPECT_EQ(boxes_reason(boxes("tensor_3d", "X=4xY=4xZ=256", 16384)), "planned");
  EXPECT_EQ(boxes_reason(boxes("tensor_2d", "X=16xY=16", 2048)),
            "load_bytes=2048, but the other parameters give 1024");
  EXPECT_THAT(boxes_reason(boxes("tensor_3d", "X=16xY=16", 1024)),
              HasSubstr("box=X=16xY=16: 3 dimensions of 1 to 256 elements are needed"));
  EXPECT_THAT(boxes_reason(boxes("tensor_2d", "X=16xY=512", 32768)), HasSubstr("1 to 256"));
  EXPECT_THAT(boxes_reason(boxes("tensor_2d", "linear", 1024)), HasSubstr("2 dimensions"));
  EXPECT_THAT(boxes_reason(boxes("bulk_1d_nontensor", "X=8xY=8", 256)),
              HasSubstr("box=X=8xY=8: there is linear"));
  EXPECT_THAT(boxes_reason(boxes("im2col", "linear", 256)),
              HasSubstr("there is bulk_1d_nontensor"));
}

TEST(Boxes, ASizeThatALogPrintedIsNotTaken) {
  EXPECT_THAT(boxes_reason("tma=bulk_1d_nontensor;box=linear;load_KB_as_printed=0.75;grid=114;"
                           "block=1;total_bytes=4294967296;elem=fp32"),
              HasSubstr("load_KB_as_printed=0.75: the size of a box as the log printed it"));
}

TEST(Boxes, AGpuWithoutATmaSaysSo) {
  EXPECT_THAT(reason("a100-sxm-80gb", "tma_throughput",
                     "tma=bulk_1d_nontensor;box=linear;load_bytes=1024;grid=108;block=1;"
                     "in_flight_per_block=1;total_bytes=4294967296;elem=fp32",
                     "time", "ms"),
              HasSubstr("does not exist on sm_80"));
}

// Every tile is fetched once, whatever its shape.
TEST(Boxes, MoveTheBytesOfTheirTiles) {
  for (const auto& [tma, box, load] :
       {std::tuple{"bulk_1d_nontensor", "linear", 4096}, std::tuple{"tensor_2d", "X=32xY=32", 4096},
        std::tuple{"tensor_3d", "X=16xY=8xZ=8", 4096}}) {
    const Ran r = ran("h800-pcie", "tma_throughput", boxes(tma, box, load), "time", "ms");
    const result::Counters& c = r.counters(1);
    EXPECT_EQ(c.tma_fetch_bytes % load, 0) << box;
    EXPECT_GT(c.tma_fetch_bytes, 96 * 114 * load) << box;
    // neighbours may share 64 B bursts at the edge of what was read
    EXPECT_NEAR(static_cast<double>(c.dram_read_bytes), static_cast<double>(c.tma_fetch_bytes),
                0.02 * static_cast<double>(c.tma_fetch_bytes))
        << box;
    // no faster than DRAM, no slower than a box per 2 us and SM
    EXPECT_GT(r.figure("ms"), 4.294967296 / 2.039) << box;
    EXPECT_LT(r.figure("ms"), 4294967296.0 / load / 114 * 2e-3) << box;
  }
}

std::string ring_of(const std::string& box, int stages, int in_flight) {
  return "ctas_per_sm=1;stages=" + std::to_string(stages) + ";box=" + box +
         ";bytes_in_flight_per_sm=" + std::to_string(in_flight) + ";total=2GB";
}

TEST(Boxes, ARingKeepsItsStagesUnderWay) {
  const auto rate = [](int stages) {
    const Ran r = ran("b200", "tma_dram_throughput", ring_of("128x2 fp32", stages, 1024 * stages),
                      "dram_bandwidth", "GB/s");
    return r.figure("GB/s");
  };
  const double one = rate(1), four = rate(4);
  EXPECT_GT(four, 3 * one);  // latency-bound: nearly four times as much
  EXPECT_LT(four, 4 * one);
  EXPECT_THAT(
      reason("b200", "tma_dram_throughput", ring_of("128x2", 1, 1024), "dram_bandwidth", "GB/s"),
      HasSubstr("WIDTHxHEIGHT fp32"));
  EXPECT_THAT(reason("b200", "tma_dram_throughput", ring_of("128x2 fp32", 2, 1024),
                     "dram_bandwidth", "GB/s"),
              HasSubstr("but the other parameters give 2048"));
  EXPECT_THAT(reason("b200", "tma_dram_throughput", ring_of("256x256 fp32", 1, 262144),
                     "dram_bandwidth", "GB/s"),
              HasSubstr("refuses kernel"));
}

std::string copies(int stages, int block) {
  return "ctas_per_sm=1;stages=" + std::to_string(stages) + ";block=" + std::to_string(block) +
         ";load_bytes_per_thread=16;bytes_in_flight_per_sm=" + std::to_string(stages * block * 16) +
         ";total=2GB";
}

TEST(Copies, ReadEveryStagesShareOfTheArray) {
  const Ran r = ran("b200", "cpasync_dram_throughput", copies(4, 128), "dram_bandwidth", "GB/s");
  const auto trips = r.counters(0).useful_load_bytes / (148 * 128 * 16);
  EXPECT_EQ(r.counters(0).useful_load_bytes, trips * 148 * 128 * 16);
  EXPECT_EQ(r.counters(0).dram_read_bytes, r.counters(0).useful_load_bytes);
  EXPECT_EQ(r.plan.scenario.kernels.all()[0].arrays[0].bytes.count(), trips * 4 * 148 * 128 * 16);
}

// More than nine groups are never under way: the primitive waits for all but eight.
TEST(Copies, SixteenStagesAreNineGroups) {
  const auto rate = [](int stages) {
    return ran("b200", "cpasync_dram_throughput", copies(stages, 64), "dram_bandwidth", "GB/s")
        .figure("GB/s");
  };
  EXPECT_NEAR(rate(16), rate(9), 0.02 * rate(9));
  EXPECT_GT(rate(8), 1.5 * rate(4));
}

std::string tiles(const std::string& mode, int cluster, int sharing, std::int64_t instr) {
  return "mode=" + mode + ";cluster=" + std::to_string(cluster) +
         ";sharing=" + std::to_string(sharing) +
         ";box=64x16;tile_bytes=4096;tma_instr=" + std::to_string(instr);
}

TEST(Multicast, ReadsFromL2FallByTheCluster) {
  const Ran alone = ran("b200", "tma_multicast", tiles("implicit_l2_intra", 2, 2, 1048432), "time",
                        "us"),
            mcast = ran("b200", "tma_multicast", tiles("explicit_mcast", 2, 2, 1048432), "time",
                        "us"),
            apart = ran("b200", "tma_multicast", tiles("no_sharing", 2, 2, 523920), "time", "us");
  const result::Counters &a = alone.counters(1), &m = mcast.counters(1), &n = apart.counters(1);
  EXPECT_EQ(a.tma_load_bytes, a.tma_fetch_bytes);
  EXPECT_EQ(m.tma_load_bytes, 2 * m.tma_fetch_bytes);
  EXPECT_EQ(a.dram_read_bytes * 2, a.tma_load_bytes);
  EXPECT_EQ(n.dram_read_bytes, n.tma_load_bytes);
  // the same number of steps of the same length, but for what they share
  EXPECT_NEAR(mcast.figure("us"), alone.figure("us"), 0.1 * alone.figure("us"));
  EXPECT_NEAR(apart.figure("us"), alone.figure("us") / 2, 0.1 * alone.figure("us"));
}

TEST(Multicast, ARowAgreesWithItself) {
  const auto why = [](const std::string& params) {
    return reason("b200", "tma_multicast", params, "time", "us");
  };
  EXPECT_THAT(why(tiles("no_sharing", 2, 2, 1)), HasSubstr("tma_instr=1, but"));
  EXPECT_THAT(why(tiles("explicit_mcast", 2, 4, 1)), HasSubstr("one and the same for both"));
  EXPECT_THAT(why(tiles("implicit_l2_cross", 2, 2, 1)), HasSubstr("no clusters"));
}

TEST(Cold, ABurstTakesLongerThanALoneBox) {
  const auto wait = [](const std::string& box, int bytes) {
    return ran("b200", "tma_latency_all_sms",
               "ctas_per_sm=1;tile_bytes=" + std::to_string(bytes) + ";box=" + box +
                   ";pattern=every SM issues one cold load",
               "latency_median", "cycles")
        .figure("cycles");
  };
  const double small = wait("128x1 fp32", 512), large = wait("128x256 fp32", 131072);
  EXPECT_GT(small, 700);  // DRAM alone
  EXPECT_LT(small, 1700);
  EXPECT_GT(large, 148 * 131072 / 7.27e12 * 1.965e9 / 2);  // half of the burst at DRAM's rate
}

TEST(Paths, SmallStagesPayForTheirTrips) {
  const auto rate = [](const std::string& method, int stages) {
    return ran("b300", "hbm_to_smem_throughput",
               "method=" + method + ";stages=" + std::to_string(stages) +
                   ";bytes_in_flight_KiB_per_sm=16;working_set=512MiB;passes=32",
               "eff_bandwidth", "GB/s")
        .figure("GB/s");
  };
  EXPECT_GT(rate("ldgsts", 2), 1.2 * rate("ldgsts", 8));
  EXPECT_GT(rate("ldgsts", 8), 1.2 * rate("tma", 8));
  EXPECT_THAT(reason("b300", "hbm_to_smem_throughput",
                     "method=tma;stages=2;bytes_in_flight_KiB_per_sm=16;working_set=64MiB;passes=2",
                     "eff_bandwidth", "GB/s"),
              HasSubstr("no larger than twice L2"));
}

TEST(Clusters, RanksNameTheirDistance) {
  const auto cycles = [](const std::string& params) {
    return ran("h800-pcie", "dsmem_latency", params, "latency", "cycles").figure("cycles");
  };
  EXPECT_NEAR(cycles("cluster_size=2"), 181, 2);
  EXPECT_NEAR(cycles("cluster_size=4;src_rank=0;dst_rank=3;src_sm=0;dst_sm=15"), 203, 2);
  EXPECT_NEAR(cycles("cluster_size=4;src_rank=1;dst_rank=1;src_sm=0;dst_sm=0"), 29, 5);
  const auto why = [](const std::string& params) {
    return reason("h800-pcie", "dsmem_latency", params, "latency", "cycles");
  };
  EXPECT_THAT(why("cluster_size=4;src_rank=0;dst_rank=4"), HasSubstr("ranks go from 0 to 3"));
  EXPECT_THAT(why("cluster_size=1"), HasSubstr("no other rank"));
  EXPECT_THAT(why("cluster_size=32"), HasSubstr("has 16 at most"));
}

// A ring is bound by the port that a neighbour's data leave by.
TEST(Clusters, ARingIsBoundByThePorts) {
  const Ran r = ran("h800-pcie", "dsmem_throughput", "cluster_size=2;pattern=ring copy",
                    "bandwidth", "TB/s");
  EXPECT_LE(r.figure("B/clk/SM"), 16);
  EXPECT_GT(r.figure("B/clk/SM"), 14);
}

TEST(Partitions, NearAndFarAreChosen) {
  const auto cycles = [](const std::string& which) {
    return ran("h800-pcie", "l2_partition_latency", "case=" + which, "latency", "cycles")
        .figure("cycles");
  };
  const double near = cycles("near hit"), far = cycles("far hit");
  EXPECT_NEAR(near, 265, 6);  // 151 ns at 1755 MHz
  EXPECT_NEAR(far, 414, 6);
  const double near_miss = cycles("near miss"), far_miss = cycles("far miss");
  EXPECT_GT(near_miss, near + 150);
  EXPECT_NEAR(far_miss - near_miss, far - near, 20);
  EXPECT_THAT(reason("rtx4090", "l2_partition_latency", "case=near hit", "latency", "cycles"),
              HasSubstr("one partition"));
}

// Parameters of a chain of bulk copies read as those of loads: its note tells them apart.
TEST(Latency, ANoteSaysThatAChainIsOneOfCopies) {
  const auto cycles = [](const std::string& notes) {
    return ran("h800-pcie", "mem_latency_curve",
               "working_set_kB=706.0;clock_mhz=1755;access=dependent_load;threads=1", "latency",
               "cycles", notes)
        .figure("cycles");
  };
  EXPECT_GT(cycles("dependent 16-byte TMA bulk copies"), cycles("pointer chase") + 60);
}

TEST(Latency, ABoxTakesLongerThanALoad) {
  const Ran r = ran("h800-pcie", "tma_extra_latency", "vs=regular load", "latency", "cycles");
  const gpu::GpuSpec& gpu = r.plan.scenario.gpu;
  EXPECT_NEAR(r.figure("cycles"),
              static_cast<double>(
                  (gpu.tma.latency + gpu.mbarrier.latency + gpu.shared_memory.latency).count()),
              10);
}

}  // namespace
}  // namespace wavetail::study
