// SPDX-License-Identifier: Apache-2.0
// Kernels that walk the rows of tensors, as frameworks and Triton write softmax, normalisations and
// losses: a block per row (or the lanes of a warp, for short rows), one or several passes over the
// row, and behind a pass a sum or maximum over it. A row that is kept is read in the first pass and
// stays in registers; otherwise every pass reads what it needs again, from whichever cache still
// has it.
//
//   softmax in three passes: {loads x, maximum}, {loads x, exp, sum}, {loads x, exp, stores y}
//   RMSNorm, row kept:       {loads x and weights, sum of squares}, {stores y}
#pragma once

#include <string>
#include <vector>

#include "library/parts.h"

namespace wavetail::library {

struct RowTensor {
  std::string array;
  std::string dtype;
  bool shared = false;  // one row for all (weights)
  bool fresh = false;   // every launch has its own
};

// What is done per element in a pass, on all tensors together; indices are into RowKernel::tensors.
struct RowPass {
  std::vector<int> loads = {}, stores = {};
  std::int64_t fp32 = 0;      // FP32 instructions per element
  std::int64_t sfu = 0;       // special-function instructions per element
  std::int64_t reduced = 0;   // values per thread that are summed over the row behind the pass
  std::int64_t distance = 0;  // of dependent FP32 instructions; 0: elements are independent
  bool every_trip = false;    // and behind every trip of it, as a running maximum needs
  // The row in shared memory instead of global memory: where it is put, or read from again.
  bool to_shared = false, from_shared = false;
};

struct RowKernel {
  std::int64_t rows = 0, cols = 0;
  std::vector<RowTensor> tensors = {};
  std::vector<RowPass> passes = {};
  std::int64_t threads = 0;  // per block, whole warps
  // Lanes that share a row, a power of two up to a warp; 0: all threads of the block do.
  std::int64_t lanes = 0;
  std::int64_t rows_per_lane = 1;  // rows that such a group of lanes holds at once
  std::int64_t width = 16;         // bytes per lane of a vector of the widest type
  std::int64_t unroll = 1;         // vectors per thread and trip; ignored where the row is kept
  bool kept = false;               // the row stays in registers: one trip per pass
  std::int64_t trips = 1;          // rows that a block takes one after the other
  std::int64_t scalars = 0;        // FP32 values written per row at the end (mean, loss)
  std::int64_t lookups = 0;  // dependent reads before the first pass: a row's target, its element
  std::int64_t sums = 0;     // FP32 values per column that a block writes behind its last row
  std::int64_t held = 0;     // registers per thread beside what `unroll` or a kept row takes
};

// The kernel's name and note are the caller's. Throws nothing; the caller has checked that `width`
// divides the rows and that `threads` are whole warps.
[[nodiscard]] kernel::Kernel row_kernel(const RowKernel& k, const gpu::GpuSpec& gpu);

// Sum or maximum of `values` per thread over all threads of the block: shuffles within warps, one
// value per warp through shared memory, shuffles again. A shuffle takes the way of a shared load.
void block_sum(Listing& code, std::int64_t threads, std::int64_t values, const gpu::GpuSpec& gpu);

// Warps of a block that Triton kernels launch for a row of `cols` elements, where it follows the
// rule of Liger and of Triton's tutorials: 4, 8 from 2048 on, 16 from 8192, 32 from 32768.
[[nodiscard]] std::int64_t triton_warps(std::int64_t cols);

}  // namespace wavetail::library
