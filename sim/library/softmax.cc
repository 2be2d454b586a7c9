// SPDX-License-Identifier: Apache-2.0
// softmax along the last dimension, as PyTorch does it: short rows by the lanes of a warp, an
// element at a time, from registers; longer ones by a block per row in three passes (maximum, sum
// of exponentials, result), of which the second and the third read the row from shared memory where
// it fits 48 KiB, and from global memory again where it does not. Or one pass with the row in
// registers, as Triton's and later kernels do.
#include <algorithm>

#include <fmt/format.h>

#include "library/all.h"
#include "library/softmax.h"

namespace wavetail::library {

namespace {

constexpr std::int64_t kShared = 48 << 10;  // what a kernel has without asking for more

std::int64_t power_of_two(std::int64_t n) {
  std::int64_t p = 1;
  while (p < n) { p *= 2; }
  return p;
}

// Largest, then sum of exponentials, then the quotient. Frameworks compile exponential and division
// in full precision: eight FP32 instructions each beside the special function.
std::vector<RowPass> passes(bool again, bool shared) {
  const std::vector<int> reads = again ? std::vector<int>{0} : std::vector<int>{};
  return {{.loads = {0}, .fp32 = 1, .reduced = 1, .to_shared = shared},
          {.loads = reads, .fp32 = 10, .sfu = 1, .reduced = 1, .from_shared = shared},
          {.loads = reads, .stores = {1}, .fp32 = 17, .sfu = 2, .from_shared = shared}};
}

// As Triton's: the exponential is kept and both are approximations.
std::vector<RowPass> kept_passes() {
  return {{.loads = {0}, .fp32 = 1, .reduced = 1},
          {.fp32 = 2, .sfu = 1, .reduced = 1},
          {.stores = {1}, .fp32 = 1}};
}

// In a warp's registers the exponential is kept, too.
std::vector<RowPass> warp_passes() {
  return {{.loads = {0}, .fp32 = 1, .reduced = 1},
          {.fp32 = 10, .sfu = 1, .reduced = 1},
          {.stores = {1}, .fp32 = 8, .sfu = 1}};
}

std::vector<Mistake> refuse(const char* method, const SoftmaxShape& s, std::string_view why) {
  return {{"method", fmt::format("is {}; rows of {} {} {}", method, s.cols, s.dtype, why)}};
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  const SoftmaxShape s{v.number("rows"),
                       v.number("cols"),
                       v.word("dtype"),
                       v.has("method") ? v.word("method") : "",
                       v.array("x"),
                       v.array("y"),
                       v.number_or("threads", 0)};
  if (s.threads % gpu.sm.warp_size != 0) {
    return {{"threads",
             fmt::format("is {}; whole warps of {} are needed", s.threads, gpu.sm.warp_size)}};
  }
  return softmax(s, gpu, out);
}

}  // namespace

std::vector<Mistake> softmax(const SoftmaxShape& s, const gpu::GpuSpec& gpu,
                             std::vector<kernel::Kernel>& out) {
  const std::int64_t element = dtype_bytes(s.dtype), row = s.cols * element;
  const std::int64_t warp = gpu.sm.warp_size;
  const bool vectors = row % 16 == 0;
  const std::string method = !s.method.empty()                 ? s.method
                             : s.cols <= 1024 && row <= 4096   ? "warp"
                             : row < kShared - 1024 && vectors ? "shared"
                                                               : "passes";
  RowKernel r{.rows = s.rows, .cols = s.cols, .tensors = {{s.x, s.dtype}, {s.y, s.dtype}}};
  if (method == "warp") {
    if (s.cols > 1024) { return refuse("warp", s, "are too long: 1024 at most"); }
    r.kept = true;
    r.width = element;
    r.lanes = std::min(power_of_two(s.cols), warp);
    r.rows_per_lane = s.cols <= 128 ? 2 : 1;
    r.threads = 4 * warp;
    r.passes = warp_passes();
  } else {
    if (method == "shared" && row > gpu.sm.shared_memory_per_block.count() - 1024) {
      return refuse("shared", s,
                    fmt::format("take {} B of the {} B of a block's shared memory", row,
                                gpu.sm.shared_memory_per_block.count()));
    }
    r.kept = method == "registers";
    r.width = vectors ? 16 : element;
    const std::int64_t per_row = s.cols * element / r.width;
    const std::int64_t most = gpu.sm.max_threads_per_block;
    r.threads = s.threads > 0 ? s.threads
                : r.kept      ? std::min(triton_warps(s.cols) * warp, most)
                              : std::clamp(power_of_two(per_row), warp, most);
    r.passes = r.kept ? kept_passes() : passes(method == "passes", method == "shared");
    if (r.kept && per_row > r.threads * 16) {
      return refuse("registers", s,
                    fmt::format("are too long for {} threads: 16 vectors each", r.threads));
    }
  }
  kernel::Kernel k = row_kernel(r, gpu);
  k.note = method == "warp" ? fmt::format("{} lanes and registers per row", r.lanes)
                            : fmt::format("a block of {} threads per row, {}", r.threads,
                                          method == "registers" ? "kept in registers"
                                          : method == "shared"  ? "kept in shared memory"
                                                                : "read three times");
  out.push_back(std::move(k));
  return {};
}

Template softmax_template() {
  return {
      "softmax",
      "softmax over rows",
      {required_count("rows", 1, std::int64_t{1} << 31, "rows"),
       required_count("cols", 2, std::int64_t{1} << 31, "elements per row"),
       dtype_parameter(),
       {"method",
        ParameterKind::Choice,
        false,
        0,
        0,
        {},
        {"warp", "shared", "passes", "registers"},
        "where a row stays between the passes: in a warp's registers, in shared memory, nowhere, "
        "in a block's registers; as an eager framework chooses if absent"},
       count_parameter("threads", 32, 1024, {}, "per block; chosen if absent"),
       array_parameter("x", "input"),
       array_parameter("y", "output")},
      &make,
      {{"rows", "cols"}}};
}

}  // namespace wavetail::library
