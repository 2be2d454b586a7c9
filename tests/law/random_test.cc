// SPDX-License-Identifier: Apache-2.0
// The laws on random kernels, GPUs and timelines: each seed is a scenario of its own.
#include <gtest/gtest.h>

#include <algorithm>

#include "event/clock.h"
#include "law/laws.h"
#include "support/drive.h"
#include "support/random_scenario.h"

namespace wavetail::tests {
namespace {

constexpr std::uint64_t kSeedsPerShard = 150;

std::int64_t streams_of(const scenario::Scenario& s) {
  int most = 0;
  for (const host::Item& item : s.timeline.items) { most = std::max(most, item.stream); }
  return most + 1;
}

void expect_laws_of_launch(const DrivenLaunch& l, const scenario::Scenario& s) {
  const kernel::Kernel& kernel = s.kernels[static_cast<std::size_t>(l.kernel)];
  if (kernel.duration) {
    EXPECT_EQ(l.time(), *kernel.duration);
    return;
  }
  const event::Clock clock(s.gpu.sm_clock());
  expect_buckets_add_up(l.counters);
  expect_slots_total(l.counters, s.gpu, clock.at_or_after(l.ended) - clock.at_or_after(l.started));
  expect_bytes_conserved(l.counters);
  expect_little(l.counters);
  expect_wavefronts_conserved(l.counters, kernel, s.gpu);
  expect_work(l.counters, kernel, s.gpu);
  bound::Caches caches;
  caches.in_l2_at_start = static_cast<double>(l.l2_bytes_at_start);
  expect_not_faster_than(bound::bound_of(kernel, s.gpu, l.fit, caches),
                         unit::microseconds(l.time()));
}

void expect_laws(const scenario::Scenario& s) {
  const Driven d = drive(s);
  ASSERT_TRUE(d.finished) << "a hang";
  EXPECT_EQ(d.requests_under_way, 0U);
  for (const DrivenLaunch& l : d.launches) {
    SCOPED_TRACE("kernel " + s.kernels[static_cast<std::size_t>(l.kernel)].name);
    expect_laws_of_launch(l, s);
  }
  const result::Counters all = d.total();
  EXPECT_LE(d.l2_dirty_sectors * memory::kSectorBytes + all.l2_writeback_bytes,
            all.l2_write_sectors * memory::kSectorBytes);
}

class RandomLaws : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomLaws, Hold) {
  for (std::uint64_t n = 0; n < kSeedsPerShard; ++n) {
    const std::uint64_t seed = GetParam() * kSeedsPerShard + n;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const scenario::Scenario s = random_scenario(seed);
    expect_laws(s);
    if (testing::Test::HasFailure()) { return; }  // one broken law says enough
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLaws, testing::Range<std::uint64_t>(0, 8));

// Several streams overlap, several do not: both must occur, or the laws say less than they seem to.
TEST(RandomScenarios, CoverWhatTheyClaimTo) {
  int several_streams = 0, graphs = 0, stated = 0, roles = 0, partial = 0, barriers = 0;
  int shared = 0, conflicts = 0, open_wavefronts = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const scenario::Scenario s = random_scenario(seed);
    several_streams += streams_of(s) > 1 ? 1 : 0;
    for (const host::Item& i : s.timeline.items) { graphs += i.kind == host::ItemKind::Graph; }
    for (const kernel::Kernel& k : s.kernels) {
      stated += k.duration ? 1 : 0;
      roles += k.roles.size() > 1 ? 1 : 0;
      partial += k.block % s.gpu.sm.warp_size != 0 ? 1 : 0;
      if (k.duration) { continue; }
      const bound::Work work = bound::count_work(k, s.gpu);
      barriers += work.barriers > 0 ? 1 : 0;
      shared += work.shared_requests() > 0 ? 1 : 0;
      conflicts += work.bank_wavefronts > work.bank_passes ? 1 : 0;
      open_wavefronts += work.exact_wavefronts ? 0 : 1;
    }
  }
  for (const int n : {several_streams, graphs, stated, roles, partial, barriers, shared, conflicts,
                      open_wavefronts}) {
    EXPECT_GE(n, 10);
  }
}

}  // namespace
}  // namespace wavetail::tests
