// SPDX-License-Identifier: Apache-2.0
// rope: rotates the query and key heads of a fused [q | k | v] row per token in place and appends
// keys and values to the cache, as the one kernel that serving stacks use. A thread rotates eight
// pairs: two vectors of 16 bit elements, one from each half of a head, with cosines and sines from
// a table.
#include <algorithm>

#include <fmt/format.h>

#include "library/all.h"
#include "library/parts.h"

namespace wavetail::library {

namespace {

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  const std::string dtype = v.word("dtype");
  const std::int64_t element = dtype_bytes(dtype), tokens = v.number("tokens"),
                     dim = v.number("head_dim");
  const std::int64_t q = v.number("q_heads"), kv = v.number("kv_heads"), warp = gpu.sm.warp_size;
  if (dim * element % 32 != 0) {
    return {
        {"head_dim",
         fmt::format("gives heads of {} B; two vectors of 16 B per thread need a multiple of 32 B",
                     dim * element)}};
  }
  const std::int64_t row = (q + 2 * kv) * dim * element, pairs = 16 / element;
  const std::int64_t threads = std::min<std::int64_t>(128, round_up(ceil_div(row, 32), warp));
  const std::int64_t tile = threads * 32, grid = ceil_div(tokens * row, tile);
  const kernel::Strides vectors{.block_x = tile, .warp = warp * 32, .count = warp * 16};
  Listing code;
  code.prologue(4);
  code.load({.array = 0, .count = 2, .strides = vectors});
  code.load(
      {.array = 1, .count = 2, .strides = {.block_x = 0, .warp = 0, .count = dim * element / 2}});
  code.wait(0);
  code.unpack(dtype, 4 * pairs);
  code.fp32(4 * pairs, 2 * pairs, 2);  // x cos - y sin, y cos + x sin
  code.pack(dtype, 2 * pairs);
  code.store({.array = 0, .count = 2, .strides = vectors});
  // Keys and values go to the cache too: their share of the warps' vectors, spread over all warps.
  const int cache_lanes = static_cast<int>(ceil_div(warp * 2 * kv, q + 2 * kv));
  code.store({.array = 2,
              .count = 2,
              .strides = {.block_x = threads / warp * 2 * cache_lanes * 16,
                          .warp = std::int64_t{2} * cache_lanes * 16,
                          .count = std::int64_t{cache_lanes} * 16},
              .lanes = cache_lanes});

  kernel::Kernel k = plain_kernel(gpu, {grid, 1, 1}, threads, 48, std::move(code));
  k.arrays = {
      {v.array("x"), unit::Bytes{round_up(tokens * row, 1024)}, false},
      {v.array("table"),
       unit::Bytes{std::max<std::int64_t>(round_up(tokens * dim * element, 512), 1024)}, false},
      {v.array("cache"), unit::Bytes{round_up(tokens * 2 * kv * dim * element, 512)},
       v.flag("fresh")}};
  k.compulsory_read = unit::Bytes{tokens * row + tokens * dim * element};
  k.compulsory_write = unit::Bytes{tokens * (row + 2 * kv * dim * element)};
  k.flops = 3.0 * static_cast<double>(tokens * (q + kv) * dim);
  k.note = fmt::format("{} pairs per thread, keys and values appended to the cache", pairs);
  out.push_back(std::move(k));
  return {};
}

}  // namespace

Template rope_template() {
  return {
      "rope",
      "rotates queries and keys in place and appends keys and values to the cache",
      {required_count("tokens", 1, std::int64_t{1} << 31, "tokens"),
       required_count("q_heads", 1, 1024, "query heads"),
       required_count("kv_heads", 1, 1024, "key and value heads"),
       count_parameter("head_dim", 16, 512, "128", "elements per head"), dtype_parameter(),
       flag_parameter("fresh", "false", "every launch appends to a cache of its own"),
       array_parameter("x", "rows of [q | k | v]"), array_parameter("table", "cosines and sines"),
       array_parameter("cache", "the new tokens' place in the cache")},
      &make,
      {{"tokens", "q_heads", "head_dim"}, {"tokens", "kv_heads", "head_dim"}}};
}

}  // namespace wavetail::library
