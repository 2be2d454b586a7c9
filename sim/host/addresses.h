// SPDX-License-Identifier: Apache-2.0
// Where arrays lie in device memory. Arrays of one name are one range; an array with a copy per
// launch gets a fresh range for every ordinal, one with `copies` so many ranges in turn. Ranges
// never overlap and start at 2 MiB boundaries. Scenarios that need more addresses than there are
// have been refused (addresses_needed).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.h"

namespace wavetail::host {

// Bytes of addresses that the arrays take, and the array that takes most of them.
struct AddressSpace {
  double bytes = 0;
  std::string largest;
  double largest_bytes = 0;
};

// What arrays take when kernel k is launched launches[k] times; real numbers, since it may be far
// more than there are addresses (memory::kAddressBits).
[[nodiscard]] AddressSpace addresses_needed(const std::vector<kernel::Kernel>& kernels,
                                            const std::vector<double>& launches);

class Addresses {
 public:
  explicit Addresses(const std::vector<kernel::Kernel>& kernels);

  // Base address of every array of the kernel for its launch number `ordinal` (from 0).
  [[nodiscard]] std::vector<std::int64_t> of(const kernel::Kernel& kernel, std::int64_t ordinal);

  // Which of the kernel's arrays no other launch reads or writes.
  [[nodiscard]] std::vector<bool> once(const kernel::Kernel& kernel) const;

 private:
  std::map<std::string, std::int64_t>
      size_;                            // the largest that any kernel states, in whole granules
  std::map<std::string, int> kernels_;  // that have an array of this name
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> base_;
  std::int64_t next_ = 0;
};

}  // namespace wavetail::host
