// SPDX-License-Identifier: Apache-2.0
// A scenario after reading: a GPU, kernels, what the host does, what is expected. Plain values;
// every mistake in the file was reported before one of these exists.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu/spec.h"
#include "host/timeline.h"
#include "kernel/kernels.h"

namespace wavetail::scenario {

enum class InitialL2 { Empty, Clean, Dirty };

// How to run; none of it is physics.
struct Simulation {
  // most instructions that one event may issue; 1 is the exact answer
  std::int64_t issue_quantum = 16;
  bool replay = true;  // simulate identical launches once
  // ... and those that find caches which differ by no more than DRAM moves in this share of their
  // time
  double replay_within = 0;
  double skip_waves = 0;  // share by which a kernel's time may be wrong for waves left out; 0: none
  std::uint64_t seed = 1;
};

struct Expectation {
  enum class Kind { Value, Text };
  std::string path;  // JSON path without unit suffixes, as written
  Kind kind = Kind::Value;
  std::optional<double> value;  // in `unit`
  // relative tolerance; absent with a value: exact to the digits shown
  std::optional<double> within_pct;
  std::optional<double> at_least, at_most;  // in `unit`
  std::optional<std::string> ratio_to;    // the figure at `path` divided by the figure at this path
  std::string text;                       // Kind::Text: equal to this
  std::string unit;                       // "us", "bytes", "pct", "ns", "GB/s", "" ...
  std::optional<std::string> known_miss;  // id in docs/deviations.md
  std::string place;                      // file:line:column
  std::string wanted;                     // for people: "2.1 ms within 10 %"
};

struct Scenario {
  std::string name, description, file;
  gpu::GpuSpec gpu;
  kernel::Kernels kernels;
  host::Timeline timeline;
  Simulation simulation;
  InitialL2 initial_l2 = InitialL2::Empty;
  unit::Bytes persisting_l2;               // of L2, set aside for persisting arrays
  bool busy_board = false;                 // at its power limit for long when the run begins
  std::optional<unit::Bytes> model_bytes;  // for MBU: parameters x bytes per parameter
  // `assume: {latency}`: closed-form chain of bytes in flight
  std::optional<unit::Duration> assumed_latency;
  std::vector<Expectation> expect;  // of the whole file, variants included
};

// A scenario file: the base run and its variants, each already a complete scenario.
struct Variant {
  std::string name;
  Scenario scenario;
};

// `expect: {error: "..."}`: the file must be refused with a message that holds the text.
struct ExpectedError {
  std::string text;
  std::string place;    // file:line:column of the expectation
  std::string refusal;  // the messages as they would be shown; empty: the file was accepted
};

struct Study {
  Scenario base;  // incomplete where an expected refusal came true
  std::vector<Variant> variants;
  std::optional<ExpectedError> expected_error;
};

}  // namespace wavetail::scenario
