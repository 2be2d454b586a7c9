// SPDX-License-Identifier: Apache-2.0
// The kernels of streaming benchmarks that give every thread one element: init (or write), read,
// scale, triad, and the one-dimensional stencils of three and five points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "study/protocols/bench.h"

namespace wavetail::study {

struct StreamKernel {
  std::string name;             // init, write, read, scale, triad, 3pt, 5pt
  std::int64_t loads = 0;       // per thread
  std::int64_t stores = 0;      // per thread
  bool one_array = false;       // the loads are neighbours in one array (stencils)
  std::int64_t operations = 0;  // FP64 instructions per thread
  std::int64_t element = 8;     // bytes
  std::int64_t block = 0;       // threads
  std::int64_t elements = 0;    // per array; threads beyond wrap to its start

  // What a thread moves from or to arrays of its own: neighbours in one array count once.
  [[nodiscard]] std::int64_t streams() const { return (one_array ? 1 : loads) + stores; }
};

// Kernel, block, element type, loads, stores and operations per thread of a row; what it says of
// bytes and streams must agree.
[[nodiscard]] StreamKernel read_stream_kernel(Params& params);

// Blocks `piece` of its grid.
[[nodiscard]] kernel::Kernel stream_blocks(const StreamKernel& s, const gpu::GpuSpec& gpu,
                                           Piece piece);

}  // namespace wavetail::study
