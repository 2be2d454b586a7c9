// SPDX-License-Identifier: Apache-2.0
// Where arrays lie in device memory. Arrays of one name are one range; an array with a copy per
// launch gets a fresh range for every ordinal. Ranges never overlap and start at 2 MiB boundaries.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.h"

namespace wavetail::host {

class Addresses {
 public:
  explicit Addresses(const std::vector<kernel::Kernel>& kernels);

  // Base address of every array of the kernel for its launch number `ordinal` (from 0).
  [[nodiscard]] std::vector<std::int64_t> of(const kernel::Kernel& kernel, std::int64_t ordinal);

 private:
  std::map<std::string, std::int64_t>
      size_;  // the largest that any kernel states, in whole granules
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> base_;
  std::int64_t next_ = 0;
};

}  // namespace wavetail::host
