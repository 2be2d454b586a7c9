// SPDX-License-Identifier: Apache-2.0
// Matrix products of which a row, or the public source of its kernel, states tile, stages, warps
// and epilogue: the library's gemm with each of them given, nothing left to its choice but the
// order of tiles where no source says it.
#pragma once

#include <string>
#include <vector>

#include "study/protocol.h"

namespace wavetail::study {

// Zero and empty: the template's own choice.
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  std::string dtype = "bf16";
  std::vector<std::int64_t> tile = {};  // m, n, k
  std::int64_t stages = 0, warps = 0, registers = 0, blocks = 0, group = 0, split = 1;
  std::int64_t
      cluster_m = 1;        // blocks of a cluster, along M; tcgen05: those that multiply together
  bool whole_sm = false;    // asks for all shared memory, so that it is alone on its SM
  bool specialised = true;  // a producer warp
  bool overlapped = true;   // a group of wgmma stays under way when a stage is released
  bool every_thread_arrives = false;
  bool fp32_out = false, d_column_major = false, b_k_major = true;
  bool serial = false;  // parts of K are added in D, one after the other, by no kernel of its own
  bool swizzled = true, reads_ahead = true;  // fragments of mma.sync
  std::string mainloop = "tma", schedule = "data-parallel", epilogue = "tma";
};

// Whether the row names a kernel that product_of() knows, or says that it is not one of a
// library's own choice.
[[nodiscard]] bool states_kernel(const Params& params);

// The product that a row's kernel is, by its name and the parameters that the row has; Unmapped
// where the kernel's making is not known. Reads m, n, k and all that says how it was made.
[[nodiscard]] Product product_of(Params& params);

[[nodiscard]] std::vector<kernel::Kernel> kernels_of(const Product& product,
                                                     const gpu::GpuSpec& gpu);

}  // namespace wavetail::study
