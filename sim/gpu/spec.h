// SPDX-License-Identifier: Apache-2.0
// GpuSpec: everything the simulator knows about one GPU, as plain values without behaviour. Each
// field has the name of its YAML key; gpu/describe.h says for every one its unit, its range and a
// sentence.
//
// Latencies are end to end as a dependent load sees them (what a pointer chase measures):
// `hbm.latency` contains the way through L1, crossbar and L2. The machine derives the hops by
// subtraction.
#pragma once

#include <string>
#include <vector>

#include "gpu/provenance.h"
#include "unit/quantity.h"

namespace wavetail::gpu {

using unit::Bandwidth;
using unit::Bytes;
using unit::BytesPerCycle;
using unit::Cycles;
using unit::Duration;
using unit::Hertz;

enum class ClockMode { Spec, Boost };
enum class WarpPolicy { GreedyThenOldest, LooseRoundRobin };

struct ClockSpec {
  Hertz sm;                          // the clock behind the vendor's tensor rate; what `run` uses
  Hertz sm_max;                      // the highest boost clock
  Hertz l2;                          // crossbar and L2
  ClockMode mode = ClockMode::Spec;  // which of the two the run starts at

  bool operator==(const ClockSpec&) const = default;
};

struct SmSpec {
  std::int64_t schedulers = 0;  // warp schedulers (sub-partitions) per SM
  std::int64_t warp_size = 0;   // lanes
  std::int64_t max_warps = 0;   // resident warps per SM
  std::int64_t max_blocks = 0;  // resident blocks per SM
  std::int64_t max_threads_per_block = 0;
  std::int64_t max_cluster = 0;    // blocks per cluster; 1 where clusters do not exist
  std::int64_t registers = 0;      // 32-bit registers per SM
  std::int64_t register_unit = 0;  // registers: allocation granularity per warp
  std::int64_t max_registers_per_thread = 0;
  std::int64_t tmem_columns = 0;  // of tensor memory per SM, each 128 lanes x 4 bytes; 0: none
  std::int64_t warp_unit = 0;     // the launch check rounds a block's warps up to this
  Bytes unified_l1;               // L1 and shared memory together
  Bytes shared_memory;            // most shared memory per SM
  Bytes shared_memory_per_block;  // most that one block may ask for (opt-in)
  Bytes shared_memory_reserved;   // taken by the driver per block
  Bytes shared_memory_unit;       // allocation granularity
  std::vector<Bytes> carveouts;   // selectable shared-memory sizes, ascending
  WarpPolicy policy = WarpPolicy::GreedyThenOldest;

  bool operator==(const SmSpec&) const = default;
};

// One execution pipe of a sub-partition.
struct PipeSpec {
  // lanes per sub-partition: a warp instruction takes warp_size / lanes cycles
  std::int64_t lanes = 0;
  Cycles latency;  // issue to dependent issue

  bool operator==(const PipeSpec&) const = default;
};

struct PipesSpec {
  PipeSpec fp32, int32, fp64, sfu;
  PipeSpec redux;   // reductions over a warp; 0 lanes: none
  Cycles crossing;  // more than the latency, where the dependent instruction is on another pipe

  bool operator==(const PipesSpec&) const = default;
};

struct SharedMemorySpec {
  Cycles latency;
  BytesPerCycle bandwidth;

  bool operator==(const SharedMemorySpec&) const = default;
};

struct L1Spec {
  Cycles latency;  // hit, dependent load
  Bytes line;      // tag granularity
  Bytes sector;    // fill granularity
  std::int64_t ways = 0;
  Cycles age;                        // times of use that are less apart count as equal
  BytesPerCycle bandwidth;           // data returned per SM
  std::int64_t tag_banks = 0;        // each looks up one line per cycle; a power of two
  double pending = 0;                // share of its lines that may wait for a fill at once
  std::int64_t in_flight_lines = 0;  // lines of loads on their way without a place in L1, per SM
  std::int64_t store_lines = 0;      // lines of stores that may be on their way to L2, per SM
  Cycles queue;  // work that the LSU queue holds before issue stops (lg_throttle)

  bool operator==(const L1Spec&) const = default;
};

// The stage of the load/store unit that takes the addresses of a global access.
struct AddressUnitSpec {
  std::int64_t lanes = 0;  // of a warp, per cycle; 0: all at once

  bool operator==(const AddressUnitSpec&) const = default;
};

struct CrossbarSpec {
  BytesPerCycle egress;       // SM to L2: store data and request headers, per SM, at clock.l2
  BytesPerCycle ingress;      // L2 to SM: load data, per SM
  BytesPerCycle gpc_ingress;  // L2 to one GPC: load data

