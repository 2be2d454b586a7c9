// SPDX-License-Identifier: Apache-2.0
#include "bound/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bound/ceiling.h"
#include "bound/little.h"
#include "memory/system.h"
#include "unit/human.h"

namespace wavetail::bound {

namespace {

void dram(const Launch& l, Chain& chain) {
  const auto& hbm = l.gpu.hbm;
  const double read = std::max(0.0, l.compulsory.read - l.caches.in_l2_at_start);
  const double l2 = static_cast<double>(l.gpu.l2.capacity.count());
  // Not yet written: what channels have gathered and not drained, and stores still on their way.
  const double gathered = static_cast<double>(hbm.write_drain * hbm.channels *
                                              l.gpu.l1.line.count());
  const double under_way = std::min(l.sms, l.blocks) *
                           (l.line_bytes(l.gpu.l1.store_lines) + l.bulk_on_the_way());
  const double kept = l.caches.dirty_at_end.value_or(std::min(l2, l.compulsory.written)) +
                      gathered + under_way;
  const double written = std::max(0.0, l.compulsory.written - kept);
  if (l.compulsory.read + l.compulsory.written <= 0) { return; }
  chain.fact(
      {.name = "compulsory bytes",
       .key = "compulsory_bytes",
       .formula = l.draws() ? "each byte read or written once, of random ones what is certain"
                            : "each byte read or written once",
       .inputs = fmt::format("{} + {}", bytes(l.compulsory.read), bytes(l.compulsory.written)),
       .value = l.compulsory.read + l.compulsory.written,
       .unit = "bytes"});
  chain.ceiling(
      {.name = "dram",
       .title = "DRAM",
       .formula = "(reads not in L2 + writes that cannot stay in L2) / pin bandwidth",
       .inputs = fmt::format("({} + {}) / {}", bytes(read), bytes(written), human(hbm.bandwidth)),
       .us = (read + written) / static_cast<double>(hbm.bandwidth.count()) * 1e6});
}

void l2(const Launch& l, Chain& chain) {
  const auto& x = l.gpu.crossbar;
  const double clock = static_cast<double>(l.gpu.clock.l2.count());
  const double sms = std::min(l.sms, l.blocks);
  double gpcs = 0;
  for (const auto gpc : l.gpu.gpcs) { gpcs += gpc >= kernel::volume(l.kernel.cluster) ? 1 : 0; }
  // The TMA's data land at a rate of their own.
  const auto landing = l.has_boxes() ? l.gpu.tma.landing : x.ingress;
  const double ports = sms * unit::bytes_per_cycle(std::max(landing, x.ingress)) * clock;
  const double gpc_ports = gpcs * unit::bytes_per_cycle(x.gpc_ingress) * clock;
  const double slices = static_cast<double>(l.gpu.l2.slices) *
                        unit::bytes_per_cycle(l.gpu.l2.slice_bandwidth) * clock;
  const double in_rate = std::min({ports, gpc_ports, slices});
  const double out_rate = std::min(sms * unit::bytes_per_cycle(x.egress) * clock, slices);
  chain.rates(in_rate, out_rate);
  // Stores on their way when the last block ends need not have arrived.
  double stores = 0;
  for (const auto& a : l.work.accesses) { stores += a.store ? a.distinct_bytes : 0; }
  for (const auto& b : l.work.boxes) { stores += b.store ? b.moved_bytes : 0; }
  stores = std::max(0.0, stores - sms * (l.line_bytes(l.gpu.l1.store_lines) + l.bulk_on_the_way()));
  const double in_us = l.compulsory.read / in_rate * 1e6;
  const double out_us = stores / out_rate * 1e6;
  if (in_us <= 0 && out_us <= 0) { return; }
  const bool in_binds = in_us >= out_us;
  chain.ceiling({.name = "l2",
                 .title = in_binds ? "L2 to SMs" : "SMs to L2",
                 .formula = in_binds ? "compulsory reads / least of SM ports, GPC ports, slices"
                                     : "stores / lesser of SM ports, slices",
                 .inputs = fmt::format("{} / {}", bytes(in_binds ? l.compulsory.read : stores),
                                       human((in_binds ? in_rate : out_rate) * 1e-9, "GB/s")),
                 .us = std::max(in_us, out_us)});
}

// Every slice does one operation of an atomic at a time, and one address lies in one slice. What
// returns nothing may still be on its way when the last block ends: as many as an SM may have.
void atomics(const Launch& l, Chain& chain) {
  if (l.gpu.memory_side.capacity.count() > 0) { return; }  // not done in L2's slices
  double all = 0, on_one = 0, unreturned = 0;
  for (const auto& a : l.work.accesses) {
    if (!a.atomic) { continue; }
    all += a.operations;
    on_one = std::max(on_one, a.on_one_address);
    if (a.store && a.requests > 0) { unreturned = std::max(unreturned, a.operations / a.requests); }
  }
  const double late = unreturned * std::min(l.sms, l.blocks) *
                      static_cast<double>(l.gpu.l1.store_lines);
  const double slices = static_cast<double>(l.gpu.l2.slices);
  const double operations = std::max((all - late) / slices, on_one - late);
  if (operations <= 0) { return; }
  const double hertz = static_cast<double>(l.gpu.clock.l2.count());
  const double cycles = static_cast<double>(l.gpu.l2.atomic.count());
  chain.ceiling(
      {.name = "atomics",
       .title = "L2 atomics",
       .formula = "operations of the fullest slice x cycles each / L2 clock",
       .inputs = fmt::format("{:.0f} x {:.0f} / {:.0f} MHz", operations, cycles, hertz * 1e-6),
       .us = operations * cycles / hertz * 1e6});
}

double sm_cycles_ns(const gpu::GpuSpec& gpu, unit::Cycles c) {
  return static_cast<double>(c.count()) * 1e9 / static_cast<double>(gpu.sm_clock().count());
}

// The least latency of each access: L1, unless no other request can have brought its sectors; DRAM,
// if L2 cannot have them either.
std::vector<double> least_latencies(const Work& work, const gpu::GpuSpec& gpu,
                                    const Caches& caches) {
  std::vector<double> latencies;
  const double l1 = sm_cycles_ns(gpu, gpu.l1.latency);
  for (const auto& a : work.accesses) {
    double ns = std::min(l1, unit::nanoseconds(gpu.l2.latency_near));
    if (a.every_byte_once) {
      ns = unit::nanoseconds(gpu.l2.latency_near);
      if (a.whole_bursts && caches.in_l2_at_start <= 0) {
        ns = unit::nanoseconds(least_dram_latency(gpu));
      }
    }
    latencies.push_back(ns);
  }
  return latencies;
}

// Lines of loads that one SM may have under way: those without a place in L1, and those that have
// one.
std::int64_t most_lines(const Launch& l) {
  const bool through_l1 = std::any_of(l.work.accesses.begin(), l.work.accesses.end(),
                                      [](const AccessWork& a) { return a.through_l1; });
  const double l1_lines = static_cast<double>(l.gpu.sm.unified_l1 / l.gpu.l1.line);
  if (!through_l1) { return l.gpu.l1.in_flight_lines; }
  // A load without a place takes the lines that it needs once a single one is free.
  return l.gpu.l1.in_flight_lines + l.gpu.sm.warp_size + std::llround(l.gpu.l1.pending * l1_lines);
}

// Little the other way round: bytes x latency / most bytes under way.
void in_flight(const Launch& l, Chain& chain) {
  double cold = 0;
  for (const auto& a : l.work.accesses) { cold += !a.store && a.whole_bursts ? a.useful_bytes : 0; }
  for (const auto& b : l.work.boxes) {
    const bool once = b.unique_bytes == b.moved_bytes && l.work.boxes.size() == 1;
    cold += !b.store && once ? b.unique_bytes : 0;
  }
  cold = l.caches.in_l2_at_start <= 0 ? std::min(cold, l.compulsory.read) : 0;
  const double warm = l.compulsory.read - cold;
  if (cold + warm <= 0) { return; }
  const double near_ns = unit::nanoseconds(l.gpu.l2.latency_near);
  const double dram_ns = unit::nanoseconds(least_dram_latency(l.gpu));
  const double l1_ns = sm_cycles_ns(l.gpu, l.gpu.l1.latency);
  const double byte_ns = cold * dram_ns + warm * near_ns;
  // The lines that wait for their fill do so for the way beyond L1 only.
  const double line_byte_ns = std::max(0.0, byte_ns - (cold + warm) * l1_ns);
  const double sms = std::min(l.sms, l.blocks);
  const double by_lines = l.has_boxes() ? std::numeric_limits<double>::infinity()
                                        : sms * l.line_bytes(most_lines(l));
  double under_way = by_lines;
  double us = line_byte_ns / by_lines * 1e-3;
  std::string_view what = "lines that an SM may have under way";
  const double resident = std::min(l.blocks, l.capacity());
  const double by_program = resident * (l.chain.loads_bytes + l.chain.boxes_bytes);
  if (byte_ns / by_program * 1e-3 > us) {
    under_way = by_program;
    us = byte_ns / by_program * 1e-3;
    what = "loads that resident warps can have under way";
  }
  chain.fact({.name = "bytes in flight possible",
              .key = "possible_in_flight_bytes",
              .formula = "resident blocks x loads before a wait",
              .inputs = fmt::format("{} x {}", human(resident, ""),
                                    bytes(l.chain.loads_bytes + l.chain.boxes_bytes)),
              .value = std::min(by_program, by_lines),
              .unit = "bytes"});
  chain.ceiling({.name = "in_flight",
                 .title = "bytes in flight",
                 .formula = fmt::format("compulsory reads x least latency / {}", what),
                 .inputs = fmt::format("{} x {} / {}", bytes(cold + warm),
                                       human(byte_ns / (cold + warm), "ns"), bytes(under_way)),
                 .us = us});
}

void latency(const Launch& l, Chain& chain) {
  const double waves = std::ceil(l.blocks / l.capacity());
  chain.ceiling({.name = "latency",
                 .title = "dependent chain",
                 .formula = "waves x least time of one block",
                 .inputs = fmt::format("{} x {}", human(waves, ""), human(l.chain.time_ns, "ns")),
                 .us = waves * l.chain.time_ns * 1e-3});
}

// What random draws touch, as they fall on average; the ceilings take what is certain.
void random_fact(const Launch& l, Chain& chain) {
  double draws = 0;
  double sectors = 0;
  for (const auto& a : l.work.accesses) {
    draws += a.draws;
    sectors += a.expected_sectors;
  }
  if (draws <= 0) { return; }
  const double moved = sectors * static_cast<double>(l.gpu.l1.sector.count());
  chain.fact({.name = "random sectors, expected",
              .key = "expected_random_bytes",
              .formula = "m (1 - (1 - 1/m)^n) different ones of m sectors, n draws; an expectation",
              .inputs = fmt::format("{} draws, {} sectors", human(draws, ""), human(sectors, "")),
              .value = moved,
              .unit = "bytes"});
}

// Figures that explain without being ceilings.
void facts(const Launch& l, Chain& chain) {
  if (l.work.requests() > 0) {
    const double sectors = l.work.load_sectors + l.work.store_sectors;
    chain.fact({.name = "sectors per request",
                .key = "sectors_per_request",
                .formula = "32 B sectors that a warp's lanes touch",
                .inputs = fmt::format("{} / {}", human(sectors, ""), human(l.work.requests(), "")),
                .value = sectors / l.work.requests(),
                .unit = ""});
    const double moved = sectors * static_cast<double>(l.gpu.l1.sector.count());
    chain.fact({.name = "useful share of the sectors",
                .key = "useful_sector_pct",
                .formula = "bytes that lanes ask for / bytes of their sectors",
                .inputs = fmt::format("{} / {}", bytes(l.work.asked_bytes), bytes(moved)),
                .value = 100 * l.work.asked_bytes / moved,
                .unit = "pct"});
    for (auto& link : in_flight_chain(l.gpu, l.gpu.hbm.latency)) { chain.fact(std::move(link)); }
  }
  random_fact(l, chain);
  const double moved = l.compulsory.read + l.compulsory.written;
  const double flops = std::max(l.kernel.flops, l.work.flops);
  if (flops > 0 && moved > 0) {
    chain.fact({.name = "arithmetic intensity",
                .key = "intensity_flop_per_byte",
                .formula = "FLOPs / compulsory bytes",
                .inputs = fmt::format("{} / {}", human(flops, ""), bytes(moved)),
                .value = flops / moved,
                .unit = "FLOP/B"});
    const bool tensor = l.work.tensor_flops > 0;
    const double per_pipe = tensor ? l.work.tensor_flops / l.work.dense_cycles
                                   : 2.0 * static_cast<double>(l.gpu.pipes.fp32.lanes);
    const double peak = per_pipe * static_cast<double>(l.gpu.sm.schedulers * l.gpu.sms()) *
                        l.clock_hz;
    chain.fact({.name = tensor ? "ridge of the tensor pipes" : "ridge of the FP32 pipes",
                .key = "ridge_flop_per_byte",
                .formula = tensor ? "dense rate / pin bandwidth"
                                  : "2 x FP32 lanes x clock / pin bandwidth",
                .inputs = fmt::format("{} / {}", human(peak * 1e-12, "TFLOP/s"),
                                      human(l.gpu.hbm.bandwidth)),
                .value = peak / static_cast<double>(l.gpu.hbm.bandwidth.count()),
                .unit = "FLOP/B"});
  }
}

double load_width(const Work& work) {
  double bytes = 0;
  double lanes = 0;
  for (const AccessWork& a : work.accesses) {
    bytes += a.store ? 0 : a.useful_bytes;
    lanes += a.store ? 0 : a.lanes;
  }
  return lanes > 0 ? bytes / lanes : 0;
}

// Operands of a product and what it writes; not the kernel's own image.
bool is_data(const Launch& l, int array) {
  return !l.kernel.arrays[static_cast<std::size_t>(array)].name.ends_with(".image");
}

// Of a matrix product: what its tile says.
void tile_facts(const Launch& l, Chain& chain) {
  if (l.kernel.accumulators) {
    chain.fact(
        {.name = "registers for sums",
         .key = "accumulator_registers",
         .formula = "rows x columns of the tile, FP32, per block",
         .inputs = fmt::format("{} of {} per SM", *l.kernel.accumulators, l.gpu.sm.registers),
         .value = static_cast<double>(*l.kernel.accumulators),
         .unit = ""});
  }
  double loaded = 0;
  for (const auto& b : l.work.boxes) { loaded += b.landed_bytes; }
  for (const auto& a : l.work.accesses) {
    loaded += a.store || !is_data(l, a.array) ? 0 : a.useful_bytes;
  }
  if (l.work.tensor_flops <= 0 || loaded <= 0) { return; }
  chain.fact({.name = "intensity of the tile",
              .key = "tile_intensity_flop_per_byte",
              .formula = "tensor FLOPs / bytes that come into the SMs",
              .inputs = fmt::format("{} / {}", human(l.work.tensor_flops, ""), bytes(loaded)),
              .value = l.work.tensor_flops / loaded,
              .unit = "FLOP/B"});
}

result::Bound stated(unit::Duration duration) {
  result::Bound bound;
  Chain(bound).ceiling({.name = "stated",
                        .title = "stated duration",
                        .formula = "as the scenario says",
                        .inputs = human(duration),
                        .us = unit::microseconds(duration)});
  bound.name = "stated";
  return bound;
}

}  // namespace

result::Bound bound_of(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu,
                       const occupancy::Occupancy& occupancy, const Caches& caches) {
  if (kernel.duration) { return stated(*kernel.duration); }
  Launch l{.kernel = kernel,
           .gpu = gpu,
           .occupancy = occupancy,
           .caches = caches,
           .work = count_work(kernel, gpu),
           .compulsory = {},
           .chain = {}};
  l.compulsory = compulsory(kernel, l.work);
  l.chain = block_chain(kernel, gpu, least_latencies(l.work, gpu, caches));
  l.blocks = static_cast<double>(kernel::volume(kernel.grid));
  l.sms = static_cast<double>(occupancy.reachable_sms);
  l.blocks_of_one = std::ceil(l.blocks / l.sms);
  l.clock_hz = static_cast<double>(gpu.sm_clock().count());
  result::Bound bound;
  bound.name = "latency";
  bound.load_width = load_width(l.work);
  Chain chain(bound);
  facts(l, chain);
  tile_facts(l, chain);
  dram(l, chain);
  l2(l, chain);
  atomics(l, chain);
  issue(l, chain);
  pipes(l, chain);
  shared(l, chain);
  tensor(l, chain);
  tma(l, chain);
  in_flight(l, chain);
  latency(l, chain);
  return bound;
}

}  // namespace wavetail::bound
