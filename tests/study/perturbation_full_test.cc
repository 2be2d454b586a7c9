// SPDX-License-Identifier: Apache-2.0
// A GPU that is changed in one respect: streams and boxes of the TMA move as the mechanism says
// that binds them. With few bytes under way that is latency: bandwidth does not matter, every SM
// counts, and what is added to DRAM's latency is added to every block's or box's time. With many it
// is DRAM's bandwidth, and nothing else matters. A larger L1 matters to neither.
#include <gtest/gtest.h>

#include <map>

#include "rows.h"

namespace wavetail::study {
namespace {

constexpr double kSms = 132, kMoreSms = 140;

const std::string kBandwidth = "gpu.hbm.bandwidth=x2", kLatency = "gpu.hbm.latency=x1.5",
                  kL1 = "gpu.sm.unified_l1=x8", kSmCount = "gpu.sms=140";

// GB/s of an H100, as it is and with one setting each.
struct Rates {
  double shipped = 0;
  std::map<std::string, double> with;

  [[nodiscard]] double ratio(const std::string& setting) const {
    return with.at(setting) / shipped;
  }

  // ns that it takes every SM to move so many bytes.
  [[nodiscard]] static double ns(double bytes_per_sm, double rate) {
    return bytes_per_sm * kSms / rate;
  }

  // How much longer that takes with a slower DRAM, as a share of what its latency has grown by.
  [[nodiscard]] double added_latency(double bytes_per_sm) const {
    const double grown = unit::nanoseconds(shipped_gpu("h100-sxm", {kLatency}).hbm.latency) -
                         unit::nanoseconds(shipped_gpu("h100-sxm").hbm.latency);
    return (ns(bytes_per_sm, with.at(kLatency)) - ns(bytes_per_sm, shipped)) / grown;
  }
};

template <typename Rate>
Rates rates(const Rate& rate) {
  Rates r;
  r.shipped = rate(shipped_gpu("h100-sxm"));
  for (const std::string& setting : {kBandwidth, kLatency, kL1, kSmCount}) {
    r.with[setting] = rate(shipped_gpu("h100-sxm", {setting}));
  }
  return r;
}

Rates stream(const std::string& kernel, int block, int blocks_per_sm) {
  const Measurement m = row("h100-sxm", "stream_bw_vs_occupancy",
                            kernel + ";block=" + std::to_string(block) +
                                ";blocks_per_sm=" + std::to_string(blocks_per_sm) + ";grid=" +
                                std::to_string(134217728 / block) + ";elem=fp64_8B;elems=134217728",
                            "bandwidth", "GB/s");
  return rates([&](const gpu::GpuSpec& gpu) { return ran(m, gpu).figure("GB/s"); });
}

Rates boxes(int load, int per_sm) {
  constexpr std::int64_t kTotal = std::int64_t{4} << 30;
  return rates([&](const gpu::GpuSpec& gpu) {
    const Measurement m = row(
        "h100-sxm", "tma_throughput",
        "tma=bulk_1d_nontensor;box=linear;load_bytes=" + std::to_string(load) +
            ";grid=" + std::to_string(gpu.sms() * per_sm) +
            ";block=1;blocks_per_sm=" + std::to_string(per_sm) +
            ";in_flight_per_block=1;elem=fp32;total_bytes=" + std::to_string(kTotal),
        "time", "ms");
    return static_cast<double>(kTotal) * 1e-6 / ran(m, gpu).figure("ms");
  });
}

void expect_latency_bound(const Rates& r, double bytes_per_sm) {
  EXPECT_NEAR(r.ratio(kBandwidth), 1, 0.04);
  EXPECT_NEAR(r.added_latency(bytes_per_sm), 1, 0.03);
  EXPECT_NEAR(r.ratio(kSmCount), kMoreSms / kSms, 0.01);
  EXPECT_NEAR(r.ratio(kL1), 1, 0.002);
}

void expect_bandwidth_bound(const Rates& r) {
  EXPECT_GT(r.ratio(kBandwidth), 1.85);
  EXPECT_LT(r.ratio(kBandwidth), 2.005);
  EXPECT_NEAR(r.ratio(kLatency), 1, 0.02);
  EXPECT_NEAR(r.ratio(kSmCount), 1, 0.02);
  EXPECT_NEAR(r.ratio(kL1), 1, 0.002);
}

TEST(Perturbation, AStreamWithFewThreadsIsBoundByLatency) {
  expect_latency_bound(stream("kernel=read", 128, 1), 128 * 8);
}

TEST(Perturbation, AStreamWithAllThreadsIsBoundByBandwidth) {
  expect_bandwidth_bound(stream("kernel=triad;loads_per_thread=2", 256, 8));
}

TEST(Perturbation, OneBoxAtATimeIsBoundByLatency) { expect_latency_bound(boxes(4096, 1), 4096); }

TEST(Perturbation, ManyBoxesAreBoundByBandwidth) { expect_bandwidth_bound(boxes(16384, 4)); }

// At the knee both count, neither in full.
TEST(Perturbation, AtTheKneeBothCount) {
  const Rates r = boxes(4096, 4);
  EXPECT_GT(r.ratio(kBandwidth), 1.1);
  EXPECT_LT(r.ratio(kBandwidth), 1.6);
  EXPECT_LT(r.ratio(kLatency), 0.95);
  EXPECT_GT(r.ratio(kLatency), 0.75);
  EXPECT_GT(r.ratio(kSmCount), 1.01);
  EXPECT_LT(r.ratio(kSmCount), 1.05);
}

}  // namespace
}  // namespace wavetail::study
