// SPDX-License-Identifier: Apache-2.0
#include "scenario/keys.h"

namespace wavetail::scenario {

using config::KeyTable;

config::Key data_key() {
  return {"data", "text", false,
          "random, integers, zeros, or how random the data are (40 %); decides what they cost in "
          "power. random if absent"};
}

const KeyTable& root_keys() {
  static const KeyTable keys{
      {"schema", "text", true, "wavetail/scenario/1"},
      {"name", "text", true, "the scenario's name"},
      {"description", "text", false, "what the scenario shows"},
      {"gpu", "text", true, "name, alias or file of the GPU"},
      {"set", "map of settings", false, "changes to the GPU and the scenario, by path"},
      {"kernels", "map of kernels", true, "the kernels, by name"},
      {"host", "map: host", false,
       "CPU costs; what is absent comes from the GPU file's launch section"},
      {"timeline", "list of items", true, "what the host thread does, in order"},
      {"expect", "map of expectations", false, "figures that the result must show, by path"},
      {"variants", "map of variants", false, "the scenario again with other settings, by name"},
      {"sweep", "map of lists", false, "one variant per value of a path, named by the value"},
      {"simulation", "map: simulation", false, "how to run"},
      {"initial", "map: initial", false, "the machine before the first launch"},
      {"assume", "map: assume", false, "what closed-form chains take as given"},
      {"model_bytes", "size", false, "parameters x bytes per parameter, for MBU"},
  };
  return keys;
}

const KeyTable& host_keys() {
  static const KeyTable keys{
      {"launch", "duration", false, "CPU time of one kernel launch call"},
      {"graph_launch", "duration", false, "CPU time of one graph launch"},
      {"sync", "duration", false, "CPU time to return from a synchronisation"},
      {"mode", "one of eager, graph", false,
       "graph: the launches between two synchronisations become one graph"},
      {"syncs", "one of keep, drop", false,
       "drop: the timeline without synchronisations and the host work right behind them"},
  };
  return keys;
}

const KeyTable& simulation_keys() {
  static const KeyTable keys{
      {"issue_quantum", "count", false, "most instructions that one event may issue; 1 is exact"},
      {"replay", "flag", false, "simulate identical launches once"},
      {"skip_waves", "off or fraction", false,
       "leave out waves that repeat those before them, as long as the kernel's time is wrong by no "
       "more than this share, up to 5 %"},
      {"seed", "count", false, "seed of random access patterns"},
  };
  return keys;
}

const KeyTable& initial_keys() {
  static const KeyTable keys{
      {"l2", "one of empty, clean, dirty", false, "what L2 holds at the start"},
      {"persisting_l2", "size", false,
       "set aside for persisting arrays, up to three quarters of L2; 0 B if absent"},
      {"board", "one of idle, busy", false,
       "busy: at its power limit for long, so that a clock in boost is that of a long run"}};
  return keys;
}

const KeyTable& assume_keys() {
  static const KeyTable keys{
      {"latency", "duration", false, "memory latency of the closed-form chain of bytes in flight"}};
  return keys;
}

const KeyTable& program_kernel_keys() {
  static const KeyTable keys{
      {"grid", "count or list of counts", true, "blocks: n, [x, y] or [x, y, z]"},
      {"cluster", "count or list of counts", false,
       "blocks of a cluster, in the grid's dimensions, which it divides; 1 if absent"},
      {"portable", "flag", false, "without the opt-in to clusters of more than 8 blocks"},
      {"block", "count", true, "threads per block"},
      {"registers", "count", true, "registers per thread"},
      {"shared_memory", "size", false, "static and dynamic shared memory per block; 0 B if absent"},
      {"tmem_columns", "count", false,
       "tensor memory per block: columns, a power of two from 32 to 512; none if absent"},
      {"carveout", "size", false,
       "shared memory per SM that the kernel prefers; as much as its blocks need if absent"},
      {"arrays", "map of arrays", false, "global memory, by name"},
      {"mbarriers", "map of mbarriers", false, "rings of mbarriers in every block, by name"},
      {"program", "list of operations", false, "what every warp does"},
      {"roles", "map of roles", false, "what the warps of each role do, by name"},
      data_key(),
      {"role", "text", false, "what the kernel does in a model, for reports"},
  };
  return keys;
}

const KeyTable& duration_kernel_keys() {
  static const KeyTable keys{
      {"duration", "duration", true, "how long the kernel takes; nothing is simulated inside"},
      {"role", "text", false, "what the kernel does in a model, for reports"},
  };
  return keys;
}

const KeyTable& array_keys() {
  static const KeyTable keys{
      {"bytes", "size", true, "size of the array"},
      {"per_launch", "flag", false, "every launch gets its own copy"},
      {"copies", "count", false, "copies that launches take in turn; 1 if absent"},
      {"l2", "one of normal, persisting", false,
       "persisting: its lines stay in L2, in what `initial: {persisting_l2: ...}` sets aside"},
  };
  return keys;
}

const KeyTable& role_keys() {
  static const KeyTable keys{
      {"warps", "count", true, "warps of the role in a block"},
      {"registers", "count", false, "registers per thread once the role runs (setmaxnreg)"},
      {"program", "list of operations", true, "what every warp of the role does"},
  };
  return keys;
}

const KeyTable& operation_keys() {
  static const KeyTable keys{
      {"load", "map: access", false, "global loads, asynchronous until waited for"},
      {"store", "map: access", false, "global stores"},
      {"atomic", "map: atomic", false, "global atomics, done in L2"},
      {"wait_loads", "count", false, "wait until all but the newest n loads have returned"},
      {"shared_load", "map: shared_access", false,
       "loads from shared memory, asynchronous until waited for"},
      {"shared_store", "map: shared_access", false, "stores to shared memory"},
      {"wait_shared", "count", false, "wait until all but the newest n shared loads have returned"},
      {"fp32", "arithmetic", false, "instructions on the FP32 pipe, 2 FLOP per lane if not stated"},
      {"int32", "arithmetic", false, "instructions on the INT32 pipe"},
      {"fp64", "arithmetic", false, "instructions on the FP64 pipe, 2 FLOP per lane if not stated"},
      {"sfu", "arithmetic", false, "special functions"},
      {"redux", "arithmetic", false, "reductions over the lanes of a warp (redux.sync)"},
      {"shuffle", "count", false,
       "exchanges between the lanes of a warp, through the load/store unit; wait_shared waits for "
       "them"},
      {"dpx", "map: dpx", false, "DPX functions, each depending on the one before it"},
      {"barrier", "block", false, "wait for all warps of the block"},
      {"repeat", "count or map: trips", false, "a counted loop; needs `body` beside it"},
      {"diverge", "map: diverge", false, "lanes or warps go separate ways"},
      {"cp_async", "map: copy", false, "copies to shared memory, past the registers"},
      {"cp_async_commit", "group", false, "what was copied since the last one becomes a group"},
      {"cp_async_wait", "count", false, "wait until all but the newest n groups have landed"},
      {"tma_load", "map: tma_load", false, "boxes to shared memory, by one elected thread"},
      {"tma_store", "map: tma_store", false, "boxes to global memory, one group"},
      {"tma_store_wait", "count", false,
       "wait until all but the newest n groups have left shared memory"},
      {"mbarrier_wait", "text", false, "wait for the next phase of an mbarrier"},
      {"mbarrier_arrive", "text or map: arrive", false, "arrive at an mbarrier, once per warp"},
      {"wgmma", "map: wgmma", false, "asynchronous matrix instructions of a warpgroup, one group"},
      {"wgmma_wait", "count", false, "wait until all but the newest n groups are done"},
      {"mma", "map: mma", false, "matrix instructions of a warp (mma.sync)"},
      {"mfma", "map: mfma", false, "matrix instructions of a wavefront (v_mfma)"},
      {"tcgen05_mma", "map: tcgen05_mma", false,
       "asynchronous matrix instructions of a block or a pair, by one elected thread"},
      {"tcgen05_cp", "map: tcgen05_cp", false, "copies to tensor memory, in order with these"},
      {"tcgen05_commit", "text or map: commit", false,
       "an arrival at an mbarrier when all of the thread's products so far are done"},
      {"tcgen05_ld", "map: tmem_access", false, "loads from tensor memory"},
      {"tcgen05_st", "map: tmem_access", false, "stores to tensor memory"},
      {"tcgen05_wait", "one of ld, st", false, "wait for all of the warp's loads, or stores"},
      {"named_barrier", "map: named_barrier", false, "wait for a number of warps, or arrive"},
      {"cluster_barrier", "one of sync, arrive, wait", false, "wait for all warps of the cluster"},
      {"dsmem_load", "map: peer", false,
       "loads from the shared memory of another block of the cluster; wait_loads waits for them"},
      {"dsmem_store", "map: peer", false, "stores to it"},
      {"setmaxnreg", "count", false, "registers per thread from here on"},
  };
  return keys;
}

const KeyTable& trips_keys() {
  static const KeyTable keys{
      {"most", "count", true, "the most trips of any block"},
      {"least", "count", false, "the fewest; 0 if absent"},
      {"offset", "count", false, "trips x divisor of block 0, may be negative; 0 if absent"},
      {"block", "count or list of counts", true,
       "what is added per block index: n or [x, y, z], may be negative"},
      {"divisor", "count", false, "the sum is divided by it, rounded down; 1 if absent"},
  };
  return keys;
}

const KeyTable& arithmetic_keys() {
  static const KeyTable keys{
      {"count", "count", true, "instructions"},
      {"distance", "count", false, "instructions between dependent ones; 1 is one chain"},
      {"flops", "count", false, "floating-point operations per lane and instruction"},
  };
  return keys;
}

const KeyTable& dpx_keys() {
  static const KeyTable keys{
      {"function", "text", true, "viaddmax_s32, vimax3_s16x2_relu, ..."},
      {"count", "count", false, "calls; 1 if absent"},
  };
  return keys;
}

const KeyTable& access_keys() {
  static const KeyTable keys{
      {"array", "text", true, "one of the kernel's arrays"},
      {"width", "size", true, "bytes per lane: 1, 2, 4, 8 or 16 B"},
      {"pattern", "one of contiguous, strided, row_per_lane, broadcast, random, listed", false,
       "how the lanes spread around the instruction's address; contiguous if absent"},
      {"stride", "size", false, "strided, row_per_lane: bytes from lane to lane"},
      {"offsets", "list of sizes", false, "listed: bytes of each lane"},
      {"seed", "count", false, "random: the sequence's seed"},
      {"lanes", "count", false, "active lanes; all if absent"},
      {"count", "count", false, "instructions; 1 if absent"},
      {"walk", "one of grid, block, warp, thread, same, everyone", false,
       "how the address moves over blocks, warps and trips; grid if absent"},
      {"strides", "map: strides", false, "the same in bytes, instead of walk"},
      {"offset", "size", false, "bytes added to every address"},
      {"cache", "one of default, streaming", false, "streaming does not allocate in L1"},
  };
  return keys;
}

const KeyTable& atomic_keys() {
  static const KeyTable keys = [] {
    KeyTable k;
    for (const config::Key& key : access_keys()) {
      if (key.name != "cache") { k.push_back(key); }
    }
    k.push_back({"returns", "flag", false,
                 "the old values come back, to be waited for as loads; off if absent"});
    k.push_back({"aggregate", "flag", false,
                 "lanes with one address leave the SM as one operation; on if absent"});
    return k;
  }();
  return keys;
}

const KeyTable& strides_keys() {
  static const KeyTable keys{
      {"block", "size or list of sizes", false, "bytes per block index: n or [x, y, z]"},
      {"warp", "size", false, "bytes per warp of the role"},
      {"count", "size", false, "bytes per instruction of one `count` run"},
      {"loop", "list of sizes", false, "bytes per trip of the enclosing loops, outermost first"},
  };
  return keys;
}

const KeyTable& shared_access_keys() {
  static const KeyTable keys{
      {"width", "size", true, "bytes per lane: 1, 2, 4, 8 or 16 B"},
      {"pattern", "one of contiguous, strided, row, column, broadcast, random, listed", false,
       "how the lanes spread around the instruction's address; contiguous if absent"},
      {"stride", "size", false, "strided: bytes from lane to lane"},
      {"pitch", "size", false, "row, column: bytes from row to row, padding included"},
      {"lanes_per_row", "count", false, "row: lanes side by side, then the next row"},
      {"lanes_per_column", "count", false,
       "column: lanes one below the other, then the next column; all if absent"},
      {"offsets", "list of sizes", false, "listed: bytes of each lane"},
      {"bytes", "size", false, "random: the range that lanes are drawn from"},
      {"seed", "count", false, "random: the sequence's seed"},
      {"swizzle", "swizzle", false,
       "XOR swizzle of the addresses: none, TMA's 32B, 64B, 128B, or bits, base and shift"},
      {"lanes", "count", false, "active lanes; all if absent"},
      {"count", "count", false, "instructions; 1 if absent"},
      {"strides", "map: shared_strides", false,
       "how the address moves, in bytes; it stays if absent"},
      {"offset", "size", false, "bytes added to every address"},
  };
  return keys;
}

const KeyTable& swizzle_keys() {
  static const KeyTable keys{
      {"bits", "count", true, "address bits that change, 1 to 5; B of CUTLASS' Swizzle<B, M, S>"},
      {"base", "count", true, "the lowest of them, 0 to 10 (M)"},
      {"shift", "count", true, "how far above them the bits stand that are XORed on, 1 to 10 (S)"},
  };
  return keys;
}

const KeyTable& shared_strides_keys() {
  static const KeyTable keys{
      {"warp", "size", false, "bytes per warp of the role"},
      {"count", "size", false, "bytes per instruction of one `count` run"},
      {"loop", "list of sizes", false, "bytes per trip of the enclosing loops, outermost first"},
  };
  return keys;
}

const KeyTable& diverge_keys() {
  static const KeyTable keys{
      {"by", "one of lane, warp", true,
       "what goes separate ways: lanes of a warp, warps of a block"},
      {"ways", "count", false, "how many ways, each with the same body"},
      {"body", "list of operations", false, "what each way does"},
      {"paths", "list of lists of operations", false,
       "instead of ways and body: one program per way"},
  };
  return keys;
}

const KeyTable& item_keys() {
  static const KeyTable keys{
      {"launch", "text", false, "launch a kernel; `stream` and `repeat` may stand beside it"},
      {"graph", "map: graph", false, "launch a graph; `stream` may stand beside it"},
      {"sync", "device or stream N", false, "wait for the device or a stream"},
      {"host", "duration", false, "work of the host's own"},
      {"repeat", "map: repeat", false, "the items of a body again and again"},
  };
  return keys;
}

const KeyTable& graph_keys() {
  static const KeyTable keys{
      {"repeat", "count", false, "launches of the graph; 1 if absent"},
      {"body", "list of items", true, "the graph's nodes: launches, in order"},
  };
  return keys;
}

const KeyTable& repeat_keys() {
  static const KeyTable keys{
      {"times", "count", true, "how often"},
      {"body", "list of items", true, "what is repeated"},
  };
  return keys;
}

const KeyTable& expectation_keys() {
  static const KeyTable keys{
      {"value", "value", false, "what the figure must be"},
      {"within", "percent", false, "relative tolerance of the value"},
      {"at_least", "value", false, "lowest allowed"},
      {"at_most", "value", false, "highest allowed"},
      {"ratio_to", "text", false, "judge the figure divided by the figure at this path"},
      {"known_miss", "text", false, "an entry of docs/deviations.md: reported, not counted"},
  };
  return keys;
}

}  // namespace wavetail::scenario
