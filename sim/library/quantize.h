// SPDX-License-Identifier: Apache-2.0
// Activations to a narrow type with a scale for every few elements of a row, as FP8 and FP4
// products want them (scale: block, mx and nv of template gemm). Lanes with eight elements each
// find a group's largest magnitude by shuffles. Shared by `quantize` and `moe`.
#pragma once

#include <string>

#include "library/parts.h"

namespace wavetail::library {

struct GroupQuantize {
  std::int64_t elements = 0;
  std::string dtype = "bf16";
  std::int64_t group = 128;      // elements of a scale: 16, 32, 64 or 128
  std::int64_t out_bits = 8;     // 8 or 4
  std::int64_t scale_bytes = 4;  // of a scale: 4 or 1
  std::string x = {}, y = {}, scales = {};
};

[[nodiscard]] kernel::Kernel group_quantize_kernel(const GroupQuantize& q, const gpu::GpuSpec& gpu);

}  // namespace wavetail::library
