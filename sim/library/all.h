// SPDX-License-Identifier: Apache-2.0
// The list of template makers, one per file of this room; template.cc puts them in order.
#pragma once

#include "library/template.h"

namespace wavetail::library {

[[nodiscard]] Template attention_template();
[[nodiscard]] Template copy_template();
[[nodiscard]] Template cross_entropy_template();
[[nodiscard]] Template elementwise_template();
[[nodiscard]] Template empty_template();
[[nodiscard]] Template gemm_template();
[[nodiscard]] Template gemv_template();
[[nodiscard]] Template grouped_gemm_template();
[[nodiscard]] Template moe_template();
[[nodiscard]] Template norm_template();
[[nodiscard]] Template pointer_chase_template();
[[nodiscard]] Template quantize_template();
[[nodiscard]] Template read_template();
[[nodiscard]] Template reduce_template();
[[nodiscard]] Template rope_template();
[[nodiscard]] Template sampling_template();
[[nodiscard]] Template sgemm_template();
[[nodiscard]] Template softmax_template();
[[nodiscard]] Template transpose_template();

}  // namespace wavetail::library
