// SPDX-License-Identifier: Apache-2.0
// What the closed forms of a launch share, and the list that they join.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bound/bound.h"
#include "bound/chain.h"
#include "bound/work.h"
#include "memory/system.h"
#include "occupancy/occupancy.h"
#include "result/result.h"
#include "unit/human.h"

namespace wavetail::bound {

using result::ChainLink;
using unit::human;

inline std::string bytes(double b) { return human(b, "bytes"); }

// Everything that the ceilings share.
struct Launch {
  const kernel::Kernel& kernel;
  const gpu::GpuSpec& gpu;
  const occupancy::Occupancy& occupancy;
  Caches caches;
  Work work;
  Compulsory compulsory;
  BlockChain chain;
  double blocks = 0;
  double sms = 0;            // that can run a block of it, by the size of its clusters
  double blocks_of_one = 0;  // on the fullest SM, at least
  double clock_hz = 0;

  // Bytes of the lines that one SM may have under way: a single request may exceed the limit, with
  // a line per lane at most.
  [[nodiscard]] double line_bytes(std::int64_t limit) const {
    return static_cast<double>(std::max(limit, gpu.sm.warp_size) * gpu.l1.line.count());
  }

  // Bytes of boxes that have left an SM and are not yet in L2, at most.
  [[nodiscard]] double bulk_on_the_way() const {
    const bool stores = std::any_of(work.boxes.begin(), work.boxes.end(),
                                    [](const BoxWork& b) { return b.store; });
    const double rate = unit::bytes_per_cycle(gpu.crossbar.egress) *
                        static_cast<double>(gpu.clock.l2.count());
    return stores
               ? rate * unit::seconds(gpu.l2.latency_far) + static_cast<double>(memory::kBulkBytes)
               : 0;
  }

  // Whether some lanes draw their addresses.
  [[nodiscard]] bool draws() const {
    return std::any_of(work.accesses.begin(), work.accesses.end(),
                       [](const AccessWork& a) { return a.draws > 0; });
  }

  [[nodiscard]] bool has_boxes() const { return !work.boxes.empty(); }

  // Blocks that are resident at once.
  [[nodiscard]] double capacity() const {
    return sms * static_cast<double>(occupancy.blocks_per_sm);
  }

  [[nodiscard]] double per_fullest_sm(double total) const { return total / blocks * blocks_of_one; }
};

struct Ceiling {
  std::string_view name;  // as in Bound::name
  std::string title, formula, inputs;
  double us = 0;
};

class Chain {
 public:
  explicit Chain(result::Bound& bound) : bound_(bound) {}

  void rates(double to_sms, double from_sms) {
    bound_.l2_to_sms = to_sms;
    bound_.sms_to_l2 = from_sms;
  }

  void fact(ChainLink link) { bound_.chain.push_back(std::move(link)); }

  void ceiling(Ceiling c) {
    if (c.us > bound_.time_us) {
      bound_.time_us = c.us;
      bound_.name = c.name;
    }
    fact({.name = std::move(c.title),
          .key = fmt::format("{}_us", c.name),
          .formula = std::move(c.formula),
          .inputs = std::move(c.inputs),
          .value = c.us,
          .unit = "us"});
  }

 private:
  result::Bound& bound_;
};

// Ceilings of what an SM issues and of its pipes and engines (engines.cc).
void issue(const Launch& l, Chain& chain);
void pipes(const Launch& l, Chain& chain);
void shared(const Launch& l, Chain& chain);
void tensor(const Launch& l, Chain& chain);
void tma(const Launch& l, Chain& chain);

}  // namespace wavetail::bound
