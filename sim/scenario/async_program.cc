// SPDX-License-Identifier: Apache-2.0
// Asynchronous, tensor and cluster operations of a program, and whether the GPU has them.
#include <algorithm>
#include <map>

#include "base/nearest.h"
#include "isa/availability.h"
#include "isa/tensor.h"
#include "scenario/keys.h"
#include "scenario/program.h"

namespace wavetail::scenario {

using config::At;
using config::MapReader;
using kernel::Op;
using kernel::OpKind;
using kernel::TensorType;

namespace {

constexpr config::Range kCount{"1", "1000000"};
constexpr config::Range kLeft{"0", "1000000"};

Op of_kind(OpKind kind) {
  Op op;
  op.kind = kind;
  return op;
}

// The dtype's rate must not be 0 on this GPU.
bool read_type(const MapReader& map, const std::vector<TensorType>& types, const gpu::GpuSpec* gpu,
               TensorType& out) {
  if (!map.has("dtype")) { return false; }
  std::vector<std::string> names;
  for (const TensorType t : types) { names.emplace_back(isa::name(t)); }
  const auto which = config::choice(map.at("dtype"), names);
  if (!which) { return false; }
  out = types[*which];
  if (gpu != nullptr && isa::tensor_rate(gpu->tensor, out) <= 0) {
    map.at("dtype").complain("the tensor cores of " + gpu->name + " do not take " + names[*which]);
    return false;
  }
  return true;
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
  } else if (operation == "wgmma") {
    read_wgmma(at, out);
  } else if (operation == "mma") {
    read_mma(at, out);
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
      if (e.key != "boxes" && e.key != "signal") {
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
      const std::vector<std::string> scopes{"block", "cluster"};
      op.cluster_wide = config::choice(map.at("scope"), scopes) == std::size_t{1};
    }
  } else {
    op.mbarrier = mbarrier(at);
  }
  if (op.mbarrier >= 0) { out.push_back(op); }
}

void ProgramReader::read_wgmma(const At& at, kernel::Program& out) const {
  Op op = of_kind(OpKind::Wgmma);
  const MapReader map(at.node, at.path, wgmma_keys(), diagnostics);
  kernel::TensorShape& s = op.tensor;
  const bool typed = read_type(
      map,
      {TensorType::Fp16, TensorType::Bf16, TensorType::Tf32, TensorType::Fp8, TensorType::Int8},
      gpu, s.type);
  s.m = 64;
  s.k = isa::wgmma_depth(s.type);
  const std::string depth = std::to_string(s.k);
  map.read("m", s.m, {"64", "64"});
  if (typed) { map.read("k", s.k, {depth, depth}); }
  if (map.read("n", s.n, {"8", "256"}) && s.n % 8 != 0) {
    map.at("n").refuse("it must be a multiple of 8");
  }
  if (map.has("a")) {
    const std::vector<std::string> places{"shared", "registers"};
    s.a_in_registers = config::choice(map.at("a"), places) == std::size_t{1};
  }
  map.read("count", op.count, kCount);
  if (warps % 4 != 0) {
    at.complain("wgmma is for warpgroups of four warps; the role has " + std::to_string(warps));
  }
  if (divergent) { at.complain("wgmma inside 'diverge' does not reach whole warpgroups"); }
  if (typed) { out.push_back(op); }
}

void ProgramReader::read_mma(const At& at, kernel::Program& out) const {
  Op op = of_kind(OpKind::Mma);
  const MapReader map(at.node, at.path, mma_keys(), diagnostics);
  kernel::TensorShape& s = op.tensor;
  if (!read_type(map,
                 {TensorType::Fp16, TensorType::Bf16, TensorType::Tf32, TensorType::Fp8,
                  TensorType::Int8, TensorType::Fp64},
                 gpu, s.type)) {
    return;
  }
  const bool fp64 = s.type == TensorType::Fp64;
  s.m = fp64 ? 8 : 16;
  s.n = 8;
  s.k = isa::wgmma_depth(s.type);
  const std::int64_t widest = s.k;
  const std::string m = std::to_string(s.m);
  map.read("m", s.m, {m, m});
  map.read("n", s.n, {"8", "8"});
  if (map.read("k", s.k) && s.k != widest && (s.k * 2 != widest || fp64)) {
    map.at("k").refuse("allowed: " + (fp64 ? "" : std::to_string(widest / 2) + " or ") +
                       std::to_string(widest));
  }
  map.read("count", op.count, kCount);
  map.read("distance", op.distance, kCount);
  out.push_back(op);
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
