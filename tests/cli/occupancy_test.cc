// SPDX-License-Identifier: Apache-2.0
// `wavetail occupancy` as scripts see it, and that `wavetail run` says the same of the same launch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/program.h"

namespace wavetail {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using tests::run_program;

json answer(const std::string& words) {
  const auto r = run_program("occupancy " + words + " --format json");
  EXPECT_EQ(r.code, 0) << r.out;
  return json::parse(r.out, nullptr, false);
}

TEST(Occupancy, AnswersWhatTheInterfacePromises) {
  const json a = answer("--gpu h100-sxm --block 256 --registers 128 --shared-memory 48KiB");
  EXPECT_EQ(a["launchable"], true);
  EXPECT_EQ(a["blocks_per_sm"], 2);
  EXPECT_EQ(a["warps_per_sm"], 16);
  EXPECT_EQ(a["theoretical_occupancy_pct"], 25);
  EXPECT_EQ(a["limiters"], json::array({"registers"}));
  EXPECT_THAT(a["reason"].get<std::string>(), HasSubstr("a block takes 8 warps x 4096 registers"));
  EXPECT_FALSE(a.contains("waves"));
}

TEST(Occupancy, ARefusedLaunchIsAnAnswer) {
  const json a = answer(
      "--gpu h100-sxm --block 608 --registers 104 --shared-memory 228KiB --grid 9");
  EXPECT_EQ(a["launchable"], false);
  EXPECT_EQ(a["blocks_per_sm"], 0);
  EXPECT_EQ(a["limiters"], json::array({"registers", "shared_memory"}));
  EXPECT_TRUE(a["waves"].is_null());
  EXPECT_EQ(answer("--gpu h100-sxm --block 4096 --registers 99999999999 --shared-memory 9000000TB "
                   "--cluster 99999")["launchable"],
            false);
}

TEST(Occupancy, ClustersAndWaves) {
  const std::string tile = "--gpu h100-sxm --block 384 --registers 168 --shared-memory 200KiB ";
  const json a = answer(tile + "--cluster 8 --grid 136");
  EXPECT_EQ(a["reachable_sms"], 120);
  EXPECT_EQ(a["max_active_clusters"], 15);
  EXPECT_EQ(a["waves"], 2);
  EXPECT_EQ(answer(tile + "--cluster 8 --grid 132")["launchable"], false);
  EXPECT_EQ(answer(tile + "--cluster 16")["launchable"], true);
  EXPECT_EQ(answer(tile + "--cluster 16 --portable")["limiters"], json::array({"cluster"}));
  EXPECT_EQ(answer(tile + "--cluster 17")["limiters"], json::array({"cluster"}));
}

TEST(Occupancy, AComputeCapabilityStandsForAGpu) {
  const json a = answer("--gpu sm_86 --block 64 --registers 40 --grid 100");
  EXPECT_EQ(a["gpu"], "sm_86");
  EXPECT_EQ(a["blocks_per_sm"], 16);
  EXPECT_EQ(a["limiters"], json::array({"blocks"}));
  EXPECT_TRUE(a["reachable_sms"].is_null());
  EXPECT_TRUE(a["waves"].is_null());
  for (const auto* format : {"text", "csv", "html"}) {
    EXPECT_EQ(run_program("occupancy --gpu sm_75 --block 64 --registers 40 --grid 9 --cluster 1 "
                          "--format " +
                          std::string(format))
                  .code,
              0);
  }
}

TEST(Occupancy, ComputeCapabilitiesAreNoGpusElsewhere) {
  const auto set = run_program(
      "occupancy --gpu sm_86 --block 64 --registers 40 --set gpu.sm.max_warps=32");
  EXPECT_EQ(set.code, 2);
  EXPECT_THAT(set.out, HasSubstr("'--set' changes a GPU; 'sm_86' is a compute capability"));
  const auto run = run_program("run workloads/claims/a3-occupancy.yaml --gpu sm_90");
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.out, HasSubstr("'sm_90' is a compute capability, not a GPU"));
}

// Every kernel of these scenarios: what the run reports, and what the command says of its launch.
TEST(Occupancy, IsTheSameInARun) {
  int kernels = 0;
  for (const std::string file : {"a3-occupancy", "b4-cluster-reach", "b5-shared-memory"}) {
    const auto run = run_program("run workloads/claims/" + file + ".yaml --format json");
    ASSERT_EQ(run.code, 0) << run.out;
    const json result = json::parse(run.out);
    for (const json& k : result["kernels"]) {
      const auto words = "--gpu h100-sxm --block " + k["block"].dump() + " --registers " +
                         k["registers"].dump() + " --shared-memory " +
                         k["shared_memory_bytes"].dump() + "B --cluster " + k["cluster"].dump() +
                         " --grid " + k["grid"].dump();
      const json a = answer(words);
      for (const auto* key : {"blocks_per_sm", "theoretical_occupancy_pct", "limiters", "waves",
                              "wave_efficiency_pct"}) {
        EXPECT_EQ(a[key], k[key]) << file << " " << k["name"] << " " << key;
      }
      ++kernels;
    }
  }
  EXPECT_EQ(kernels, 17);
}

}  // namespace
}  // namespace wavetail
