// SPDX-License-Identifier: Apache-2.0
// A kernel with a program of its own: launch shape, arrays, one program or several roles.
#include <algorithm>
#include <array>

#include "isa/availability.h"
#include "scenario/checks.h"
#include "scenario/kernels.h"
#include "scenario/keys.h"
#include "scenario/program.h"

namespace wavetail::scenario {

namespace {

using config::At;
using config::MapReader;
using kernel::Kernel;

constexpr std::string_view kMostX = "2147483647", kMostYz = "65535";

// n, [x, y] or [x, y, z] of a grid or a cluster.
void read_extent(const At& at, const std::string& what, kernel::Dim3& grid) {
  if (!at.node.is_list()) {
    grid[0] = config::quantity<std::int64_t>(at, {"1", kMostX}).value_or(1);
    return;
  }
  if (at.node.items.empty() || at.node.items.size() > 3) {
    at.complain(what + " has 1 to 3 dimensions; found " + std::to_string(at.node.items.size()));
    return;
  }
  for (std::size_t i = 0; i < at.node.items.size(); ++i) {
    const At part{at.node.items[i], at.path + "[" + std::to_string(i) + "]", at.diagnostics};
    grid[i] = config::quantity<std::int64_t>(part, {"1", i == 0 ? kMostX : kMostYz}).value_or(1);
  }
}

void read_cluster(const At& at, Kernel& k, const gpu::GpuSpec* gpu) {
  const std::size_t before = at.diagnostics.count();
  read_extent(at, "a cluster", k.cluster);
  if (at.diagnostics.count() != before) { return; }
  if (gpu != nullptr && kernel::volume(k.cluster) > 1) {
    if (const auto why = isa::lacks("cluster", gpu->architecture)) {
      at.complain(*why);
      return;
    }
  }
  constexpr std::array kAxes{'x', 'y', 'z'};
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    if (k.grid[i] % k.cluster[i] != 0) {
      at.complain(std::to_string(k.cluster[i]) + " blocks in " + kAxes[i] +
                  " do not divide the grid's " + std::to_string(k.grid[i]) +
                  "; a grid counts blocks, not clusters");
    }
  }
}

void read_arrays(const At& at, Kernel& k) {
  if (!at.node.is_map()) {
    at.refuse("a map of arrays, by name, is needed");
    return;
  }
  constexpr config::Range kBytes{"1 B", "100 TB"};
  for (const config::Entry& entry : at.node.entries) {
    const At here{entry.value, config::join(at.path, entry.key), at.diagnostics};
    kernel::Array array{.name = entry.key, .bytes = {}};
    if (entry.value.is_map() && !config::is_long(entry.value)) {
      const MapReader map(entry.value, here.path, array_keys(), at.diagnostics);
      map.read("bytes", array.bytes, kBytes);
      map.read_flag("per_launch", array.per_launch);
      if (map.read("copies", array.copies, {"1", "1000000"}) && array.per_launch &&
          array.copies > 1) {
        map.at("copies").complain(
            "every launch has a copy of its own by per_launch: leave one out");
      }
      if (map.has("l2")) {
        const std::vector<std::string> kinds{"normal", "persisting"};
        array.persisting = config::choice(map.at("l2"), kinds).value_or(0) == 1;
      }
    } else {
      array.bytes = config::quantity<unit::Bytes>(here, kBytes).value_or(unit::Bytes{});
    }
    k.arrays.push_back(std::move(array));
  }
}

void read_mbarriers(const At& at, Kernel& k) {
  constexpr std::size_t kMostMbarriers = 32;
  constexpr config::Range kStages{"1", "64"};
  if (!at.node.is_map() || at.node.entries.size() > kMostMbarriers) {
    at.refuse("a map of up to " + std::to_string(kMostMbarriers) +
              " mbarriers, by name, is needed");
    return;
  }
  for (const config::Entry& entry : at.node.entries) {
    const At here{entry.value, config::join(at.path, entry.key), at.diagnostics};
    kernel::Mbarrier barrier{entry.key, 1, {}, {}};
    if (entry.value.is_map() && !config::is_long(entry.value)) {
      const MapReader map(entry.value, here.path, mbarrier_keys(), at.diagnostics);
      map.read("stages", barrier.stages, kStages);
      std::int64_t arrivals = 0;
      if (map.read("arrivals", arrivals, {"1", "1048575"})) { barrier.arrivals = arrivals; }
      bool open = false;
      if (map.read_flag("open", open)) { barrier.open = open; }
    } else {
      barrier.stages = config::quantity<std::int64_t>(here, kStages).value_or(1);
    }
    k.mbarriers.push_back(std::move(barrier));
  }
}

void read_tmem(const MapReader& map, Kernel& k, const gpu::GpuSpec* gpu) {
  if (!map.read("tmem_columns", k.tmem_columns, {"32", "512"}) || gpu == nullptr) { return; }
  if (const auto why = isa::lacks("tmem", gpu->architecture)) {
    map.at("tmem_columns").complain(*why);
  }
}

// Of a GPU that could not be read nothing is known; the widest of all is assumed.
int lanes(const gpu::GpuSpec* gpu) {
  return gpu == nullptr ? 64 : static_cast<int>(gpu->sm.warp_size);
}

std::string most(const gpu::GpuSpec* gpu, std::int64_t gpu::SmSpec::* limit,
                 std::int64_t otherwise) {
  return std::to_string(gpu == nullptr ? otherwise : gpu->sm.*limit);
}

void read_roles(const At& at, Kernel& k, const gpu::GpuSpec* gpu) {
  std::int64_t operations_left = kMostOperations;
  if (!at.node.is_map() || at.node.entries.empty()) {
    at.refuse("a map of roles, by name, is needed");
    return;
  }
  for (const config::Entry& entry : at.node.entries) {
    const At here{entry.value, config::join(at.path, entry.key), at.diagnostics};
    const MapReader map(entry.value, here.path, role_keys(), at.diagnostics);
    kernel::Role role;
    role.name = entry.key;
    map.read("warps", role.warps, {"1", "1024"});
    std::int64_t registers = 0;
    if (map.read("registers", registers,
                 {"1", most(gpu, &gpu::SmSpec::max_registers_per_thread, 255)})) {
      role.registers = registers;
    }
    if (map.has("program")) {
      const ProgramReader reader{k, at.diagnostics, operations_left, lanes(gpu), gpu, role.warps};
      role.program = reader.read(map.at("program"));
    }
    k.roles.push_back(std::move(role));
  }
}

void read_program(const MapReader& map, const At& at, Kernel& k, const gpu::GpuSpec* gpu) {
  if (map.has("roles") && map.has("program")) {
    map.at("roles").complain("a kernel has 'program' or 'roles', not both");
    return;
  }
  if (map.has("roles")) {
    read_roles(map.at("roles"), k, gpu);
    return;
  }
  if (!map.has("program")) {
    at.complain("'program' or 'roles' is missing: what the warps do");
    return;
  }
  std::int64_t operations_left = kMostOperations;
  kernel::Role role;
  role.warps = (k.block + lanes(gpu) - 1) / lanes(gpu);
  const ProgramReader reader{k, at.diagnostics, operations_left, lanes(gpu), gpu, role.warps};
  role.program = reader.read(map.at("program"));
  k.roles.push_back(std::move(role));
}

}  // namespace

