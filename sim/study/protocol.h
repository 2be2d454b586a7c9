// SPDX-License-Identifier: Apache-2.0
// How a kind of measurement was made, as a scenario: which kernels ran, in which order, and which
// figure of the run is the published one. Data flow one way: row -> Plan (a scenario built from the
// row's parameters) -> run::simulate -> figure. What is reported comes out of the events; a
// protocol holds no formula for it.
//
// One file per family in study/protocols/; to add a kind, write its file and name it in
// protocols/all.h and protocol.cc.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "gpu/spec.h"
#include "run/simulate.h"
#include "scenario/scenario.h"
#include "study/figure.h"
#include "study/params.h"

namespace wavetail::study {

struct Plan {
  // What to simulate. Without kernels nothing is: the figure is a launch rule then.
  scenario::Scenario scenario;
  Quantity quantity = Quantity::Time;
  // In the base unit of `quantity`.
  std::function<double(const run::Happened&)> figure;
  std::int64_t sms = 1;  // what "/SM" in a unit divides by
};

struct Protocol {
  std::string_view kind;
  std::string_view sentence;  // what is simulated, for docs and reports; or why rows are skipped
  // Throws Unmapped where the row does not say all that is needed, or says something unknown. Null:
  // rows of this kind are skipped, and `sentence` is the reason.
  Plan (*plan)(Params& params, const gpu::GpuSpec& gpu) = nullptr;
};

// By kind, in alphabetical order.
[[nodiscard]] std::span<const Protocol> protocols();

// The plan of a row on a GPU whose clock is the row's already. Throws Unmapped.
[[nodiscard]] Plan plan_of(const Measurement& row, const gpu::GpuSpec& gpu);

}  // namespace wavetail::study
