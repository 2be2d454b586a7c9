// SPDX-License-Identifier: Apache-2.0
#include "host/launches.h"

namespace wavetail::host {

namespace {

void count(const std::vector<Item>& items, double times, std::vector<double>& launches) {
  for (const Item& item : items) {
    const double n = times * static_cast<double>(item.repeat);
    if (item.kind == ItemKind::Launch) { launches[static_cast<std::size_t>(item.kernel)] += n; }
    count(item.body, n, launches);
  }
}

}  // namespace

std::vector<double> count_launches(const Timeline& timeline, std::size_t kernels) {
  std::vector<double> launches(kernels, 0);
  count(timeline.items, 1, launches);
  return launches;
}

}  // namespace wavetail::host
