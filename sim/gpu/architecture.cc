// SPDX-License-Identifier: Apache-2.0
#include "gpu/architecture.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "gpu/describe.h"
#include "unit/print.h"

namespace wavetail::gpu {

namespace {

using Sizes = std::vector<Bytes>;

Bytes kib(std::int64_t n) { return Bytes{n * 1024}; }

// Sizes in KiB, as the programming guide lists them.
Sizes steps(std::initializer_list<std::int64_t> list) {
  Sizes sizes;
  for (const std::int64_t n : list) { sizes.push_back(kib(n)); }
  return sizes;
}

constexpr std::string_view
    kTable = "CUDA C++ Programming Guide 13, technical specifications per compute capability";
constexpr std::string_view kVoltaGuide = "CUDA Volta Tuning Guide, occupancy";
constexpr std::string_view kGuide7 = "CUDA C++ Programming Guide, shared memory of 7.x";
constexpr std::string_view kGuide8 = "CUDA C++ Programming Guide, shared memory of 8.x";
constexpr std::string_view kGuide9 = "CUDA C++ Programming Guide, shared memory of 9.0";
constexpr std::string_view
    kSizes = "CUDA Programming Guide 13, shared memory capacity per compute capability";
constexpr std::string_view kNoClusters = "CUDA C++ Programming Guide: clusters from 9.0 on";
constexpr std::string_view kUnits = "cuda_occupancy.h of the CUDA toolkit";

// What all of them have in common: the same table, and the same header for the units. `warp_unit`
// is the number of sub-partitions.
SmSpec common() {
  SmSpec sm;
  sm.schedulers = 4;
  sm.warp_size = 32;
  sm.max_threads_per_block = 1024;
  sm.max_cluster = 1;
  sm.registers = 65536;
  sm.register_unit = 256;
  sm.max_registers_per_thread = 255;
  sm.warp_unit = 4;
  return sm;
}

// Volta and Turing: a block may have all of the shared memory, and the driver reserves none.
SmSpec seventh(std::int64_t warps, std::int64_t blocks, std::int64_t unified, const Sizes& sizes) {
  SmSpec sm = common();
  sm.max_warps = warps;
  sm.max_blocks = blocks;
  sm.unified_l1 = kib(unified);
  sm.carveouts = sizes;
  sm.shared_memory = sm.shared_memory_per_block = sizes.back();
  sm.shared_memory_unit = Bytes{256};
  return sm;
}

// From Ampere on 1 KiB per block is reserved, which is why a block may have 1 KiB less than an SM.
SmSpec eighth(std::int64_t warps, std::int64_t blocks, std::int64_t unified, const Sizes& sizes) {
  SmSpec sm = seventh(warps, blocks, unified, sizes);
  sm.shared_memory_reserved = kib(1);
  sm.shared_memory_per_block = sizes.back() - kib(1);
  sm.shared_memory_unit = Bytes{128};
  return sm;
}

SmSpec with_clusters(SmSpec sm, std::int64_t most) {
  sm.max_cluster = most;
  return sm;
}

SmSpec with_tensor_memory(SmSpec sm) {
  sm.tmem_columns = 512;
  return sm;
}

std::vector<Architecture> table() {
  const Sizes upto100 = steps({0, 8, 16, 32, 64, 100});
  const Sizes upto164 = steps({0, 8, 16, 32, 64, 100, 132, 164});
  const Sizes upto228 = steps({0, 8, 16, 32, 64, 100, 132, 164, 196, 228});
  // 12.0 has 24 block slots in the programming guide and in what devices report; its tuning guide
  // prints 32.
  return {
      {"sm_70", "7.0", seventh(64, 32, 128, steps({0, 8, 16, 32, 64, 96})), kVoltaGuide, kGuide7,
       kNoClusters, kUnits},
      {"sm_75", "7.5", seventh(32, 16, 96, steps({32, 64})), kTable, kGuide7, kNoClusters, kUnits},
      {"sm_80", "8.0", eighth(64, 32, 192, upto164), kTable, kGuide8, kNoClusters, kUnits},
      {"sm_86", "8.6", eighth(48, 16, 128, upto100), kTable, kGuide8, kNoClusters, kUnits},
      {"sm_89", "8.9", eighth(48, 24, 128, upto100), kTable, kGuide8, kNoClusters, kUnits},
      {"sm_90", "9.0", with_clusters(eighth(64, 32, 256, upto228), 16), kTable, kGuide9,
       "CUDA Hopper Tuning Guide: 16 with the opt-in", kUnits},
      {"sm_100", "10.0", with_tensor_memory(with_clusters(eighth(64, 32, 256, upto228), 16)),
       kTable, kSizes, "CUDA Blackwell Tuning Guide: 16 with the opt-in", kUnits},
      {"sm_103", "10.3", with_tensor_memory(with_clusters(eighth(64, 32, 256, upto228), 16)),
       kTable, kSizes, "CUDA Blackwell Tuning Guide: 16 with the opt-in", kUnits},
      {"sm_120", "12.0", eighth(48, 24, 128, upto100), kTable, kSizes,
       "CUTLASS documentation, Blackwell GeForce: cluster shape 1x1x1 only", kUnits},
  };
}

// Walks describe() and makes the nodes that a file would have.
struct Writer {
  const Architecture& architecture;
  config::Node& section;
  ProvenanceMap& provenance;
  const config::Place& place;

