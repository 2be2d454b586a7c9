// SPDX-License-Identifier: Apache-2.0
#include "support/random_async.h"

#include <algorithm>

#include "isa/tensor.h"
#include "occupancy/occupancy.h"
#include "support/random_gpu.h"

namespace wavetail::tests {

namespace {

using kernel::Op;
using kernel::OpKind;
using kernel::Program;
using unit::Bytes;

Op op_of(OpKind kind, std::int64_t count = 1) {
  Op o;
  o.kind = kind;
  o.count = count;
  return o;
}

Op loop(std::int64_t trips, Program body) {
  Op o = op_of(OpKind::Repeat, trips);
  o.bodies = {std::move(body)};
  return o;
}

Op on_mbarrier(OpKind kind, int mbarrier, bool cluster_wide = false) {
  Op o = op_of(kind);
  o.mbarrier = mbarrier;
  o.cluster_wide = cluster_wide;
  return o;
}

class Maker {
 public:
  Maker(Dice& dice, const gpu::GpuSpec& gpu) : dice_(dice), gpu_(gpu) {
    k_.name = "k";
    k_.grid = {dice_.between(1, 10), dice_.between(1, 3), 1};
    k_.registers = dice_.between(16, 40);
    for (const char* name : {"a", "b"}) {
      k_.arrays.push_back({name, Bytes{std::int64_t{1} << dice_.between(17, 22)}, false});
    }
  }

  kernel::Kernel make(AsyncKind kind) {
    switch (kind) {
      case AsyncKind::Ring: ring(); break;
      case AsyncKind::Copies: copies(); break;
      case AsyncKind::Tensor: tensor(); break;
      case AsyncKind::Peers: peers(); break;
    }
    std::int64_t warps = 0;
    for (const kernel::Role& role : k_.roles) { warps += role.warps; }
    k_.block = warps * gpu_.sm.warp_size;
    return std::move(k_);
  }

 private:
  void role(const std::string& name, std::int64_t warps, Program program) {
    k_.roles.push_back(
        {.name = name, .warps = warps, .registers = {}, .program = std::move(program)});
  }

  void cluster(std::int64_t most) {
    const std::int64_t widest = *std::max_element(gpu_.gpcs.begin(), gpu_.gpcs.end());
    k_.cluster[0] = dice_.between(1, std::min(widest, most));
    if (k_.cluster[0] == 2 && widest >= 4 && dice_.one_in(2)) { k_.cluster[1] = 2; }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      k_.grid[axis] = (k_.grid[axis] + k_.cluster[axis] - 1) / k_.cluster[axis] * k_.cluster[axis];
    }
  }

  kernel::Box box(int array, std::int64_t loops, bool multicast) {
    kernel::Box b;
    b.array = array;
    b.walk = kernel::WalkKind::Strides;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      b.multicast[axis] = multicast && dice_.one_in(2);
    }
    if (dice_.one_in(2)) {
      b.row_bytes = b.pitch = 384 * dice_.between(1, 12);  // in 3 or 4 shares of whole sectors
      b.walk = dice_.pick(
          {kernel::WalkKind::Grid, kernel::WalkKind::Block, kernel::WalkKind::Same});
      return b;
    }
    b.tensor_map = true;
    b.rows = 12 * dice_.between(1, 6);
    b.row_bytes = 32 * dice_.between(1, 4);
    b.pitch = b.row_bytes + 32 * dice_.pick<std::int64_t>({0, 1, 8, 12});
    b.strides.block_x = 32 * dice_.between(0, 200);
    b.strides.block_y = 32 * dice_.between(0, 200);
    for (std::int64_t l = 0; l < loops; ++l) {
      b.strides.loop.push_back(32 * dice_.between(0, 64));
    }
    return b;
  }

  Op wgmma(std::int64_t count) {
    Op o = op_of(OpKind::Wgmma, count);
    o.tensor = {64, 8 * dice_.between(1, 32), 16, kernel::TensorType::Bf16, dice_.one_in(2)};
    return o;
  }

