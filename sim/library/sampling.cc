// SPDX-License-Identifier: Apache-2.0
// sampling: picks a token from FP32 logits, one block per row as serving stacks do: a pass for the
// maximum, a pass for the sum of exponentials (and the pick itself), each a walk over the
// vocabulary.
#include <algorithm>

#include <fmt/format.h>

#include "library/all.h"
#include "library/parts.h"

namespace wavetail::library {

namespace {

constexpr std::int64_t kUnroll = 4;

void walk(Listing& code, std::int64_t row, std::int64_t threads, bool exponentials,
          const gpu::GpuSpec& gpu) {
  const std::int64_t tile = threads * 16 * kUnroll;
  Listing body;
  body.load(
      {.array = 0,
       .count = kUnroll,
       .strides = {
           .block_x = row, .warp = gpu.sm.warp_size * 16, .count = threads * 16, .loop = {tile}}});
  body.loop_step(1);
  body.wait(0);
  if (exponentials) {
    body.fp32(4 * kUnroll, 4 * kUnroll, 1);
    body.arithmetic(kernel::Pipe::Sfu, 4 * kUnroll, 4 * kUnroll, 1);
  }
  body.fp32(4 * kUnroll, 4, 1);
  code.repeat(ceil_div(row, tile), std::move(body));
  code.shuffle_sum(gpu.sm.warp_size, 1);
  code.barrier();
  code.shuffle_sum(threads / gpu.sm.warp_size, 1);
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  const std::int64_t vocabulary = v.number("vocab"), batch = v.number("batch"),
                     row = vocabulary * 4;
  const bool greedy = v.word("method") == "argmax";
  const std::int64_t threads = std::clamp<std::int64_t>(
      round_up(vocabulary / 4 / kUnroll, gpu.sm.warp_size), gpu.sm.warp_size,
      gpu.sm.max_threads_per_block);
  Listing code;
  code.prologue(2);
  walk(code, row, threads, false, gpu);
  if (!greedy) { walk(code, row, threads, true, gpu); }
  code.store({.array = 1, .width = 4, .strides = {.block_x = 4}, .lanes = 1});
  kernel::Kernel k = plain_kernel(gpu, {batch, 1, 1}, threads, 48, std::move(code));
  k.arrays = {{v.array("x"), unit::Bytes{round_up(batch * row, 512)}, false},
              {v.array("y"), unit::Bytes{round_up(batch * 4, 32)}, false}};
  k.compulsory_read = unit::Bytes{batch * row};
  k.compulsory_write = unit::Bytes{batch * 4};
  k.flops = static_cast<double>(batch * vocabulary) * (greedy ? 1 : 4);
  k.note = fmt::format("a block of {} threads per row, {}", threads,
                       greedy ? "one pass" : "two passes");
  out.push_back(std::move(k));
  return {};
}

}  // namespace

Template sampling_template() {
  return {"sampling",
          "picks the next token from FP32 logits",
          {required_count("vocab", 32, std::int64_t{1} << 31, "logits per row"),
           count_parameter("batch", 1, 1 << 20, "1", "rows"),
           {"method",
            ParameterKind::Choice,
            false,
            0,
            0,
            "softmax",
            {"argmax", "softmax"},
            "the greatest logit, or a draw by softmax"},
           array_parameter("x", "logits"),
           array_parameter("y", "tokens")},
          &make,
          {{"vocab", "batch"}}};
}

}  // namespace wavetail::library