  bool operator==(const CrossbarSpec&) const = default;
};

struct L2Spec {
  Bytes capacity;
  std::int64_t partitions = 0;
  std::int64_t slices = 0;
  BytesPerCycle slice_bandwidth;  // per slice at clock.l2
  Cycles atomic;                  // of a slice at clock.l2, per sector and operation on an address
  Duration latency_near;          // hit in the SM's own partition, dependent load
  Duration latency_far;           // hit in the other partition

  bool operator==(const L2Spec&) const = default;
};

// A cache between L2 and DRAM, on the channels' side; capacity 0: there is none. With it every
// partition of L2 is a private cache of the SMs beside it. It never holds dirty data.
struct MemorySideSpec {
  Bytes capacity;
  Bandwidth bandwidth;  // of hits, all channels
  Duration latency;     // hit, dependent load, end to end

  bool operator==(const MemorySideSpec&) const = default;
};

// What joins the dies of a GPU whose L2 partitions lie on one each; 0: they are not apart.
struct DieLinkSpec {
  Bandwidth bandwidth;  // both directions together

  bool operator==(const DieLinkSpec&) const = default;
};

// L2's acknowledgement of stores, for which a warp stays at its end; 0: warps do not stay.
struct StoreAcknowledgementSpec {
  Duration latency;  // of a lone store, from its issue

  bool operator==(const StoreAcknowledgementSpec&) const = default;
};

struct HbmSpec {
  std::int64_t stacks = 0;
  std::int64_t channels = 0;  // pseudo-channels in all
  Bandwidth bandwidth;        // pins, all channels
  double efficiency = 0;      // share of the pins' rate that data can use (refresh, bank conflicts)
  Bytes capacity;
  Bytes interleave;  // consecutive bytes on one channel
  Bytes burst;       // smallest access
  Bytes row;         // row (page) of a pseudo-channel
  Duration latency;  // unloaded dependent load, end to end, mean of near and far
  // lines (128 B) of writes that a channel gathers before it drains them
  std::int64_t write_drain = 0;
  Duration read_to_write;  // turnaround
  Duration write_to_read;
  Duration row_access;     // least time that an access to a row just opened keeps the channel
  std::int64_t banks = 0;  // of a pseudo-channel, each with one open row
  Duration row_cycle;      // least time between two rows opened in one bank

  bool operator==(const HbmSpec&) const = default;
};

struct LaunchSpec {
  Duration host_launch;        // CPU time of one kernel launch call from native code
  Duration host_graph_launch;  // CPU time of one graph launch
  Duration host_sync;   // CPU time from the device's completion to the return of a synchronisation
  Duration submit;      // launch call returned to work visible on the device
  Duration stream_gap;  // end of a kernel to start of the next one that already waits in the stream
  Duration graph_gap;   // the same between two nodes of a graph
  Duration graph_start;  // the same from what ran before to the first node of a graph
  Duration block_start;  // block placed to its first instruction
  Duration block_exit;   // last instruction of a block to its slot being free
  Duration warp_start;   // serial launcher time per warp, SM-wide
  Duration warp_setup;   // further time per warp of the same block, not occupying the launcher
  double blocks_per_cycle = 0;  // block scheduler rate, GPU-wide, at clock.sm

  bool operator==(const LaunchSpec&) const = default;
};

struct TensorSpec {  // dense FLOP per cycle and SM by operand type; 0: not supported
  double fp16 = 0, bf16 = 0, tf32 = 0, fp8 = 0, int8 = 0, fp4 = 0, fp64 = 0;

  bool operator==(const TensorSpec&) const = default;
};

struct MmaSpec {           // mma.sync: one warp, its sub-partition's tensor pipe
  Cycles latency;          // issue to dependent issue
  double share = 0;        // of the tensor rate that it reaches
  BytesPerCycle operands;  // of A and B that a sub-partition's pipe takes from the registers
  double fp16_sums = 1;    // its rate with sums in FP16, of that with sums in FP32

  bool operator==(const MmaSpec&) const = default;
};

struct WgmmaSpec {  // wgmma: a warpgroup, asynchronous
  Cycles latency;   // from the pipe's last cycle of a group to the end of the wait for it
  Cycles start;     // that the pipe needs for a group before its first instruction

  bool operator==(const WgmmaSpec&) const = default;
};

// tcgen05: the tensor core of an SM as one asynchronous engine, its tensor memory beside it.
struct Tcgen05Spec {
  Cycles issue;     // that one instruction keeps the warp that issues it
  Cycles latency;   // from the end of an instruction's interval to its completion, fill apart
  Cycles pair;      // more of the same for an instruction of two SMs
  Cycles exchange;  // interval of one whose operands limit it, for what two SMs exchange
  BytesPerCycle read, write;  // of tensor memory by the warps of a sub-partition
  Cycles read_latency;        // tcgen05.ld: issue to the end of the wait for it, data apart

