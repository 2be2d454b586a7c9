// SPDX-License-Identifier: Apache-2.0
#include "isa/tensor.h"

#include <algorithm>
#include <cmath>

namespace wavetail::isa {

using kernel::TensorShape;
using kernel::TensorType;

namespace {

// The member of a table by operand type.
template <class Table>
double by_type(const Table& t, TensorType type) {
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

}  // namespace

double tensor_rate(const gpu::TensorSpec& t, TensorType type) { return by_type(t, type); }

double tensor_energy(const gpu::TensorEnergySpec& energy, TensorType type) {
  return by_type(energy, type);
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

std::int64_t energy_of(const gpu::GpuSpec& gpu, TensorType type, double flops) {
  return std::llround(tensor_energy(gpu.power.energy.tensor, type) * flops);
}

double operand_bytes(std::int64_t elements, TensorType type) {
  return static_cast<double>(elements * bits(type)) / 8;
}

// Of A, of which a sparse one has half; what says which half is not counted.
double a_bytes(const TensorShape& s, std::int64_t rows) {
  return operand_bytes(rows * s.k, s.type) / (s.sparse ? 2 : 1);
}

// Cycles at the dense rate, of a sparse A with half of the FLOPs that the shape names.
double dense_cycles(const TensorShape& s, double rate) {
  return s.flops() / (s.sparse ? 2 : 1) / rate;
}

}  // namespace

TensorCost wgmma_cost(const gpu::GpuSpec& gpu, const TensorShape& s) {
  const double full = dense_cycles(s, tensor_rate(gpu.tensor, s.type));
  const double a = s.a_in_registers ? 0 : a_bytes(s, s.m);
  const double operands = (a + operand_bytes(s.n * s.k, s.type)) /
                          unit::bytes_per_cycle(gpu.shared_memory.bandwidth);
  return {thousandths(std::max(full, operands)), thousandths(full), s.flops() / 4,
          energy_of(gpu, s.type, s.flops() / 4)};
}

TensorCost mma_cost(const gpu::GpuSpec& gpu, const TensorShape& s) {
  const double rate = tensor_rate(gpu.tensor, s.type) * (s.fp16_sums ? gpu.mma.fp16_sums : 1) /
                      static_cast<double>(gpu.sm.schedulers);
  const double full = dense_cycles(s, rate);
  const double operands = (a_bytes(s, s.m) + operand_bytes(s.n * s.k, s.type)) /
                          unit::bytes_per_cycle(gpu.mma.operands);
  return {thousandths(std::max(full / gpu.mma.share, operands)), thousandths(full), s.flops(),
          energy_of(gpu, s.type, s.flops())};
}

TensorCost mfma_cost(const gpu::GpuSpec& gpu, const TensorShape& s) {
  const double rate = tensor_rate(gpu.tensor, s.type) / static_cast<double>(gpu.sm.schedulers);
  const double full = dense_cycles(s, rate);
  return {thousandths(full / gpu.mma.share), thousandths(full), s.flops(),
          energy_of(gpu, s.type, s.flops())};
}

std::int64_t mfma_latency(const gpu::GpuSpec& gpu, const TensorShape& s) {
  return (mfma_cost(gpu, s).full + kThousandths - 1) / kThousandths + gpu.mma.latency.count();
}

namespace {

constexpr std::int64_t kTmemLanes = 128;

}  // namespace

TensorCost tcgen05_cost(const gpu::GpuSpec& gpu, const TensorShape& s) {
  const std::int64_t rows = s.m / s.ctas;
  const double full = dense_cycles(s, tensor_rate(gpu.tensor, s.type)) /
                      static_cast<double>(s.ctas);
  const double lanes = full * static_cast<double>(kTmemLanes) /
                       static_cast<double>(std::min(rows, kTmemLanes));
  const double a = s.a_in_registers ? 0 : a_bytes(s, rows);
  const double operands = (a + operand_bytes(s.n / s.ctas * s.k, s.type)) /
                          unit::bytes_per_cycle(gpu.shared_memory.bandwidth);
  const double exchange = s.ctas > 1 ? static_cast<double>(gpu.tcgen05.exchange.count()) : 0;
  return {thousandths(std::max(lanes, operands + exchange)), thousandths(full), s.flops(),
          energy_of(gpu, s.type, s.flops())};
}

std::int64_t tcgen05_latency(const gpu::GpuSpec& gpu, const TensorShape& s) {
  constexpr std::int64_t kColumns = 128;
  const std::int64_t columns = std::min(s.n, kColumns);
  const double fill = (s.a_in_registers ? 0 : a_bytes(s, kTmemLanes)) +
                      operand_bytes(columns * s.k, s.type);
  const double cycles = fill / unit::bytes_per_cycle(gpu.shared_memory.bandwidth);
  return gpu.tcgen05.latency.count() + (s.ctas > 1 ? gpu.tcgen05.pair.count() : 0) +
         static_cast<std::int64_t>(std::ceil(cycles));
}

TensorCost tcgen05_copy_cost(const gpu::GpuSpec& gpu, std::int64_t bytes) {
  const double cycles = static_cast<double>(bytes) /
                        unit::bytes_per_cycle(gpu.shared_memory.bandwidth);
  return {thousandths(cycles), 0, 0, 0};
}

}  // namespace wavetail::isa
