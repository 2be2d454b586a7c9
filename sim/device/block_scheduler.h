// SPDX-License-Identifier: Apache-2.0
// Deals blocks to SMs: breadth first over the GPCs, one block per SM and round, at the device's
// block rate; afterwards a block goes where one has left. A cluster of n blocks takes n SMs of one
// GPC at once: every GPC is cut into groups of n SMs, and what is left over stays without work (so
// clusters of eight reach 120 of an H100's 132 SMs). A block alone is a cluster of one. An earlier
// launch has all its blocks placed before a later one gets what is left.
//
// Where L2 is private to a part of the GPU (an XCD of AMD's), blocks are dealt to these parts in
// strict turn, each to the next part, and a part places those that fell to it.
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

  // Where the next cluster of the first launch in line goes: the launch and one SM per block. Empty
  // if nobody waits or nothing fits now.
  struct Placement {
    sm::Launch* launch = nullptr;
    std::vector<std::uint16_t> sms;
    std::int64_t block = 0;  // the first one of the cluster
  };

  [[nodiscard]] Placement next(const std::vector<sm::Sm>& sms);

  // The blocks of the placement have been put on their SMs.
  void placed(const Placement& placement);

  // The next `blocks` blocks of the launch are not placed, if these are whole clusters and every
  // part of the GPU has as many of them.
  [[nodiscard]] bool leave_out(sm::Launch& launch, std::int64_t blocks);

  [[nodiscard]] bool waiting() const { return !line_.empty(); }

 private:
  using Group = std::vector<std::uint16_t>;  // the SMs that one cluster takes

  void begin_first();
  void number_parts();
  [[nodiscard]] std::int64_t block_for(std::size_t group) const;
  void group_by(std::int64_t cluster);

  static constexpr std::size_t kNoGroup = static_cast<std::size_t>(-1);

  std::vector<Group> gpcs_;            // all SMs of each
  std::vector<std::size_t> xcd_of_;    // by GPC; all 0 where L2 is not private
  std::int64_t cluster_ = 0;           // blocks per group
  std::vector<Group> groups_;          // breadth first over the GPCs
  std::vector<std::size_t> group_of_;  // by SM; kNoGroup where no group has it
  std::vector<std::size_t> part_of_;   // by group: the part of the GPU that it belongs to
  std::vector<std::int64_t> dealt_;    // by part: clusters of the first launch in line
  std::vector<bool> open_;             // by group: may have room for the first launch in line
  std::size_t open_count_ = 0, cursor_ = 0;
  std::vector<sm::Launch*> line_;
};

}  // namespace wavetail::device