  bool operator==(const Tcgen05Spec&) const = default;
};

struct TmaSpec {           // the copy engine of an SM
  Cycles latency;          // a box, beyond what a load of the same bytes takes
  Cycles tensor_map;       // the same for a box with more than one dimension
  BytesPerCycle rate;      // bytes requested (loads) or sent (stores), all boxes together
  std::int64_t boxes = 1;  // that it works on at once, each at its share of the rate
  double request = 0;      // of a box: least cycles per piece of a row within a 128 B line
  BytesPerCycle landing;   // bytes that land in shared memory, multicast ones included, at
                           // clock.l2

  bool operator==(const TmaSpec&) const = default;
};

struct CpAsyncSpec {
  // From the landing of a group's last copy, or the completion of the warp's group before it, to
  // its own completion.
  Cycles group;

  bool operator==(const CpAsyncSpec&) const = default;
};

struct MbarrierSpec {
  Cycles latency;  // completion of a phase, or a wait's issue if it is complete, to the next issue

  bool operator==(const MbarrierSpec&) const = default;
};

struct ClusterSpec {
  Cycles pair_latency;  // dependent load from the peer's shared memory in a cluster of two
  Cycles latency;       // the same in larger clusters
  Cycles barrier;       // from the last arrival at its barrier to the next instruction

  bool operator==(const ClusterSpec&) const = default;
};

// Of one FLOP of a tensor instruction, operands and sums included, by operand type.
struct TensorEnergySpec {
  double fp16 = 0, bf16 = 0, tf32 = 0, fp8 = 0, int8 = 0, fp4 = 0, fp64 = 0;

  bool operator==(const TensorEnergySpec&) const = default;
};

// What the device's work costs, in femtojoules, with random data and, except `dram`, at the SM
// clock `clock`. A GPU of which static_watts is 0 says nothing about its power.
struct EnergySpec {
  Hertz clock;
  double static_watts = 0;                        // board with running clocks, nothing issued
  double instruction = 0;                         // per warp instruction: fetch, decode, schedule
  double fp32 = 0, int32 = 0, fp64 = 0, sfu = 0;  // per lane of an instruction
  TensorEnergySpec tensor;
  double shared = 0;    // per byte at the banks of shared memory and L1
  double l2 = 0;        // per byte between SM and L2, crossbar and L2
  double dram = 0;      // per byte between L2 and DRAM, interface and device
  double exponent = 0;  // the energies but dram's go as (SM clock / clock)^exponent
  double data = 0;      // share of the energy of operands that are random and not all zero

  bool operator==(const EnergySpec&) const = default;
};

// How the board keeps to its limits: of power averaged over a long and over a short time.
struct PowerControlSpec {
  Duration window;       // time constant of the average that power.limit holds for
  double peak = 0;       // limit of the short average, as a share of power.limit
  Duration peak_window;  // its time constant
  Hertz step;            // of the SM clock
  Hertz lowest;          // SM clock

  bool operator==(const PowerControlSpec&) const = default;
};

struct PowerSpec {
  double limit_watts = 0;
  PowerControlSpec control;
  EnergySpec energy;

  // Whether power can be told and held to the limits.
  [[nodiscard]] bool known() const { return energy.static_watts > 0 && control.step.count() > 0; }

  bool operator==(const PowerSpec&) const = default;
};

struct GpuSpec {
  std::string name;
  std::vector<std::string> aliases;
  std::string architecture;        // "sm_90": decides which instructions exist
  std::vector<std::int64_t> gpcs;  // SMs per GPC
  ClockSpec clock;
  SmSpec sm;
  PipesSpec pipes;
  SharedMemorySpec shared_memory;
  L1Spec l1;
  AddressUnitSpec address_unit;
  CrossbarSpec crossbar;
  L2Spec l2;
  DieLinkSpec die_link;
  StoreAcknowledgementSpec store_acknowledgement;
  MemorySideSpec memory_side;
  HbmSpec hbm;
  LaunchSpec launch;
  TensorSpec tensor;
  MmaSpec mma;
  WgmmaSpec wgmma;
  Tcgen05Spec tcgen05;
  CpAsyncSpec cp_async;
  TmaSpec tma;
  MbarrierSpec mbarrier;
  ClusterSpec cluster;
  PowerSpec power;
  ProvenanceMap provenance;

  [[nodiscard]] std::int64_t sms() const;               // sum of gpcs
  [[nodiscard]] Hertz sm_clock() const;                 // sm or sm_max, as clock.mode says
  [[nodiscard]] Bandwidth sustained_bandwidth() const;  // hbm.bandwidth x efficiency
  [[nodiscard]] Bytes cached() const;                   // L2 and the memory-side cache together
  // over all provenance entries; Assumed if there are none
  [[nodiscard]] Confidence weakest() const;

  bool operator==(const GpuSpec&) const = default;
};

}  // namespace wavetail::gpu
