// SPDX-License-Identifier: Apache-2.0
// What protocols of tensor instructions share: shapes and types as rows write them.
#pragma once

#include <string>
#include <string_view>

#include "kernel/async.h"
#include "study/protocol.h"

namespace wavetail::study {

// "m64n256k16", with anything in front, of type BF16; Unmapped otherwise.
[[nodiscard]] kernel::TensorShape shape_in(std::string_view key, const std::string& text);

// "fp16", "e4m3", ...; Unmapped if there is no such type or the GPU's tensor cores do not take it.
[[nodiscard]] kernel::TensorType type_of(std::string_view key, std::string_view text,
                                         const gpu::GpuSpec& gpu);

// Cycles for which one tcgen05.mma keeps the thread that issues it.
[[nodiscard]] Plan tcgen05_issue(const gpu::GpuSpec& gpu, const kernel::TensorShape& shape);

}  // namespace wavetail::study
