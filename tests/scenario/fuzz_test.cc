// SPDX-License-Identifier: Apache-2.0
// Input is not trusted: whatever the bytes, reading ends with a study or with messages that have a
// place.
#include <gtest/gtest.h>

#include <random>

#include "support.h"

namespace wavetail::scenario {
namespace {

const std::string kScenario = kHead + R"(description: "a bit of everything"
set: {gpu.clock.sm: 1755 MHz}
kernels:
  c: &c {template: copy, bytes: 64 MiB}
  d: *c
  k: {duration: 16 us}
  p:
    grid: [64, 2]
    block: 256
    registers: 64
    shared_memory: 4 KiB
    arrays: {x: 256 MiB, y: {bytes: 1 MiB, per_launch: true}}
    program:
      - repeat: 8
        body:
          - load: {array: x, width: 16 B, pattern: strided, stride: 32 B, count: 2}
          - wait_loads: 0
          - diverge: {by: lane, paths: [[{fp32: 4}], []]}
          - store: {array: y, width: 4 B, strides: {block: 1 KiB, loop: [128 B]}}
      - barrier: block
host: {launch: 4 us, mode: graph}
timeline:
  - {launch: c, stream: 1, repeat: 10}
  - graph: {repeat: 3, body: [{launch: k}, {launch: d}]}
  - sync: stream 1
  - repeat: {times: 2, body: [{launch: p}, {host: 0.8 ms}]}
expect:
  time: {at_least: 1 us}
  variants.a.kernels.c.time: {ratio_to: kernels.c.time, value: 1.5, within: 5 %}
variants: {a: {gpu.hbm.latency: x1.5}}
sweep: {gpu.sms: [132, 140]}
simulation: {issue_quantum: 1, replay: off}
)";

void expect_an_answer(const std::string& text) {
  config::Diagnostics diagnostics;
  const auto study = load_study_text("fuzz.yaml", text, options(), diagnostics);
  ASSERT_NE(study.has_value(), !diagnostics.ok());
  for (const config::Diagnostic& d : diagnostics.sorted()) {
    ASSERT_TRUE(d.place.source) << d.message;
    ASSERT_GE(d.place.line, 1);
    ASSERT_GE(d.place.column, 1);
  }
  ASSERT_LT(diagnostics.render().size(), 200'000U);
}

TEST(Fuzz, TheScenarioItselfIsGood) {
  const Study study = load(kScenario);
  EXPECT_EQ(study.variants.size(), 3U);
}

TEST(Fuzz, EveryPrefixHasAnAnswer) {
  for (std::size_t n = 0; n < kScenario.size(); n += 3) {
    expect_an_answer(kScenario.substr(0, n));
  }
}

TEST(Fuzz, SeededMutationsHaveAnAnswer) {
  std::mt19937_64 random(20240601);
  const std::string spice = "[]{}:,&*!|>'\"%@`#-?0123456789x \n\t~\\\xC3\xA9\x80";
  for (int round = 0; round < 400; ++round) {
    std::string text = kScenario;
    for (int change = 0; change < 1 + round % 5; ++change) {
      const std::size_t at = random() % text.size();
      const char c = spice[random() % spice.size()];
      switch (random() % 4) {
        case 0: text[at] = c; break;
        case 1: text.insert(at, 1, c); break;
        case 2: text.erase(at, 1 + random() % 8); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 40)); break;
      }
    }
    expect_an_answer(text);
  }
}

TEST(Fuzz, LongRunsOfOneCharacterHaveAnAnswer) {
  for (const char c : std::string("[{-?:&*!|>'\"#%, \n0ax")) {
    expect_an_answer(std::string(20'000, c));
    expect_an_answer("name: " + std::string(20'000, c));
  }
}

}  // namespace
}  // namespace wavetail::scenario
