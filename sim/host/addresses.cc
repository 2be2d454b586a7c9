// SPDX-License-Identifier: Apache-2.0
#include "host/addresses.h"

#include <algorithm>

namespace wavetail::host {

namespace {
constexpr std::int64_t kGranule = std::int64_t{2} << 20;
constexpr std::int64_t kShared = -1;  // the ordinal of arrays that all launches share
}  // namespace

Addresses::Addresses(const std::vector<kernel::Kernel>& kernels) {
  for (const kernel::Kernel& k : kernels) {
    for (const kernel::Array& a : k.arrays) {
      const std::int64_t granules = (a.bytes.count() + kGranule - 1) / kGranule;
      std::int64_t& size = size_[a.name];
      size = std::max(size, std::max<std::int64_t>(1, granules) * kGranule);
    }
  }
}

std::vector<std::int64_t> Addresses::of(const kernel::Kernel& kernel, std::int64_t ordinal) {
  std::vector<std::int64_t> bases;
  for (const kernel::Array& a : kernel.arrays) {
    const auto [at, fresh] = base_.try_emplace({a.name, a.per_launch ? ordinal : kShared}, next_);
    next_ += fresh ? size_[a.name] : 0;
    bases.push_back(at->second);
  }
  return bases;
}

}  // namespace wavetail::host
