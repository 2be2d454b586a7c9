// SPDX-License-Identifier: Apache-2.0
#include "study/figure.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "study/params.h"

namespace wavetail::study {

namespace {

enum class Per : std::uint8_t { Nothing, Clock, ClockAndSm, Period };

// The base unit divided by `size`; per cycle, per cycle and SM, or times cycles per second.
struct Unit {
  Quantity quantity;
  std::string_view name;
  double size = 1;
  Per per = Per::Nothing;
};

constexpr Unit kUnits[] = {
    {Quantity::Time, "s"},
    {Quantity::Time, "ms", 1e-3},
    {Quantity::Time, "us", 1e-6},
    {Quantity::Time, "ns", 1e-9},
    {Quantity::Time, "cycles", 1, Per::Period},
    {Quantity::Time, "cycles/warp-instr/SM", 1, Per::Period},
    {Quantity::Time, "cycles/MMA", 1, Per::Period},
    {Quantity::DataRate, "TB/s", 1e12},
    {Quantity::DataRate, "GB/s", 1e9},
    {Quantity::DataRate, "B/clk", 1, Per::Clock},
    {Quantity::DataRate, "B/clk/SM", 1, Per::ClockAndSm},
    {Quantity::DataRate, "B/clk/SM total", 1, Per::ClockAndSm},
    {Quantity::OpRate, "TFLOP/s", 1e12},
    {Quantity::OpRate, "TFLOP/s or TOP/s", 1e12},
    {Quantity::OpRate, "FLOP/clk per CTA group", 1, Per::Clock},
    {Quantity::OpRate, "GFLOP/s", 1e9},
    {Quantity::OpRate, "TIOP/s", 1e12},
    {Quantity::OpRate, "FLOP/clk/SM", 1, Per::ClockAndSm},
    {Quantity::OpRate, "warp-inst/clk/SM", 1, Per::ClockAndSm},
    {Quantity::OpRate, "warp-inst/clk/subcore", 1, Per::ClockAndSm},
    {Quantity::OpRate, "thread-instr/clk/SM", 1, Per::ClockAndSm},
    {Quantity::Frequency, "blocks/s"},
    {Quantity::Frequency, "MHz", 1e6},
    {Quantity::Size, "KB", 1024},
    {Quantity::Frequency, "GHz", 1e9},
    {Quantity::Count, "%"},
    {Quantity::Count, "inst/cycle"},
    {Quantity::Count, "waves"},
    {Quantity::Count, "regs"},
    {Quantity::Count, "warps"},
    {Quantity::Count, "blocks"},
    {Quantity::Count, "CTAs"},
};

}  // namespace

double in_unit(double value, Quantity quantity, std::string_view unit, unit::Hertz clock,
               std::int64_t sms) {
  std::vector<std::string_view> known;
  for (const Unit& u : kUnits) {
    if (u.quantity != quantity) { continue; }
    known.push_back(u.name);
    if (u.name != unit) { continue; }
    const auto hertz = static_cast<double>(clock.count());
    switch (u.per) {
      case Per::Nothing: return value / u.size;
      case Per::Clock: return value / hertz;
      case Per::ClockAndSm: return value / (hertz * static_cast<double>(sms));
      case Per::Period: return value * hertz;
    }
  }
  throw Unmapped(
      fmt::format("unit '{}': this figure is given in {}", unit, fmt::join(known, ", ")));
}

}  // namespace wavetail::study
