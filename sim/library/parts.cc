// SPDX-License-Identifier: Apache-2.0
#include "library/parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace wavetail::library {

namespace {

struct Dtype {
  std::string_view name;
  int bytes;
};

constexpr std::array kDtypes{Dtype{"fp32", 4}, Dtype{"bf16", 2}, Dtype{"fp16", 2}, Dtype{"fp8", 1}};

}  // namespace

int dtype_bytes(std::string_view dtype) {
  const auto* at = std::find_if(kDtypes.begin(), kDtypes.end(),
                                [&](const Dtype& d) { return d.name == dtype; });
  return at == kDtypes.end() ? 0 : at->bytes;
}

std::vector<std::string_view> dtypes() {
  std::vector<std::string_view> names;
  names.reserve(kDtypes.size());
  for (const Dtype& d : kDtypes) { names.push_back(d.name); }
  return names;
}

void Listing::wait(std::int64_t newest_left) {
  kernel::Op op;
  op.kind = kernel::OpKind::WaitLoads;
  op.count = newest_left;
  program_.push_back(op);
}

void Listing::shared_load(const kernel::SharedAccess& a, std::int64_t count) {
  shared(kernel::OpKind::SharedLoad, a, count);
}

void Listing::shared_store(const kernel::SharedAccess& a, std::int64_t count) {
  shared(kernel::OpKind::SharedStore, a, count);
}

void Listing::shared(kernel::OpKind kind, const kernel::SharedAccess& a, std::int64_t count) {
  if (count == 0) { return; }
  kernel::Op op;
  op.kind = kind;
  op.count = count;
  op.shared = a;
  program_.push_back(std::move(op));
}

void Listing::wait_shared(std::int64_t newest_left) {
  kernel::Op op;
  op.kind = kernel::OpKind::WaitShared;
  op.count = newest_left;
  program_.push_back(op);
}

void Listing::barrier() {
  kernel::Op op;
  op.kind = kernel::OpKind::BlockBarrier;
  program_.push_back(op);
}

void Listing::append(Listing other) {
  std::move(other.program_.begin(), other.program_.end(), std::back_inserter(program_));
}

void Listing::repeat(std::int64_t trips, Listing body) {
  if (trips == 0) { return; }
  kernel::Op op;
  op.kind = kernel::OpKind::Repeat;
  op.count = trips;
  op.bodies.push_back(body.take());
  program_.push_back(std::move(op));
}

void Listing::first_warps(std::int64_t share, Listing body) {
  if (share == 1) {
    kernel::Program inner = body.take();
    std::move(inner.begin(), inner.end(), std::back_inserter(program_));
    return;
  }
  Listing branch;
  branch.int32(1);
  kernel::Op op;
  op.kind = kernel::OpKind::Diverge;
  op.diverge_by = kernel::DivergeBy::Warp;
  op.bodies.assign(static_cast<std::size_t>(share), branch.take());
  op.bodies.front() = body.take();
  program_.push_back(std::move(op));
}

void Listing::arithmetic(kernel::Pipe pipe, std::int64_t count, std::int64_t distance, int flops) {
  if (count == 0) { return; }
  kernel::Op op;
  op.kind = kernel::OpKind::Arithmetic;
  op.pipe = pipe;
  op.count = count;
  op.distance = distance;
  op.flops_per_lane = flops;
  program_.push_back(op);
}

void Listing::access(kernel::OpKind kind, const Access& a) {
  if (a.count == 0) { return; }
  kernel::Op op;
  op.kind = kind;
  op.count = a.count;
  op.access.array = a.array;
  op.access.width = static_cast<int>(a.width);
  op.access.pattern = a.broadcast ? kernel::Pattern::Broadcast : kernel::Pattern::Contiguous;
  if (a.lane_stride != 0) {
    op.access.pattern = kernel::Pattern::Strided;
    op.access.stride = a.lane_stride;
  }
  op.access.lanes = a.lanes;
  op.access.bypass_l1 = a.streaming;
  op.access.walk = kernel::WalkKind::Strides;
  op.access.strides = a.strides;
  op.access.offset = a.offset;
  program_.push_back(op);
}

// BF16 is the upper half of FP32: a shift or a mask per element on the integer pipe. FP16 takes a
// conversion per element (issued at FP32 rate); FP8 goes through packed FP16, half an instruction
// more.
void Listing::unpack(std::string_view dtype, std::int64_t elements) {
  if (dtype == "bf16") { int32(elements, 4); }
  if (dtype == "fp16") { fp32(elements, 4, 0); }
  if (dtype == "fp8") {
    fp32(elements, 4, 0);
    int32(ceil_div(elements, 2), 4);
  }
}

// One packing conversion makes two BF16 or FP16 elements; FP8 needs a second level.
void Listing::pack(std::string_view dtype, std::int64_t elements) {
  if (dtype == "bf16" || dtype == "fp16") { int32(ceil_div(elements, 2), 4); }
  if (dtype == "fp8") { int32(elements, 4); }
}

