// SPDX-License-Identifier: Apache-2.0
// The timing wheel against a sorted list: the same events in the same order.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "event/wheel.h"

namespace wavetail::event {
namespace {

// Events by time, those of one time in the order of scheduling.
class List {
 public:
  void schedule(const Event& e) { events_.emplace(e.time, e); }

  bool pop(Event& e) {
    if (events_.empty()) { return false; }
    e = events_.begin()->second;
    events_.erase(events_.begin());
    return true;
  }

 private:
  std::multimap<Time, Event> events_;  // equal keys keep their order of insertion
};

// How long after the present event the next one comes: ties, the same slot, the wheel's reach, far
// beyond it, and exactly at its edge.
Duration step(std::mt19937_64& random) {
  constexpr std::int64_t kReach = std::int64_t{1} << 22;
  const auto up_to = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
  };
  switch (random() % 8) {
    case 0: return Duration{0};
    case 1: return Duration{up_to(255)};
    case 2:
    case 3: return Duration{up_to(100'000)};
    case 4: return Duration{up_to(kReach)};
    case 5: return Duration{kReach - 300 + up_to(600)};
    case 6: return Duration{up_to(20 * kReach)};
    default: return Duration{up_to(1000) * 256};
  }
}

void compare(std::uint64_t seed, int pending, int pops) {
  std::mt19937_64 random(seed);
  Wheel wheel;
  List list;
  std::uint32_t number = 0;
  const auto schedule = [&](Time at) {
    Event e;
    e.time = at;
    e.a = number++;
    wheel.schedule(e);
    list.schedule(e);
  };
  for (int n = 0; n < pending; ++n) { schedule(Time{} + step(random)); }
  Event got;
  Event wanted;
  for (int n = 0; n < pops; ++n) {
    const bool more = list.pop(wanted);
    ASSERT_EQ(wheel.pop(got), more);
    if (!more) { return; }
    ASSERT_EQ(got.a, wanted.a) << "pop " << n << " of seed " << seed;
    ASSERT_EQ(got.time, wanted.time);
    ASSERT_EQ(wheel.now(), wanted.time);
    // On average one new event for each: the number pending wanders, down to nothing at times.
    for (auto births = random() % 3; births > 0; --births) { schedule(got.time + step(random)); }
  }
}

TEST(Wheel, IsASortedList) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    compare(seed, 1 + static_cast<int>(seed), 2000);
  }
}

TEST(Wheel, RunsEmptyAndStartsAgain) {
  Wheel wheel;
  Event e;
  EXPECT_FALSE(wheel.pop(e));
  for (std::int64_t n = 1; n < 40; ++n) {
    wheel.schedule({.time = Time{n * n * 100'000'000}});
    ASSERT_TRUE(wheel.pop(e));
    EXPECT_EQ(e.time.picoseconds(), n * n * 100'000'000);
    EXPECT_FALSE(wheel.pop(e));
  }
  EXPECT_EQ(wheel.pending(), 0);
  EXPECT_EQ(wheel.popped(), 39);
}

}  // namespace
}  // namespace wavetail::event
