// SPDX-License-Identifier: Apache-2.0
#include "study/protocols/stream_kernel.h"

#include <fmt/format.h>

#include <array>

namespace wavetail::study {

namespace {

// What the published kernels do per element; triads differ between versions, so the row must say
// how many arrays it loads.
struct Known {
  std::string_view name;
  std::int64_t least_loads, most_loads, stores, operations;
  bool one_array = false;
};

constexpr Known kKnown[] = {
    {"init", 0, 0, 1, 0},
    {"write", 0, 0, 1, 0},
    {"read", 1, 1, 0, 1},
    {"scale", 1, 1, 1, 1},
    {"triad", 2, 3, 1, 2},
    {"3pt", 3, 3, 1, 3, true},
    {"5pt", 5, 5, 1, 5, true},
    {"stencil1d3pt", 3, 3, 1, 3, true},
    {"stencil1d5pt", 5, 5, 1, 5, true},
};

const Known& known_kernel(Params& params) {
  std::vector<std::string_view> names;
  for (const Known& k : kKnown) { names.push_back(k.name); }
  const std::string name = params.one_of("kernel", names);
  for (const Known& k : kKnown) {
    if (k.name == name) { return k; }
  }
  throw Unmapped(fmt::format("kernel={}", name));
}

}  // namespace

StreamKernel read_stream_kernel(Params& params) {
  const Known& known = known_kernel(params);
  params.must_be("elem", "fp64_8B");
  StreamKernel s{.name = std::string(known.name), .one_array = known.one_array};
  s.block = params.count("block");
  s.loads = params.has("loads_per_thread") || known.least_loads != known.most_loads
                ? params.count("loads_per_thread", 0)
                : known.least_loads;
  s.stores = known.stores;
  s.operations = known.operations;
  params.agrees("stores_per_thread", s.stores);
  if (s.one_array && s.loads == 1) { s.loads = known.least_loads; }  // counted as streams
  if (s.loads < known.least_loads || s.loads > known.most_loads) {
    throw Unmapped(fmt::format("loads_per_thread={}: {} has {}", s.loads, s.name,
                               known.least_loads == known.most_loads
                                   ? fmt::format("{}", known.most_loads)
                                   : fmt::format("{} or {}", known.least_loads, known.most_loads)));
  }
  params.agrees("bytes_per_thread", s.streams() * s.element);
  params.ignore({"flop_per_thread", "ilp", "occ_pct", "threads_resident"});
  return s;
}

kernel::Kernel stream_blocks(const StreamKernel& s, const gpu::GpuSpec& gpu, Piece piece) {
  const std::int64_t warp_bytes = gpu.sm.warp_size * s.element, block_bytes = s.block * s.element;
  library::Access access{.width = s.element,
                         .strides = {.block_x = block_bytes, .warp = warp_bytes}};
  const std::int64_t first = piece.first * block_bytes;
  const unit::Bytes whole{library::round_up(s.elements * s.element, warp_bytes)};
  std::vector<kernel::Array> arrays;
  library::Listing code;
  code.prologue(s.streams());
  for (std::int64_t n = 0; n < s.loads; ++n) {
    access.array = s.one_array ? 0 : static_cast<int>(n);
    access.offset = first + (s.one_array ? (n - s.loads / 2) * s.element : 0);
    // a stencil's neighbours lie on both sides; the arrays begin where all addresses are inside
    if (s.one_array) { access.offset += warp_bytes; }
    code.load(access);
  }
  for (std::int64_t n = 0; n < (s.one_array ? 1 : s.loads); ++n) {
    arrays.push_back({fmt::format("b{}", n), whole, false});
  }
  if (s.loads > 0) { code.wait(0); }
  code.arithmetic(kernel::Pipe::Fp64, s.operations, 1, 2);
  if (s.stores > 0) {
    access.array = static_cast<int>(arrays.size());
    access.offset = first;
    arrays.push_back({"a", whole, false});
    code.store(access);
  }
  kernel::Kernel k = library::plain_kernel(gpu, {piece.count, 1, 1}, s.block, 16 + 2 * s.loads,
                                           std::move(code));
  k.arrays = std::move(arrays);
  return k;
}

}  // namespace wavetail::study
