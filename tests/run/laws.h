// SPDX-License-Identifier: Apache-2.0
// What must hold for any kernel: nothing beats its bound, warp-cycles sum up, Little's law holds
// between sums that are kept apart, and the work that was done is the work that the program asks
// for.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "bound/work.h"
#include "occupancy/occupancy.h"
#include "run/run.h"
#include "support/random_kernels.h"
#include "support/specs.h"

namespace wavetail::run {
inline result::RunResult simulate_twice(const kernel::Kernel& k, const gpu::GpuSpec& gpu) {
  scenario::Study study;
  study.base.name = "law";
  study.base.gpu = gpu;
  study.base.kernels = {k};
  host::Item launch;
  launch.kernel = 0;
  launch.repeat = 2;
  study.base.timeline.items = {launch};
  study.base.simulation.replay = false;
  return run_study(study, {});
}

inline void check_kernel(const kernel::Kernel& k, const gpu::GpuSpec& gpu) {
  const auto run = simulate_twice(k, gpu);
  ASSERT_EQ(run.outcome, result::Outcome::Complete) << run.outcome_message;
  const auto& r = run.kernels.front();
  EXPECT_GE(r.time_us * (1 + 1e-6), r.bound.time_us) << r.bound.name;
  const auto& c = r.counters;
  EXPECT_EQ(c.stalls.total(), c.resident_warp_cycles);
  if (r.little_error_pct) { EXPECT_LE(*r.little_error_pct, 1); }
  const auto work = bound::count_work(k, gpu);
  EXPECT_EQ(static_cast<double>(c.load_requests), 2 * work.load_requests);
  EXPECT_EQ(static_cast<double>(c.store_requests), 2 * work.store_requests);
  EXPECT_EQ(static_cast<double>(c.useful_load_bytes), 2 * work.useful_load_bytes);
  EXPECT_EQ(static_cast<double>(c.useful_store_bytes), 2 * work.useful_store_bytes);
  EXPECT_EQ(c.flops, 2 * work.flops);
  EXPECT_EQ(static_cast<double>(c.shared_load_requests), 2 * work.shared_load_requests);
  EXPECT_EQ(static_cast<double>(c.shared_store_requests), 2 * work.shared_store_requests);
  EXPECT_GE(static_cast<double>(c.bank_wavefronts), 2 * work.bank_wavefronts);
}

// Runs the kernels of the seeds; returns how many could be launched.
inline int check_laws(std::uint64_t first, std::uint64_t last) {
  const auto gpu = specs::h100();
  int simulated = 0;
  for (std::uint64_t seed = first; seed <= last && !testing::Test::HasFailure(); ++seed) {
    const auto k = specs::KernelMaker(seed).make();
    if (!occupancy::occupy(gpu, occupancy::launch_of(k)).launchable) { continue; }
    SCOPED_TRACE("seed " + std::to_string(seed));
    ++simulated;
    check_kernel(k, gpu);
  }
  return simulated;
}

}  // namespace wavetail::run
