// SPDX-License-Identifier: Apache-2.0
#include "scenario/blame.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "config/setting.h"

namespace wavetail::scenario {

namespace {

using config::Diagnostic;
using config::Diagnostics;

std::pair<std::string, std::string> identity(const Diagnostic& d) {
  return {config::to_string(d.place), d.message};
}

bool is_option(const config::Place& place) { return place.source && place.source->option; }

}  // namespace

Diagnostics blamed(const Diagnostics& found, const std::vector<std::string>& sets,
                   const Reread& reread) {
  Diagnostics out;
  std::vector<Diagnostic> open;  // found in a file
  for (const Diagnostic& d : found.sorted()) {
    if (is_option(d.place)) {
      out.error(d.place, d.message);
    } else {
      open.push_back(d);
    }
  }
  std::vector<std::string> given;
  for (std::size_t n = 0; n <= sets.size() && !open.empty(); ++n) {
    if (n > 0) { given.push_back(sets[n - 1]); }
    Diagnostics here;
    reread(given, here);
    std::set<std::pair<std::string, std::string>> present;
    for (const Diagnostic& d : here.sorted()) { present.insert(identity(d)); }
    const auto rest = std::stable_partition(open.begin(), open.end(), [&](const Diagnostic& d) {
      return !present.contains(identity(d));
    });
    for (auto d = rest; d != open.end(); ++d) {
      if (n == 0) {
        out.error(d->place, d->message);
      } else {
        out.error(config::place_of_setting("--set", sets[n - 1]),
                  "at " + config::to_string(d->place) + ": " + d->message);
      }
    }
    open.erase(rest, open.end());
  }
  for (const Diagnostic& d : open) { out.error(d.place, d.message); }
  return out;
}

}  // namespace wavetail::scenario
