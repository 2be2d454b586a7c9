// SPDX-License-Identifier: Apache-2.0
#include "isa/mbarriers.h"

#include <algorithm>

#include "isa/availability.h"

namespace wavetail::isa {

using kernel::Op;
using kernel::OpKind;

namespace {

// What one warp does to one mbarrier.
struct Part {
  bool arrives = false, signals = false;
  std::int64_t blocks = 1;  // of which each does the same to it
};

void add_parties(std::string& text, const kernel::Role& role, OpKind kind) {
  const std::string who = role.name.empty() ? "the program" : "role '" + role.name + "'";
  const std::string party = who + " (" + std::string(operation_name(kind)) + ")";
  if (text.find(party) == std::string::npos) { text += (text.empty() ? "" : ", ") + party; }
}

void note(const Op& op, const kernel::Kernel& k, const kernel::Role& role, MbarrierPlan& plan,
          Part& part) {
  if (op.kind == OpKind::MbarrierArrive) {
    part.arrives = true;
    const std::int64_t blocks = op.cluster_wide ? kernel::volume(k.cluster) : op.pair ? 2 : 1;
    part.blocks = std::max(part.blocks, blocks);
  } else if (op.kind == OpKind::Tcgen05Commit) {
    part.arrives = true;
  } else if (op.kind == OpKind::TmaLoad || op.kind == OpKind::CpAsync) {
    part.signals = true;
    part.blocks = std::max<std::int64_t>(part.blocks, op.pair ? 2 : 1);
  } else {
    return;
  }
  add_parties(plan.released_by, role, op.kind);
  std::int64_t lands = 0, fetched = 0;
  for (const kernel::Box& box : op.boxes) {
    lands += box.bytes() / (box.split ? receivers(box, k) : 1);
    fetched += box.bytes() / (box.leader ? 1 : receivers(box, k));
  }
  plan.stage_bytes = std::max(plan.stage_bytes, lands);
  plan.fetch_bytes = std::max(plan.fetch_bytes, fetched);
}

void add_warp(const kernel::Kernel& k, const kernel::Role& role, std::int64_t warp,
              std::vector<MbarrierPlan>& plans) {
  std::vector<Part> parts(plans.size());
  for_each_op(role.program, warp, [&](const Op& op) {
    const bool elected = op.kind == OpKind::TmaLoad || op.kind == OpKind::Tcgen05Commit;
    if (op.mbarrier < 0 || (elected && warp != 0)) { return; }
    const auto b = static_cast<std::size_t>(op.mbarrier);
    note(op, k, role, plans[b], parts[b]);
  });
  for (std::size_t b = 0; b < plans.size(); ++b) {
    plans[b].arrivals += ((parts[b].arrives ? 1 : 0) + (parts[b].signals ? 1 : 0)) *
                         parts[b].blocks;
    plans[b].open = plans[b].open && !parts[b].signals;
  }
}

}  // namespace

std::int64_t receivers(const kernel::Box& box, const kernel::Kernel& k) {
  std::int64_t n = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) { n *= box.multicast[axis] ? k.cluster[axis] : 1; }
  return n;
}

std::vector<MbarrierPlan> plan_mbarriers(const kernel::Kernel& k) {
  std::vector<MbarrierPlan> plans;
  std::int64_t first = 0;
  for (const kernel::Mbarrier& barrier : k.mbarriers) {
    MbarrierPlan plan;
    plan.name = barrier.name;
    plan.first = first;
    plan.stages = barrier.stages;
    plan.open = true;
    plans.push_back(std::move(plan));
    first += barrier.stages;
  }
  if (plans.empty()) { return plans; }
  for (const kernel::Role& role : k.roles) {
    for (std::int64_t w = 0; w < role.warps; ++w) { add_warp(k, role, w, plans); }
  }
  for (std::size_t b = 0; b < plans.size(); ++b) {
    plans[b].arrivals = k.mbarriers[b].arrivals.value_or(plans[b].arrivals);
    plans[b].open = k.mbarriers[b].open.value_or(plans[b].open);
  }
  return plans;
}

}  // namespace wavetail::isa
