// SPDX-License-Identifier: Apache-2.0
#include "isa/availability.h"

#include <algorithm>
#include <charconv>

namespace wavetail::isa {

using kernel::OpKind;

const std::vector<Requirement>& requirements() {
  static const std::vector<Requirement> all{
      {"cp_async", "cp.async", 80, 0},
      {"cp_async_commit", "cp.async.commit_group", 80, 0},
      {"cp_async_wait", "cp.async.wait_group", 80, 0},
      {"mbarrier_wait", "mbarrier.try_wait", 80, 0},
      {"mbarrier_arrive", "mbarrier.arrive", 80, 0},
      {"mma", "mma.sync", 80, 0},
      {"tma_load", "cp.async.bulk.tensor", 90, 0},
      {"tma_store", "cp.async.bulk.tensor", 90, 0},
      {"tma_store_wait", "cp.async.bulk.wait_group", 90, 0},
      {"wgmma", "wgmma.mma_async", 90, 90},
      {"wgmma_wait", "wgmma.wait_group", 90, 90},
      {"tcgen05_mma", "tcgen05.mma", 100, 103},
      {"tcgen05_cp", "tcgen05.cp", 100, 103},
      {"tcgen05_commit", "tcgen05.commit", 100, 103},
      {"tcgen05_ld", "tcgen05.ld", 100, 103},
      {"tcgen05_st", "tcgen05.st", 100, 103},
      {"tcgen05_wait", "tcgen05.wait", 100, 103},
      {"tmem", "tensor memory", 100, 103},
      {"redux", "redux.sync", 80, 0},
      {"mfma", "v_mfma", 908, 0, "gfx"},
      {"setmaxnreg", "setmaxnreg", 90, 0},
      {"cluster_barrier", "barrier.cluster", 90, 0},
      {"dsmem_load", "ld.shared::cluster", 90, 0},
      {"dsmem_store", "st.shared::cluster", 90, 0},
      {"cluster", "a thread block cluster", 90, 0},
  };
  return all;
}

std::optional<int> compute_capability(std::string_view architecture, std::string_view family) {
  if (!architecture.starts_with(family)) { return std::nullopt; }
  architecture.remove_prefix(family.size());
  int n = 0;
  const auto [end, error] = std::from_chars(architecture.data(),
                                            architecture.data() + architecture.size(), n);
  return error == std::errc{} && end != architecture.data() ? std::optional<int>(n) : std::nullopt;
}

namespace {

const Requirement* find(std::string_view operation) {
  const auto& all = requirements();
  const auto it = std::find_if(all.begin(), all.end(),
                               [&](const Requirement& r) { return r.operation == operation; });
  return it == all.end() ? nullptr : &*it;
}

}  // namespace

std::string architectures_of(std::string_view operation) {
  const Requirement* r = find(operation);
  if (r == nullptr) { return {}; }
  const std::string family(r->family), first = family + std::to_string(r->first);
  if (r->last == r->first) { return first; }
  return r->last == 0 ? first + " and later" : first + " to " + family + std::to_string(r->last);
}

std::optional<std::string> lacks(std::string_view operation, std::string_view architecture) {
  const Requirement* r = find(operation);
  if (r == nullptr) { return std::nullopt; }
  const auto capability = compute_capability(architecture, r->family);
  const bool has = capability && *capability >= r->first &&
                   (r->last == 0 || *capability <= r->last);
  if (has) { return std::nullopt; }
  return std::string(r->instruction) + " does not exist on " + std::string(architecture) +
         "; it needs " + architectures_of(operation);
}

std::string_view operation_name(OpKind kind) {
  switch (kind) {
    case OpKind::Arithmetic: return "arithmetic";
    case OpKind::Load: return "load";
    case OpKind::Store: return "store";
    case OpKind::WaitLoads: return "wait_loads";
    case OpKind::SharedLoad: return "shared_load";
    case OpKind::SharedStore: return "shared_store";
    case OpKind::WaitShared: return "wait_shared";
    case OpKind::BlockBarrier: return "barrier";
    case OpKind::Repeat: return "repeat";
    case OpKind::Diverge: return "diverge";
    case OpKind::CpAsync: return "cp_async";
    case OpKind::CpAsyncCommit: return "cp_async_commit";
    case OpKind::CpAsyncWait: return "cp_async_wait";
    case OpKind::TmaLoad: return "tma_load";
    case OpKind::TmaStore: return "tma_store";
    case OpKind::TmaStoreWait: return "tma_store_wait";
    case OpKind::MbarrierWait: return "mbarrier_wait";
    case OpKind::MbarrierArrive: return "mbarrier_arrive";
    case OpKind::Wgmma: return "wgmma";
    case OpKind::WgmmaWait: return "wgmma_wait";
    case OpKind::Mma: return "mma";
    case OpKind::Mfma: return "mfma";
    case OpKind::Tcgen05Mma: return "tcgen05_mma";
    case OpKind::Tcgen05Copy: return "tcgen05_cp";
    case OpKind::Tcgen05Commit: return "tcgen05_commit";
    case OpKind::Tcgen05Load: return "tcgen05_ld";
    case OpKind::Tcgen05Store: return "tcgen05_st";
    case OpKind::Tcgen05Wait: return "tcgen05_wait";
    case OpKind::NamedBarrier: return "named_barrier";
    case OpKind::ClusterBarrier: return "cluster_barrier";
    case OpKind::PeerLoad: return "dsmem_load";
    case OpKind::PeerStore: return "dsmem_store";
    case OpKind::SetMaxRegisters: return "setmaxnreg";
  }
  return "";
}

}  // namespace wavetail::isa