Kernel read_program_kernel(const At& at, const std::string& name, const gpu::GpuSpec* gpu) {
  Kernel k;
  k.name = name;
  const std::size_t before = at.diagnostics.count();
  const MapReader map(at.node, at.path, program_kernel_keys(), at.diagnostics);
  if (map.has("grid")) { read_extent(map.at("grid"), "a grid", k.grid); }
  if (map.has("cluster")) { read_cluster(map.at("cluster"), k, gpu); }
  map.read_flag("portable", k.portable);
  map.read("block", k.block, {"1", most(gpu, &gpu::SmSpec::max_threads_per_block, 1024)});
  map.read("registers", k.registers, {"1", most(gpu, &gpu::SmSpec::max_registers_per_thread, 255)});
  map.read("shared_memory", k.shared_memory, {"0 B", "1 GiB"});
  read_tmem(map, k, gpu);
  unit::Bytes carveout;
  if (map.read("carveout", carveout, {"0 B", "1 GiB"})) { k.carveout = carveout; }
  map.read_text("role", k.role);
  k.randomness = read_randomness(map);
  if (map.has("arrays")) { read_arrays(map.at("arrays"), k); }
  if (map.has("mbarriers")) { read_mbarriers(map.at("mbarriers"), k); }
  read_program(map, at, k, gpu);
  if (at.diagnostics.count() == before && gpu != nullptr) {
    check_kernel(at, k, *gpu);
    k.flops = flops(k, *gpu);
  }
  return k;
}

}  // namespace wavetail::scenario
