// SPDX-License-Identifier: Apache-2.0
#include "device/energy.h"

#include <cmath>

namespace wavetail::device {

using result::Counters;
using result::Work;

namespace {

std::int64_t cost(double count, double each) { return std::llround(count * each); }

double real(std::int64_t n) { return static_cast<double>(n); }

// The lanes of the pipes' instructions; of one with lanes that are off, these too.
double arithmetic(const gpu::GpuSpec& gpu, const Counters& c) {
  const gpu::EnergySpec& e = gpu.power.energy;
  const gpu::PipesSpec& p = gpu.pipes;
  return real(c.fp32_busy * p.fp32.lanes) * e.fp32 + real(c.int32_busy * p.int32.lanes) * e.int32 +
         real(c.fp64_busy * p.fp64.lanes) * e.fp64 + real(c.sfu_busy * p.sfu.lanes) * e.sfu;
}

// Wavefronts of 32 banks of 4 B; boxes as they land or leave, and both ends of what peers exchange.
double bank_bytes(const Counters& c) {
  constexpr std::int64_t kWavefrontBytes = 128;
  return real((c.bank_wavefronts + c.data_wavefronts) * kWavefrontBytes + c.tma_load_bytes +
              c.tma_store_bytes + 2 * c.dsmem_bytes);
}

}  // namespace

Work work_of(const gpu::GpuSpec& gpu, const Counters& c, double randomness) {
  const gpu::EnergySpec& e = gpu.power.energy;
  const double data = 1 - e.data * (1 - randomness);
  Work w;
  w.instructions = cost(real(c.warp_instructions), e.instruction);
  w.arithmetic = cost(arithmetic(gpu, c), data);
  w.tensor = cost(real(c.tensor_energy), data);
  w.shared = cost(bank_bytes(c), e.shared * data);
  w.l2 = cost(real(c.ingress_bytes + c.egress_bytes), e.l2 * data);
  w.dram = cost(real(c.dram_read_bytes + c.dram_write_bytes), e.dram * data);
  return w;
}

double energy_scale(const gpu::GpuSpec& gpu, unit::Hertz clock) {
  constexpr double kGrain = 1 << 20;  // other C libraries may differ in the last place
  const double share = real(clock.count()) / real(gpu.power.energy.clock.count());
  return std::round(std::pow(share, gpu.power.energy.exponent) * kGrain) / kGrain;
}

}  // namespace wavetail::device
