// SPDX-License-Identifier: Apache-2.0
// Deals blocks to SMs: breadth first over the GPCs, one block per SM and round, at the device's
// block rate; afterwards a block goes where one has left. The blocks of a cluster go to different
// SMs of one GPC. An earlier launch has all its blocks placed before a later one gets what is left.
#pragma once

#include <cstdint>
#include <vector>

#include "sm/launch.h"
#include "sm/sm.h"

namespace wavetail::device {

class BlockScheduler {
 public:
  explicit BlockScheduler(const gpu::GpuSpec& gpu);

  // The launch joins the end of the line.
  void add(sm::Launch& launch);

  // An SM may have room again.
  void reopen(std::uint16_t sm);

  // Where the next block (or cluster) of the first launch in line goes: the launch and one SM per
  // block of the cluster. Empty if nobody waits or nothing fits now.
  struct Placement {
    sm::Launch* launch = nullptr;
    std::vector<std::uint16_t> sms;
  };

  [[nodiscard]] Placement next(const std::vector<sm::Sm>& sms);

  // The blocks of the placement have been put on their SMs.
  void placed(const Placement& placement);

  [[nodiscard]] bool waiting() const { return !line_.empty(); }

 private:
  [[nodiscard]] bool find_single(const std::vector<sm::Sm>& sms, const sm::Launch& launch,
                                 Placement& found);
  [[nodiscard]] bool find_cluster(const std::vector<sm::Sm>& sms, const sm::Launch& launch,
                                  Placement& found);
  void open_all();

  std::vector<std::uint16_t> order_;     // SMs, breadth first over the GPCs
  std::vector<std::uint16_t> position_;  // of each SM in order_
  std::vector<std::vector<std::uint16_t>> gpcs_;
  std::vector<bool> open_;  // by position: may have room for the first launch in line
  std::size_t open_count_ = 0;
  std::size_t cursor_ = 0, gpc_cursor_ = 0;
  std::vector<sm::Launch*> line_;
};

}  // namespace wavetail::device
