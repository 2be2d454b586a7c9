// SPDX-License-Identifier: Apache-2.0
#include "law/replay.h"

#include "analytic/lab.h"

#include <algorithm>
#include <map>

#include "support/random_gpu.h"
#include "support/random_scenario.h"

namespace wavetail::tests {
namespace {

constexpr int kLaunches = 24;

// The launches of a random scenario's kernels, in a random order, many times over.
scenario::Scenario random_sequence(std::uint64_t seed) {
  scenario::Scenario s = random_scenario(
      seed, {.most_events = 4000, .streams = false, .gpu = GpuKind::Part});
  Dice dice(seed + 1000);
  s.timeline.items.clear();
  for (int n = 0; n < kLaunches; ++n) {
    host::Item launch;
    launch.kernel = static_cast<int>(
        dice.between(0, static_cast<std::int64_t>(s.kernels.size()) - 1));
    s.timeline.items.push_back(launch);
  }
  return s;
}

bool draws_addresses(const kernel::Program& program) {
  return std::any_of(program.begin(), program.end(), [](const kernel::Op& op) {
    return op.access.pattern == kernel::Pattern::Random ||
           std::any_of(op.bodies.begin(), op.bodies.end(),
                       [](const kernel::Program& body) { return draws_addresses(body); });
  });
}

// Some kernel has random lanes: every launch draws others.
bool draws_addresses(const scenario::Scenario& s) {
  return std::any_of(s.kernels.begin(), s.kernels.end(), [](const kernel::Kernel& k) {
    return std::any_of(k.roles.begin(), k.roles.end(),
                       [](const kernel::Role& r) { return draws_addresses(r.program); });
  });
}

// By how much simulated launches of one kernel that find the same number of its bytes in L2 differ
// among themselves, in percent of all kernel time: no earlier launch can stand for them better.
double spread_pct(const Driven& d) {
  std::map<std::pair<int, std::int64_t>, std::vector<double>> alike;
  for (const DrivenLaunch& l : d.launches) {
    alike[{l.kernel, l.l2_bytes_at_start}].push_back(static_cast<double>(l.time().count()));
  }
  double apart = 0;
  for (const auto& [key, times] : alike) {
    const auto [low, high] = std::minmax_element(times.begin(), times.end());
    apart += (*high - *low) * static_cast<double>(times.size());
  }
  return 100 * apart / static_cast<double>(d.kernel_time().count());
}

// Runs `sequences` random scenarios, each changed by `change`, with and without replay.
template <class Change>
void expect_sequences_agree(std::uint64_t sequences, const Change& change) {
  std::int64_t replayed = 0;
  double with = 0;
  double without = 0;
  for (std::uint64_t seed = 0; seed < sequences; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    scenario::Scenario s = random_sequence(seed);
    change(s);
    const ReplayPair pair(s);
    pair.expect_agreement(draws_addresses(s) ? 6 : 0.5 + spread_pct(pair.all));
    replayed += pair.replayed();
    with += static_cast<double>(pair.some.kernel_time().count());
    without += static_cast<double>(pair.all.kernel_time().count());
  }
  EXPECT_NEAR(with / without, 1, 0.005);
  EXPECT_GT(replayed, static_cast<std::int64_t>(sequences) * kLaunches / 4);
}

TEST(Replay, AgreesOnRandomSequencesOfLaunches) {
  expect_sequences_agree(40, [](scenario::Scenario&) {});
}

// The same where every GPC has an L2 of its own above a memory-side cache.
TEST(Replay, AgreesWithPrivateL2s) {
  expect_sequences_agree(20, [](scenario::Scenario& s) {
    s.gpu.l2.latency_far = s.gpu.l2.latency_near;
    s.gpu.memory_side = {16_MiB, unit::Bandwidth{600'000'000'000}, 220_ns};
    s.gpu.store_acknowledgement.latency = 150_ns;
  });
}

// Every launch has a page or a few of its own, near to some SMs and far from others: an earlier
// launch stands for it only if its pages lie in the same partitions. Which units meet in a
// channel is luck that an earlier launch does not share, and with many pages it matters.
TEST(Replay, KnowsNearFromFarPages) {
  for (const std::int64_t pages : {1, 4, 40}) {
    kernel::Kernel k = kernel_of({repeat(16, {load(0, 16, 1, true), wait()})}, 1, 32 * pages,
                                 {{"x", unit::Bytes{4096 * pages}, true}});
    if (pages > 32) { k.block = 1024; }
    k.roles[0].warps = k.block / 32;
    const scenario::Scenario s = scenario_of(instant(), {k}, {launch(0, 0, 400)});
    const ReplayPair pair(s);
    EXPECT_NEAR(100 * unit::ratio(pair.some.kernel_time(), pair.all.kernel_time()), 100,
                pages > 32 ? 2 : 1)
        << pages << " pages";
    EXPECT_NEAR(100 * static_cast<double>(pair.some.total().latency_ps_sum) /
                    static_cast<double>(pair.all.total().latency_ps_sum),
                100, 1)
        << pages << " pages";
    EXPECT_GT(pair.replayed(), 50);
  }
}

}  // namespace
}  // namespace wavetail::tests
