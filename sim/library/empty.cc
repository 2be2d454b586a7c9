// SPDX-License-Identifier: Apache-2.0
// empty: a kernel that does nothing, to see what a launch costs.
#include "library/all.h"
#include "library/parts.h"

namespace wavetail::library {

namespace {

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  Listing code;
  code.int32(1);  // the exit instruction
  kernel::Kernel k = plain_kernel(gpu, {v.number("blocks"), 1, 1}, v.number("block"), 16,
                                  std::move(code));
  k.compulsory_read = k.compulsory_write = unit::Bytes{0};
  k.note = "one instruction per warp";
  out.push_back(std::move(k));
  return {};
}

}  // namespace

Template empty_template() {
  return {"empty",
          "does nothing: what a launch costs",
          {count_parameter("blocks", 1, 1 << 30, "1", "blocks"),
           count_parameter("block", 1, 1024, "32", "threads per block")},
          &make};
}

}  // namespace wavetail::library
