// SPDX-License-Identifier: Apache-2.0
// Closed forms of tensor instructions, mbarriers, boxes and peers on a GPU whose blocks start at
// once.
#include "isa/tensor.h"

#include <set>

#include "analytic/lab.h"
#include "sm/cluster.h"

namespace wavetail::tests {
namespace {

Op wgmma(std::int64_t n, std::int64_t count, bool a_in_registers = false) {
  Op op;
  op.kind = OpKind::Wgmma;
  op.count = count;
  op.tensor = {64, n, 16, kernel::TensorType::Bf16, a_in_registers};
  return op;
}

Op of(OpKind kind, std::int64_t count = 0) {
  Op op;
  op.kind = kind;
  op.count = count;
  return op;
}

Op mma(std::int64_t count, std::int64_t distance) {
  Op op;
  op.kind = OpKind::Mma;
  op.count = count;
  op.distance = distance;
  op.tensor = {16, 8, 16, kernel::TensorType::Bf16, false};
  return op;
}

Op on(OpKind kind, int mbarrier) {
  Op op;
  op.kind = kind;
  op.mbarrier = mbarrier;
  return op;
}

double cycles_of(const kernel::Kernel& k, const gpu::GpuSpec& gpu) {
  return cycles(run_alone(gpu, k).time(), gpu);
}

// A comes from shared memory at 128 B per cycle, B as well: max(n/2, 16 + n/4), in registers n/2.
TEST(Tensor, WgmmaCost) {
  const gpu::GpuSpec gpu = specs::h100();
  for (const auto& [n, shared, registers] : {std::array<std::int64_t, 3>{8, 18, 4},
                                             {16, 20, 8},
                                             {32, 24, 16},
                                             {64, 32, 32},
                                             {256, 128, 128}}) {
    EXPECT_EQ(isa::wgmma_cost(gpu, wgmma(n, 1).tensor).pipe, shared * isa::kThousandths) << n;
    EXPECT_EQ(isa::wgmma_cost(gpu, wgmma(n, 1, true).tensor).pipe, registers * isa::kThousandths);
  }
}

// A sparse A has half of the bytes and of the products: m64n256k32 takes 16 + 128 cycles of
// operands (144 measured on an H800, 128 with A in registers).
TEST(Tensor, SparseWgmmaCost) {
  const gpu::GpuSpec gpu = specs::h100();
  kernel::TensorShape s{64, 256, 32, kernel::TensorType::Fp16, false};
  s.sparse = true;
  EXPECT_EQ(isa::wgmma_cost(gpu, s).pipe, 144 * isa::kThousandths);
  EXPECT_EQ(isa::wgmma_cost(gpu, s).full, 128 * isa::kThousandths);
  s.a_in_registers = true;
  EXPECT_EQ(isa::wgmma_cost(gpu, s).pipe, 128 * isa::kThousandths);
}

// A register of each lane per cycle: m16n8k16 has four of A and two of B, sparse m16n8k32 four and
// four.
TEST(Tensor, MmaCostByOperands) {
  gpu::GpuSpec gpu = specs::h100();
  gpu.mma.share = 1;
  kernel::TensorShape s{16, 8, 16, kernel::TensorType::Fp16, false};
  EXPECT_EQ(isa::mma_cost(gpu, s).pipe, 6 * isa::kThousandths);
  EXPECT_EQ(isa::mma_cost(gpu, s).full, 4 * isa::kThousandths);
  s.k = 32;
  s.sparse = true;
  EXPECT_EQ(isa::mma_cost(gpu, s).pipe, 8 * isa::kThousandths);
  EXPECT_EQ(isa::mma_cost(gpu, s).full, 4 * isa::kThousandths);
  gpu.tensor.fp16 = 512;  // of a part whose FP16 sums are twice as fast
  gpu.mma.fp16_sums = 2;
  EXPECT_EQ(isa::mma_cost(gpu, s).full, 32 * isa::kThousandths);
  s.fp16_sums = true;
  EXPECT_EQ(isa::mma_cost(gpu, s).full, 16 * isa::kThousandths);
}

// Passes at the dense rate: 32x32x8 of BF16 takes 32 cycles of a SIMD; a dependent one a pass more.
TEST(Tensor, MfmaChainAndRate) {
  gpu::GpuSpec gpu = instant();
  gpu.architecture = "gfx942";
  gpu.sm.warp_size = 64;
  gpu.sm.max_warps = 32;
  gpu.tensor.bf16 = 2048;
  gpu.mma = {4_cycles, 1, unit::BytesPerCycle{128'000}, 1};
  gpu.pipes.fp32.lanes = gpu.pipes.int32.lanes = 16;
  Op chain = mma(20, 1), free = mma(40, 8);
  chain.kind = free.kind = OpKind::Mfma;
  chain.tensor = free.tensor = {32, 32, 8, kernel::TensorType::Bf16, false};
  EXPECT_EQ(isa::mfma_cost(gpu, chain.tensor).pipe, 32 * isa::kThousandths);
  kernel::Kernel one = kernel_of({repeat(10, {chain})}, 1, 64);
  one.roles[0].warps = 1;
  EXPECT_NEAR(cycles_of(one, gpu), 200 * 36, 40);
  kernel::Kernel four = kernel_of({repeat(10, {free})}, 1, 256);
  four.roles[0].warps = 4;
  EXPECT_NEAR(cycles_of(four, gpu), 400 * 32, 40);
}

TEST(Tensor, AWarpgroupThatWaitsForEveryGroup) {
  const gpu::GpuSpec gpu = instant();
  const double t = cycles_of(
      kernel_of({repeat(100, {wgmma(256, 4), of(OpKind::WgmmaWait)})}, 1, 128), gpu);
  EXPECT_NEAR(t, 100 * (4 * 128 + 16), 10);
}

// With a group left under way the pipe never waits for an instruction.
TEST(Tensor, AWarpgroupThatRunsAhead) {
  const gpu::GpuSpec gpu = instant();
  const double t = cycles_of(
      kernel_of({repeat(100, {wgmma(256, 4), of(OpKind::WgmmaWait, 1)})}, 1, 128), gpu);
  EXPECT_NEAR(t, 100 * 4 * 128 + 16, 10);
}

TEST(Tensor, TwoWarpgroupsShareThePipes) {
  const gpu::GpuSpec gpu = instant();
  const double t = cycles_of(
      kernel_of({repeat(100, {wgmma(256, 4), of(OpKind::WgmmaWait)})}, 1, 256), gpu);
  EXPECT_NEAR(t, 2 * 100 * 4 * 128, 600);
}

// Four warps multiply all the time, four others of the same sub-partitions add: each of their
// results holds the products up by isa::kRegisterWrite.
TEST(Tensor, WgmmaSharesTheRegistersPort) {
  const gpu::GpuSpec gpu = instant();
  constexpr std::int64_t kProducts = 400, kAdds = 8000;
  const auto both = [&](std::int64_t adds) {
    kernel::Kernel k = kernel_of({repeat(kProducts / 4, {wgmma(256, 4), of(OpKind::WgmmaWait, 1)})},
                                 1, 256);
    k.roles[0].warps = 4;
    kernel::Role other;
    other.warps = 4;
    Op add;
    add.count = adds;
    add.distance = 8;
    other.program = {add};
    k.roles.push_back(other);
    return cycles_of(k, gpu);
  };
  const double alone = both(1), share = static_cast<double>(isa::kRegisterWrite) / 1000;
  EXPECT_NEAR(both(kAdds) - alone, share * kAdds, 0.02 * share * kAdds);
}

TEST(Tensor, MmaIsAChainOfLatencies) {
  const gpu::GpuSpec gpu = instant();
  EXPECT_NEAR(cycles_of(kernel_of({repeat(20, {mma(10, 1)})}, 1, 32), gpu), 199 * 24, 3);
}

// A hundred groups take a hundred starts longer, one after the other on the pipe.
TEST(Tensor, AGroupHasAStart) {
  gpu::GpuSpec gpu = instant();
  const auto time = [&](std::int64_t start) {
    gpu.wgmma.start = unit::Cycles{start};
    return cycles_of(kernel_of({repeat(100, {wgmma(256, 4), of(OpKind::WgmmaWait, 1)})}, 1, 128),
                     gpu);
  };
  EXPECT_NEAR(time(25) - time(0), 100 * 25, 2);
}

// One warp is late before the wgmma, another behind it: the second waits for the first at the
// instruction that all four issue together.
TEST(Tensor, AWarpgroupIssuesInStep) {
  const gpu::GpuSpec gpu = instant();
  const auto late = [](std::size_t warp) {
    Op apart = of(OpKind::Diverge, 1);
    apart.diverge_by = kernel::DivergeBy::Warp;
    apart.bodies.resize(4);
    apart.bodies[warp] = {fma(1000)};
    return apart;
  };
  const double t = cycles_of(
      kernel_of({late(0), wgmma(256, 4), of(OpKind::WgmmaWait), late(1)}, 1, 128), gpu);
  EXPECT_NEAR(t, 2 * 4000 + 4 * 128 + 16, 40);
}

// The lanes of a warp take turns at an mbarrier.
TEST(Mbarriers, EveryThreadArrives) {
  const gpu::GpuSpec gpu = instant();
  const auto per_trip = [&](std::int64_t lanes) {
    Op arrive = on(OpKind::MbarrierArrive, 0);
    arrive.count = lanes;
    kernel::Kernel k = kernel_of({repeat(100, {arrive, on(OpKind::MbarrierWait, 0)})}, 1, 32);
    k.mbarriers = {{"b", 1, {}, false}};
    return cycles_of(k, gpu) / 100;
  };
  EXPECT_NEAR(per_trip(32) - per_trip(1), 31, 0.1);
}

// 4096 FLOP at 1024 per cycle and pipe, of which 65 % can be had.
TEST(Tensor, MmaReachesItsShare) {
  const gpu::GpuSpec gpu = instant();
  const double t = cycles_of(kernel_of({repeat(20, {mma(40, 8)})}, 1, 256), gpu);
  EXPECT_NEAR(t, 2 * 800 * 4 / 0.65, 30);
}

kernel::Box range(std::int64_t bytes) {
  kernel::Box b;
  b.array = 0;
  b.row_bytes = b.pitch = bytes;
  b.walk = kernel::WalkKind::Strides;  // none: always the same bytes
  return b;
}

kernel::Kernel with_box(const kernel::Box& box, std::int64_t trips, std::int64_t grid) {
  Op load_box = on(OpKind::TmaLoad, 0);
  load_box.boxes = {box};
  kernel::Kernel k = kernel_of({repeat(trips, {load_box, on(OpKind::MbarrierWait, 0)})}, grid, 32,
                               {{"x", unit::Bytes{std::int64_t{1} << 20}}});
  k.mbarriers = {{"full", 1, {}, {}}};
  k.shared_memory = unit::Bytes{box.bytes()};
  return k;
}

// The same sector again and again, from L2: a load's way, the engine's latency, the mbarrier's.
TEST(Tma, ABoxTakesALoadsWayAndTheEnginesLatency) {
  const gpu::GpuSpec gpu = instant();
  constexpr std::int64_t kTrips = 400;
  Op one = load(0, 4, 1, true);
  one.access.lanes = 1;
  one.access.walk = kernel::WalkKind::Everyone;
  one.access.array = 0;
  Program chase{one, wait()};
  kernel::Kernel loads = kernel_of({repeat(kTrips, chase)}, 1, 32,
                                   {{"x", unit::Bytes{std::int64_t{32}}}});
  const double load_cycles = cycles_of(loads, gpu) / kTrips;
  const double box_cycles = cycles_of(with_box(range(32), kTrips, 1), gpu) / kTrips;
  EXPECT_NEAR(box_cycles - load_cycles, 100 + 20, 12);
}

TEST(Tma, TheEngineBindsLargeBoxes) {
  gpu::GpuSpec gpu = instant();
  gpu.tma.rate = unit::BytesPerCycle{8'000};
  kernel::Kernel k = with_box(range(32'768), 64, 1);
  const double t = cycles_of(k, gpu);
  EXPECT_GE(t, 64 * 32'768 / 8);
  EXPECT_LE(t, 64 * (32'768 / 8 + 1'200));
}

// Each of four blocks fetches a quarter, and all get the whole.
TEST(Tma, MulticastReadsEveryByteOnce) {
  const gpu::GpuSpec gpu = specs::h100();
  kernel::Box box = range(16'384);
  box.multicast = {true, false, false};
  kernel::Kernel k = with_box(box, 1, 8);
  k.cluster = {4, 1, 1};
  const DrivenLaunch l = run_alone(gpu, k);
  EXPECT_EQ(l.counters.tma_load_bytes, 8 * 16'384);
  EXPECT_EQ(l.counters.tma_fetch_bytes, 8 * 16'384 / 4);
  EXPECT_EQ(l.counters.l2_read_sectors, 8 * 16'384 / 4 / 32);
}

TEST(Cluster, APeersSharedMemoryHasItsLatency) {
  const gpu::GpuSpec gpu = instant();
  Op peer = of(OpKind::PeerLoad, 1);
  peer.peer = {4, 1, 1};
  kernel::Kernel k = kernel_of({repeat(200, {peer, wait()})}, 2, 32);
  k.cluster = {2, 1, 1};
  EXPECT_NEAR(cycles_of(k, gpu) / 200, 181, 1);
  k.grid = k.cluster = {4, 1, 1};
  EXPECT_NEAR(cycles_of(k, gpu) / 200, 203, 1);
}

// Two clusters of four on eight SMs that have room for several blocks each: every SM gets one.
TEST(Cluster, TakesTheEmptiestSms) {
  gpu::GpuSpec gpu = instant();
  gpu.gpcs = {8};
  kernel::Kernel k = kernel_of({fma(5000)}, 8, 32);
  k.cluster = {4, 1, 1};
  EXPECT_EQ(run_alone(gpu, k).counters.slots.not_reached, 0);
}

// Blocks of a cluster that extends along y take blockIdx.y side by side.
TEST(Cluster, ExtendsAlongEveryAxis) {
  kernel::Kernel k;
  k.grid = {4, 4, 1};
  k.cluster = {1, 2, 1};
  EXPECT_EQ(sm::block_at(k, 0), (kernel::Dim3{0, 0, 0}));
  EXPECT_EQ(sm::block_at(k, 1), (kernel::Dim3{0, 1, 0}));
  EXPECT_EQ(sm::block_at(k, 2), (kernel::Dim3{1, 0, 0}));
  EXPECT_EQ(sm::block_at(k, 8), (kernel::Dim3{0, 2, 0}));
}

// Down bands of two clusters, the last one narrower; every block once.
TEST(Cluster, GoesDownBandsOfColumns) {
  kernel::Kernel k;
  k.grid = {10, 3, 2};
  k.cluster = {2, 1, 1};
  k.band = 4;
  EXPECT_EQ(sm::block_at(k, 3), (kernel::Dim3{3, 0, 0}));
  EXPECT_EQ(sm::block_at(k, 4), (kernel::Dim3{0, 1, 0}));
  EXPECT_EQ(sm::block_at(k, 12), (kernel::Dim3{4, 0, 0}));
  EXPECT_EQ(sm::block_at(k, 24), (kernel::Dim3{8, 0, 0}));
  EXPECT_EQ(sm::block_at(k, 26), (kernel::Dim3{8, 1, 0}));
  EXPECT_EQ(sm::block_at(k, 30), (kernel::Dim3{0, 0, 1}));
  std::set<kernel::Dim3> all;
  for (std::int64_t n = 0; n < kernel::volume(k.grid); ++n) { all.insert(sm::block_at(k, n)); }
  EXPECT_EQ(static_cast<std::int64_t>(all.size()), kernel::volume(k.grid));
}

TEST(Barriers, ANamedBarrierWaitsForTheSlowestOfItsWarps) {
  const gpu::GpuSpec gpu = instant();
  Op meet = of(OpKind::NamedBarrier, 1);
  meet.barrier = {1, 2, kernel::BarrierForm::Sync};
  kernel::Kernel k = kernel_of({}, 1, 96);
  k.roles = {{.name = "slow", .warps = 1, .registers = {}, .program = {fma(200), meet}},
             {.name = "quick", .warps = 1, .registers = {}, .program = {meet, fma(100)}},
             {.name = "apart", .warps = 1, .registers = {}, .program = {fma(10)}}};
  EXPECT_NEAR(cycles_of(k, gpu), 300 * 4, 12);
}

}  // namespace
}  // namespace wavetail::tests
