// SPDX-License-Identifier: Apache-2.0
// Asynchronous and cluster operations of a program, and whether the GPU has them.
#include <algorithm>
#include <map>

#include "base/nearest.h"
#include "isa/availability.h"
#include "scenario/keys.h"
#include "scenario/program.h"

namespace wavetail::scenario {

using config::At;
using config::MapReader;
using kernel::Op;
using kernel::OpKind;

namespace {

constexpr config::Range kCount{"1", "1000000"};
constexpr config::Range kLeft{"0", "1000000"};

Op of_kind(OpKind kind) {
  Op op;
  op.kind = kind;
  return op;
}

}  // namespace

bool ProgramReader::available(const At& at, std::string_view operation) const {
  if (gpu == nullptr) { return true; }
  const auto why = isa::lacks(operation, gpu->architecture);
  if (why) { at.complain(*why); }
  return !why;
}

// False if the operation is none of these.
bool ProgramReader::read_async(const At& at, std::string_view operation,
                               kernel::Program& out) const {
  static const std::map<std::string_view, OpKind> counted{{"cp_async_wait", OpKind::CpAsyncWait},
                                                          {"tma_store_wait", OpKind::TmaStoreWait},
                                                          {"wgmma_wait", OpKind::WgmmaWait}};
  if (read_tensor(at, operation, out)) { return true; }
  if (const auto it = counted.find(operation); it != counted.end()) {
    read_count(at, it->second, out);
  } else if (operation == "setmaxnreg") {
    Op op = of_kind(OpKind::SetMaxRegisters);
    op.count = config::quantity<std::int64_t>(at, {"24", "256"}).value_or(24);
    if (op.count % 8 != 0) { at.refuse("it must be a multiple of 8"); }
    out.push_back(op);
  } else if (operation == "cp_async") {
    read_copy(at, out);
  } else if (operation == "cp_async_commit") {
    if (config::choice(at, std::vector<std::string>{"group"})) {
      out.push_back(of_kind(OpKind::CpAsyncCommit));
    }
  } else if (operation == "tma_load" || operation == "tma_store") {
    read_bulk(at, operation == "tma_load" ? OpKind::TmaLoad : OpKind::TmaStore, out);
  } else if (operation == "mbarrier_wait") {
    Op op = of_kind(OpKind::MbarrierWait);
    op.mbarrier = mbarrier(at);
    if (op.mbarrier >= 0) { out.push_back(op); }
  } else if (operation == "mbarrier_arrive") {
    read_arrive(at, out);
  } else if (operation == "named_barrier") {
    read_named_barrier(at, out);
  } else if (operation == "cluster_barrier") {
    Op op = of_kind(OpKind::ClusterBarrier);
    const std::vector<std::string> forms{"sync", "arrive", "wait"};
    if (const auto form = config::choice(at, forms)) {
      op.barrier.form = static_cast<kernel::BarrierForm>(*form);
      out.push_back(op);
    }
  } else if (operation == "dsmem_load" || operation == "dsmem_store") {
    read_peer(at, operation == "dsmem_load" ? OpKind::PeerLoad : OpKind::PeerStore, out);
  } else {
    return false;
  }
  return true;
}

void ProgramReader::read_count(const At& at, OpKind kind, kernel::Program& out) const {
  Op op = of_kind(kind);
  op.count = config::quantity<std::int64_t>(at, kLeft).value_or(0);
  out.push_back(op);
}

int ProgramReader::mbarrier(const At& at) const {
  const auto name = config::text(at);
  if (!name) { return -1; }
  std::vector<std::string> names;
  for (const kernel::Mbarrier& b : kernel.mbarriers) { names.push_back(b.name); }
  const auto it = std::find(names.begin(), names.end(), *name);
  if (it != names.end()) { return static_cast<int>(it - names.begin()); }
  at.complain("there is no mbarrier '" + *name + "'" +
              (names.empty() ? "; the kernel has no 'mbarriers'" : base::hint(*name, names)));
  return -1;
}

// Copies of 16 bytes do not enter L1 (.cg), narrower ones do (.ca).
void ProgramReader::read_copy(const At& at, kernel::Program& out) const {
  Op op = read_memory_access(at, OpKind::CpAsync, *this);
  if (!at.node.is_map()) { return; }
  const int width = op.access.width;
  if (width != 4 && width != 8 && width != 16) {
    const config::Node* node = at.node.find("width");
    At{node == nullptr ? at.node : *node, config::join(at.path, "width"), diagnostics}.refuse(
        "cp.async copies 4 B, 8 B or 16 B per lane");
  }
  op.access.bypass_l1 = width == 16;
  const MapReader map(at.node, at.path, copy_keys(), diagnostics);
  if (map.has("signal")) { op.mbarrier = mbarrier(map.at("signal")); }
  out.push_back(std::move(op));
}

void ProgramReader::read_bulk(const At& at, OpKind kind, kernel::Program& out) const {
  const bool load = kind == OpKind::TmaLoad;
  const config::KeyTable& keys = load ? tma_load_keys() : tma_store_keys();
  if (!at.node.is_map()) {
    at.refuse("a map is needed: " + std::string(load ? "array, bytes, signal" : "array, bytes"));
    return;
  }
  if (gpu != nullptr && gpu->tma.rate.count() == 0) {
    at.complain("the file of " + gpu->name + " says nothing of a TMA: gpu.tma.rate is 0");
  }
  if (divergent) {
    at.complain(
        "one elected thread issues it for the role; inside 'diverge' it may not come there");
  }
  Op op = of_kind(kind);
  if (const config::Node* boxes = at.node.find("boxes")) {
    const MapReader map(at.node, at.path, keys, diagnostics);
    const At list{*boxes, config::join(at.path, "boxes"), diagnostics};
    for (const config::Entry& e : at.node.entries) {
      if (e.key != "boxes" && e.key != "signal" && e.key != "scope") {
        diagnostics.error(e.place, "'" + config::join(at.path, e.key) + "' beside 'boxes'");
      }
    }
    if (!boxes->is_list() || boxes->items.empty() || boxes->items.size() > 16) {
      list.complain("a list of 1 to 16 boxes is needed");
      return;
    }
    for (std::size_t i = 0; i < boxes->items.size(); ++i) {
      op.boxes.push_back(
          read_box({boxes->items[i], list.path + "[" + std::to_string(i) + "]", diagnostics},
                   box_keys(), *this));
    }
  } else {
    op.boxes.push_back(read_box(at, keys, *this));
  }
  if (const config::Node* scope = load ? at.node.find("scope") : nullptr) {
    const At place{*scope, config::join(at.path, "scope"), diagnostics};
    const std::vector<std::string> scopes{"block", "pair"};
    op.pair = config::choice(place, scopes) == std::size_t{1} && pairs(place);
  }
  if (const config::Node* signal = load ? at.node.find("signal") : nullptr) {
    op.mbarrier = mbarrier({*signal, config::join(at.path, "signal"), diagnostics});
  }
  if (!load || op.mbarrier >= 0) { out.push_back(std::move(op)); }
}

void ProgramReader::read_arrive(const At& at, kernel::Program& out) const {
  Op op = of_kind(OpKind::MbarrierArrive);
  if (at.node.is_map() && !config::is_long(at.node)) {
    const MapReader map(at.node, at.path, arrive_keys(), diagnostics);
    if (map.has("barrier")) { op.mbarrier = mbarrier(map.at("barrier")); }
    if (map.has("scope")) {
      const std::vector<std::string> scopes{"block", "cluster", "pair"};
      const auto scope = config::choice(map.at("scope"), scopes);
      op.cluster_wide = scope == std::size_t{1};
      op.pair = scope == std::size_t{2} && pairs(map.at("scope"));
    }
  } else {
    op.mbarrier = mbarrier(at);
  }
  if (op.mbarrier >= 0) { out.push_back(op); }
}

void ProgramReader::read_named_barrier(const At& at, kernel::Program& out) const {
  Op op = of_kind(OpKind::NamedBarrier);
  const MapReader map(at.node, at.path, named_barrier_keys(), diagnostics);
  std::int64_t id = 1;
  map.read("id", id, {"1", "15"});
  op.barrier.id = static_cast<int>(id);
  map.read("warps", op.barrier.warps, {"1", "64"});
  if (map.has("form")) {
    const std::vector<std::string> forms{"sync", "arrive"};
    if (const auto form = config::choice(map.at("form"), forms)) {
      op.barrier.form = static_cast<kernel::BarrierForm>(*form);
    }
  }
  out.push_back(op);
}

void ProgramReader::read_peer(const At& at, OpKind kind, kernel::Program& out) const {
  Op op = of_kind(kind);
  const MapReader map(at.node, at.path, peer_keys(), diagnostics);
  unit::Bytes width{4};
  if (map.read("width", width) && width.count() != 4 && width.count() != 8 && width.count() != 16) {
    map.at("width").refuse("allowed: 4 B, 8 B, 16 B");
  }
  op.peer.width = static_cast<int>(width.count());
  std::int64_t lanes = 0;
  map.read("lanes", lanes, {"1", std::to_string(warp_size)});
  op.peer.lanes = static_cast<int>(lanes);
  map.read("count", op.count, kCount);
  map.read("to", op.peer.to, {"0", "63"});
  if (kernel::volume(kernel.cluster) == 1) {
    at.complain("the kernel has no 'cluster': there is no peer");
  }
  out.push_back(op);
}

}  // namespace wavetail::scenario