  template <class Q>
  void operator()(std::string_view key, Q& value, config::Range, std::string_view) {
    add(key, scalar(value));
  }

  template <class Q>
  void operator()(std::string_view key, std::vector<Q>& values, config::Range, std::string_view) {
    config::Node list;
    list.kind = config::Node::Kind::List;
    list.place = place;
    for (const Q value : values) { list.items.push_back(scalar(value)); }
    add(key, std::move(list));
  }

  void operator()(std::string_view, WarpPolicy&, config::Range, std::string_view) {}

  template <class Q>
  [[nodiscard]] config::Node scalar(Q value) const {
    config::Node node;
    node.kind = config::Node::Kind::Scalar;
    node.place = place;
    if constexpr (std::is_same_v<Q, std::int64_t>) {
      node.text = std::to_string(value);
    } else {
      node.text = unit::print(value);
    }
    return node;
  }

  void add(std::string_view key, config::Node node) {
    if (section.find(key) != nullptr) { return; }
    section.entries.push_back({std::string(key), place, std::move(node)});
    provenance["sm." + std::string(key)] = {
        Confidence::Vendor, std::string(source_of(architecture, key)), {}, {}};
  }
};

}  // namespace

std::span<const Architecture> architectures() {
  static const std::vector<Architecture> all = table();
  return all;
}

const Architecture* find_architecture(std::string_view name) {
  const auto all = architectures();
  const auto it = std::find_if(all.begin(), all.end(),
                               [&](const Architecture& a) { return a.name == name; });
  return it == all.end() ? nullptr : &*it;
}

std::string_view source_of(const Architecture& architecture, std::string_view key) {
  const auto is = [&](std::initializer_list<std::string_view> keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  if (is({"schedulers", "register_unit", "warp_unit", "shared_memory_unit"})) {
    return architecture.units;
  }
  if (is({"unified_l1", "carveouts"})) { return architecture.carveouts; }
  return key == "max_cluster" ? architecture.clusters : architecture.limits;
}

GpuSpec rules_of(const Architecture& architecture) {
  GpuSpec spec;
  spec.name = architecture.name;
  spec.architecture = architecture.name;
  spec.sm = architecture.sm;
  return spec;
}

void add_architecture(Document& document) {
  const config::Node* name = document.root.find("architecture");
  config::Node* section = document.root.find("sm");
  const bool readable = name != nullptr && name->is_scalar() && section != nullptr &&
                        section->is_map();
  const Architecture* known = readable ? find_architecture(name->text) : nullptr;
  if (known == nullptr) { return; }
  SmSpec sm = known->sm;
  const config::Place place = name->place;
  describe(Writer{*known, *section, document.provenance, place}, sm);
}

}  // namespace wavetail::gpu
