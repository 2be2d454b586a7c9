// SPDX-License-Identifier: Apache-2.0
// Every shipped GPU file against what its vendor's sheet says of the whole chip: SMs, pins,
// arithmetic rates. A file states its parts (SMs per GPC, channels, lanes, clocks), so the sums can
// be wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "config/load.h"
#include "config/value.h"
#include "gpu/catalog.h"
#include "gpu/keys.h"
#include "gpu/reader.h"

namespace wavetail::gpu {
namespace {

const std::string kConfigs = std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu";

struct Sheet {
  std::string_view name;
  std::int64_t sms;
  std::int64_t sms_per_gpc;   // of a whole GPC of the die
  std::int64_t bus_bits;      // of the memory interface
  std::int64_t channel_bits;  // HBM2 64, HBM3 32 (AMD: its pairs, 64), GDDR6 16, GDDR7 8
  double pin_rate;            // Gbit/s
  double fp32, bf16;          // TFLOP/s, dense; sums in FP32
  // The tensor rates that a PCIe board's sheet promises are below what its clock would give.
  bool board_limited;
};

// Data sheets and whitepapers of NVIDIA and AMD; pin rates from the memory clocks that the devices
// report where they do, from the sheet's bandwidth on the MI325X and the MI355X. The H20's FP32
// rate is left out: 44 TFLOP/s do not fit its SMs (see its file).
constexpr Sheet kSheets[] = {
    {"a100-pcie", 108, 16, 5120, 64, 3.024, 19.5, 312, false},
    {"a100-pcie-40gb", 108, 16, 5120, 64, 2.430, 19.5, 312, false},
    {"a100-sxm-40gb", 108, 16, 5120, 64, 2.430, 19.5, 312, false},
    {"a100-sxm-80gb", 108, 16, 5120, 64, 3.186, 19.5, 312, false},
    {"a6000", 84, 12, 384, 16, 16, 38.7, 154.8, false},
    {"b200", 148, 20, 7680, 32, 7.992, 75, 2250, false},
    {"b300", 148, 20, 7680, 32, 8.073, 75, 2250, false},
    {"gb200", 148, 20, 8192, 32, 7.8125, 80, 2500, false},
    {"gh200", 132, 18, 6144, 32, 5.238, 67, 989.4, false},
    {"h100-nvl", 132, 18, 6016, 32, 5.238, 60, 835.5, true},
    {"h100-pcie", 114, 18, 5120, 64, 3.186, 51, 756, true},
    {"h100-sxm", 132, 18, 5120, 32, 5.238, 67, 989.4, false},
    {"h20", 78, 18, 6144, 32, 5.238, 0, 148, false},
    {"h200-sxm", 132, 18, 6144, 32, 6.250, 67, 989.4, false},
    {"h800-pcie", 114, 18, 5120, 64, 3.186, 51, 756, true},
    {"h800-sxm", 132, 18, 5120, 32, 5.238, 67, 989.4, false},
    {"l40s", 142, 12, 384, 16, 18, 91.6, 362, false},
    {"mi300x", 304, 38, 8192, 64, 5.2, 163.4, 1307.4, false},
    {"mi325x", 304, 38, 8192, 64, 5.859, 163.4, 1307.4, false},
    {"mi355x", 256, 32, 8192, 64, 7.8125, 157.3, 2516.6, false},
    {"rtx3090", 82, 12, 384, 16, 19.5, 35.6, 71, false},
    {"rtx4090", 128, 12, 384, 16, 21, 82.6, 165.2, false},
    {"rtx5090", 170, 16, 512, 8, 28, 104.8, 209.5, false},
    {"rtxpro6000", 188, 16, 512, 8, 24.953, 120, 467.8, false},
};

struct Loaded {
  Document document;
  GpuSpec spec;
};

std::optional<Loaded> load(const std::string& name) {
  config::Diagnostics diagnostics;
  auto document = Catalog({kConfigs}).load(name, kConfigs, {}, diagnostics);
  auto spec = document ? read_gpu(*document, diagnostics) : std::nullopt;
  EXPECT_EQ(diagnostics.render(), "") << name;
  if (!spec) { return std::nullopt; }
  return Loaded{std::move(*document), std::move(*spec)};
}

// TFLOP/s of `per_cycle` FLOP on every SM.
double rate(const GpuSpec& spec, double per_cycle, Hertz clock) {
  return per_cycle * static_cast<double>(spec.sms()) * static_cast<double>(clock.count()) * 1e-12;
}

// A FLOP is half an FMA: two per lane and cycle.
double fp32_per_cycle(const GpuSpec& spec) {
  return static_cast<double>(2 * spec.pipes.fp32.lanes * spec.sm.schedulers);
}

// `check` with every sheet and its GPU.
template <class Check>
void for_all(Check check) {
  for (const Sheet& sheet : kSheets) {
    SCOPED_TRACE(sheet.name);
    const auto gpu = load(std::string(sheet.name));
    if (gpu) { check(sheet, *gpu); }
  }
}

TEST(ShippedGpus, HaveTheSheetsSms) {
  for_all([](const Sheet& sheet, const Loaded& gpu) {
    EXPECT_EQ(gpu.spec.sms(), sheet.sms);
    for (const std::int64_t sms : gpu.spec.gpcs) {
      EXPECT_LE(sms, sheet.sms_per_gpc);
      EXPECT_EQ(sms % 2, 0) << "a TPC has two SMs";
    }
  });
}

TEST(ShippedGpus, BandwidthIsThatOfItsPins) {
  for_all([](const Sheet& sheet, const Loaded& gpu) {
    const HbmSpec& hbm = gpu.spec.hbm;
    EXPECT_EQ(hbm.channels * sheet.channel_bits, sheet.bus_bits);
    const double pins = static_cast<double>(sheet.bus_bits) * sheet.pin_rate / 8;
    EXPECT_NEAR(unit::gigabytes_per_second(hbm.bandwidth), pins, pins * 1e-3);
    EXPECT_LE(hbm.interleave, hbm.row);
  });
}

TEST(ShippedGpus, ArithmeticIsThatOfItsLanes) {
  for_all([](const Sheet& sheet, const Loaded& gpu) {
    const GpuSpec& spec = gpu.spec;
    if (sheet.fp32 > 0) {
      EXPECT_GE(sheet.fp32, 0.98 * rate(spec, fp32_per_cycle(spec), spec.clock.sm));
      EXPECT_LE(sheet.fp32, 1.03 * rate(spec, fp32_per_cycle(spec), spec.clock.sm_max));
    }
    const double ratio = sheet.bf16 / rate(spec, spec.tensor.bf16, spec.clock.sm);
    if (sheet.board_limited) {
      EXPECT_GT(ratio, 0.85);
      EXPECT_LT(ratio, 0.95);
    } else {
      EXPECT_NEAR(ratio, 1, 0.02);
    }
    EXPECT_EQ(spec.tensor.fp16, spec.tensor.bf16);
    EXPECT_TRUE(spec.tensor.tf32 == 0 || spec.tensor.tf32 * 2 == spec.tensor.bf16);
    EXPECT_TRUE(spec.tensor.fp8 == 0 || spec.tensor.fp8 == 2 * spec.tensor.bf16);
  });
}

// The slices give what the SMs' ports can take and, as on every part that was measured (Jin et al.,
// MICRO 2024: 2.4 to 3.5 times), more than twice what memory can; the ports alone can take what
// memory gives.
TEST(ShippedGpus, L2IsFasterThanMemory) {
  for_all([](const Sheet&, const Loaded& gpu) {
    const GpuSpec& spec = gpu.spec;
    const double slices = static_cast<double>(spec.l2.slices) *
                          unit::bytes_per_cycle(spec.l2.slice_bandwidth);
    const double ports = static_cast<double>(spec.sms()) *
                         unit::bytes_per_cycle(spec.crossbar.ingress);
    EXPECT_GE(slices, ports);
    const auto clock = static_cast<double>(spec.clock.l2.count());
    EXPECT_GE(slices * clock, 2 * static_cast<double>(spec.hbm.bandwidth.count()));
    EXPECT_GE(ports * clock, 1.2 * static_cast<double>(spec.hbm.bandwidth.count()));
    EXPECT_EQ(spec.l2.capacity.count() % 128, 0);
    if (spec.l2.partitions == 1) { EXPECT_EQ(spec.l2.latency_far, spec.l2.latency_near); }
  });
}

void expect_in_range(const Field& field, const std::string& text, const Provenance& from) {
  ASSERT_TRUE(from.range_low && from.range_high) << field.path;
  const auto value = unit::parse_real(text, field.dimension);
  const auto low = unit::parse_real(*from.range_low, field.dimension);
  const auto high = unit::parse_real(*from.range_high, field.dimension);
  ASSERT_TRUE(value && low && high) << field.path;
  EXPECT_LE(*low.value, *value.value) << field.path;
  EXPECT_GE(*high.value, *value.value) << field.path;
  EXPECT_LT(*low.value, *high.value) << field.path;
}

// A number that was chosen says how far off it may be.
TEST(ShippedGpus, AssumedNumbersLieInTheirRange) {
  for_all([](const Sheet&, const Loaded& gpu) {
    for (const Field& field : fields()) {
      if (field.optional_section && !gpu.spec.provenance.contains(field.path)) { continue; }
      const Provenance& from = gpu.spec.provenance.at(field.path);
      EXPECT_NE(from.source, "") << field.path;
      if (field.kind == ValueKind::Number && from.confidence == Confidence::Assumed) {
        const config::Node* at = config::find_path(gpu.document.root, field.path);
        ASSERT_NE(at, nullptr);
        expect_in_range(field, config::plain(*at).text, from);
      }
    }
  });
}

TEST(ShippedGpus, EveryFileHasASheet) {
  for (const CatalogEntry& entry : Catalog({kConfigs}).entries()) {
    EXPECT_TRUE(std::any_of(std::begin(kSheets), std::end(kSheets), [&](const Sheet& s) {
      return s.name == entry.name;
    })) << entry.name;
  }
}

}  // namespace
}  // namespace wavetail::gpu
