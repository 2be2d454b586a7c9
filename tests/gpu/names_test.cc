// SPDX-License-Identifier: Apache-2.0
// The names under which published measurements know a GPU find the file of that GPU and no other.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "gpu/catalog.h"

namespace wavetail::gpu {
namespace {

const std::string kConfigs = std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu";

struct Named {
  std::string_view name;  // as a data set writes it
  std::string_view file;  // empty: a family, several GPUs, or one that has no file
};

constexpr Named kNames[] = {
    {"A100", "a100-sxm-80gb"},
    {"A100-SXM-80GB", "a100-sxm-80gb"},
    {"A100-SXM-80GB(330W)", "a100-sxm-80gb"},
    {"A100-SXM4-80GB", "a100-sxm-80gb"},
    {"A100-SXM4-40GB", "a100-sxm-40gb"},
    {"A100-PCIe", "a100-pcie"},
    {"A100 PCIE 80GB", "a100-pcie"},
    {"A100-PCIe-40GB", "a100-pcie-40gb"},
    {"H100", "h100-sxm"},
    {"H100 (cc 9.0)", "h100-sxm"},
    {"H100-SXM(devgpu, lower power)", "h100-sxm"},
    {"H100-SXM-80GB", "h100-sxm"},
    {"H100-SXM-80GB(1830MHz locked)", "h100-sxm"},
    {"H100-SXM-80GB(?)", "h100-sxm"},
    {"H100-SXM-80GB(Modal)", "h100-sxm"},
    {"H100-PCIe", "h100-pcie"},
    {"H100-NVL", "h100-nvl"},
    {"H800-PCIe", "h800-pcie"},
    {"H800-PCIe(114SM HBM2e 1755MHz)", "h800-pcie"},
    {"H800-PCIe(114SM HBM2e)", "h800-pcie"},
    {"H800-PCIe(114SM)", "h800-pcie"},
    {"H800-SXM5", "h800-sxm"},
    {"H20", "h20"},
    {"H200", "h200-sxm"},
    {"H200-SXM", "h200-sxm"},
    {"GH200-480GB(H100 die 132SM HBM3 96GB)", "gh200"},
    {"GH200-96GB(H100 die 132SM HBM3 4.0TB/s 1980MHz)", "gh200"},
    {"B200", "b200"},
    {"B200-SXM", "b200"},
    {"B300", "b300"},
    {"B300-SXM6", "b300"},
    {"GB200", "gb200"},
    {"RTX 3090", "rtx3090"},
    {"RTX-A6000", "a6000"},
    {"RTX4090", "rtx4090"},
    {"L40S", "l40s"},
    {"GeForce RTX 5090", "rtx5090"},
    {"RTX-PRO-6000-Server", "rtxpro6000"},
    {"RTX PRO 6000", "rtxpro6000"},
    {"MI300X", "mi300x"},
    {"MI325X", "mi325x"},
    {"MI355X", "mi355x"},
    {"MI300A", ""},
    {"A100/H100", ""},
    {"V100/A100/H100", ""},
    {"V100", ""},
    {"L40", ""},
    {"B200-class (SM100)", ""},
    {"Blackwell B200/B300/GB-class (MFU base 2.5 PF, 8 TB/s)", ""},
    {"Hopper (H100/H200-class; not named in excerpt)", ""},
    {"Hopper (unnamed, H100/H800 class)", ""},
    {"RTX A6000/3080/3090 (Ampere GA102)", "rtx3090"},  // three boards with one core
};

TEST(ShippedNames, DataSetsFindTheirGpu) {
  const Catalog catalog({kConfigs});
  for (const Named& n : kNames) {
    const auto file = catalog.find(n.name);
    EXPECT_EQ(file ? std::filesystem::path(*file).stem().string() : "", n.file) << n.name;
  }
}

// No name or alias, whole or shortened, stands for two files; a file is called by its name.
TEST(ShippedNames, NoNameMeansTwoFiles) {
  std::map<std::string, std::string> owner;
  for (const CatalogEntry& entry : Catalog({kConfigs}).entries()) {
    EXPECT_EQ(std::filesystem::path(entry.file).stem().string(), entry.name);
    EXPECT_NE(entry.description, "") << entry.name;
    std::vector<std::string> names = entry.aliases;
    names.push_back(entry.name);
    for (const std::string& name : names) {
      for (const bool short_form : {false, true}) {
        const auto [it, added] = owner.try_emplace(canonical_name(name, short_form), entry.name);
        EXPECT_TRUE(added || it->second == entry.name) << name << " is " << it->second << " too";
      }
    }
  }
}

}  // namespace
}  // namespace wavetail::gpu
