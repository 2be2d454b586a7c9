// SPDX-License-Identifier: Apache-2.0
// What templates are made of: element types, a listing that instructions are appended to, and the
// few declarations of parameters that most templates share.
//
//   Listing code;
//   code.load({.array = 0, .width = 16, .count = 4, .strides = {.block_x = 8192, .warp = 512,
//   .count = 2048}}); code.wait(0); code.fp32(64, 4, 2);                      // 64 FMAs, each four
//   apart from the one it depends on
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "library/template.h"

namespace wavetail::library {

// Bytes per element; the name must be one of kDtypes.
[[nodiscard]] int dtype_bytes(std::string_view dtype);
[[nodiscard]] std::vector<std::string_view> dtypes();

// A global memory instruction; strides in bytes as in kernel::Strides.
struct Access {
  int array = 0;
  std::int64_t width = 16;
  std::int64_t count = 1;
  kernel::Strides strides;
  std::int64_t offset = 0;
  int lanes = 0;                 // 0: the whole warp
  bool streaming = false;        // does not allocate in L1
  bool broadcast = false;        // all lanes at one address
  std::int64_t lane_stride = 0;  // bytes from lane to lane; 0: side by side
};

// A program under construction. A count of zero appends nothing.
class Listing {
 public:
  void load(const Access& a) { access(kernel::OpKind::Load, a); }

  void store(const Access& a) { access(kernel::OpKind::Store, a); }

  void wait(std::int64_t newest_left);
  void shared_load(const kernel::SharedAccess& a, std::int64_t count);
  void shared_store(const kernel::SharedAccess& a, std::int64_t count);
  void wait_shared(std::int64_t newest_left);
  void barrier();

  void op(kernel::Op op) { program_.push_back(std::move(op)); }

  void append(Listing other);
  void repeat(std::int64_t trips, Listing body);
  // The first 1/`share` of the block's warps run `body`; the others branch around it.
  void first_warps(std::int64_t share, Listing body);
  void arithmetic(kernel::Pipe pipe, std::int64_t count, std::int64_t distance, int flops);

  void fp32(std::int64_t count, std::int64_t distance, int flops) {
    arithmetic(kernel::Pipe::Fp32, count, distance, flops);
  }

  void int32(std::int64_t count, std::int64_t distance = 2) {
    arithmetic(kernel::Pipe::Int32, count, distance, 0);
  }

  // Turns `elements` per lane of a packed type into FP32, and back.
  void unpack(std::string_view dtype, std::int64_t elements);
  void pack(std::string_view dtype, std::int64_t elements);
  // Sums `values` per lane over groups of `lanes` lanes by shuffles: a shuffle and an addition per
  // step.
  void shuffle_sum(std::int64_t lanes, std::int64_t values);
  // Index arithmetic at the start of a thread that uses `arrays` arrays.
  void prologue(std::int64_t arrays);
  // Loop overhead of a trip that advances `arrays` pointers.
  void loop_step(std::int64_t arrays);

  [[nodiscard]] kernel::Program take() { return std::move(program_); }

 private:
  void access(kernel::OpKind kind, const Access& a);
  void shared(kernel::OpKind kind, const kernel::SharedAccess& a, std::int64_t count);
  kernel::Program program_;
};

// A box of a tensor: `rows` rows of `row_bytes`, `pitch` bytes apart, that moves as `strides` says.
[[nodiscard]] kernel::Box tensor_box(int array, std::int64_t rows, std::int64_t row_bytes,
                                     std::int64_t pitch, kernel::Strides strides);

// Arguments of a template whose fallbacks are filled in.
class Values {
 public:
  explicit Values(const Arguments& arguments) : arguments_(arguments) {}

  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::int64_t number(std::string_view name) const;  // the parameter must be present
  [[nodiscard]] std::int64_t number_or(std::string_view name, std::int64_t otherwise) const;

  // The entries of a list; `otherwise` where there are none, or fewer.
  [[nodiscard]] std::vector<std::int64_t> list_or(std::string_view name,
                                                  std::vector<std::int64_t> otherwise) const;

  [[nodiscard]] bool flag(std::string_view name) const { return number(name) != 0; }

  [[nodiscard]] std::string word(std::string_view name) const;  // the parameter must be present
  // The name of an array: the scenario's word for it, else private to the kernel.
  [[nodiscard]] std::string array(std::string_view name) const;

 private:
  const Arguments& arguments_;
};

[[nodiscard]] Parameter count_parameter(std::string_view name, std::int64_t low, std::int64_t high,
                                        std::string_view fallback, std::string_view sentence);
[[nodiscard]] Parameter required_count(std::string_view name, std::int64_t low, std::int64_t high,
                                       std::string_view sentence);
[[nodiscard]] Parameter size_parameter(std::string_view name, std::int64_t low, std::int64_t high,
                                       std::string_view fallback, std::string_view sentence);
[[nodiscard]] Parameter required_size(std::string_view name, std::int64_t low, std::int64_t high,
                                      std::string_view sentence);
[[nodiscard]] Parameter flag_parameter(std::string_view name, std::string_view fallback,
                                       std::string_view sentence);
[[nodiscard]] Parameter array_parameter(std::string_view name, std::string_view sentence);
[[nodiscard]] Parameter dtype_parameter(std::string_view fallback = "bf16");

// Instructions' worth of time that `count` FP32 instructions wait for the register file, if each
// reads `reads` registers of it on average. It has two banks with a port each per scheduler
// (arXiv 2503.20481); so a pipe that takes an instruction per cycle stalls beyond two reads, and
// one that takes two cycles does not. Zero for other vendors' parts.
[[nodiscard]] std::int64_t register_turns(const gpu::GpuSpec& gpu, std::int64_t count,
                                          double reads);

// A kernel of one role. `threads` per block must be whole warps.
[[nodiscard]] kernel::Kernel plain_kernel(const gpu::GpuSpec& gpu, const kernel::Dim3& grid,
                                          std::int64_t threads, std::int64_t registers,
                                          Listing code);

// Whether `width` is one that a lane can load; the mistake otherwise.
[[nodiscard]] std::vector<Mistake> check_width(std::string_view parameter, std::int64_t width);

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t unit) {
  return ceil_div(a, unit) * unit;
}

}  // namespace wavetail::library
