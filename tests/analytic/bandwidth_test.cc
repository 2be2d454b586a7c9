// SPDX-License-Identifier: Apache-2.0
// Saturated streams: the rate is that of the narrowest part on the way.
#include "analytic/lab.h"

namespace wavetail::tests {
namespace {

// A third of an H100's SMs with a third of its memory, so that a stream is short.
gpu::GpuSpec third() {
  gpu::GpuSpec g = instant();
  g.gpcs = {15, 15, 14};
  g.hbm.channels = g.l2.slices = 27;
  g.hbm.bandwidth = unit::Bandwidth{27 * 41'875'000'000};
  g.hbm.row_access = g.hbm.row_cycle = 0_ns;  // rows cost nothing where a test is not about them
  g.l2.capacity = 16_MiB;
  return g;
}

// `bytes` read once, 16 B per lane, eight loads in flight in each of 32 warps per SM. Channels are
// drawn by hash: the more there is to read the less one of them has more than its share.
kernel::Kernel stream(const gpu::GpuSpec& g, std::int64_t bytes, bool bypass = true) {
  const std::int64_t blocks = 4 * g.sms();
  const std::int64_t trips = bytes / (blocks * 256 * 16 * 8);
  return kernel_of({repeat(trips, {load(0, 16, 8, bypass), wait()})}, blocks, 256,
                   {{"x", unit::Bytes{blocks * 256 * 16 * 8 * trips}}});
}

double rate(const gpu::GpuSpec& g, const kernel::Kernel& k) {
  const DrivenLaunch l = run_alone(g, k);
  return bytes_per_second(static_cast<double>(k.arrays[0].bytes.count()), l.time());
}

TEST(Bandwidth, OfDram) {
  gpu::GpuSpec g = third();
  const kernel::Kernel k = stream(g, 192 << 20);
  EXPECT_NEAR(rate(g, k) / static_cast<double>(g.sustained_bandwidth().count()), 1, 0.02);
}

TEST(Bandwidth, HalfAsManyChannelsGiveHalf) {
  gpu::GpuSpec g = third();
  g.hbm.channels = 13;
  g.hbm.bandwidth = unit::Bandwidth{13 * 41'875'000'000};
  const kernel::Kernel k = stream(g, 48 << 20);
  EXPECT_NEAR(rate(g, k) / static_cast<double>(g.sustained_bandwidth().count()), 1, 0.02);
}

// Data that all SMs read again and again come from L2: the ports decide.
kernel::Kernel from_l2(const gpu::GpuSpec& g, bool bypass) {
  Op op = load(0, 16, 8, bypass);
  op.access.walk = kernel::WalkKind::Same;
  return kernel_of({repeat(64, {op, wait()})}, 4 * g.sms(), 256, {{"x", 2_MiB}});
}

double loaded_rate(const gpu::GpuSpec& g, const kernel::Kernel& k) {
  const DrivenLaunch l = run_alone(g, k);
  return bytes_per_second(static_cast<double>(l.counters.useful_load_bytes), l.time());
}

TEST(Bandwidth, OfTheSmPorts) {
  gpu::GpuSpec g = third();
  g.crossbar.ingress = unit::BytesPerCycle{20'000};
  g.l2.slices = 108;
  const double wanted = static_cast<double>(g.sms()) * 20 * 1620e6;
  EXPECT_NEAR(loaded_rate(g, from_l2(g, true)) / wanted, 1, 0.02);
}

TEST(Bandwidth, OfTheGpcPorts) {
  gpu::GpuSpec g = third();
  g.gpcs = {15, 15, 15};
  g.crossbar.gpc_ingress = unit::BytesPerCycle{150'000};
  g.l2.slices = 108;
  const double wanted = 3.0 * 150 * 1620e6;
  EXPECT_NEAR(loaded_rate(g, from_l2(g, true)) / wanted, 1, 0.02);
}

TEST(Bandwidth, OfTheLoadStoreUnit) {
  gpu::GpuSpec g = third();
  g.l1.bandwidth = unit::BytesPerCycle{16'000};
  g.l2.slices = 108;
  const double wanted = static_cast<double>(g.sms()) * 16 * 1830e6;
  EXPECT_NEAR(loaded_rate(g, from_l2(g, true)) / wanted, 1, 0.02);
}

// Hits in L1 move `l1.bandwidth` per cycle and SM.
TEST(Bandwidth, OfL1) {
  const gpu::GpuSpec g = third();
  Op op = load(0, 16, 8);
  op.access.walk = kernel::WalkKind::Same;
  const kernel::Kernel k = kernel_of({repeat(512, {op, wait(4)})}, 4 * g.sms(), 256,
                                     {{"x", unit::Bytes{64 << 10}}});
  const double wanted = static_cast<double>(g.sms()) * 128 * 1830e6;
  EXPECT_NEAR(loaded_rate(g, k) / wanted, 1, 0.02);
}

// Stores leave each SM through its port.
TEST(Bandwidth, OfTheStorePorts) {
  gpu::GpuSpec g = third();
  g.crossbar.egress = unit::BytesPerCycle{16'000};
  g.l2.slices = 108;
  g.l1.store_lines = 4096;
  kernel::Kernel k = kernel_of({repeat(64, {store(0, 16, 8)})}, 4 * g.sms(), 256, {{"y", 8_MiB}});
  const Driven d = drive(scenario_of(g, {k}, {launch(0)}));
  const double wanted = static_cast<double>(g.sms()) * 16 * 1620e6;
  // Until the last store has arrived; the kernel itself ends when the last one has issued.
  const double got = bytes_per_second(static_cast<double>(d.total().egress_bytes),
                                      d.end - unit::Time{});
  EXPECT_NEAR(got / wanted, 1, 0.02);
}

// Slices that are slower than all ports together hold stores back as they do loads.
TEST(Bandwidth, OfTheSlicesForStores) {
  gpu::GpuSpec g = third();
  g.l2.slices = 4;
  g.l2.slice_bandwidth = unit::BytesPerCycle{24'000};
  kernel::Kernel k = kernel_of({repeat(16, {store(0, 16, 8)})}, 4 * g.sms(), 256, {{"y", 8_MiB}});
  const DrivenLaunch l = run_alone(g, k);
  const double got = bytes_per_second(static_cast<double>(l.counters.egress_bytes), l.time());
  EXPECT_NEAR(got / (4.0 * 24 * 1620e6), 1, 0.05);
}

// Reads and writes of a copy share the pins, and every batch of writes costs two turnarounds:
// a batch of n lines takes n x 128 B / rate + turnarounds, the same bytes of reads n x 128 B /
// rate.
TEST(Bandwidth, MixedReadsAndWritesPayTurnarounds) {
  gpu::GpuSpec g = third();
  g.l2.capacity = 1_MiB;
  const std::int64_t blocks = 4 * g.sms();
  const std::int64_t trips = 64;
  const unit::Bytes bytes{blocks * 256 * 16 * 2 * trips};
  const kernel::Kernel k = kernel_of(
      {repeat(trips, {load(0, 16, 2, true), wait(), store(1, 16, 2)})}, blocks, 256,
      {{"x", bytes}, {"y", bytes}});
  const auto total_rate = [&](unit::Duration turnaround) {
    gpu::GpuSpec with = g;
    with.hbm.read_to_write = with.hbm.write_to_read = turnaround;
    const DrivenLaunch l = run_alone(with, k);
    return bytes_per_second(
        static_cast<double>(l.counters.dram_read_bytes + l.counters.dram_write_bytes), l.time());
  };
  const double pins = static_cast<double>(g.sustained_bandwidth().count());
  const double free_turns = total_rate(0_ns);
  const double paid_turns = total_rate(15_ns);
  EXPECT_LE(free_turns, pins);
  EXPECT_GE(free_turns, 0.90 * pins);
  const double batch = static_cast<double>(g.hbm.write_drain) * 128;
  const double per_channel = pins / static_cast<double>(g.hbm.channels);
  const double wanted = pins * (2 * batch / per_channel) / (2 * batch / per_channel + 30e-9);
  EXPECT_NEAR(paid_turns / wanted, 1, 0.06);
}

}  // namespace
}  // namespace wavetail::tests
