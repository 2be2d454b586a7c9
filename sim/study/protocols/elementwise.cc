// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels of an eager framework on FP32 tensors, as profilers show them: blocks of 128
// threads, one vector of four elements per thread and tensor. The tensors are much larger than L2,
// or L2 is cold. A call lies between two events of an idle stream.
#include <fmt/format.h>

#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kElement = 4, kVector = 4, kBlock = 128;

// Tensors read, and FP32 and special-function instructions per element. Functions of several
// instructions (tanh, gelu, pow) are about that long; the kernels wait for memory.
struct Operation {
  std::string_view name;
  std::int64_t inputs, flops, sfu;
};

constexpr Operation kOperations[] = {
    {"relu", 1, 1, 0}, {"add", 2, 1, 0},  {"mul", 2, 1, 0},  {"addu", 1, 1, 0},
    {"mulu", 1, 1, 0}, {"div", 2, 8, 1},  {"divu", 1, 1, 0}, {"matrix*scalar", 1, 1, 0},
    {"pow", 2, 12, 2}, {"powu", 1, 2, 0}, {"tanh", 1, 6, 2}, {"gelu", 1, 16, 1},
};

const Operation& operation_of(Params& params) {
  std::vector<std::string_view> names;
  for (const Operation& o : kOperations) { names.push_back(o.name); }
  const std::string name = params.one_of("op", names);
  for (const Operation& o : kOperations) {
    if (o.name == name) { return o; }
  }
  throw Unmapped(fmt::format("op={}", name));
}

kernel::Kernel vectors(const Operation& op, const gpu::GpuSpec& gpu, std::int64_t elements,
                       Piece piece) {
  const std::int64_t width = kVector * kElement, tile = kBlock * width;
  const std::int64_t warp = gpu.sm.warp_size * width;
  library::Access access{
      .width = width, .strides = {.block_x = tile, .warp = warp}, .offset = piece.first * tile};
  const unit::Bytes bytes{library::round_up(elements * kElement, tile)};
  std::vector<kernel::Array> arrays;
  library::Listing code;
  code.prologue(op.inputs + 1);
  for (std::int64_t n = 0; n < op.inputs; ++n) {
    access.array = static_cast<int>(n);
    arrays.push_back({fmt::format("x{}", n), bytes, false});
    code.load(access);
  }
  code.wait(0);
  code.fp32(op.flops * kVector, kVector, 1);
  code.arithmetic(kernel::Pipe::Sfu, op.sfu * kVector, kVector, 1);
  access.array = static_cast<int>(op.inputs);
  arrays.push_back({"y", bytes, false});
  code.store(access);
  kernel::Kernel k = library::plain_kernel(gpu, {piece.count, 1, 1}, kBlock, 16 + 4 * op.inputs,
                                           std::move(code));
  k.arrays = std::move(arrays);
  return k;
}

// The framework indexes with 32 bits: a tensor of more than 2 GiB is halved until its parts are
// not.
std::int64_t launches_for(std::int64_t elements) {
  std::int64_t launches = 1;
  while (elements / launches * kElement > std::int64_t{1} << 31) { launches *= 2; }
  return launches;
}

}  // namespace

Plan elementwise_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  const Operation& op = operation_of(params);
  const std::int64_t elements = params.has("elems") ? params.count("elems")
                                                    : params.count("rows") * params.count("cols");
  const std::int64_t launches = launches_for(elements);
  const std::int64_t grid = library::ceil_div(elements / launches, kBlock * kVector);
  if (params.has("dtype")) { params.must_be("dtype", "fp32"); }
  if (params.has("block") && linear_extent("block", params.word("block")) != kBlock) {
    throw Unmapped(fmt::format("block={}: there is {}", params.word("block"), kBlock));
  }
  if (params.has("grid") && linear_extent("grid", params.word("grid")) != grid) {
    throw Unmapped(
        fmt::format("grid={}, but the other parameters give {}", params.word("grid"), grid));
  }
  params.ignore({"kernel"});
  const std::int64_t wave = wave_of(vectors(op, gpu, elements, {0, 1}), gpu);
  Steady run = steady(
      gpu, {.blocks = grid,
            .wave = wave,
            .bytes_per_block = static_cast<double>((op.inputs + 1) * kBlock * kVector * kElement),
            .settle_bytes = 1.5 * static_cast<double>(gpu.l2.capacity.count()),
            .make = [=](Piece piece) { return vectors(op, gpu, elements, piece); }});
  const auto times = static_cast<double>(launches);
  run.seconds = [=, one = run.seconds](const run::Happened& h) { return times * one(h); };
  run = called_between_events(std::move(run), kOperatorCall);
  return {std::move(run.scenario), Quantity::Time, run.seconds, gpu.sms()};
}

}  // namespace wavetail::study
