// SPDX-License-Identifier: Apache-2.0
#include "unit/table.h"

#include <array>

namespace wavetail::unit {

namespace {

constexpr std::int64_t kKilo = 1'000, kMega = 1'000'000, kGiga = 1'000'000'000,
                       kTera = 1'000'000'000'000;
constexpr std::int64_t kKibi = std::int64_t{1} << 10, kMebi = kKibi << 10, kGibi = kMebi << 10,
                       kTebi = kGibi << 10;

constexpr std::array kBytes{Unit{"B", 1},       Unit{"kB", kKilo},  Unit{"KiB", kKibi},
                            Unit{"MB", kMega},  Unit{"MiB", kMebi}, Unit{"GB", kGiga},
                            Unit{"GiB", kGibi}, Unit{"TB", kTera},  Unit{"TiB", kTebi}};
constexpr std::array kCycles{Unit{"cycle", 1, false}, Unit{"cycles", 1}};
constexpr std::array kDuration{Unit{"ps", 1},     Unit{"ns", kKilo},
                               Unit{"us", kMega}, Unit{"\u00b5s", kMega, false},
                               Unit{"ms", kGiga}, Unit{"s", kTera}};
constexpr std::array kFrequency{Unit{"Hz", 1}, Unit{"kHz", kKilo}, Unit{"MHz", kMega},
                                Unit{"GHz", kGiga}};
constexpr std::array kBandwidth{Unit{"B/s", 1},      Unit{"kB/s", kKilo},
                                Unit{"MB/s", kMega}, Unit{"MiB/s", kMebi, false},
                                Unit{"GB/s", kGiga}, Unit{"GiB/s", kGibi, false},
                                Unit{"TB/s", kTera}, Unit{"TiB/s", kTebi, false}};
constexpr std::array kBytesPerCycle{Unit{"B/clk", kKilo}};
constexpr std::array kPercent{Unit{"%", 1}};
constexpr std::array kPower{Unit{"W", 1}, Unit{"kW", kKilo}};
constexpr std::array kEnergy{Unit{"fJ", 1}, Unit{"pJ", kKilo}, Unit{"nJ", kMega}, Unit{"uJ", kGiga},
                             Unit{"mJ", kTera}};
constexpr std::array kFlopRate{Unit{"TFLOP/s", 1}, Unit{"PFLOP/s", kKilo}};
constexpr std::array kFlopPerCycle{Unit{"FLOP/clk", 1}};

}  // namespace

std::span<const Unit> units(Dimension dimension) {
  switch (dimension) {
    case Dimension::Count: return {};
    case Dimension::Number: return {};
    case Dimension::Size: return kBytes;
    case Dimension::CycleCount: return kCycles;
    case Dimension::TimeSpan: return kDuration;
    case Dimension::Frequency: return kFrequency;
    case Dimension::DataRate: return kBandwidth;
    case Dimension::PortRate: return kBytesPerCycle;
    case Dimension::Percent: return kPercent;
    case Dimension::Fraction: return kPercent;
    case Dimension::Power: return kPower;
    case Dimension::Energy: return kEnergy;
    case Dimension::FlopRate: return kFlopRate;
    case Dimension::FlopPerCycle: return kFlopPerCycle;
  }
  return {};
}

}  // namespace wavetail::unit
