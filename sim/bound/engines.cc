// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "bound/ceiling.h"
#include "bound/shared.h"

namespace wavetail::bound {

void issue(const Launch& l, Chain& chain) {
  const double instructions = l.per_fullest_sm(l.work.warp_instructions - l.work.barriers);
  if (instructions <= 0) { return; }
  const double schedulers = static_cast<double>(l.gpu.sm.schedulers);
  chain.ceiling({.name = "issue",
                 .title = "instruction issue",
                 .formula = "warp instructions of the fullest SM / (schedulers x clock)",
                 .inputs = fmt::format("{} / ({} x {})", human(instructions, ""), schedulers,
                                       human(l.clock_hz * 1e-6, "MHz")),
                 .us = instructions / (schedulers * l.clock_hz) * 1e6});
}

void pipes(const Launch& l, Chain& chain) {
  const auto& p = l.gpu.pipes;

  const struct {
    std::string_view name;
    kernel::Pipe pipe;
    const gpu::PipeSpec& spec;
  } all[] = {{"fp32", kernel::Pipe::Fp32, p.fp32},
             {"int32", kernel::Pipe::Int32, p.int32},
             {"fp64", kernel::Pipe::Fp64, p.fp64},
             {"sfu", kernel::Pipe::Sfu, p.sfu},
             {"redux", kernel::Pipe::Redux, p.redux}};

  for (const auto& [name, pipe, spec] : all) {
    const double instructions = l.per_fullest_sm(l.work.pipe.at(static_cast<std::size_t>(pipe)));
    if (instructions <= 0) { continue; }
    const double schedulers = static_cast<double>(l.gpu.sm.schedulers);
    const double cycles = std::max(
        1.0, static_cast<double>(l.gpu.sm.warp_size) / static_cast<double>(spec.lanes));
    chain.ceiling(
        {.name = name,
         .title = fmt::format("{} pipe", name),
         .formula = "warp instructions of the fullest SM x cycles each / (pipes x clock)",
         .inputs = fmt::format("{} x {} / ({} x {})", human(instructions, ""), human(cycles, ""),
                               schedulers, human(l.clock_hz * 1e-6, "MHz")),
         // The last one need only have issued.
         .us = std::max(0.0, instructions * cycles / schedulers - (cycles - 1)) / l.clock_hz *
               1e6});
  }
}

// Shared memory's data path: a wavefront of 128 bytes at a time.
void shared(const Launch& l, Chain& chain) {
  if (l.work.shared_requests() <= 0) { return; }
  chain.fact(
      {.name = "bank wavefronts per request",
       .key = "bank_wavefronts_per_request",
       .formula = "different words in the fullest bank, pass by pass",
       .inputs = fmt::format("{} / {}; {} without conflicts", human(l.work.bank_wavefronts, ""),
                             human(l.work.shared_requests(), ""), human(l.work.bank_passes, "")),
       .value = l.work.bank_wavefronts / l.work.shared_requests(),
       .unit = ""});
  const double wavefronts = l.per_fullest_sm(l.work.bank_wavefronts);
  const double cycles = cycles_per_wavefront(l.gpu);
  // Stores of the last instructions need only have been taken into the queue.
  const double queued = static_cast<double>(l.gpu.l1.queue.count());
  const double busy = wavefronts * cycles;
  chain.ceiling({.name = "shared",
                 .title = "shared memory",
                 .formula = "wavefronts of the fullest SM x cycles each / clock",
                 .inputs = fmt::format("{} x {} / {}", human(wavefronts, ""), human(cycles, ""),
                                       human(l.clock_hz * 1e-6, "MHz")),
                 .us = std::max(0.0, busy - queued) / l.clock_hz * 1e6});
}

void tensor(const Launch& l, Chain& chain) {
  const double cycles = l.per_fullest_sm(l.work.tensor_cycles);
  const double pipes = static_cast<double>(l.gpu.sm.schedulers);
  if (cycles <= 0) { return; }
  chain.ceiling(
      {.name = "tensor",
       .title = "tensor pipe",
       .formula = "pipe cycles of the fullest SM / (pipes x clock)",
       .inputs = fmt::format("{} / ({} x {})", human(cycles, ""), pipes,
                             human(l.clock_hz * 1e-6, "MHz")),
       // The last mma.sync need only have issued.
       .us = std::max(0.0, cycles / pipes - l.work.last_tensor_cycles) / l.clock_hz * 1e6});
}

void tma(const Launch& l, Chain& chain) {
  double moved = 0, cycles = 0;
  for (const auto& b : l.work.boxes) {
    moved += b.moved_bytes;
    cycles += b.engine_cycles;
  }
  if (cycles <= 0) { return; }
  chain.ceiling({.name = "tma",
                 .title = "TMA engine",
                 .formula = "bytes of boxes that the fullest SM moves / (rate x clock)",
                 .inputs = fmt::format("{} / ({} x {})", bytes(l.per_fullest_sm(moved)),
                                       human(unit::bytes_per_cycle(l.gpu.tma.rate), "B/clk"),
                                       human(l.clock_hz * 1e-6, "MHz")),
                 .us = l.per_fullest_sm(cycles) / l.clock_hz * 1e6});
}

}  // namespace wavetail::bound
