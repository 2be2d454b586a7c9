// SPDX-License-Identifier: Apache-2.0
// What asynchronous, tensor and cluster instructions of a synthetic program say beside their kind:
// mbarriers, boxes of the TMA, tensor shapes, barriers with a number, accesses to a peer's shared
// memory. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "unit/quantity.h"

namespace wavetail::kernel {

// A ring of `stages` mbarriers in the shared memory of every block. The nth wait (arrival, signal)
// of a warp goes to stage n modulo `stages`, phase n / `stages`. A phase is complete when
// `arrivals` have come and every byte that was announced has landed.
struct Mbarrier {
  std::string name;
  std::int64_t stages = 1;
  std::optional<std::int64_t> arrivals;  // absent: the warps that arrive and the signals
  std::optional<bool> open;  // the first wait on every stage passes; absent: unless it is signalled

  bool operator==(const Mbarrier&) const = default;
};

enum class WalkKind : std::uint8_t;

struct Strides {                                       // bytes; may be negative
  std::int64_t block_x = 0, block_y = 0, block_z = 0;  // per blockIdx.x/y/z
  std::int64_t warp = 0;                               // per warp index within the role
  std::int64_t count = 0;                              // per instruction of one `count` run
  std::vector<std::int64_t> loop = {};  // per trip of the enclosing loops, outermost first
  // From the array's start at every blockIdx.z, in place of block_z, where a table says which part
  // of it a block takes (groups of rows with weights of their own); block_z is then their mean
  // distance, for bounds.
  std::vector<std::int64_t> at_z = {};

  bool operator==(const Strides&) const = default;
};

// A box that the TMA moves between an array and shared memory: `rows` rows of `row_bytes`, `pitch`
// bytes apart, in each of `planes` planes, `plane_pitch` bytes apart.
struct Box {
  int array = -1;  // index into Kernel::arrays
  std::int64_t rows = 1, row_bytes = 0, pitch = 0;
  std::int64_t planes = 1, plane_pitch = 0;
  bool tensor_map = false;  // described by a tensor map (more than one dimension)
  WalkKind walk{};          // Grid, Block or Same, with a box as the piece, or Strides
  Strides strides;
  std::int64_t offset = 0;
  // The box lands in every block of the cluster that differs from this one along these axes only;
  // each of them fetches its share of the rows, and all take the box of the first of them.
  std::array<bool, 3> multicast{};
  bool leader = false;  // with multicast: the first of them alone fetches it, and all of it
  bool split = false;   // with multicast: each share lands in the block that fetches it alone
  // Rows beyond the end of the array are not moved; they count as landed (the TMA fills them with
  // zeros). Otherwise the box moves down until it lies inside.
  bool clip = false;

  [[nodiscard]] std::int64_t bytes() const { return planes * rows * row_bytes; }

  // From its first byte to behind its last.
  [[nodiscard]] std::int64_t extent() const {
    return (planes - 1) * plane_pitch + (rows - 1) * pitch + row_bytes;
  }

  bool operator==(const Box&) const = default;
};

enum class TensorType : std::uint8_t { Fp16, Bf16, Tf32, Fp8, Int8, Fp4, Fp64 };

// m x n x k of one tensor instruction; k counts the columns of B, of which a sparse A holds half.
struct TensorShape {
  std::int64_t m = 0, n = 0, k = 0;
  TensorType type = TensorType::Bf16;
  // Not in shared memory, as B is: wgmma takes A from registers, tcgen05.mma from tensor memory.
  bool a_in_registers = false;
  bool sparse = false;     // two of four elements of A (mma.sp, wgmma.mma_async.sp)
  bool fp16_sums = false;  // mma: sums in FP16 instead of FP32
  std::int64_t ctas = 1;  // tcgen05.mma: blocks that work on it; of two, each holds half of A and B

  [[nodiscard]] double flops() const { return 2.0 * static_cast<double>(m * n * k); }

  bool operator==(const TensorShape&) const = default;
};

enum class BarrierForm : std::uint8_t { Sync, Arrive, Wait };

// bar.sync and bar.arrive of a numbered barrier for `warps` warps; barrier.cluster.
struct BarrierUse {
  int id = 0;
  std::int64_t warps = 0;
  BarrierForm form = BarrierForm::Sync;

  bool operator==(const BarrierUse&) const = default;
};

// ld.shared::cluster, st.shared::cluster.
struct PeerAccess {
  int width = 4;        // bytes per lane
  int lanes = 0;        // active lanes; 0: the whole warp
  std::int64_t to = 1;  // the peer's rank minus the own one, modulo the cluster

  bool operator==(const PeerAccess&) const = default;
};

}  // namespace wavetail::kernel
