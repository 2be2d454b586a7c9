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

// How a pointwise kernel divides its elements: vectors of 16 B of the widest type, two per thread
// once the grid fills the GPU many times over, one where blocks are scarce; tensors that a single
// block covers with an element per thread are done so.
struct Division {
  std::int64_t per_lane = 1, vectors = 1, threads = 0;
  int lanes = 0;  // 0: all
};

Division divide(const Pointwise& p, const gpu::GpuSpec& gpu) {
  const std::int64_t warp = gpu.sm.warp_size, per_lane = 16 / widest(p);
  if (p.elements <= warp) { return {1, 1, warp, static_cast<int>(p.elements)}; }
  if (p.elements <= p.threads) { return {1, 1, round_up(p.elements, warp), 0}; }
  const std::int64_t blocks = p.elements / (p.threads * per_lane);
  return {per_lane, blocks >= gpu.sms() * 16 ? 2 : 1, p.threads, 0};
}

// A tensor smaller than the kernel wraps at its array's end, which is how a broadcast along rows is
// read.
Access access_of(const Tensor& t, int array, const Division& d, std::int64_t warp_size) {
  const std::int64_t element = dtype_bytes(t.dtype), width = d.per_lane * element;
  if (t.per_row) {
    return {.array = array, .width = element, .strides = {.block_x = element}, .broadcast = true};
  }
  return {.array = array,
          .width = width,
          .count = d.vectors,
          .strides = {.block_x = d.threads * width * d.vectors,
                      .warp = warp_size * width,
                      .count = d.threads * width},
          .offset = t.first * element,
          .lanes = d.lanes};
}

std::int64_t total_bytes(const std::vector<Tensor>& tensors) {
  std::int64_t bytes = 0;
  for (const Tensor& t : tensors) { bytes += t.elements * dtype_bytes(t.dtype); }
  return bytes;
}

}  // namespace

int array_of(const Tensor& t, std::int64_t unit, std::vector<kernel::Array>& arrays) {
  const std::int64_t whole = round_up(t.first + t.elements, t.per_row ? 1 : unit);
  const unit::Bytes bytes{whole * dtype_bytes(t.dtype)};
  const auto at = std::find_if(arrays.begin(), arrays.end(),
                               [&](const kernel::Array& a) { return a.name == t.array; });
  if (at == arrays.end()) {
    arrays.push_back({t.array, bytes, false});
    return static_cast<int>(arrays.size()) - 1;
  }
  at->bytes = std::max(at->bytes, bytes);
  return static_cast<int>(at - arrays.begin());
}

kernel::Kernel pointwise_kernel(const Pointwise& p, const gpu::GpuSpec& gpu) {
  const Division d = divide(p, gpu);
  const std::int64_t each = d.per_lane * d.vectors, warp = gpu.sm.warp_size;
  const std::int64_t unit = d.lanes == 0 ? warp * d.per_lane
                                         : d.lanes;  // elements of a warp access
  std::vector<kernel::Array> arrays;
  Listing code;
  code.prologue(static_cast<std::int64_t>(p.inputs.size() + p.outputs.size()));
  for (const Tensor& t : p.inputs) { code.load(access_of(t, array_of(t, unit, arrays), d, warp)); }
  code.wait(0);
  for (const Tensor& t : p.inputs) { code.unpack(t.dtype, each); }
  code.fp32(p.flops * each, each, 1);
  code.arithmetic(kernel::Pipe::Sfu, p.sfu * each, each, 1);
  for (const Tensor& t : p.outputs) { code.pack(t.dtype, each); }
  for (const Tensor& t : p.outputs) {
    code.store(access_of(t, array_of(t, unit, arrays), d, warp));
  }
  const auto loaded = static_cast<std::int64_t>(p.inputs.size()) * each;
  kernel::Kernel k = plain_kernel(gpu, {ceil_div(p.elements, d.threads * each), 1, 1}, d.threads,
                                  std::min<std::int64_t>(round_up(16 + loaded, 8), 64),
                                  std::move(code));
  k.arrays = std::move(arrays);
  k.compulsory_read = unit::Bytes{total_bytes(p.inputs)};
  k.compulsory_write = unit::Bytes{total_bytes(p.outputs)};
  k.flops = static_cast<double>(p.elements * (p.flops + p.sfu));
  k.note = fmt::format("{} elements per thread in vectors of {}", each, d.per_lane);
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
    p.inputs.push_back({name, dtype, elements, false, gated ? i * elements : 0});
  }
  for (std::int64_t i = 0; i < v.number("outputs"); ++i) {
    p.outputs.push_back(
        {i == 0 ? v.array("y") : fmt::format("{}{}", v.array("y"), i + 1), result, elements});
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
