// SPDX-License-Identifier: Apache-2.0
// What one tensor instruction costs: how long it keeps the tensor pipe of each sub-partition that
// works on it. It is the longer of two times: its FLOPs at the dense rate, and its operands on
// their way to the pipe: out of shared memory (wgmma, tcgen05.mma) or out of the registers
// (mma.sync).
//
//   H100, wgmma m64n256k16 bf16: 2 x 64 x 256 x 16 FLOP / 4096 per cycle = 128 cycles on all four
//   pipes; m64n16k16 with A in shared memory: 2 KiB of A and 512 B of B at 128 B per cycle = 20
//   H100, mma.sync m16n8k16 bf16: 4 cycles at the dense rate, but 512 B of A and 256 B of B at
//   128 B per cycle = 6
//   B200, tcgen05.mma m128n64k16 bf16: 32 cycles at the dense rate, 4 + 2 KiB at 128 B = 48
#pragma once

#include "gpu/spec.h"
#include "kernel/async.h"

namespace wavetail::isa {

inline constexpr std::int64_t kThousandths = 1000;

// What the result of another instruction takes of a wgmma under way on its sub-partition, in
// thousandths of a cycle: both write the register file, 128 B per cycle. Attention on Hopper takes
// as long as its products and its other instructions together (FAT rows: head sizes 64, 128, 256).
inline constexpr std::int64_t kRegisterWrite = 1300;

// Thousandths of a cycle.
struct TensorCost {
  std::int64_t pipe = 0;    // that a pipe is kept
  std::int64_t full = 0;    // the same at the dense rate: its FLOPs / the pipe's rate
  double flops = 0;         // that one warp's part does
  std::int64_t energy = 0;  // femtojoules of those FLOPs (gpu::EnergySpec)
};

// Dense FLOP per cycle and SM; 0: not supported.
[[nodiscard]] double tensor_rate(const gpu::TensorSpec& tensor, kernel::TensorType type);
// Femtojoules of one FLOP.
[[nodiscard]] double tensor_energy(const gpu::TensorEnergySpec& energy, kernel::TensorType type);
[[nodiscard]] std::string_view name(kernel::TensorType type);
[[nodiscard]] int bits(kernel::TensorType type);

// k of one wgmma, tcgen05.mma or of the widest mma.sync: 32 bytes of operand (fp64: 4 elements).
[[nodiscard]] std::int64_t wgmma_depth(kernel::TensorType type);

// One warp's quarter of a warpgroup instruction. Operands that come from shared memory pass at its
// bandwidth: 64 rows of A if it is there, and B.
[[nodiscard]] TensorCost wgmma_cost(const gpu::GpuSpec& gpu, const kernel::TensorShape& shape);

// One mma.sync, on the pipe of the warp's sub-partition.
[[nodiscard]] TensorCost mma_cost(const gpu::GpuSpec& gpu, const kernel::TensorShape& shape);

// One v_mfma, on the pipe of the wavefront's SIMD, at the dense rate.
[[nodiscard]] TensorCost mfma_cost(const gpu::GpuSpec& gpu, const kernel::TensorShape& shape);

// Issue of one to that of one that depends on it, in cycles: its passes and a rest.
[[nodiscard]] std::int64_t mfma_latency(const gpu::GpuSpec& gpu, const kernel::TensorShape& shape);

// One tcgen05.mma, on all pipes of the SM, or of both SMs of a pair. A quarter of its FLOPs per
// pipe of one SM is the dense rate where 128 rows fill the 128 lanes of tensor memory; 64 rows fill
// half of them. `flops` are all of them.
[[nodiscard]] TensorCost tcgen05_cost(const gpu::GpuSpec& gpu, const kernel::TensorShape& shape);

// From the end of its interval to its completion, in cycles: its A and the first 128 columns of B
// have to be there before the first sum.
[[nodiscard]] std::int64_t tcgen05_latency(const gpu::GpuSpec& gpu,
                                           const kernel::TensorShape& shape);

// tcgen05.cp: cycles of the same engine.
[[nodiscard]] TensorCost tcgen05_copy_cost(const gpu::GpuSpec& gpu, std::int64_t bytes);

}  // namespace wavetail::isa
