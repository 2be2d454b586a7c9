// SPDX-License-Identifier: Apache-2.0
#include "scenario/timeline.h"

#include <gtest/gtest.h>

#include "support.h"
#include "unit/literals.h"

namespace wavetail::scenario {
namespace {

using namespace unit::literals;
using host::Item;
using host::ItemKind;

const std::string kKernels = "kernels:\n  a: {duration: 5 us}\n  b: {duration: 7 us}\n";

host::Timeline timeline(const std::string& items, const std::string& more = "") {
  return load(kHead + kKernels + more + "timeline: " + items + "\n").base.timeline;
}

TEST(Timeline, EveryKindOfItem) {
  const auto items = timeline(
                         "[{launch: a}, {launch: b, stream: 1, repeat: 10}, {graph: {repeat: 3, "
                         "body: [{launch: a}, {launch: b}]}}, "
                         "{sync: device}, {sync: stream 1}, {host: 0.8 ms}, {repeat: {times: 4, "
                         "body: [{launch: a}, {sync: device}]}}]")
                         .items;
  ASSERT_EQ(items.size(), 7U);
  EXPECT_EQ(items[0].kind, ItemKind::Launch);
  EXPECT_EQ(items[0].kernel, 0);
  EXPECT_EQ(items[0].repeat, 1);
  EXPECT_EQ(items[1].kernel, 1);
  EXPECT_EQ(items[1].stream, 1);
  EXPECT_EQ(items[1].repeat, 10);
  EXPECT_EQ(items[2].kind, ItemKind::Graph);
  EXPECT_EQ(items[2].repeat, 3);
  EXPECT_EQ(items[2].body.size(), 2U);
  EXPECT_EQ(items[3].kind, ItemKind::SyncDevice);
  EXPECT_EQ(items[4].kind, ItemKind::SyncStream);
  EXPECT_EQ(items[4].stream, 1);
  EXPECT_EQ(items[5].work, 800_us);
  EXPECT_EQ(items[6].kind, ItemKind::Repeat);
  EXPECT_EQ(items[6].repeat, 4);
  EXPECT_EQ(items[6].body.size(), 2U);
}

TEST(Timeline, HostCostsComeFromTheGpuWhereTheFileIsSilent) {
  const Study study = load(kHead + kKernels + "host: {launch: 21.5 us}\ntimeline: [{launch: a}]\n");
  const auto& costs = study.base.timeline.costs;
  EXPECT_EQ(costs.launch, unit::Duration{21'500'000});
  EXPECT_EQ(costs.sync, study.base.gpu.launch.host_sync);
  EXPECT_EQ(costs.graph_launch, study.base.gpu.launch.host_graph_launch);
}

TEST(Timeline, ATemplateOfSeveralKernelsIsLaunchedInARow) {
  const Study study = load(
      kHead +
      "kernels:\n  n: {template: norm, rows: 64, cols: 8192, dtype: bf16, fused: false}\n"
      "timeline: [{launch: n}, {launch: n, repeat: 3}, {graph: {body: [{launch: n, repeat: "
      "2}]}}]\n");
  const auto parts = study.base.kernels.size();
  ASSERT_GT(parts, 1U);
  const auto& items = study.base.timeline.items;
  ASSERT_EQ(items.size(), parts + 2);
  EXPECT_EQ(items[1].kernel, 1);
  EXPECT_EQ(items[parts].kind, ItemKind::Repeat);
  EXPECT_EQ(items[parts].body.size(), parts);
  EXPECT_EQ(items[parts + 1].body.size(), 2 * parts);
}

Item launch(int kernel, int stream = 0) {
  Item item;
  item.kernel = kernel;
  item.stream = stream;
  return item;
}

Item of(ItemKind kind, std::vector<Item> body = {}, std::int64_t repeat = 1) {
  Item item;
  item.kind = kind;
  item.body = std::move(body);
  item.repeat = repeat;
  return item;
}

TEST(TimelineMode, RunsOfLaunchesBecomeGraphs) {
  const auto items = apply_mode({launch(0), of(ItemKind::Repeat, {launch(1), launch(0)}, 2),
                                 launch(2, 1), launch(2, 1), of(ItemKind::SyncDevice), launch(0)},
                                {.graph = true, .drop_syncs = false});
  ASSERT_EQ(items.size(), 4U);
  EXPECT_EQ(items[0].kind, ItemKind::Graph);
  EXPECT_EQ(items[0].body.size(), 5U);
  EXPECT_EQ(items[1].stream, 1);
  EXPECT_EQ(items[1].body.size(), 2U);
  EXPECT_EQ(items[2].kind, ItemKind::SyncDevice);
  EXPECT_EQ(items[3].body.size(), 1U);
}

TEST(TimelineMode, DroppedSyncsTakeTheirHostWorkAlong) {
  const auto items = apply_mode(
      {of(ItemKind::HostWork), launch(0), of(ItemKind::SyncDevice), of(ItemKind::HostWork),
       launch(1), of(ItemKind::Repeat, {of(ItemKind::SyncDevice)}, 3)},
      {.graph = false, .drop_syncs = true});
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].kind, ItemKind::HostWork);
  EXPECT_EQ(items[1].kernel, 0);
  EXPECT_EQ(items[2].kernel, 1);
}

TEST(TimelineMode, IsSetInTheHostSection) {
  const std::string items = "[{launch: a}, {sync: device}, {host: 1 ms}, {launch: b}]";
  EXPECT_EQ(timeline(items).items.size(), 4U);
  EXPECT_EQ(timeline(items, "host: {syncs: drop}\n").items.size(), 2U);
  const auto both = timeline(items, "host: {mode: graph, syncs: drop}\n").items;
  ASSERT_EQ(both.size(), 1U);
  EXPECT_EQ(both[0].body.size(), 2U);
}

}  // namespace
}  // namespace wavetail::scenario