void Listing::shuffle_sum(std::int64_t lanes, std::int64_t values) {
  for (std::int64_t step = 1; step < lanes; step *= 2) {
    int32(values, values);
    fp32(values, values, 1);
  }
}

// Global index (two), bound check (one), a 64-bit address per array (two each), interleaved as
// compilers do. Their latency is part of what launch.block_start was measured with.
void Listing::prologue(std::int64_t arrays) { int32(3 + 2 * arrays, 3 + 2 * arrays); }

// 64-bit pointer increments, loop counter, compare and branch.
void Listing::loop_step(std::int64_t arrays) { int32(2 * arrays + 3, 2); }

kernel::Box tensor_box(int array, std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch,
                       kernel::Strides strides) {
  kernel::Box box;
  box.array = array;
  box.rows = rows;
  box.row_bytes = row_bytes;
  box.pitch = pitch;
  box.tensor_map = true;
  box.walk = kernel::WalkKind::Strides;
  box.strides = std::move(strides);
  return box;
}

bool Values::has(std::string_view name) const {
  return arguments_.numbers.contains(name) || arguments_.words.contains(name) ||
         arguments_.lists.contains(name);
}

std::int64_t Values::number(std::string_view name) const {
  return arguments_.numbers.find(name)->second;
}

std::int64_t Values::number_or(std::string_view name, std::int64_t otherwise) const {
  return has(name) ? number(name) : otherwise;
}

std::vector<std::int64_t> Values::list_or(std::string_view name,
                                          std::vector<std::int64_t> otherwise) const {
  const auto it = arguments_.lists.find(name);
  if (it == arguments_.lists.end()) { return otherwise; }
  std::copy_n(it->second.begin(), std::min(it->second.size(), otherwise.size()), otherwise.begin());
  return otherwise;
}

std::string Values::word(std::string_view name) const {
  return arguments_.words.find(name)->second;
}

std::string Values::array(std::string_view name) const {
  return has(name) ? word(name) : "." + std::string(name);
}

Parameter count_parameter(std::string_view name, std::int64_t low, std::int64_t high,
                          std::string_view fallback, std::string_view sentence) {
  return {name, ParameterKind::Count, false, low, high, fallback, {}, sentence};
}

Parameter required_count(std::string_view name, std::int64_t low, std::int64_t high,
                         std::string_view sentence) {
  return {name, ParameterKind::Count, true, low, high, {}, {}, sentence};
}

Parameter size_parameter(std::string_view name, std::int64_t low, std::int64_t high,
                         std::string_view fallback, std::string_view sentence) {
  return {name, ParameterKind::Size, false, low, high, fallback, {}, sentence};
}

Parameter required_size(std::string_view name, std::int64_t low, std::int64_t high,
                        std::string_view sentence) {
  return {name, ParameterKind::Size, true, low, high, {}, {}, sentence};
}

Parameter flag_parameter(std::string_view name, std::string_view fallback,
                         std::string_view sentence) {
  return {name, ParameterKind::Flag, false, 0, 1, fallback, {}, sentence};
}

Parameter array_parameter(std::string_view name, std::string_view sentence) {
  return {name, ParameterKind::Word, false, 0, 0, {}, {}, sentence};
}

Parameter dtype_parameter(std::string_view fallback) {
  return {"dtype", ParameterKind::Choice, false, 0, 0, fallback, dtypes(), "element type"};
}

kernel::Kernel plain_kernel(const gpu::GpuSpec& gpu, const kernel::Dim3& grid, std::int64_t threads,
                            std::int64_t registers, Listing code) {
  kernel::Kernel k;
  k.grid = grid;
  k.block = threads;
  k.registers = registers;
  kernel::Role role;
  role.warps = ceil_div(threads, gpu.sm.warp_size);
  role.program = code.take();
  k.roles.push_back(std::move(role));
  return k;
}

std::int64_t register_turns(const gpu::GpuSpec& gpu, std::int64_t count, double reads) {
  constexpr double kPorts = 2;
  if (gpu.architecture.starts_with("gfx")) { return 0; }
  const auto cycles = static_cast<double>(gpu.sm.warp_size) /
                      static_cast<double>(gpu.pipes.fp32.lanes);
  const double turns = std::max(0.0, reads / kPorts - std::max(1.0, cycles));
  return std::llround(turns * static_cast<double>(count));
}

std::vector<Mistake> check_width(std::string_view parameter, std::int64_t width) {
  for (const std::int64_t allowed : {1, 2, 4, 8, 16}) {
    if (width == allowed) { return {}; }
  }
  return {{std::string(parameter), fmt::format("is {} B; a lane loads 1, 2, 4, 8 or 16 B", width)}};
}

}  // namespace wavetail::library
