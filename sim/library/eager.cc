// SPDX-License-Identifier: Apache-2.0
#include "library/eager.h"

#include <algorithm>

#include <fmt/format.h>

#include "library/row_kernel.h"

namespace wavetail::library {

namespace {

enum class Form { Vectors, Elements, Places };

Form form_of(const Pointwise& p, std::int64_t per_thread) {
  if (per_thread == kPlaces) { return Form::Places; }
  bool one_type = true, broadcast = false;
  const std::string& type = p.outputs.front().dtype;
  for (const Tensor& t : p.inputs) {
    one_type = one_type && t.dtype == type;
    broadcast = broadcast || t.per_row || t.elements < p.elements;
  }
  for (const Tensor& t : p.outputs) { one_type = one_type && t.dtype == type; }
  return broadcast ? Form::Places : one_type ? Form::Vectors : Form::Elements;
}

struct Shape {
  std::int64_t vector = 1;  // elements per access
  std::int64_t count = 1;   // accesses per thread
  std::int64_t places = 0;  // integer instructions per element for its place in the tensors
  std::int64_t threads = kEagerThreads;
  bool one_by_one = false;
};

// Choosing an operand's type at run time: compares and branches down to its case.
constexpr std::int64_t kChoice = 16;

// A place takes divisions by the sizes of two dimensions: a high multiplication, an addition, a
// shift, a multiplication and subtraction for the remainder, and the loop over dimensions each; a
// multiply-add per tensor and dimension and a 64-bit address; and the test whether the element is
// there at all.
Shape shape_of(const Pointwise& p, std::int64_t per_thread) {
  const auto tensors = static_cast<std::int64_t>(p.inputs.size() + p.outputs.size());
  const std::int64_t element = dtype_bytes(p.outputs.front().dtype);
  bool one_type = true;
  for (const Tensor& t : p.inputs) { one_type = one_type && t.dtype == p.outputs.front().dtype; }
  switch (form_of(p, per_thread)) {
    case Form::Vectors: {
      const std::int64_t vector = std::min(16 / element, per_thread);
      return {vector, per_thread / vector, 0};
    }
    case Form::Elements: return {1, 4, 4 + kChoice * tensors, kEagerThreads, true};
    case Form::Places: break;
  }
  return {1, one_type && element == 4 ? 2 : 4,
          2 * 7 + 4 + 4 * tensors + (one_type ? 0 : kChoice * tensors), kEagerThreads, true};
}

// A value per row: the block reads that of its first element, all of whose row it may share.
Access access_of(const Tensor& t, int array, const Shape& s, std::int64_t elements,
                 std::int64_t warp) {
  const std::int64_t element = dtype_bytes(t.dtype), width = s.vector * element;
  if (t.per_row) {
    const std::int64_t blocks = ceil_div(elements, s.threads * s.vector * s.count);
    const std::int64_t per_block = std::max<std::int64_t>(1, t.elements / blocks) * element;
    return {.array = array,
            .width = element,
            .count = s.count,
            .strides = {.block_x = t.elements >= blocks ? per_block : 0},
            .broadcast = true};
  }
  return {.array = array,
          .width = width,
          .count = s.count,
          .strides = {.block_x = s.threads * width * s.count,
                      .warp = warp * width,
                      .count = s.threads * width},
          .offset = t.first * element};
}

std::int64_t total_bytes(const std::vector<Tensor>& tensors) {
  std::int64_t bytes = 0;
  for (const Tensor& t : tensors) { bytes += t.elements * dtype_bytes(t.dtype); }
  return bytes;
}

}  // namespace

kernel::Kernel eager_kernel(const Pointwise& p, const gpu::GpuSpec& gpu, std::int64_t per_thread) {
  const Shape s = shape_of(p, per_thread);
  const std::int64_t each = s.vector * s.count, warp = gpu.sm.warp_size;
  std::vector<kernel::Array> arrays;
  Listing code;
  code.prologue(static_cast<std::int64_t>(p.inputs.size() + p.outputs.size()));
  // One after the other, an element is loaded, computed and stored before the next: stores might
  // change what the next loads, and a load lies in the branch of its type.
  const std::int64_t rounds = s.one_by_one ? s.count : 1, at_once = each / rounds;
  for (std::int64_t n = 0; n < rounds; ++n) {
    const auto access = [&](const Tensor& t) {
      Access a = access_of(t, array_of(t, warp * s.vector, arrays), s, p.elements, warp);
      a.offset += n * a.strides.count;
      a.count /= rounds;
      return a;
    };
    code.int32(s.places * at_once, 4);
    for (const Tensor& t : p.inputs) { code.load(access(t)); }
    code.wait(0);
    for (const Tensor& t : p.inputs) { code.unpack(t.dtype, at_once); }
    code.fp32(p.flops * at_once, at_once, 1);
    code.arithmetic(kernel::Pipe::Sfu, p.sfu * at_once, at_once, 1);
    for (const Tensor& t : p.outputs) { code.pack(t.dtype, at_once); }
    for (const Tensor& t : p.outputs) { code.store(access(t)); }
  }
  const auto loaded = static_cast<std::int64_t>(p.inputs.size()) * each;
  kernel::Kernel k = plain_kernel(gpu, {ceil_div(p.elements, s.threads * each), 1, 1}, s.threads,
                                  std::min<std::int64_t>(round_up(16 + loaded, 8), 64),
                                  std::move(code));
  k.arrays = std::move(arrays);
  k.compulsory_read = unit::Bytes{total_bytes(p.inputs)};
  k.compulsory_write = unit::Bytes{total_bytes(p.outputs)};
  k.flops = static_cast<double>(p.elements * (p.flops + p.sfu));
  k.note = fmt::format("{} elements per thread in vectors of {}", each, s.vector);
  return k;
}

kernel::Kernel eager_row_sum(std::int64_t rows, std::int64_t cols, const std::string& from,
                             const std::string& to, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kUnroll = 4, kMost = 512;
  const std::int64_t wanted = round_up(ceil_div(cols, 4 * kUnroll), gpu.sm.warp_size);
  RowKernel r{.rows = rows,
              .cols = cols,
              .tensors = {{from, "fp32"}},
              .passes = {{.loads = {0}, .fp32 = 1, .reduced = 1}},
              .threads = std::clamp<std::int64_t>(wanted, 64, kMost),
              .unroll = kUnroll,
              .scalars = 1};
  kernel::Kernel k = row_kernel(r, gpu);
  k.arrays.back().name = to;
  k.note = fmt::format("a block of {} threads per row", r.threads);
  return k;
}

}  // namespace wavetail::library
