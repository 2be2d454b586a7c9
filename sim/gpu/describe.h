// SPDX-License-Identifier: Apache-2.0
// One declaration per value of a GPU file: key, field, allowed range as it would be written,
// sentence. The reader, the list of paths, the schema and the documentation walk these functions;
// there is no second field list.
//
//   struct Visitor {
//     template <class Section> void section(std::string_view key, Section&, std::string_view
//     sentence);
//     template <class Section> void optional_section(std::string_view key, Section&,
//     std::string_view sentence);  // a file may leave it out
//     void operator()(std::string_view key, T&, config::Range, std::string_view
//     sentence);  // every T below
//   };
//
// T is int64_t, double, a quantity, an enumeration, or a vector of whole numbers or sizes. A double
// is a fraction (percent), a power (watts) or a rate; `Real` says which.
#pragma once

#include "config/value.h"
#include "gpu/spec.h"

namespace wavetail::gpu {

// A real number with what it measures.
struct Real {
  double& value;
  unit::Dimension dimension;
};

template <class V>
void describe(V&& v, ClockSpec& c) {
  v("sm", c.sm, {"100 MHz", "10 GHz"}, "SM clock behind the vendor's tensor rate; what a run uses");
  v("sm_max", c.sm_max, {"100 MHz", "10 GHz"}, "highest SM boost clock");
  v("l2", c.l2, {"100 MHz", "10 GHz"}, "clock of crossbar and L2");
  v("mode", c.mode, {}, "the clock a run starts at: sm (spec) or sm_max (boost)");
}

template <class V>
void describe(V&& v, SmSpec& s) {
  v("schedulers", s.schedulers, {"1", "16"}, "warp schedulers (sub-partitions) per SM");
  v("warp_size", s.warp_size, {"32", "64"}, "lanes of a warp");
  v("max_warps", s.max_warps, {"1", "64"}, "resident warps per SM");
  v("max_blocks", s.max_blocks, {"1", "256"}, "resident blocks per SM");
  v("max_threads_per_block", s.max_threads_per_block, {"32", "4096"}, "threads of a block");
  v("max_cluster", s.max_cluster, {"1", "64"}, "blocks per cluster; 1 where clusters do not exist");
  v("registers", s.registers, {"1024", "4194304"}, "32-bit registers per SM");
  v("register_unit", s.register_unit, {"1", "65536"}, "registers: allocation granularity per warp");
  v("max_registers_per_thread", s.max_registers_per_thread, {"1", "1024"}, "registers of a thread");
  v("tmem_columns", s.tmem_columns, {"0", "65536"},
    "tensor memory: columns of 128 lanes x 4 bytes per SM; 0 where there is none");
  v("warp_unit", s.warp_unit, {"1", "32"}, "the launch check rounds a block's warps up to this");
  v("unified_l1", s.unified_l1, {"1 KiB", "64 MiB"}, "L1 and shared memory together, per SM");
  v("shared_memory", s.shared_memory, {"0 B", "64 MiB"}, "most shared memory per SM");
  v("shared_memory_per_block", s.shared_memory_per_block, {"0 B", "64 MiB"},
    "most shared memory of one block");
  v("shared_memory_reserved", s.shared_memory_reserved, {"0 B", "1 MiB"},
    "shared memory that the driver takes per block");
  v("shared_memory_unit", s.shared_memory_unit, {"1 B", "1 MiB"},
    "shared memory: allocation granularity");
  v("carveouts", s.carveouts, {"0 B", "64 MiB"}, "selectable sizes of shared memory, ascending");
  v("policy", s.policy, {}, "how a scheduler chooses among ready warps");
}

template <class V>
void describe(V&& v, PipeSpec& p) {
  v("lanes", p.lanes, {"1", "256"},
    "lanes per sub-partition: a warp instruction takes warp_size / lanes cycles");
  v("latency", p.latency, {"1 cycle", "10000 cycles"}, "issue to dependent issue");
}

template <class V>
void describe(V&& v, PipesSpec& p) {
  v.section("fp32", p.fp32, "32-bit floating-point pipe");
  v.section("int32", p.int32, "32-bit integer pipe");
  v.section("fp64", p.fp64, "64-bit floating-point pipe");
  v.section("sfu", p.sfu, "special functions");
  v.optional_section("redux", p.redux, "reductions over a warp (redux.sync)");
  v("crossing", p.crossing, {"0 cycles", "1000 cycles"},
    "more than a pipe's latency where the dependent instruction is on another pipe");
}

template <class V>
void describe(V&& v, SharedMemorySpec& s) {
  v("latency", s.latency, {"1 cycle", "10000 cycles"}, "dependent load from shared memory");
  v("bandwidth", s.bandwidth, {"1 B/clk", "4096 B/clk"}, "data per SM");
}

template <class V>
void describe(V&& v, L1Spec& l) {
  v("latency", l.latency, {"1 cycle", "10000 cycles"}, "hit, dependent load");
  v("line", l.line, {"128 B", "128 B"}, "tag granularity");
  v("sector", l.sector, {"32 B", "32 B"}, "fill granularity");
  v("ways", l.ways, {"1", "4096"}, "associativity");
  v("age", l.age, {"1 cycle", "1000000000 cycles"},
    "when a line has to leave, times of last use that are less apart count as equal");
  v("bandwidth", l.bandwidth, {"1 B/clk", "4096 B/clk"}, "data returned per SM");
  v("tag_banks", l.tag_banks, {"1", "64"},
    "banks of tags, each looks up one line per cycle; a power of two");
  v("pending", Real{l.pending, unit::Dimension::Fraction}, {"0.1 %", "100 %"},
    "share of L1's lines that may wait for a fill at once; what finds no place goes on without "
    "one");
  v("in_flight_lines", l.in_flight_lines, {"1", "1048576"},
    "lines of loads that may be on their way without a place in L1, per SM");
  v("store_lines", l.store_lines, {"1", "1048576"},
    "lines of stores that may be on their way to L2, per SM");
  v("queue", l.queue, {"1 cycle", "10000 cycles"},
    "work that the load/store queue holds before issue stops");
}

template <class V>
void describe(V&& v, AddressUnitSpec& a) {
  v("lanes", a.lanes, {"1", "64"}, "lanes of a global access whose addresses are taken per cycle");
}

template <class V>
void describe(V&& v, CrossbarSpec& c) {
  v("egress", c.egress, {"0.1 B/clk", "4096 B/clk"}, "SM to L2, per SM, at clock.l2");
  v("ingress", c.ingress, {"0.1 B/clk", "4096 B/clk"}, "L2 to SM, per SM, at clock.l2");
  v("gpc_ingress", c.gpc_ingress, {"0.1 B/clk", "65536 B/clk"}, "L2 to one GPC, at clock.l2");
}

template <class V>
void describe(V&& v, L2Spec& l) {
  v("capacity", l.capacity, {"64 KiB", "16 GiB"}, "size of the cache");
  v("partitions", l.partitions, {"1", "64"},
    "partitions, each near to its share of the GPCs; private where there is a memory-side cache");
  v("slices", l.slices, {"1", "4096"}, "slices in all");
  v("slice_bandwidth", l.slice_bandwidth, {"1 B/clk", "4096 B/clk"}, "data per slice at clock.l2");
  v("atomic", l.atomic, {"1 cycle", "1000 cycles"},
    "of a slice at clock.l2, per sector of an atomic and operation on one address");
  v("latency_near", l.latency_near, {"1 ns", "100 us"},
    "hit in the SM's own partition, dependent load, end to end");
  v("latency_far", l.latency_far, {"1 ns", "100 us"},
    "hit in the other partition, dependent load, end to end");
}

template <class V>
void describe(V&& v, DieLinkSpec& d) {
  v("bandwidth", d.bandwidth, {"1 GB/s", "1000 TB/s"},
    "data between L2 partitions, half of it each way");
}

template <class V>
void describe(V&& v, StoreAcknowledgementSpec& s) {
  v("latency", s.latency, {"1 ns", "100 us"}, "of a lone store, from its issue");
}

template <class V>
void describe(V&& v, MemorySideSpec& m) {
  v("capacity", m.capacity, {"1 MB", "1 TB"}, "size of the cache");
  v("bandwidth", m.bandwidth, {"1 GB/s", "1000 TB/s"}, "rate of hits, all channels");
  v("latency", m.latency, {"1 ns", "100 us"}, "hit, dependent load, end to end");
}

template <class V>
void describe(V&& v, HbmSpec& h) {
  v("stacks", h.stacks, {"1", "64"}, "stacks (or chips) of memory");
  v("channels", h.channels, {"1", "4096"}, "pseudo-channels in all");
  v("bandwidth", h.bandwidth, {"1 GB/s", "1000 TB/s"}, "rate of the pins, all channels");
  v("efficiency", Real{h.efficiency, unit::Dimension::Fraction}, {"1 %", "100 %"},
    "share of the pins' rate that data can use");
  v("capacity", h.capacity, {"1 MB", "100 TB"}, "size of the memory");
  v("interleave", h.interleave, {"128 B", "64 KiB"},
    "consecutive bytes on one channel, a power of two");
  v("burst", h.burst, {"64 B", "64 B"}, "smallest access: half a line");
  v("row", h.row, {"64 B", "64 KiB"}, "row (page) of a pseudo-channel");
  v("latency", h.latency, {"1 ns", "100 us"},
    "unloaded dependent load, end to end, mean of near and far");
  v("write_drain", h.write_drain, {"1", "65536"},
    "lines of writes that a channel gathers before it drains them");
  v("read_to_write", h.read_to_write, {"0 ns", "10 us"}, "turnaround from reads to writes");
  v("write_to_read", h.write_to_read, {"0 ns", "10 us"}, "turnaround from writes to reads");
  v("row_access", h.row_access, {"0 ns", "10 us"},
    "least time that an access to a row just opened keeps the channel");
  v("banks", h.banks, {"1", "1024"}, "banks of a pseudo-channel, each with one open row");
  v("row_cycle", h.row_cycle, {"0 ns", "1 us"}, "least time between two rows opened in one bank");
}

template <class V>
void describe(V&& v, LaunchSpec& l) {
  v("host_launch", l.host_launch, {"0 ns", "1 s"},
    "CPU time of one kernel launch call from native code");
  v("host_graph_launch", l.host_graph_launch, {"0 ns", "1 s"}, "CPU time of one graph launch");
  v("host_sync", l.host_sync, {"0 ns", "1 s"},
    "CPU time from the device's completion to the return of a synchronisation");
  v("submit", l.submit, {"0 ns", "1 s"},
    "from the launch call's return to work visible on the device");
  v("stream_gap", l.stream_gap, {"0 ns", "1 s"},
    "end of a kernel to start of the next that already waits in the stream");
  v("graph_gap", l.graph_gap, {"0 ns", "1 s"}, "the same between two nodes of a graph");
  v("graph_start", l.graph_start, {"0 ns", "1 s"},
    "the same from what ran before to the first node of a graph");
  v("block_start", l.block_start, {"0 ns", "1 ms"}, "block placed to its first instruction");
  v("block_exit", l.block_exit, {"0 ns", "1 ms"},
    "last instruction of a block to its slot being free");
  v("warp_start", l.warp_start, {"0 ns", "1 ms"}, "serial launcher time per warp, SM-wide");
  v("warp_setup", l.warp_setup, {"0 ns", "1 ms"},
    "further time per warp of the same block, not occupying the launcher");
  v("blocks_per_cycle", Real{l.blocks_per_cycle, unit::Dimension::Number}, {"0.001", "1024"},
    "block scheduler rate, GPU-wide, at clock.sm");
}

template <class V>
void describe(V&& v, TensorSpec& t) {
  constexpr config::Range kRange{"0", "1000000"};
  v("fp16", Real{t.fp16, unit::Dimension::FlopPerCycle}, kRange,
    "dense FLOP per cycle and SM with fp16 operands; 0: not supported");
  v("bf16", Real{t.bf16, unit::Dimension::FlopPerCycle}, kRange, "the same with bf16 operands");
  v("tf32", Real{t.tf32, unit::Dimension::FlopPerCycle}, kRange, "the same with tf32 operands");
  v("fp8", Real{t.fp8, unit::Dimension::FlopPerCycle}, kRange, "the same with fp8 operands");
  v("int8", Real{t.int8, unit::Dimension::FlopPerCycle}, kRange, "the same with int8 operands");
  v("fp4", Real{t.fp4, unit::Dimension::FlopPerCycle}, kRange, "the same with fp4 operands");
  v("fp64", Real{t.fp64, unit::Dimension::FlopPerCycle}, kRange, "the same with fp64 operands");
}

template <class V>
void describe(V&& v, MmaSpec& m) {
  v("latency", m.latency, {"1 cycle", "10000 cycles"}, "mma.sync: issue to dependent issue");
  v("share", Real{m.share, unit::Dimension::Fraction}, {"1 %", "100 %"},
    "share of the tensor rate that mma.sync reaches");
  v("operands", m.operands, {"1 B/clk", "4096 B/clk"},
    "of A and B that the tensor pipe of a sub-partition takes from the registers");
  v("fp16_sums", Real{m.fp16_sums, unit::Dimension::Number}, {"1", "2"},
    "rate with sums in FP16, of that with sums in FP32");
}

template <class V>
void describe(V&& v, WgmmaSpec& w) {
  v("latency", w.latency, {"0 cycles", "10000 cycles"},
    "from a group's last cycle on the tensor pipe to the end of the wait for it");
  v("start", w.start, {"0 cycles", "1000 cycles"},
    "of the tensor pipe for a group, before its first instruction");
}

template <class V>
void describe(V&& v, Tcgen05Spec& t) {
  v("issue", t.issue, {"1 cycle", "1000 cycles"},
    "that one tcgen05.mma keeps the warp that issues it");
  v("latency", t.latency, {"0 cycles", "10000 cycles"},
    "from the end of an instruction's interval to its completion, beside the way of its operands");
  v("pair", t.pair, {"0 cycles", "10000 cycles"},
    "the same in addition, of an instruction of two SMs");
  v("exchange", t.exchange, {"0 cycles", "1000 cycles"},
    "interval in addition of an instruction of two SMs that its operands limit");
  v("read", t.read, {"1 B/clk", "4096 B/clk"},
    "tensor memory: bytes that a sub-partition's warps load (tcgen05.ld)");
  v("write", t.write, {"1 B/clk", "4096 B/clk"}, "the same of stores (tcgen05.st)");
  v("read_latency", t.read_latency, {"0 cycles", "10000 cycles"},
    "tcgen05.ld: issue to the end of the wait for it, beside its data");
}

template <class V>
void describe(V&& v, TmaSpec& t) {
  v("latency", t.latency, {"0 cycles", "10000 cycles"},
    "a box, beyond what a load of the same bytes takes");
  v("tensor_map", t.tensor_map, {"0 cycles", "10000 cycles"},
    "the same for a box with more than one dimension, in addition");
  v("rate", t.rate, {"0 B/clk", "4096 B/clk"}, "bytes that one SM's engine requests or sends");
  v("boxes", t.boxes, {"1", "64"}, "boxes that it works on at once, each at its share of the rate");
  v("request", Real{t.request, unit::Dimension::Number}, {"0", "1000"},
    "of a box: least cycles per piece of a row within a 128 B line");
  v("landing", t.landing, {"0 B/clk", "4096 B/clk"},
    "bytes that reach one SM's shared memory, multicast ones included, at clock.l2");
}

template <class V>
void describe(V&& v, CpAsyncSpec& c) {
  v("group", c.group, {"0 cycles", "10000 cycles"},
    "from the landing of a group's copies, or the completion of the warp's group before it, to its "
    "completion");
}

template <class V>
void describe(V&& v, MbarrierSpec& m) {
  v("latency", m.latency, {"0 cycles", "10000 cycles"},
    "from a phase's completion, or from the wait if it is complete, to the next instruction");
}

template <class V>
void describe(V&& v, ClusterSpec& c) {
  v("pair_latency", c.pair_latency, {"0 cycles", "10000 cycles"},
    "dependent load from the peer's shared memory in a cluster of two");
  v("latency", c.latency, {"0 cycles", "10000 cycles"}, "the same in larger clusters");
  v("barrier", c.barrier, {"0 cycles", "10000 cycles"},
    "from the last arrival at a cluster's barrier, with what it orders, to the next instruction");
}

template <class V>
void describe(V&& v, TensorEnergySpec& t) {
  constexpr config::Range kRange{"0 fJ", "1 nJ"};
  const auto of = [&](std::string_view type, double& value) {
    v(type, Real{value, unit::Dimension::Energy}, kRange,
      "of a FLOP of a tensor instruction with operands of that type");
  };
  of("fp16", t.fp16);
  of("bf16", t.bf16);
  of("tf32", t.tf32);
  of("fp8", t.fp8);
  of("int8", t.int8);
  of("fp4", t.fp4);
  of("fp64", t.fp64);
}

template <class V>
void describe(V&& v, EnergySpec& e) {
  constexpr config::Range kRange{"0 fJ", "1000000 nJ"};
  const auto of = [&](std::string_view key, double& value, std::string_view sentence) {
    v(key, Real{value, unit::Dimension::Energy}, kRange, sentence);
  };
  v("clock", e.clock, {"100 MHz", "10 GHz"}, "SM clock at which the energies hold");
  v("static", Real{e.static_watts, unit::Dimension::Power}, {"1 W", "100 kW"},
    "power of the board with running clocks and nothing to do");
  of("instruction", e.instruction, "of a warp instruction: fetch, decode, schedule");
  of("fp32", e.fp32, "of a lane of an instruction on the FP32 pipe");
  of("int32", e.int32, "of a lane of an instruction on the INT32 pipe");
  of("fp64", e.fp64, "of a lane of an instruction on the FP64 pipe");
  of("sfu", e.sfu, "of a lane of a special function");
  v.section("tensor", e.tensor, "tensor instructions, operands and sums included");
  of("shared", e.shared, "of a byte at the banks of shared memory or L1");
  of("l2", e.l2, "of a byte between SM and L2: crossbar and L2");
  of("dram", e.dram, "of a byte between L2 and DRAM: interface and device");
  v("exponent", Real{e.exponent, unit::Dimension::Number}, {"0", "4"},
    "the energies but dram's go with that power of the SM clock");
  v("data", Real{e.data, unit::Dimension::Fraction}, {"0 %", "100 %"},
    "share of the energy of data and their operations that all zeros do not need");
}

template <class V>
void describe(V&& v, PowerControlSpec& c) {
  v("window", c.window, {"1 us", "10 s"}, "time constant of the average that the limit holds for");
  v("peak", Real{c.peak, unit::Dimension::Fraction}, {"100 %", "1000 %"},
    "limit of the power averaged over peak_window, of power.limit");
  v("peak_window", c.peak_window, {"1 us", "10 s"}, "time constant of that average");
  v("step", c.step, {"100 kHz", "10 GHz"}, "step of the SM clock");
  v("lowest", c.lowest, {"100 MHz", "10 GHz"}, "lowest SM clock");
}

template <class V>
void describe(V&& v, PowerSpec& p) {
  v("limit", Real{p.limit_watts, unit::Dimension::Power}, {"1 W", "100 kW"}, "board power limit");
  v.optional_section("control", p.control,
                     "how the board keeps to its limits; where it is left out, no clock falls");
  v.optional_section("energy", p.energy,
                     "what work costs; where it is left out, power is not told");
}

// The sections of a GPU file; name, aliases, architecture, base and schema stand beside them.
template <class V>
void describe(V&& v, GpuSpec& g) {
  v("gpcs", g.gpcs, {"1", "1024"}, "SMs of each GPC; the sum is the SM count");
  v.section("clock", g.clock, "clocks");
  v.section("sm", g.sm, "streaming multiprocessor: limits and storage");
  v.section("pipes", g.pipes, "execution pipes");
  v.section("shared_memory", g.shared_memory, "shared memory");
  v.section("l1", g.l1, "first-level cache and load/store unit");
  v.optional_section("address_unit", g.address_unit,
                     "addresses of global accesses; where it is left out, all lanes' at once");
  v.section("crossbar", g.crossbar, "SMs to L2 and back");
  v.section("l2", g.l2, "second-level cache");
  v.optional_section(
      "die_link", g.die_link,
      "link between two dies, each with an L2 partition; where it is left out, nothing "
      "limits what crosses");
  v.optional_section("store_acknowledgement", g.store_acknowledgement,
                     "L2's answer to stores; where there is none, warps do not stay for it");
  v.optional_section("memory_side_cache", g.memory_side, "cache between L2 and DRAM");
  v.section("hbm", g.hbm, "device memory");
  v.section("launch", g.launch, "launch costs on host and device");
  v.section("tensor", g.tensor, "tensor rates");
  v.section("mma", g.mma, "mma.sync");
  v.section("wgmma", g.wgmma, "wgmma; unused where the architecture has none");
  v.optional_section("tcgen05", g.tcgen05, "tcgen05 and tensor memory; where there are such");
  v.section("cp_async", g.cp_async, "cp.async; unused where the architecture has none");
  v.section("tma", g.tma, "tensor memory accelerator; unused where the architecture has none");
  v.section("mbarrier", g.mbarrier, "mbarriers");
  v.section("cluster", g.cluster, "SM-to-SM network; unused where the architecture has none");
  v.section("power", g.power, "power");
}

}  // namespace wavetail::gpu
