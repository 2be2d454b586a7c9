// SPDX-License-Identifier: Apache-2.0
// Processor time of this thread: for tests of how work grows. Other load on the computer counts
// little.
#pragma once

#include <algorithm>
#include <ctime>

namespace wavetail::tests {

inline double thread_cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Least seconds of three calls.
template <class F>
double cpu_seconds(F&& work) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double begin = thread_cpu_s();
    work();
    least = std::min(least, thread_cpu_s() - begin);
  }
  return least;
}

}  // namespace wavetail::tests
