// SPDX-License-Identifier: Apache-2.0
// One test per family of protocols: what is simulated moves the bytes, touches the sectors and
// issues the loads that the row says, and the figure has the size that the definition gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/share.h"
#include "rows.h"

namespace wavetail::study {
namespace {

TEST(Protocol, StreamMovesTheBytesOfItsThreads) {
  const Ran r = ran("h200-sxm", "stream_bw_vs_occupancy",
                    "kernel=triad;block=512;blocks_per_sm=2;grid=262145;elem=fp64_8B;"
                    "elems=134217730;loads_per_thread=2;stores_per_thread=1;bytes_per_thread=24",
                    "bandwidth", "GB/s");
  EXPECT_EQ(r.counters().useful_load_bytes, r.grid() * 512 * 16);
  EXPECT_EQ(r.counters().useful_store_bytes, r.grid() * 512 * 8);
  EXPECT_EQ(r.happened.kernels.back().fit.blocks_per_sm, 2);
  // the arrays are not in L2: what is read comes from DRAM
  EXPECT_NEAR(static_cast<double>(r.counters().dram_read_bytes),
              static_cast<double>(r.counters().useful_load_bytes), 0.01 * 16 * 512 * 1e4);
  EXPECT_GT(r.figure("GB/s"), 500);
  EXPECT_LT(r.figure("GB/s"), 4800);
}

TEST(Protocol, AStencilReadsOneArrayOnce) {
  const Ran r = ran("a100-sxm-80gb", "stream_bw_vs_occupancy",
                    "kernel=3pt;block=256;blocks_per_sm=2;grid=4096;elem=fp64_8B;"
                    "elems=268435458;bytes_per_thread=16",
                    "bandwidth", "GB/s");
  EXPECT_EQ(r.counters().useful_load_bytes, r.launches() * r.grid() * 256 * 24);
  EXPECT_GT(r.counters().dram_read_bytes, r.grid() * 256 * 7);
  EXPECT_LT(r.counters().dram_read_bytes, r.grid() * 256 * 9);
}

TEST(Protocol, L2StreamStaysInL2) {
  const Ran r = ran("a100-sxm-80gb", "l2_stream_bw_vs_occupancy",
                    "kernel=scale;block=256;blocks_per_sm=2;grid=4194305;elem=fp64_8B;"
                    "array_elems=65472;footprint_bytes=1047552;loads_per_thread=1;"
                    "stores_per_thread=1;bytes_per_thread=16",
                    "bandwidth", "GB/s");
  EXPECT_EQ(r.counters().useful_load_bytes, r.grid() * 256 * 8);
  EXPECT_EQ(r.counters().dram_read_bytes, 0);
  EXPECT_EQ(r.counters().dram_write_bytes, 0);
}

TEST(Protocol, ResidenceIsThatOfOneBlock) {
  const Ran r = ran("h200-sxm", "derived_block_residence",
                    "case=block residence;block=32;blocks_per_sm=1;memory=DRAM store only",
                    "block_residence", "ns");
  // no shorter than the floor of the GPU's file, and not much longer: stores are not waited for
  EXPECT_GT(r.figure("ns"), 212);
  EXPECT_LT(r.figure("ns"), 240);
}

TEST(Protocol, L2CurveReadsOneChunkPerBlock) {
  const Ran r = ran("a100-sxm-80gb", "l2_bw_curve",
                    "total_set_kB=2048;per_block_kB=64;block=1024;grid=200000;elem=fp64_8B;"
                    "access=coalesced_read, blocks cycle over blockRun distinct chunks",
                    "bandwidth", "GB/s");
  const kernel::Kernel& k = r.plan.scenario.kernels.all().back();
  EXPECT_EQ(k.shares->steps, 4);
  EXPECT_EQ(r.counters().useful_load_bytes, kernel::total_steps(k) * 2 * 1024 * 8);
  EXPECT_EQ(k.arrays.front().bytes.count(), 2048 * 1024);
  EXPECT_EQ(r.counters().dram_read_bytes, 0);
}

TEST(Protocol, L1CurveReadsTheWholeSetInEveryPass) {
  const Ran r = ran("a100-sxm-80gb", "cache_bw_same_data_all_sms",
                    "set_kB=148;grid=108;block=256;blocks_per_sm=1;elem=fp32_4B;"
                    "access=every block reads same buffer, coalesced",
                    "bandwidth", "GB/s");
  EXPECT_EQ(r.counters().useful_load_bytes % (108 * 148 * 1024), 0);
  EXPECT_LE(r.figure("B/clk/SM"), 128);
  EXPECT_GT(r.figure("B/clk/SM"), 100);
}

TEST(Protocol, ALatencyIsTheFilesOwn) {
  const Ran l1 = ran("a100-sxm-80gb", "mem_latency_curve",
                     "working_set_kB=16;clock_mhz=1410;access=dependent_load;threads=1", "latency",
                     "cycles");
  EXPECT_NEAR(l1.figure("cycles"), 33, 1.5);
  const Ran shared = ran("a100-sxm-80gb", "mem_latency", "level=shared", "latency", "cycles");
  EXPECT_NEAR(shared.figure("cycles"), 29, 1.5);
}

TEST(Protocol, APatternIssuesEightLoadsPerTrip) {
  const Ran r = ran("h200-sxm", "l1_access_pattern",
                    "elem=double;pattern=block;arg=4;block=1024;data=L1 resident",
                    "cycles_per_warp_load", "cycles/warp-instr/SM");
  EXPECT_EQ(r.counters().load_requests, 32 * 8 * 32);
  EXPECT_EQ(r.plan.scenario.kernels.all().back().roles.size(),
            4U);  // eight rows of four lanes each
}

TEST(Protocol, ScatteredLoadsTouchTheStatedSectors) {
  for (const auto& [shape, sectors, halves, lines] :
       {std::tuple{"8 lines, 1 sector per 64B half", 16, 16, 8},
        std::tuple{"8 lines, 2 adjacent sectors same 64B half", 16, 8, 8},
        std::tuple{"thirty-two far 16B", 32, 32, 32}}) {
    const std::string
        params = std::string(
                     "grid=8;block=256;iterations=32;bytes_per_lane=16;mode=streaming;shape=") +
                 shape + ";sectors32B_per_warp=" + std::to_string(sectors) +
                 ";half_lines64B=" + std::to_string(halves) + ";lines128B=" + std::to_string(lines);
    const Ran r = ran("h100-sxm", "coalescing_load", params, "time", "ms");
    EXPECT_EQ(r.counters().load_sectors, r.counters().load_requests * sectors) << shape;
    EXPECT_EQ(r.counters().useful_load_bytes, r.counters().load_requests * 512) << shape;
    EXPECT_EQ(r.counters().dram_read_bytes, r.counters().load_requests * halves * 64) << shape;
  }
}

TEST(Protocol, PermutedStoresTouchTheStatedSectors) {
  for (const auto& [permutation, sectors] :
       {std::pair{"split_halves", 64}, std::pair{"bit_reverse", 128},
        std::pair{"unit8_interleave", 64}}) {
    const Ran r = ran(
        "h100-sxm", "store_block_permutation",
        std::string("perm=") + permutation + ";block=128;tile_bytes=2048;iterations=8", "bandwidth",
        "GB/s");
    EXPECT_EQ(r.counters().store_sectors * 4, r.counters().store_requests * sectors) << permutation;
    EXPECT_EQ(r.counters().useful_store_bytes, r.counters().store_requests * 512);
  }
}

TEST(Protocol, SmallKernelsMoveTheirElements) {
  const Ran r = ran("h200-sxm", "repeated_small_kernel",
                    "mode=cuda_graph;kernel=scale A[i]=B[i]*0.25 fp64;elems=4096;bytes=65536;"
                    "block=128;grid=33",
                    "eff_bandwidth", "GB/s");
  EXPECT_EQ(r.counters().useful_load_bytes, r.launches() * 33 * 128 * 8);
  // a node takes at least the gap between nodes, and there is no host in between
  EXPECT_LT(r.figure("GB/s"), 65536 / 650.0);
  EXPECT_GT(r.figure("GB/s"), 65536 / 2500.0);
}

TEST(Protocol, EmptyLaunchesCostWhatTheHostTakes) {
  const Ran r = ran("h200-sxm", "launch_overhead", "case=225 plain launches;kernel=empty", "time",
                    "us");
  EXPECT_GE(r.figure("us"), 225 * 2.5);
  EXPECT_LT(r.figure("us"), 225 * 2.5 + 20);
}

TEST(Protocol, BabelStreamMovesItsArrays) {
  const Ran r = ran("h200-sxm", "babelstream", "kernel=Add;precision=double;array_bytes=8388608",
                    "bandwidth", "GB/s");
  EXPECT_EQ(r.counters().useful_load_bytes, r.launches() * 2 * 8388608);
  EXPECT_EQ(r.counters().useful_store_bytes, r.launches() * 8388608);
}

TEST(Protocol, ElementwiseReadsAndWritesItsTensors) {
  const Ran r = ran("a100-sxm-80gb", "elementwise_fp32",
                    "op=add;rows=4096;cols=1024;dtype=fp32;grid=8192x1x1;block=128x1x1", "time",
                    "us");
  const std::int64_t launches = r.happened.kernels.front().launches;
  EXPECT_EQ(r.counters(0).useful_load_bytes, launches * 2 * 4096 * 1024 * 4);
  EXPECT_EQ(r.counters(0).useful_store_bytes, launches * 4096 * 1024 * 4);
}

TEST(Protocol, LevelsReachTheirPorts) {
  const Ran shared = ran("a100-sxm-80gb", "smem_throughput", "", "throughput", "B/clk/SM");
  EXPECT_NEAR(shared.figure("B/clk/SM"), 128, 3);
}

TEST(Protocol, RatesAndChainsAreThoseOfThePipe) {
  const Ran rate = ran("h100-sxm", "opencl_benchmark", "test=int32 compute", "rate", "TIOP/s");
  EXPECT_NEAR(rate.figure("TIOP/s"), 132 * 64 * 2 * 1.83e-3, 1.5);
  const Ran chain = ran("h100-sxm", "op_cost",
                        "op=add;type=f32;method=dependent chain in one XLA fusion", "clock_cycles",
                        "cycles");
  EXPECT_NEAR(chain.figure("cycles"), 4, 0.2);
}

TEST(Protocol, LaunchRulesNeedNoSimulation) {
  const Plan plan = plan_of(
      row("H100", "occupancy_case", "kernel=k;regs=168;block=384;dyn_smem_kB_decimal=196.86",
          "blocks_per_sm", "blocks"),
      shipped_gpu("h100-sxm"));
  EXPECT_TRUE(plan.scenario.kernels.empty());
  EXPECT_EQ(plan.figure({}), 1);
}

}  // namespace
}  // namespace wavetail::study
