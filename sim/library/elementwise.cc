// SPDX-License-Identifier: Apache-2.0
#include "library/elementwise.h"

#include <algorithm>

#include <fmt/format.h>

#include "library/all.h"

namespace wavetail::library {

namespace {

int widest(const Pointwise& p) {
  int bytes = 1;
  for (const Tensor& t : p.inputs) { bytes = std::max(bytes, dtype_bytes(t.dtype)); }
  for (const Tensor& t : p.outputs) { bytes = std::max(bytes, dtype_bytes(t.dtype)); }
  return bytes;
}

// The index of the tensor's array in `arrays`, which grows to hold it: tensors may be parts of one
// array.
int array_of(const Tensor& t, std::int64_t unit, std::vector<kernel::Array>& arrays) {
  const unit::Bytes bytes{
      round_up((t.first + t.elements) * dtype_bytes(t.dtype), unit * dtype_bytes(t.dtype))};
  const auto at = std::find_if(arrays.begin(), arrays.end(),
                               [&](const kernel::Array& a) { return a.name == t.array; });
  if (at == arrays.end()) {
    arrays.push_back({t.array, bytes, false});
    return static_cast<int>(arrays.size()) - 1;
  }
  at->bytes = std::max(at->bytes, bytes);
  return static_cast<int>(at - arrays.begin());
}

// Vectors of `per_lane` elements, `vectors` per thread. A tensor smaller than the kernel wraps at
// its array's end, which is how a broadcast along rows is read.
Access access_of(const Tensor& t, int array, std::int64_t per_lane, std::int64_t vectors,
                 std::int64_t threads, std::int64_t warp_size) {
  const std::int64_t width = per_lane * dtype_bytes(t.dtype);
  return {.array = array,
          .width = width,
          .count = vectors,
          .strides = {.block_x = threads * width * vectors,
                      .warp = warp_size * width,
                      .count = threads * width},
          .offset = t.first * dtype_bytes(t.dtype)};
}

std::int64_t total_bytes(const std::vector<Tensor>& tensors) {
  std::int64_t bytes = 0;
  for (const Tensor& t : tensors) { bytes += t.elements * dtype_bytes(t.dtype); }
  return bytes;
}

}  // namespace

kernel::Kernel pointwise_kernel(const Pointwise& p, const gpu::GpuSpec& gpu) {
  const std::int64_t per_lane = 16 / widest(p);
  const std::int64_t tile_of_one = p.threads * per_lane;
  // Two vectors per thread once the grid fills the GPU several times over; one where blocks are
  // scarce.
  const std::int64_t vectors = p.elements >= tile_of_one * gpu.sms() * 16 ? 2 : 1;
  const std::int64_t each = per_lane * vectors;
  const std::int64_t warp = gpu.sm.warp_size;
  std::vector<kernel::Array> arrays;
  Listing code;
  code.prologue(static_cast<std::int64_t>(p.inputs.size() + p.outputs.size()));
  for (const Tensor& t : p.inputs) {
    code.load(
        access_of(t, array_of(t, warp * per_lane, arrays), per_lane, vectors, p.threads, warp));
  }
  code.wait(0);
  for (const Tensor& t : p.inputs) { code.unpack(t.dtype, each); }
  code.fp32(p.flops * each, each, 1);
  code.arithmetic(kernel::Pipe::Sfu, p.sfu * each, each, 1);
  for (const Tensor& t : p.outputs) { code.pack(t.dtype, each); }
  for (const Tensor& t : p.outputs) {
    code.store(
        access_of(t, array_of(t, warp * per_lane, arrays), per_lane, vectors, p.threads, warp));
  }
  const auto loaded = static_cast<std::int64_t>(p.inputs.size()) * each;
  kernel::Kernel k = plain_kernel(gpu, {ceil_div(p.elements, p.threads * each), 1, 1}, p.threads,
                                  std::min<std::int64_t>(round_up(16 + loaded, 8), 64),
                                  std::move(code));
  k.arrays = std::move(arrays);
  k.compulsory_read = unit::Bytes{total_bytes(p.inputs)};
  k.compulsory_write = unit::Bytes{total_bytes(p.outputs)};
  k.flops = static_cast<double>(p.elements * (p.flops + p.sfu));
  k.note = fmt::format("{} elements per thread in vectors of {}", each, per_lane);
  return k;
}

namespace {

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  const std::string dtype = v.word("dtype");
  const std::string result = v.has("out_dtype") ? v.word("out_dtype") : dtype;
  const std::int64_t elements = v.number("elements"), inputs = v.number("inputs");
  Pointwise p{.elements = elements,
              .inputs = {},
              .outputs = {},
              .flops = v.number("flops"),
              .sfu = v.number("sfu")};
  const bool gated = v.flag("gated");
  if (gated && inputs != 2) {
    return {{"gated", fmt::format("needs two inputs; there are {}", inputs)}};
  }
  for (std::int64_t i = 0; i < inputs; ++i) {
    const std::string name = i == 0 || gated ? v.array("x")
                                             : fmt::format("{}{}", v.array("x"), i + 1);
    p.inputs.push_back({name, dtype, elements, gated ? i * elements : 0});
  }
  for (std::int64_t i = 0; i < v.number("outputs"); ++i) {
    p.outputs.push_back(
        {i == 0 ? v.array("y") : fmt::format("{}{}", v.array("y"), i + 1), result, elements, 0});
  }
  out.push_back(pointwise_kernel(p, gpu));
  return {};
}

}  // namespace

Template elementwise_template() {
  return {"elementwise",
          "reads some tensors, computes per element, writes some",
          {required_count("elements", 1, std::int64_t{1} << 42, "elements per tensor"),
           dtype_parameter(),
           {"out_dtype",
            ParameterKind::Choice,
            false,
            0,
            0,
            {},
            dtypes(),
            "element type written; the one read if absent"},
           count_parameter("inputs", 0, 8, "1", "tensors read"),
           count_parameter("outputs", 0, 8, "1", "tensors written"),
           count_parameter("flops", 0, 10000, "1", "FP32 operations per element"),
           count_parameter("sfu", 0, 1000, "0",
                           "special-function operations (exp, rsqrt, ...) per element"),
           flag_parameter("gated", "false",
                          "the two inputs are the halves of one array, as in silu(gate) x up"),
           array_parameter("x", "first tensor read; the others are NAME2, NAME3, ..."),
           array_parameter("y", "first tensor written; the others are NAME2, NAME3, ...")},
          &make};
}

}  // namespace wavetail::library
