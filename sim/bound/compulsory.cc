// SPDX-License-Identifier: Apache-2.0
// What a launch must move through DRAM even if no cache ever lost a byte.
#include <algorithm>

#include "bound/work.h"

namespace wavetail::bound {

Compulsory compulsory(const kernel::Kernel& kernel, const Work& work) {
  double certain_read = 0;
  double certain_written = 0;
  double most_read = 0;
  double most_written = 0;
  for (const auto& a : work.arrays) {
    certain_read += a.unique_stored > 0 && !a.loaded_first ? 0 : a.unique_loaded;
    certain_written += a.unique_stored;
    most_read += std::min(a.array_bytes, a.loaded_bytes);
    most_written += std::min(a.array_bytes, a.stored_bytes);
  }
  const auto stated = [](const std::optional<unit::Bytes>& b, double certain, double most) {
    return b ? std::min(static_cast<double>(b->count()), most) : certain;
  };
  return {stated(kernel.compulsory_read, certain_read, most_read),
          stated(kernel.compulsory_write, certain_written, most_written)};
}

}  // namespace wavetail::bound
