// SPDX-License-Identifier: Apache-2.0
// What one tensor instruction costs: how long it keeps the tensor pipe of each sub-partition that
// works on it.
//
//   H100, wgmma m64n256k16 bf16: 2 x 64 x 256 x 16 FLOP / 4096 per cycle = 128 cycles on all four
//   pipes; m64n16k16 with A in shared memory: 2 KiB of A and 512 B of B at 128 B per cycle = 20
#pragma once

#include "gpu/spec.h"
#include "kernel/async.h"

namespace wavetail::isa {

inline constexpr std::int64_t kThousandths = 1000;

// Thousandths of a cycle.
struct TensorCost {
  std::int64_t pipe = 0;  // that a pipe is kept
  std::int64_t full = 0;  // the same at the dense rate: its FLOPs / the pipe's rate
  double flops = 0;       // that one warp's part does
};

// Dense FLOP per cycle and SM; 0: not supported.
[[nodiscard]] double tensor_rate(const gpu::TensorSpec& tensor, kernel::TensorType type);
[[nodiscard]] std::string_view name(kernel::TensorType type);
[[nodiscard]] int bits(kernel::TensorType type);

// k of one wgmma or of the widest mma.sync: 32 and 16 bytes of operand (fp64: 4).
[[nodiscard]] std::int64_t wgmma_depth(kernel::TensorType type);

// One warp's quarter of a warpgroup instruction. Operands that come from shared memory pass at its
// bandwidth: 64 rows of A if it is there, and B.
[[nodiscard]] TensorCost wgmma_cost(const gpu::GpuSpec& gpu, const kernel::TensorShape& shape);

// One mma.sync, on the pipe of the warp's sub-partition.
[[nodiscard]] TensorCost mma_cost(const gpu::GpuSpec& gpu, const kernel::TensorShape& shape);

}  // namespace wavetail::isa
