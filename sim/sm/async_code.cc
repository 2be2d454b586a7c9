// SPDX-License-Identifier: Apache-2.0
#include "sm/async_code.h"

#include <algorithm>

namespace wavetail::sm {

using kernel::Op;
using kernel::OpKind;

InstrKind async_kind(OpKind kind) {
  switch (kind) {
    case OpKind::CpAsyncCommit: return InstrKind::CpAsyncCommit;
    case OpKind::CpAsyncWait: return InstrKind::CpAsyncWait;
    case OpKind::TmaLoad: return InstrKind::TmaLoad;
    case OpKind::TmaStore: return InstrKind::TmaStore;
    case OpKind::TmaStoreWait: return InstrKind::TmaStoreWait;
    case OpKind::MbarrierWait: return InstrKind::MbarrierWait;
    case OpKind::MbarrierArrive: return InstrKind::MbarrierArrive;
    case OpKind::Wgmma: return InstrKind::Wgmma;
    case OpKind::WgmmaWait: return InstrKind::WgmmaWait;
    case OpKind::Mma:
    case OpKind::Mfma: return InstrKind::Mma;
    case OpKind::Tcgen05Mma: return InstrKind::Tcgen05Mma;
    case OpKind::Tcgen05Copy: return InstrKind::Tcgen05Copy;
    case OpKind::Tcgen05Commit: return InstrKind::Tcgen05Commit;
    case OpKind::Tcgen05Load: return InstrKind::Tcgen05Load;
    case OpKind::Tcgen05Store: return InstrKind::Tcgen05Store;
    case OpKind::Tcgen05Wait: return InstrKind::Tcgen05Wait;
    case OpKind::NamedBarrier: return InstrKind::NamedBarrier;
    case OpKind::ClusterBarrier: return InstrKind::ClusterBarrier;
    case OpKind::PeerLoad: return InstrKind::PeerLoad;
    case OpKind::PeerStore: return InstrKind::PeerStore;
    default: return InstrKind::SetMaxRegisters;
  }
}

namespace {

// One elected thread issues it, so that a block is one mover.
CompiledBox resolve_box(const kernel::Box& box, const AsyncContext& c) {
  CompiledBox out;
  out.box = box;
  out.array_bytes = c.kernel.arrays[static_cast<std::size_t>(box.array)].bytes.count();
  out.place.array = box.array;
  out.place.offset = box.offset;
  out.place.depth = static_cast<int>(c.at.trips.size());
  if (box.walk == kernel::WalkKind::Strides) {
    take_strides(out.place, box.strides);
  } else {
    Surroundings alone = c.at;
    alone.warps = 1;
    walk(out.place, box.walk, 1, alone, box.extent());
  }
  // Whole boxes where a named walk lays them side by side.
  const std::int64_t unit = box.walk == kernel::WalkKind::Strides ? 1 : box.extent();
  out.place.wrap = std::max<std::int64_t>(1, out.array_bytes / unit * unit);
  out.receivers = isa::receivers(box, c.kernel);
  out.rows = box.rows;
  out.row_bytes = box.row_bytes;
  if (!box.leader) { (box.rows > 1 ? out.rows : out.row_bytes) /= out.receivers; }
  return out;
}

void compile_bulk(const Op& op, const AsyncContext& c, Instr& instr, Code& code) {
  CompiledBulk bulk;
  for (const kernel::Box& box : op.boxes) {
    bulk.boxes.push_back(resolve_box(box, c));
    bulk.bytes += box.bytes() / (box.split ? isa::receivers(box, c.kernel) : 1);
  }
  bulk.pair = op.pair;
  instr.object = static_cast<std::int32_t>(code.bulks.size());
  instr.lanes = 1;
  code.bulks.push_back(std::move(bulk));
}

void compile_tensor(const Op& op, const AsyncContext& c, Instr& instr, Code& code) {
  CompiledTensor t;
  if (op.kind == OpKind::Wgmma) {
    t.cost = isa::wgmma_cost(c.gpu, op.tensor);
    t.start = c.gpu.wgmma.start.count() * isa::kThousandths;
    instr.latency = static_cast<std::int32_t>(c.gpu.wgmma.latency.count());
  } else {
    const bool mfma = op.kind == OpKind::Mfma;
    t.cost = mfma ? isa::mfma_cost(c.gpu, op.tensor) : isa::mma_cost(c.gpu, op.tensor);
    instr.latency = static_cast<std::int32_t>(mfma ? isa::mfma_latency(c.gpu, op.tensor)
                                                   : c.gpu.mma.latency.count());
    const std::int64_t dependent = (instr.latency * isa::kThousandths + op.distance - 1) /
                                   op.distance;
    t.interval = std::max({t.cost.pipe, dependent, isa::kThousandths});
  }
  instr.object = static_cast<std::int32_t>(code.tensors.size());
  code.tensors.push_back(t);
}

// Products and copies of one thread: `latency` from the end of the last one's interval to its
// completion. Loads and stores of a warp: `interval` thousandths of a cycle each.
void compile_tcgen05(const Op& op, const AsyncContext& c, Instr& instr, Code& code) {
  CompiledTensor t;
  const gpu::Tcgen05Spec& spec = c.gpu.tcgen05;
  if (op.kind == OpKind::Tcgen05Mma) {
    t.cost = isa::tcgen05_cost(c.gpu, op.tensor);
    t.ctas = op.tensor.ctas;
    t.interval = spec.issue.count();
    instr.latency = static_cast<std::int32_t>(isa::tcgen05_latency(c.gpu, op.tensor));
    instr.lanes = 1;
  } else if (op.kind == OpKind::Tcgen05Copy) {
    t.cost = isa::tcgen05_copy_cost(c.gpu, op.bytes);
    t.interval = spec.issue.count();
    instr.latency = static_cast<std::int32_t>(spec.latency.count());
    instr.lanes = 1;
  } else {
    const bool load = op.kind == OpKind::Tcgen05Load;
    const std::int64_t rate = (load ? spec.read : spec.write).count();  // thousandths
    const std::int64_t bytes = op.columns * 4 * c.gpu.sm.warp_size;
    t.interval = (bytes * isa::kThousandths * isa::kThousandths + rate - 1) / rate;
    instr.latency = static_cast<std::int32_t>(load ? spec.read_latency.count() : 0);
  }
  instr.object = static_cast<std::int32_t>(code.tensors.size());
  code.tensors.push_back(t);
}

void compile_peer(const Op& op, const AsyncContext& c, Instr& instr, Code& code) {
  const int lanes = op.peer.lanes > 0 ? std::min(op.peer.lanes, c.at.lanes) : c.at.lanes;
  CompiledPeer p;
  p.bytes = std::int64_t{lanes} * op.peer.width;
  p.sectors = static_cast<int>((p.bytes + memory::kSectorBytes - 1) / memory::kSectorBytes);
  const std::int64_t rate = c.gpu.shared_memory.bandwidth.count();
  p.cycles = std::max<std::int64_t>(1, (p.bytes * isa::kThousandths + rate - 1) / rate);
  p.to = op.peer.to;
  instr.lanes = static_cast<std::int16_t>(lanes);
  instr.object = static_cast<std::int32_t>(code.peers.size());
  code.peers.push_back(p);
}

}  // namespace

void compile_async(const Op& op, const AsyncContext& c, Instr& instr, Code& code) {
  switch (op.kind) {
    case OpKind::TmaLoad:
    case OpKind::TmaStore: compile_bulk(op, c, instr, code); break;
    case OpKind::Wgmma:
    case OpKind::Mma:
    case OpKind::Mfma: compile_tensor(op, c, instr, code); break;
    case OpKind::Tcgen05Mma:
    case OpKind::Tcgen05Copy:
    case OpKind::Tcgen05Load:
    case OpKind::Tcgen05Store: compile_tcgen05(op, c, instr, code); break;
    case OpKind::PeerLoad:
    case OpKind::PeerStore: compile_peer(op, c, instr, code); break;
    case OpKind::NamedBarrier:
    case OpKind::ClusterBarrier:
      instr.object = static_cast<std::int32_t>(code.barriers.size());
      code.barriers.push_back(op.barrier);
      break;
    case OpKind::TmaStoreWait: instr.lanes = 1; break;
    case OpKind::MbarrierArrive:
      instr.target = op.cluster_wide ? kAtCluster : op.pair ? kAtPair : kAtBlock;
      break;
    case OpKind::Tcgen05Commit:
      instr.target = op.pair ? kAtPair : kAtBlock;
      instr.lanes = 1;
      break;
    default: break;
  }
}

namespace {

// Branches between warps are left out: not every warp comes to what is in them.
void collect_waits(const kernel::Program& program, std::uint64_t& waits) {
  for (const Op& op : program) {
    if (op.kind == OpKind::MbarrierWait) { waits |= 1ULL << op.mbarrier; }
    if (op.kind == OpKind::Repeat) { collect_waits(op.bodies.front(), waits); }
  }
}

}  // namespace

void finish_async(const kernel::Kernel& kernel, std::vector<Code>& codes) {
  const auto some = [&](auto&& is) {
    return std::any_of(codes.begin(), codes.end(), [&](const Code& code) {
      return std::any_of(code.instrs.begin(), code.instrs.end(), is);
    });
  };
  const bool any = some([](const Instr& i) { return i.kind > InstrKind::Exit; });
  const bool cluster_barrier = some(
      [](const Instr& i) { return i.kind == InstrKind::ClusterBarrier; });
  const auto plans = isa::plan_mbarriers(kernel);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::size_t role = std::min(i, kernel.roles.size() - 1);
    codes[i].asynchronous = any;
    codes[i].cluster_barrier = cluster_barrier;
    codes[i].mbarriers = plans;
    collect_waits(kernel.roles[role].program, codes[i].waits_for);
  }
}

}  // namespace wavetail::sm
