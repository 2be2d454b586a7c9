// SPDX-License-Identifier: Apache-2.0
#include "host/addresses.h"

#include <algorithm>

namespace wavetail::host {

namespace {
constexpr std::int64_t kGranule = std::int64_t{2} << 20;
constexpr std::int64_t kShared = -1;  // the ordinal of arrays that all launches share

// Which copy of the array launch number `ordinal` has.
std::int64_t copy_of(const kernel::Array& a, std::int64_t ordinal) {
  if (a.per_launch) { return ordinal; }
  return a.copies > 1 ? ordinal % a.copies : kShared;
}

std::int64_t whole_granules(unit::Bytes bytes) {
  return std::max<std::int64_t>(1, (bytes.count() + kGranule - 1) / kGranule) * kGranule;
}

}  // namespace

AddressSpace addresses_needed(const std::vector<kernel::Kernel>& kernels,
                              const std::vector<double>& launches) {
  struct Use {
    std::int64_t size = 0;
    bool shared = false;
    double copies = 0;
  };

  std::map<std::string, Use> uses;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    for (const kernel::Array& a : kernels[k].arrays) {
      Use& use = uses[a.name];
      use.size = std::max(use.size, whole_granules(a.bytes));
      use.shared = use.shared || (!a.per_launch && a.copies == 1);
      if (a.per_launch) { use.copies = std::max(use.copies, launches[k]); }
      if (a.copies > 1) {
        use.copies = std::max(use.copies, std::min(launches[k], static_cast<double>(a.copies)));
      }
    }
  }
  AddressSpace all;
  for (const auto& [name, use] : uses) {
    const double bytes = static_cast<double>(use.size) * (use.copies + (use.shared ? 1 : 0));
    all.bytes += bytes;
    if (bytes > all.largest_bytes) {
      all.largest = name;
      all.largest_bytes = bytes;
    }
  }
  return all;
}

Addresses::Addresses(const std::vector<kernel::Kernel>& kernels) {
  for (const kernel::Kernel& k : kernels) {
    for (const kernel::Array& a : k.arrays) {
      std::int64_t& size = size_[a.name];
      size = std::max(size, whole_granules(a.bytes));
      ++kernels_[a.name];
    }
  }
}

std::vector<bool> Addresses::once(const kernel::Kernel& kernel) const {
  std::vector<bool> once;
  for (const kernel::Array& a : kernel.arrays) {
    once.push_back(a.per_launch && !a.persisting && kernels_.at(a.name) == 1);
  }
  return once;
}

std::vector<std::int64_t> Addresses::of(const kernel::Kernel& kernel, std::int64_t ordinal) {
  std::vector<std::int64_t> bases;
  for (const kernel::Array& a : kernel.arrays) {
    const auto [at, fresh] = base_.try_emplace({a.name, copy_of(a, ordinal)}, next_);
    next_ += fresh ? size_[a.name] : 0;
    bases.push_back(at->second);
  }
  return bases;
}

}  // namespace wavetail::host
