// SPDX-License-Identifier: Apache-2.0
// Where blocks go: the order over GPCs and SMs, and clusters that stay inside one GPC.
#include "device/block_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "support/specs.h"

namespace wavetail::device {
namespace {

// SMs on which nothing runs; a launch's blocks are counted where fits() looks.
class Dealer {
 public:
  explicit Dealer(const gpu::GpuSpec& gpu) : gpu_(gpu), scheduler_(gpu_) {
    for (std::int64_t n = 0; n < gpu_.sms(); ++n) {
      sms_.emplace_back(surface_, static_cast<std::uint16_t>(n));
    }
    std::int64_t number = 0;
    for (const auto count : gpu_.gpcs) {
      gpc_of_.insert(gpc_of_.end(), static_cast<std::size_t>(count), number++);
    }
  }

  sm::Launch launch(std::int64_t cluster, std::int64_t blocks, std::int64_t per_sm) const {
    sm::Launch l;
    l.cluster = cluster;
    l.blocks = blocks;
    l.fit.blocks_per_sm = per_sm;
    l.fit.warps_per_block = 1;
    l.presence = std::vector<sm::Presence>(sms_.size());
    return l;
  }

  BlockScheduler& scheduler() { return scheduler_; }

  // The SMs of the next cluster, with its blocks on them; empty if there is no room.
  std::vector<std::uint16_t> deal() {
    const auto placement = scheduler_.next(sms_);
    if (placement.launch == nullptr) { return {}; }
    for (const auto sm : placement.sms) { ++placement.launch->presence[sm].blocks; }
    scheduler_.placed(placement);
    return placement.sms;
  }

  void leave(sm::Launch& launch, std::uint16_t sm) {
    --launch.presence[sm].blocks;
    scheduler_.reopen(sm);
  }

  std::int64_t gpc_of(std::uint16_t sm) const { return gpc_of_[sm]; }

 private:
  gpu::GpuSpec gpu_;
  memory::Clocks clocks_{gpu_};
  event::Wheel wheel_;
  memory::System memory_{gpu_, clocks_, wheel_, 1};
  sm::Surface surface_{gpu_, clocks_, wheel_, memory_};
  std::vector<sm::Sm> sms_;
  std::vector<std::int64_t> gpc_of_;
  BlockScheduler scheduler_;
};

TEST(BlockScheduler, BlocksGoRoundTheGpcs) {
  Dealer dealer(specs::h100());
  auto l = dealer.launch(1, 1000, 2);
  dealer.scheduler().add(l);
  std::vector<std::uint16_t> first;
  for (int n = 0; n < 9; ++n) { first.push_back(dealer.deal().at(0)); }
  EXPECT_EQ(first, (std::vector<std::uint16_t>{0, 18, 36, 54, 70, 86, 102, 118, 1}));
  std::set<std::uint16_t> reached(first.begin(), first.end());
  while (reached.size() < 132) { ASSERT_TRUE(reached.insert(dealer.deal().at(0)).second); }
  for (int n = 0; n < 132; ++n) { ASSERT_EQ(dealer.deal().size(), 1U); }
  EXPECT_TRUE(dealer.deal().empty());
}

TEST(BlockScheduler, AClusterTakesDifferentSmsOfOneGpc) {
  for (const auto& [cluster, reach] :
       std::map<std::int64_t, std::size_t>{{2, 132}, {3, 126}, {4, 124}, {8, 120}, {16, 112}}) {
    Dealer dealer(specs::h100());
    auto l = dealer.launch(cluster, 1000 * cluster, 1);
    dealer.scheduler().add(l);
    std::set<std::uint16_t> reached;
    for (auto sms = dealer.deal(); !sms.empty(); sms = dealer.deal()) {
      ASSERT_EQ(sms.size(), static_cast<std::size_t>(cluster));
      for (const auto sm : sms) {
        EXPECT_EQ(dealer.gpc_of(sm), dealer.gpc_of(sms.front()));
        EXPECT_TRUE(reached.insert(sm).second) << "twice on SM " << sm;
      }
    }
    EXPECT_EQ(reached.size(), reach) << cluster;
  }
}

// With room for two blocks per SM the second fifteen go where the first are, and the SMs that no
// cluster reaches stay empty.
TEST(BlockScheduler, ClustersSpreadBeforeTheyStack) {
  Dealer dealer(specs::h100());
  auto l = dealer.launch(8, 8000, 2);
  dealer.scheduler().add(l);
  std::set<std::uint16_t> first, second;
  for (int n = 0; n < 15; ++n) {
    for (const auto sm : dealer.deal()) { EXPECT_TRUE(first.insert(sm).second); }
  }
  for (int n = 0; n < 15; ++n) {
    for (const auto sm : dealer.deal()) { EXPECT_TRUE(second.insert(sm).second); }
  }
  EXPECT_EQ(first.size(), 120U);
  EXPECT_EQ(first, second);
  EXPECT_TRUE(dealer.deal().empty());
}

TEST(BlockScheduler, AClusterWaitsForAllItsSms) {
  Dealer dealer(specs::h100());
  auto l = dealer.launch(4, 4000, 1);
  dealer.scheduler().add(l);
  std::vector<std::uint16_t> last;
  for (auto sms = dealer.deal(); !sms.empty(); sms = dealer.deal()) { last = sms; }
  for (std::size_t n = 0; n < 3; ++n) {
    dealer.leave(l, last[n]);
    EXPECT_TRUE(dealer.deal().empty());
  }
  dealer.leave(l, last[3]);
  EXPECT_EQ(dealer.deal(), last);
}

// A later launch with another cluster size sees the SMs anew.
TEST(BlockScheduler, LaunchesOfDifferentClusterSizesFollow) {
  Dealer dealer(specs::h100());
  auto big = dealer.launch(8, 16, 1);
  auto small = dealer.launch(1, 200, 1);
  dealer.scheduler().add(big);
  dealer.scheduler().add(small);
  EXPECT_EQ(dealer.deal().size(), 8U);
  EXPECT_EQ(dealer.deal().size(), 8U);
  std::set<std::uint16_t> reached;
  for (auto sms = dealer.deal(); !sms.empty(); sms = dealer.deal()) {
    ASSERT_EQ(sms.size(), 1U);
    reached.insert(sms.front());
  }
  EXPECT_EQ(reached.size(), 132U);  // fits() counts each launch by itself
  EXPECT_TRUE(dealer.scheduler().waiting());
}

}  // namespace
}  // namespace wavetail::device
