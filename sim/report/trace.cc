// SPDX-License-Identifier: Apache-2.0
#include "report/trace.h"

#include <cmath>
#include <map>

#include "report/json.h"

namespace wavetail::report {

namespace {

// Nanoseconds are kept: a long run has more than six significant digits of them.
Json microseconds(double us) { return std::round(us * 1e3) / 1e3; }

Json name_of(const std::string& kind, int track, const std::string& name) {
  return {{"ph", "M"}, {"pid", 1}, {"tid", track}, {"name", kind}, {"args", {{"name", name}}}};
}

}  // namespace

std::string to_trace(const result::RunResult& run) {
  std::map<std::string, int> tracks;
  std::string names = name_of("process_name", 0, run.scenario + " on " + run.gpu).dump();
  std::string events;
  for (const auto& i : run.trace) {
    const auto [track, is_new] = tracks.emplace(i.track, static_cast<int>(tracks.size()) + 1);
    if (is_new) { names += ",\n" + name_of("thread_name", track->second, i.track).dump(); }
    const Json event = {{"ph", "X"},
                        {"pid", 1},
                        {"tid", track->second},
                        {"ts", microseconds(i.start_us)},
                        {"dur", microseconds(i.end_us - i.start_us)},
                        {"name", i.name}};
    events += ",\n" + event.dump();
  }
  return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + names + events + "\n]}\n";
}

}  // namespace wavetail::report
