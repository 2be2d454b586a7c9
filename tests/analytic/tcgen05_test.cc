// SPDX-License-Identifier: Apache-2.0
// Closed forms of tcgen05: intervals by shape, rounds of products that one thread issues and waits
// for, tensor memory and its ports, pairs of blocks.
#include "analytic/lab.h"
#include "isa/tensor.h"

namespace wavetail::tests {
namespace {

using kernel::TensorShape;
using kernel::TensorType;

// A B200-like GPU whose blocks start and end at once.
gpu::GpuSpec at_once() {
  gpu::GpuSpec g = specs::b200();
  g.launch = {};
  g.launch.blocks_per_cycle = 1000;
  return g;
}

TensorShape shape(std::int64_t m, std::int64_t n, std::int64_t ctas = 1,
                  TensorType type = TensorType::Bf16, bool a_in_tmem = false) {
  TensorShape s{m, n, isa::wgmma_depth(type), type, a_in_tmem};
  s.ctas = ctas;
  return s;
}

Op product(const TensorShape& s, std::int64_t count) {
  Op op;
  op.kind = OpKind::Tcgen05Mma;
  op.tensor = s;
  op.count = count;
  return op;
}

Op of(OpKind kind, std::int64_t count = 1) {
  Op op;
  op.kind = kind;
  op.count = count;
  return op;
}

Op on(OpKind kind, int mbarrier) {
  Op op = of(kind);
  op.mbarrier = mbarrier;
  return op;
}

Op tmem(OpKind kind, std::int64_t columns, std::int64_t count) {
  Op op = of(kind, count);
  op.columns = columns;
  return op;
}

kernel::Kernel with_tmem(Program program, std::int64_t grid, std::int64_t block) {
  kernel::Kernel k = kernel_of(std::move(program), grid, block);
  k.tmem_columns = 512;
  k.mbarriers = {{"done", 1, std::nullopt, std::nullopt}};
  k.mbarriers[0].open = false;
  return k;
}

double cycles_of(const kernel::Kernel& k, const gpu::GpuSpec& gpu) {
  return cycles(run_alone(gpu, k).time(), gpu);
}

// SemiAnalysis, B200: N / 2 at 128 rows but for what the operands take, half of the rate at 64
// rows, of a pair the same per SM with half of B each.
TEST(Tcgen05, Interval) {
  const gpu::GpuSpec gpu = specs::b200();
  const auto interval = [&](const TensorShape& s) {
    return static_cast<double>(isa::tcgen05_cost(gpu, s).pipe) / isa::kThousandths;
  };
  EXPECT_DOUBLE_EQ(interval(shape(64, 64)), 32);
  EXPECT_DOUBLE_EQ(interval(shape(64, 256)), 128);
  EXPECT_DOUBLE_EQ(interval(shape(128, 64)), 48);
  EXPECT_DOUBLE_EQ(interval(shape(128, 128)), 64);
  EXPECT_DOUBLE_EQ(interval(shape(128, 256)), 128);
  EXPECT_DOUBLE_EQ(interval(shape(256, 64, 2)), 43);
  EXPECT_DOUBLE_EQ(interval(shape(256, 128, 2)), 64);
  EXPECT_DOUBLE_EQ(interval(shape(256, 256, 2)), 128);
  EXPECT_DOUBLE_EQ(interval(shape(128, 64, 1, TensorType::Bf16, true)), 32);
  for (const TensorType type : {TensorType::Fp8, TensorType::Int8, TensorType::Fp4}) {
    EXPECT_DOUBLE_EQ(interval(shape(128, 64, 1, type)), 48);
    EXPECT_DOUBLE_EQ(interval(shape(128, 256, 1, type)), 128);
  }
}

// Measured for lone products: 152, 168, 200 and 264 cycles, 168 and 232 with A in tensor memory,
// 234 and 298 of a pair; they have 60 cycles of the mbarrier in them, and an issue or two.
TEST(Tcgen05, Latency) {
  const gpu::GpuSpec gpu = specs::b200();
  const auto alone = [&](const TensorShape& s) {
    return isa::tcgen05_cost(gpu, s).pipe / isa::kThousandths + isa::tcgen05_latency(gpu, s) + 60;
  };
  EXPECT_NEAR(static_cast<double>(alone(shape(64, 64))), 152, 3);
  EXPECT_NEAR(static_cast<double>(alone(shape(128, 64))), 168, 3);
  EXPECT_NEAR(static_cast<double>(alone(shape(128, 128))), 200, 3);
  EXPECT_NEAR(static_cast<double>(alone(shape(128, 256))), 264, 3);
  EXPECT_NEAR(static_cast<double>(alone(shape(128, 128, 1, TensorType::Bf16, true))), 168, 3);
  EXPECT_NEAR(static_cast<double>(alone(shape(256, 128, 2))), 234, 3);
  EXPECT_NEAR(static_cast<double>(alone(shape(256, 256, 2, TensorType::Fp8))), 298, 3);
}

// Rounds of `depth` products, a commit and a wait: depth x interval, the completion, the mbarrier,
// and an issue each of the first product and of the wait.
TEST(Tcgen05, RoundsOfOneThread) {
  const gpu::GpuSpec gpu = at_once();
  const TensorShape s = shape(128, 128);
  for (const std::int64_t depth : {1, 4, 64}) {
    const double t = cycles_of(
        with_tmem({repeat(50, {product(s, depth), on(OpKind::Tcgen05Commit, 0),
                               on(OpKind::MbarrierWait, 0)})},
                  1, 32),
        gpu);
    const double each = static_cast<double>(depth * 64 + isa::tcgen05_latency(gpu, s) +
                                            gpu.mbarrier.latency.count());
    EXPECT_NEAR(t / 50, each, 3) << depth;
  }
}

// The thread that issues goes on while the engine works.
TEST(Tcgen05, OneThreadIssuesAndGoesOn) {
  const gpu::GpuSpec gpu = at_once();
  const double t = cycles_of(with_tmem({product(shape(128, 256), 8), fma(500)}, 1, 32), gpu);
  EXPECT_NEAR(t, std::max(8 * 128 + 74, 8 * 11 + 500 * 4), 20);
}

// The other warps of the role pass what one thread does.
TEST(Tcgen05, OnlyTheFirstWarpIssues) {
  const gpu::GpuSpec gpu = at_once();
  const DrivenLaunch one = run_alone(gpu, with_tmem({product(shape(128, 256), 8)}, 1, 32));
  const DrivenLaunch four = run_alone(gpu, with_tmem({product(shape(128, 256), 8)}, 1, 128));
  EXPECT_DOUBLE_EQ(one.counters.flops, 8 * 2.0 * 128 * 256 * 16);
  EXPECT_DOUBLE_EQ(four.counters.flops, one.counters.flops);
  EXPECT_EQ(four.counters.tensor_busy, 8 * 128 * 4 * isa::kThousandths);
}

// Every sub-partition moves 128 B per cycle out of its quarter of tensor memory and 64 B into it.
TEST(Tcgen05, PortsOfTensorMemory) {
  const gpu::GpuSpec gpu = at_once();
  const Program loads{repeat(20, {tmem(OpKind::Tcgen05Load, 64, 4), of(OpKind::Tcgen05Wait, 0)})};
  EXPECT_NEAR(cycles_of(with_tmem(loads, 1, 128), gpu), 20 * (4 * 64 + 30), 70);
  const Program stores{repeat(20, {tmem(OpKind::Tcgen05Store, 64, 4), of(OpKind::Tcgen05Wait, 1)})};
  EXPECT_NEAR(cycles_of(with_tmem(stores, 1, 128), gpu), 20 * 4 * 128, 70);
  // Two warps of a sub-partition share its port.
  EXPECT_NEAR(cycles_of(with_tmem(loads, 1, 256), gpu), 2 * 20 * 4 * 64, 200);
}

// A pair's products keep both SMs' tensor cores; the second block issues nothing.
TEST(Tcgen05, APairMultipliesTogether) {
  const gpu::GpuSpec gpu = at_once();
  const TensorShape s = shape(256, 256, 2);
  Op commit = on(OpKind::Tcgen05Commit, 0);
  commit.pair = true;
  const Program round{diverge(kernel::DivergeBy::Rank, {{product(s, 8), commit}, {}}),
                      on(OpKind::MbarrierWait, 0)};
  kernel::Kernel k = with_tmem({repeat(20, round), of(OpKind::ClusterBarrier)}, 2, 32);
  k.cluster = {2, 1, 1};
  const DrivenLaunch d = run_alone(gpu, k);
  const double each = static_cast<double>(8 * 128 + isa::tcgen05_latency(gpu, s) +
                                          gpu.mbarrier.latency.count());
  EXPECT_NEAR(cycles(d.time(), gpu), 20 * each, 250);
  EXPECT_DOUBLE_EQ(d.counters.flops, 20 * 8 * s.flops());
  EXPECT_EQ(d.counters.tensor_busy, 20 * 8 * 128 * 4 * 2 * isa::kThousandths);
}

// Copies to tensor memory take their turn among the products.
TEST(Tcgen05, CopiesAreInOrder) {
  const gpu::GpuSpec gpu = at_once();
  Op copy = of(OpKind::Tcgen05Copy, 4);
  copy.bytes = 4096;
  const double without = cycles_of(with_tmem({repeat(50, {product(shape(128, 256), 4)})}, 1, 32),
                                   gpu);
  const double with = cycles_of(with_tmem({repeat(50, {copy, product(shape(128, 256), 4)})}, 1, 32),
                                gpu);
  EXPECT_NEAR(with - without, 50 * 4 * 32, 20);
}

}  // namespace
}  // namespace wavetail::tests
