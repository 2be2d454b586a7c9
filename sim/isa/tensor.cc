// SPDX-License-Identifier: Apache-2.0
#include "isa/tensor.h"

#include <algorithm>
#include <cmath>

namespace wavetail::isa {

using kernel::TensorShape;
using kernel::TensorType;

double tensor_rate(const gpu::TensorSpec& t, TensorType type) {
  switch (type) {
    case TensorType::Fp16: return t.fp16;
    case TensorType::Bf16: return t.bf16;
    case TensorType::Tf32: return t.tf32;
    case TensorType::Fp8: return t.fp8;
    case TensorType::Int8: return t.int8;
    case TensorType::Fp4: return t.fp4;
    case TensorType::Fp64: return t.fp64;
  }
  return 0;
}

std::string_view name(TensorType type) {
  switch (type) {
    case TensorType::Fp16: return "fp16";
    case TensorType::Bf16: return "bf16";
    case TensorType::Tf32: return "tf32";
    case TensorType::Fp8: return "fp8";
    case TensorType::Int8: return "int8";
    case TensorType::Fp4: return "fp4";
    case TensorType::Fp64: return "fp64";
  }
  return "";
}

int bits(TensorType type) {
  switch (type) {
    case TensorType::Fp4: return 4;
    case TensorType::Fp8:
    case TensorType::Int8: return 8;
    case TensorType::Fp16:
    case TensorType::Bf16: return 16;
    case TensorType::Tf32: return 32;
    case TensorType::Fp64: return 64;
  }
  return 16;
}

std::int64_t wgmma_depth(TensorType type) { return 256 / bits(type); }

namespace {

std::int64_t thousandths(double cycles) {
  return static_cast<std::int64_t>(std::ceil(cycles * static_cast<double>(kThousandths) - 1e-6));
}

double operand_bytes(std::int64_t elements, TensorType type) {
  return static_cast<double>(elements * bits(type)) / 8;
}

}  // namespace

TensorCost wgmma_cost(const gpu::GpuSpec& gpu, const TensorShape& s) {
  const double full = s.flops() / tensor_rate(gpu.tensor, s.type);
  const double a = s.a_in_registers ? 0 : operand_bytes(s.m * s.k, s.type);
  const double operands = (a + operand_bytes(s.n * s.k, s.type)) /
                          unit::bytes_per_cycle(gpu.shared_memory.bandwidth);
  return {thousandths(std::max(full, operands)), thousandths(full), s.flops() / 4};
}

TensorCost mma_cost(const gpu::GpuSpec& gpu, const TensorShape& s) {
  const double rate = tensor_rate(gpu.tensor, s.type) / static_cast<double>(gpu.sm.schedulers);
  const double full = s.flops() / rate;
  return {thousandths(full / gpu.mma.share), thousandths(full), s.flops()};
}

}  // namespace wavetail::isa
