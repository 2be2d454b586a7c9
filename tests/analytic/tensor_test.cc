// SPDX-License-Identifier: Apache-2.0
// Closed forms of tensor instructions, mbarriers, boxes and peers on a GPU whose blocks start at
// once.
#include "isa/tensor.h"
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

TEST(Tensor, MmaIsAChainOfLatencies) {
  const gpu::GpuSpec gpu = instant();
  EXPECT_NEAR(cycles_of(kernel_of({repeat(20, {mma(10, 1)})}, 1, 32), gpu), 199 * 24, 3);
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
