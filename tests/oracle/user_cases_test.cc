// SPDX-License-Identifier: Apache-2.0
// Launches that people asked about (user_cases.yaml): every row must come out as stated, on every
// GPU that it names. cases/*.yaml are those that need a simulation (cases/full/*.yaml a longer
// one).
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "config/load.h"
#include "config/reader.h"
#include "config/value.h"
#include "gpu/architecture.h"
#include "gpu/catalog.h"
#include "occupancy/occupancy.h"
#include "simulated_cases.h"

namespace wavetail {
namespace {

namespace fs = std::filesystem;
using config::At;
using config::Diagnostics;
using config::MapReader;
using occupancy::Occupancy;

const std::string kFolder = std::string(WAVETAIL_SOURCE_DIR) + "/tests/oracle";

const config::KeyTable kRowKeys{
    {"id", "text", true, "the case"},
    {"gpu", "list", true, "GPUs and compute capabilities"},
    {"gpcs", "list", false, "SMs per GPC, where the GPU has no file"},
    {"block", "count", true, "threads"},
    {"registers", "count", true, "per thread"},
    {"shared_memory", "size", false, "per block"},
    {"cluster", "count", false, "blocks"},
    {"grid", "count", false, "blocks"},
    {"portable", "flag", false, "no opt-in to large clusters"},
    {"carveout", "size", false, "that the kernel prefers"},
    {"expect", "map", true, "figures"},
};

const config::KeyTable kFigureKeys{
    {"blocks", "count", false, "per SM; 0 for a launch that is refused"},
    {"occupancy", "percent", false, "theoretical"},
    {"lanes", "percent", false, "lanes in use"},
    {"limiters", "list", false, "every one"},
    {"carveout", "size", false, "of shared memory"},
    {"l1", "size", false, "left of it"},
    {"says", "text", false, "part of the reason"},
    {"sms", "count", false, "within reach"},
    {"clusters", "count", false, "resident at once"},
    {"waves", "count", false, "of the grid"},
    {"wave_efficiency", "percent", false, "of them"},
};

const config::KeyTable kWaitingKeys{{"id", "text", true, "the case"},
                                    {"figure", "text", true, "what is not judged"},
                                    {"reason", "text", true, "why"}};

config::Node load_data() {
  Diagnostics diagnostics;
  auto root = config::load_file(kFolder + "/user_cases.yaml", diagnostics);
  return root ? std::move(*root) : config::Node{};
}

// The ids of the cases that have rows, each once.
std::vector<std::string> ids() {
  std::vector<std::string> all;
  const config::Node data = load_data();
  for (const config::Node& row : data.find("cases")->items) {
    const std::string& id = row.find("id")->text;
    if (std::find(all.begin(), all.end(), id) == all.end()) { all.push_back(id); }
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::optional<gpu::GpuSpec> gpu_named(const std::string& name, Diagnostics& diagnostics) {
  if (const auto* rules = gpu::find_architecture(name)) { return gpu::rules_of(*rules); }
  const std::string folder = std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu";
  const auto document = gpu::Catalog({folder}).load(name, folder, {}, diagnostics);
  return document ? gpu::read_gpu(*document, diagnostics) : std::nullopt;
}

occupancy::Launch launch_of(const MapReader& map) {
  occupancy::Launch l;
  map.read("block", l.block);
  map.read("registers", l.registers);
  map.read("shared_memory", l.shared_memory);
  map.read("cluster", l.cluster);
  map.read("grid", l.grid);
  map.read_flag("portable", l.portable);
  unit::Bytes carveout;
  if (map.read("carveout", carveout)) { l.carveout = carveout; }
  return l;
}

// The figures that a row states, against what came out.
class Judge {
 public:
  Judge(const MapReader& wanted, const Occupancy& got) : wanted_(wanted), got_(got) {}

  int figures() {
    count("blocks", got_.blocks_per_sm);
    percent("occupancy", got_.theoretical_pct);
    percent("lanes", got_.lane_pct);
    size("carveout", got_.carveout);
    size("l1", got_.l1);
    count("sms", got_.reachable_sms);
    count("waves", got_.waves);
    percent("wave_efficiency", got_.wave_efficiency_pct);
    limiters();
    std::string part;
    if (wanted_.read_text("says", part)) {
      EXPECT_NE(got_.reason.find(part), std::string::npos) << got_.reason;
    }
    return judged_;
  }

  void clusters(std::int64_t cluster) { count("clusters", got_.capacity() / cluster); }

 private:
  void count(std::string_view key, std::int64_t got) {
    std::int64_t wanted = 0;
    if (!wanted_.read(key, wanted)) { return; }
    ++judged_;
    EXPECT_EQ(got, wanted) << key << "\n" << got_.reason;
  }

  void size(std::string_view key, unit::Bytes got) {
    unit::Bytes wanted;
    if (!wanted_.read(key, wanted)) { return; }
    ++judged_;
    EXPECT_EQ(got, wanted) << key;
  }

  void percent(std::string_view key, double got) {
    if (!wanted_.has(key)) { return; }
    ++judged_;
    EXPECT_NEAR(got, *config::real(wanted_.at(key), unit::Dimension::Number), 0.0051) << key;
  }

  void limiters() {
    if (!wanted_.has("limiters")) { return; }
    ++judged_;
    std::vector<std::string> names;
    for (const config::Node& item : wanted_.find("limiters")->items) { names.push_back(item.text); }
    EXPECT_EQ(got_.limiters, names) << got_.reason;
  }

  const MapReader& wanted_;
  const Occupancy& got_;
  int judged_ = 0;
};

void judge(const config::Node& row, const std::string& on) {
  Diagnostics diagnostics;
  auto gpu = gpu_named(on, diagnostics);
  ASSERT_TRUE(gpu) << diagnostics.render();
  const MapReader map(row, "", kRowKeys, diagnostics);
  if (map.has("gpcs")) {
    gpu->gpcs.clear();
    for (const config::Node& sms : map.find("gpcs")->items) {
      gpu->gpcs.push_back(std::stoll(sms.text));
    }
  }
  const auto launch = launch_of(map);
  const auto got = occupancy::occupy(*gpu, launch);
  const MapReader wanted(*map.find("expect"), "expect", kFigureKeys, diagnostics);
  Judge judge(wanted, got);
  EXPECT_GT(judge.figures(), 0);
  judge.clusters(launch.cluster);
  EXPECT_EQ(got.launchable, got.blocks_per_sm > 0);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.render();
}

class UserCase : public testing::TestWithParam<std::string> {};

TEST_P(UserCase, ComesOutAsStated) {
  const config::Node data = load_data();
  for (const config::Node& row : data.find("cases")->items) {
    if (row.find("id")->text != GetParam()) { continue; }
    for (const config::Node& gpu : row.find("gpu")->items) {
      SCOPED_TRACE(config::to_string(row.place) + " on " + gpu.text);
      judge(row, gpu.text);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, UserCase, testing::ValuesIn(ids()), name_of);

// Every row and every figure that waits belongs to a case with an origin, and every case is used.
TEST(UserCases, HaveOrigins) {
  Diagnostics diagnostics;
  const config::Node data = load_data();
  std::vector<std::string> used;
  for (const config::Node& node : data.find("cases")->items) {
    used.push_back(node.find("id")->text);
  }
  for (const config::Node& node : data.find("waiting")->items) {
    const MapReader map(node, "waiting", kWaitingKeys, diagnostics);
    used.push_back(map.find("id")->text);
  }
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.render();
  const config::Node& origins = *data.find("origins");
  for (const std::string& id : used) { EXPECT_NE(origins.find(id), nullptr) << id; }
  for (const config::Entry& origin : origins.entries) {
    EXPECT_NE(std::find(used.begin(), used.end(), origin.key), used.end()) << origin.key;
  }
}

class SimulatedCase : public testing::TestWithParam<std::string> {};

TEST_P(SimulatedCase, MeetsWhatItExpects) { meets_what_it_expects(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Cases, SimulatedCase, testing::ValuesIn(simulated_cases("cases")),
                         case_name);

// Every scenario says on its first line which case it is and where that comes from.
TEST(UserCases, SimulatedOnesSayTheirOrigin) {
  std::vector<std::string> files = simulated_cases("cases");
  for (const std::string& file : simulated_cases("cases/full")) { files.push_back(file); }
  for (const std::string& file : files) {
    std::ifstream text(file);
    std::string first;
    std::getline(text, first);
    std::string id = fs::path(file).stem().string();
    id = id.substr(0, id.find('-', id.find('-') + 1));  // mem-12-b200 is of MEM-12
    std::transform(id.begin(), id.end(), id.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    EXPECT_EQ(first.rfind("# " + id + " (github ", 0), 0U) << file;
  }
}

}  // namespace
}  // namespace wavetail