  // Producer and consumers around a ring; sometimes the results leave as boxes.
  void ring() {
    const bool clustered = dice_.one_in(2);
    if (clustered) { cluster(3); }
    const std::int64_t stages = dice_.between(1, 4);
    const std::int64_t trips = dice_.between(1, 12);
    k_.mbarriers = {{"full", stages, {}, {}}, {"empty", stages, {}, {}}};
    Op load = on_mbarrier(OpKind::TmaLoad, 0);
    std::int64_t bytes = 0;
    for (std::int64_t n = dice_.between(1, 2), i = 0; i < n; ++i) {
      load.boxes.push_back(box(static_cast<int>(i), 1, clustered));
      bytes += load.boxes.back().bytes();
    }
    k_.shared_memory = Bytes{stages * bytes};
    role("producer", dice_.between(1, 2),
         {loop(trips, {on_mbarrier(OpKind::MbarrierWait, 1), load})});
    Program body{on_mbarrier(OpKind::MbarrierWait, 0)};
    if (dice_.one_in(2)) {
      body.push_back(wgmma(dice_.between(1, 6)));
      body.push_back(op_of(OpKind::WgmmaWait));
    } else {
      body.push_back(op_of(OpKind::Arithmetic, dice_.between(1, 60)));
    }
    body.push_back(on_mbarrier(OpKind::MbarrierArrive, 1, clustered));
    Program consumer{loop(trips, body)};
    if (dice_.one_in(2)) {
      Op barrier = op_of(OpKind::NamedBarrier);
      barrier.barrier = {1, 4, kernel::BarrierForm::Sync};
      Op store = op_of(OpKind::TmaStore);
      store.boxes = {box(1, 0, false)};
      consumer.push_back(barrier);
      consumer.push_back(store);
      if (dice_.one_in(2)) { consumer.push_back(op_of(OpKind::TmaStoreWait)); }
    }
    role("consumer", 4, consumer);
    if (clustered) {
      for (kernel::Role& r : k_.roles) { r.program.push_back(op_of(OpKind::ClusterBarrier)); }
    }
  }

  Op copy() {
    Op o = op_of(OpKind::CpAsync, dice_.between(1, 4));
    o.access.array = 0;
    o.access.width = dice_.pick({4, 8, 16});
    o.access.bypass_l1 = o.access.width == 16;
    return o;
  }

