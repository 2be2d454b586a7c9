// SPDX-License-Identifier: Apache-2.0
#include "scenario/checks.h"

#include <algorithm>
#include <array>

#include "isa/availability.h"
#include "isa/mbarriers.h"
#include "occupancy/occupancy.h"
#include "scenario/reach.h"
#include "unit/print.h"

namespace wavetail::scenario {

namespace {

using config::At;
using kernel::Kernel;
using kernel::Op;
using kernel::OpKind;
using kernel::Program;

constexpr double kMostInstructions = 1e12;  // of one warp; a run's budget is far below

// Dynamic totals of one warp's program, as real numbers: nested trip counts may be huge.
struct Totals {
  double instructions = 0, barriers = 0, loads = 0, shared_loads = 0, lane_flops = 0;
  double warp_flops = 0;    // of tensor instructions
  double thread_flops = 0;  // of those that one thread of the role issues
  bool waits = false, waits_shared = false;

  void add(const Totals& o, double times, double flops_share) {
    instructions += times * o.instructions;
    barriers += times * o.barriers;
    loads += times * o.loads;
    shared_loads += times * o.shared_loads;
    lane_flops += times * flops_share * o.lane_flops;
    warp_flops += times * o.warp_flops;
    thread_flops += times * o.thread_flops;
    waits = waits || o.waits;
    waits_shared = waits_shared || o.waits_shared;
  }
};

// Depth is bounded by the loader's limit on nesting.
Totals total(const Program& program) {
  Totals t;
  for (const Op& op : program) {
    const auto n = static_cast<double>(op.count);
    switch (op.kind) {
      case OpKind::Arithmetic:
        t.instructions += n;
        t.lane_flops += n * op.flops_per_lane;
        break;
      case OpKind::Load:
        t.instructions += n;
        t.loads += n;
        break;
      case OpKind::Store: t.instructions += n; break;
      case OpKind::SharedLoad:
        t.instructions += n;
        t.shared_loads += n;
        break;
      case OpKind::SharedStore: t.instructions += n; break;
      case OpKind::WaitLoads: t.waits = true; break;
      case OpKind::WaitShared: t.waits_shared = true; break;
      case OpKind::BlockBarrier:
        t.instructions += 1;
        t.barriers += 1;
        break;
      case OpKind::Repeat: t.add(total(op.bodies.front()), n, 1); break;
      case OpKind::Diverge:
        for (const Program& body : op.bodies) {
          const double share = 1.0 / static_cast<double>(op.bodies.size());
          const bool blocks = op.diverge_by == kernel::DivergeBy::Rank;
          t.add(total(body), blocks ? share : 1, blocks ? 1 : share);
        }
        break;
      case OpKind::PeerLoad:
        t.instructions += n;
        t.loads += n;
        break;
      case OpKind::Wgmma:
      case OpKind::Mma:
      case OpKind::Mfma:
        t.instructions += n;
        t.warp_flops += n * op.tensor.flops() / (op.kind == OpKind::Wgmma ? 4 : 1);
        break;
      case OpKind::Tcgen05Mma:
        t.instructions += n;
        t.thread_flops += n * op.tensor.flops();
        break;
      case OpKind::Tcgen05Copy:
      case OpKind::Tcgen05Load:
      case OpKind::Tcgen05Store:
      case OpKind::CpAsync:
      case OpKind::PeerStore: t.instructions += n; break;
      default: t.instructions += 1; break;
    }
  }
  return t;
}

At child(const At& at, const std::string& key) {
  const config::Node* node = at.node.find(key);
  return node == nullptr ? At{at.node, at.path, at.diagnostics}
                         : At{*node, config::join(at.path, key), at.diagnostics};
}

// Where a role's program stands; a plain program is a role without a name.
At role_place(const At& at, const kernel::Role& role) {
  return role.name.empty() ? child(at, "program") : child(child(at, "roles"), role.name);
}

std::int64_t warps_of(const Kernel& k, const gpu::GpuSpec& gpu) {
  return (k.block + gpu.sm.warp_size - 1) / gpu.sm.warp_size;
}

// What the role's programs leave each thread with at most (setmaxnreg).
std::int64_t most_registers(const Program& program, std::int64_t most) {
  for (const Op& op : program) {
    if (op.kind == OpKind::SetMaxRegisters) { most = std::max(most, op.count); }
    for (const Program& body : op.bodies) { most = most_registers(body, most); }
  }
  return most;
}

bool changes_registers(const Kernel& k) {
  return std::any_of(k.roles.begin(), k.roles.end(), [&](const kernel::Role& role) {
    return role.registers.value_or(k.registers) != k.registers;
  });
}

void check_roles(const At& at, const Kernel& k, const gpu::GpuSpec& gpu) {
  std::int64_t warps = 0, registers = 0;
  for (const kernel::Role& role : k.roles) {
    warps += role.warps;
    const std::int64_t stated = most_registers(role.program, 0);
    registers += role.warps * role.registers.value_or(stated > 0 ? stated : k.registers);
  }
  const std::int64_t wanted = warps_of(k, gpu);
  const auto lacking = isa::lacks("setmaxnreg", gpu.architecture);
  if (warps != wanted) {
    child(at, "roles")
        .complain("the roles have " + std::to_string(warps) + " warps, a block of " +
                  std::to_string(k.block) + " threads has " + std::to_string(wanted));
  } else if (registers > wanted * k.registers) {
    child(at, "roles")
        .complain("the roles take " + std::to_string(registers * gpu.sm.warp_size) +
                  " registers, the block was launched with " +
                  std::to_string(wanted * k.registers * gpu.sm.warp_size));
  } else if (changes_registers(k) && lacking) {
    child(at, "roles").complain("roles with registers of their own: " + *lacking);
  }
}

// What may be under way to a block at once must have a place in its shared memory.
void check_mbarriers(const At& at, const Kernel& k) {
  std::int64_t bytes = 0;
  for (const isa::MbarrierPlan& plan : isa::plan_mbarriers(k)) {
    bytes += plan.stages * plan.stage_bytes;
    if (plan.arrivals > 1'048'575) {
      child(child(at, "mbarriers"), plan.name)
          .complain("a phase would need " + std::to_string(plan.arrivals) +
                    " arrivals; allowed up to 1048575");
    }
  }
  if (bytes > k.shared_memory.count()) {
    child(at, "mbarriers")
        .complain("the stages hold " + unit::print(unit::Bytes{bytes}) +
                  " of boxes, the block has " + unit::print(k.shared_memory) + " of shared memory");
  }
}

struct Named {
  std::array<std::int64_t, 16> warps{};
};

void check_named(const At& place, const Program& program, const Kernel& k, std::int64_t most,
                 Named& seen) {
  for (const Op& op : program) {
    for (const Program& body : op.bodies) { check_named(place, body, k, most, seen); }
    if (op.kind != OpKind::NamedBarrier) { continue; }
    std::int64_t& warps = seen.warps[static_cast<std::size_t>(op.barrier.id)];
    const std::string name = "named_barrier " + std::to_string(op.barrier.id);
    if (op.barrier.warps > most) {
      place.complain(name + " waits for " + std::to_string(op.barrier.warps) +
                     " warps, the block has " + std::to_string(most));
    } else if (warps != 0 && warps != op.barrier.warps) {
      place.complain(name + " waits for " + std::to_string(op.barrier.warps) +
                     " warps here and for " + std::to_string(warps) + " elsewhere");
    }
    warps = op.barrier.warps;
  }
}

void check_named(const At& at, const Kernel& k, const gpu::GpuSpec& gpu) {
  Named seen;
  for (const kernel::Role& role : k.roles) {
    check_named(role_place(at, role), role.program, k, warps_of(k, gpu), seen);
  }
}

void check_barriers(const At& at, const Kernel& k) {
  const double first = total(k.roles.front().program).barriers;
  for (const kernel::Role& role : k.roles) {
    const double here = total(role.program).barriers;
    if (here != first) {
      role_place(at, role).complain("a block barrier must be reached by all warps, but '" +
                                    role.name + "' passes " + unit::print_real(here, 12) +
                                    " and '" + k.roles.front().name + "' " +
                                    unit::print_real(first, 12));
    }
  }
}

void check_programs(const At& at, const Kernel& k) {
  for (const kernel::Role& role : k.roles) {
    const Totals t = total(role.program);
    const At place = role_place(at, role);
    if (t.instructions > kMostInstructions) {
      place.complain("every warp would run " + unit::print_real(t.instructions, 4) +
                     " instructions; allowed up to " + unit::print_real(kMostInstructions));
    }
    if (t.waits && t.loads == 0) {
      place.complain("'wait_loads' has nothing to wait for: the program has no load");
    }
    if (t.waits_shared && t.shared_loads == 0) {
      place.complain("'wait_shared' has nothing to wait for: the program has no shared_load");
    }
  }
}

void check_extent(const At& at, const Kernel& k, const gpu::GpuSpec& gpu) {
  constexpr double kMostBlocks = 1e12;
  double blocks = 1;
  for (const std::int64_t n : k.grid) { blocks *= static_cast<double>(n); }
  if (blocks > kMostBlocks) {
    child(at, "grid")
        .complain("the grid has " + unit::print_real(blocks, 4) + " blocks; allowed up to " +
                  unit::print_real(kMostBlocks));
  } else if (reach(k, gpu) > kFarthest) {
    at.complain("its loads and stores would walk over " + unit::print_real(reach(k, gpu), 4) +
                " bytes; allowed up to " + unit::print_real(kFarthest));
  }
}

}  // namespace

void check_kernel(const At& at, const Kernel& k, const gpu::GpuSpec& gpu) {
  check_programs(at, k);
  check_barriers(at, k);
  check_mbarriers(at, k);
  check_named(at, k, gpu);
  check_extent(at, k, gpu);
  if (at.node.find("roles") != nullptr) { check_roles(at, k, gpu); }
  check_launch(at, k, gpu);
}

void check_launch(const At& at, const Kernel& k, const gpu::GpuSpec& gpu) {
  const auto occupancy = occupancy::occupy(gpu, occupancy::launch_of(k));
  if (!occupancy.launchable) { at.complain("the GPU refuses this launch: " + occupancy.reason); }
}

void check_shared_arrays(const At& at, const Kernel& k, SharedArrays& known) {
  if (!k.template_name.empty()) { return; }
  bool agrees = true;
  for (const kernel::Array& array : k.arrays) {
    const auto& [first, kernel] = known.try_emplace(array.name, array, k.name).first->second;
    if (!agrees || (first.bytes == array.bytes && first.per_launch == array.per_launch &&
                    first.copies == array.copies && first.persisting == array.persisting)) {
      continue;
    }
    agrees = false;
    child(child(at, "arrays"), array.name)
        .complain("kernel '" + kernel + "' has an array of this name and another size or kind (" +
                  unit::print(first.bytes) + (first.per_launch ? ", per launch" : "") +
                  (first.persisting ? ", persisting" : "") +
                  (first.copies > 1 ? ", " + std::to_string(first.copies) + " copies" : "") +
                  "); arrays of one name are the same memory");
  }
}

double flops(const Kernel& k, const gpu::GpuSpec& gpu) {
  double all = 0;
  for (const kernel::Role& role : k.roles) {
    const Totals t = total(role.program);
    all += t.lane_flops * static_cast<double>(role.warps * gpu.sm.warp_size) +
           t.warp_flops * static_cast<double>(role.warps) + t.thread_flops;
  }
  return all * static_cast<double>(kernel::volume(k.grid));
}

}  // namespace wavetail::scenario
