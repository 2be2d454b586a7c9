// SPDX-License-Identifier: Apache-2.0
// What a kernel has to do, counted from its program without simulating it: instructions, lanes,
// bytes, sectors, FLOPs, and what one warp can have under way. Counted loops and divergent branches
// are followed exactly; where an access pattern leaves something open, the smaller figure is taken.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "bound/request.h"
#include "gpu/spec.h"
#include "kernel/kernel.h"

namespace wavetail::bound {

// One load or store op of the program, over the whole launch.
struct AccessWork {
  int array = -1;
  bool store = false;
  double requests = 0;  // warp instructions
  double sectors = 0;
  double useful_bytes = 0;       // lanes x width
  double distinct_bytes = 0;     // different bytes within each request, summed over requests
  double asked_bytes = 0;        // the same, random lanes as if no two met
  double unique_bytes = 0;       // different bytes over the launch, at least
  double lanes = 0;              // of all requests
  double draws = 0;              // random addresses
  double expected_sectors = 0;   // different ones that the draws touch, on average
  bool every_byte_once = false;  // no sector of it is touched by two requests of the launch
  bool whole_bursts = false;     // ... and each request covers whole DRAM bursts
  bool through_l1 = false;       // looks into L1
  bool atomic = false;
  double operations = 0;      // of atomics, at least, over all sectors
  double on_one_address = 0;  // those of them that are on one address for certain
};

// One box of a TMA op, over the whole launch.
struct BoxWork {
  int array = -1;
  bool store = false;
  double boxes = 0;          // issued
  double moved_bytes = 0;    // fetched from or sent to L2
  double landed_bytes = 0;   // in shared memory, multicast included
  double unique_bytes = 0;   // different bytes over the launch, at least
  double engine_cycles = 0;  // of the SMs' engines
};

struct ArrayWork {
  std::string name;
  double array_bytes = 0;
  double loaded_bytes = 0, stored_bytes = 0;    // lanes x width
  double unique_loaded = 0, unique_stored = 0;  // each byte once, at least
  bool loaded_first = false;                    // what is loaded was not stored by the same launch
};

// Totals of one launch; counts are exact while below 2^53.
struct Work {
  double warp_instructions = 0;    // loops and waits for loads excepted
  double thread_instructions = 0;  // their active lanes
  double free_steps = 0;           // trips of loops and waits, which issue nothing
  double barriers = 0;
  std::array<double, kernel::kPipes> pipe{};  // arithmetic warp instructions by kernel::Pipe
  double load_requests = 0, store_requests = 0;
  double load_sectors = 0, store_sectors = 0;
  double useful_load_bytes = 0, useful_store_bytes = 0;
  double asked_bytes = 0;  // each byte of a request once
  double shared_load_requests = 0, shared_store_requests = 0;
  double bank_wavefronts = 0;    // at least
  double bank_passes = 0;        // what they would be without conflicts
  bool exact_wavefronts = true;  // no address decides about conflicts that is not known here
  double flops = 0;
  // Of tensor instructions: FLOPs, and the pipe cycles that these take at the dense rate.
  double tensor_flops = 0, dense_cycles = 0;
  double tensor_cycles = 0;       // of the pipes of all sub-partitions
  double last_tensor_cycles = 0;  // of the longest single instruction
  double dsmem_bytes = 0;
  std::vector<BoxWork> boxes;
  std::vector<AccessWork> accesses;  // in program order, role by role
  std::vector<ArrayWork> arrays;     // as Kernel::arrays

  [[nodiscard]] double requests() const { return load_requests + store_requests; }

  [[nodiscard]] double shared_requests() const {
    return shared_load_requests + shared_store_requests;
  }
};

[[nodiscard]] Work count_work(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu);

// Bytes that a launch must read and write at least, each byte once: what the template states, or
// what the program's accesses certainly touch. Reads of an array that the same kernel writes do not
// count.
struct Compulsory {
  double read = 0, written = 0;
};

[[nodiscard]] Compulsory compulsory(const kernel::Kernel& kernel, const Work& work);

// The lanes of warp `warp` of the block, all roles counted through.
[[nodiscard]] Lanes lanes_of_warp(const kernel::Kernel& kernel, std::int64_t warp,
                                  std::int64_t warp_size);

// Which way of a divergent op a warp takes (by Warp), and which lanes take way `way` (by Lane).
[[nodiscard]] std::size_t way_of_warp(std::int64_t warp, std::size_t ways);

// Share of the blocks of a cluster that go way `way` of DivergeBy::Rank.
[[nodiscard]] double ranks_of_way(const kernel::Kernel& kernel, std::size_t way, std::size_t ways);
[[nodiscard]] Lanes lanes_of_way(Lanes active, std::size_t way, std::size_t ways);

}  // namespace wavetail::bound