  void copies() {
    const std::int64_t left = dice_.between(0, 3);
    Program body{copy(), op_of(OpKind::CpAsyncCommit), op_of(OpKind::CpAsyncWait, left)};
    if (dice_.one_in(2)) {
      Op mma = op_of(OpKind::Mma, dice_.between(1, 30));
      mma.distance = dice_.between(1, 8);
      mma.tensor = {16, 8, 16, kernel::TensorType::Bf16, false};
      body.push_back(mma);
    }
    if (dice_.one_in(3)) {
      Op barrier = op_of(OpKind::BlockBarrier);
      body.push_back(barrier);
    }
    Program program{loop(dice_.between(1, 20), body)};
    if (dice_.one_in(2)) { program.push_back(copy()); }
    k_.shared_memory = Bytes{16'384};
    if (dice_.one_in(2)) {
      role("all", dice_.between(1, 8), program);
      return;
    }
    // One role copies and signals, the other waits.
    const std::int64_t stages = dice_.between(1, 4);
    const std::int64_t trips = dice_.between(1, 12);
    k_.mbarriers = {{"full", stages, {}, {}}, {"empty", stages, {}, {}}};
    Op signalled = copy();
    signalled.mbarrier = 0;
    role("copier", dice_.between(1, 3),
         {loop(trips, {on_mbarrier(OpKind::MbarrierWait, 1), signalled})});
    role("user", dice_.between(1, 4),
         {loop(trips, {on_mbarrier(OpKind::MbarrierWait, 0),
                       op_of(OpKind::Arithmetic, dice_.between(1, 40)),
                       on_mbarrier(OpKind::MbarrierArrive, 1)})});
  }

  void tensor() {
    Program body{wgmma(dice_.between(1, 8)), op_of(OpKind::WgmmaWait, dice_.between(0, 2))};
    if (dice_.one_in(2)) { body.push_back(op_of(OpKind::Arithmetic, dice_.between(1, 20))); }
    Op load = op_of(OpKind::Load, dice_.between(1, 3));
    load.access.array = 0;
    load.access.width = 16;
    if (dice_.one_in(2)) { body.push_back(load); }
    role("math", 4 * dice_.between(1, 2), {loop(dice_.between(1, 20), body)});
  }

  void peers() {
    cluster(4);
    Program body;
    Op load = op_of(OpKind::PeerLoad, dice_.between(1, 5));
    load.peer = {dice_.pick({4, 8, 16}), dice_.one_in(3) ? 7 : 0, dice_.between(0, 3)};
    Op store = load;
    store.kind = OpKind::PeerStore;
    body.push_back(dice_.one_in(3) ? store : load);
    body.push_back(op_of(OpKind::WaitLoads, dice_.between(0, 2)));
    if (dice_.one_in(2)) { body.push_back(load); }
    Op arrive = op_of(OpKind::ClusterBarrier);
    Op wait = arrive;
    if (dice_.one_in(2)) {
      arrive.barrier.form = kernel::BarrierForm::Arrive;
      wait.barrier.form = kernel::BarrierForm::Wait;
      body.push_back(arrive);
      body.push_back(op_of(OpKind::Arithmetic, dice_.between(1, 30)));
      body.push_back(wait);
    } else {
      body.push_back(arrive);
    }
    role("all", dice_.between(1, 6), {loop(dice_.between(1, 12), body)});
  }

  Dice& dice_;
  const gpu::GpuSpec& gpu_;
  kernel::Kernel k_;
};

void set_async(gpu::GpuSpec& g, Dice& dice) {
  g.mma.latency = unit::Cycles{dice.between(1, 40)};
  g.mma.share = static_cast<double>(dice.between(30, 100)) / 100;
  g.mma.operands = unit::BytesPerCycle{dice.between(16, 512) * 1000};
  g.wgmma.latency = unit::Cycles{dice.between(0, 40)};
  g.tma.latency = unit::Cycles{dice.between(0, 200)};
  g.tma.tensor_map = unit::Cycles{dice.between(0, 200)};
  g.tma.rate = unit::BytesPerCycle{dice.between(4, 100) * 1000};
  g.tma.request = static_cast<double>(dice.between(0, 40)) / 10;
  g.tma.landing = unit::BytesPerCycle{dice.between(4, 100) * 1000};
  g.mbarrier.latency = unit::Cycles{dice.between(0, 60)};
  g.cluster.pair_latency = unit::Cycles{dice.between(1, 300)};
  g.cluster.latency = unit::Cycles{dice.between(1, 300)};
  g.cluster.barrier = unit::Cycles{dice.between(0, 300)};
}

}  // namespace

scenario::Scenario random_async(std::uint64_t seed, AsyncKind kind, bool odd_gpu) {
  Dice dice(seed * 4 + static_cast<std::uint64_t>(kind) + 77);
  scenario::Scenario s;
  s.name = "random";
  do {
    s.gpu = random_gpu(dice, odd_gpu ? GpuKind::Odd : GpuKind::Part);
    if (odd_gpu) { set_async(s.gpu, dice); }
    s.kernels = {Maker(dice, s.gpu).make(kind)};
  } while (!occupancy::occupy(s.gpu, occupancy::launch_of(s.kernels[0])).launchable);
  s.simulation.seed = seed;
  s.simulation.replay = false;
  host::Item launch;
  launch.kernel = 0;
  launch.repeat = 2;
  s.timeline.items = {launch};
  s.timeline.costs = {s.gpu.launch.host_launch, s.gpu.launch.host_graph_launch,
                      s.gpu.launch.host_sync};
  return s;
}

}  // namespace wavetail::tests
