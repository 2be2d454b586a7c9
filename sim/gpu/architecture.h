// SPDX-License-Identifier: Apache-2.0
// The launch rules that belong to a compute capability and not to one GPU: how many warps, blocks,
// registers and how much shared memory an SM has, in which units it hands them out, how large a
// block or a cluster may be. A GPU file that leaves such a value out gets the one of its
// `architecture`; `wavetail occupancy --gpu sm_86` needs nothing else.
//
//   find_architecture("sm_86")->sm.max_warps  ->  48
#pragma once

#include <span>
#include <string_view>

#include "gpu/reader.h"
#include "gpu/spec.h"

namespace wavetail::gpu {

struct Architecture {
  std::string_view name;        // as in a GPU file: "sm_90"
  std::string_view capability;  // compute capability: "9.0"
  SmSpec sm;                    // all of it but `policy`, which no vendor states
  std::string_view limits;      // source of the limits
  std::string_view carveouts;   // source of `unified_l1` and `carveouts`
  std::string_view clusters;    // source of `max_cluster`
  std::string_view units;       // source of the units of allocation
};

// By compute capability, ascending.
[[nodiscard]] std::span<const Architecture> architectures();

// Null for a name that is not in the table ("gfx942").
[[nodiscard]] const Architecture* find_architecture(std::string_view name);

// Source of one value of `sm`, by its key: "max_warps".
[[nodiscard]] std::string_view source_of(const Architecture& architecture, std::string_view key);

// A spec that knows the launch rules and nothing else: no GPCs, no clocks, no memory.
[[nodiscard]] GpuSpec rules_of(const Architecture& architecture);

// Adds the keys of section `sm` that the document leaves out and its architecture knows, as vendor
// values with their source. Does nothing without a section `sm` or with an unknown architecture.
void add_architecture(Document& document);

}  // namespace wavetail::gpu
