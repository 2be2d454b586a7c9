// SPDX-License-Identifier: Apache-2.0
#include "sm/code.h"

#include <algorithm>
#include <bit>

#include "isa/availability.h"
#include "sm/async_code.h"
#include "sm/walk.h"

namespace wavetail::sm {

using kernel::Op;
using kernel::OpKind;
using kernel::Program;

namespace {

// Operations on the busiest address of each line: one, or as many as lanes have that address.
void count_operations(std::span<const std::int64_t> offsets, std::int64_t misalignment,
                      bool aggregate, memory::Shape& shape) {
  std::vector<std::int64_t> sorted(offsets.begin(), offsets.end());
  std::sort(sorted.begin(), sorted.end());
  shape.operations.fill(1);
  int alike = 0;
  for (std::size_t i = 0; i < sorted.size() && !aggregate; ++i) {
    alike = i > 0 && sorted[i] == sorted[i - 1] ? alike + 1 : 1;
    const std::int64_t line = (misalignment + sorted[i]) / memory::kLineBytes;
    const auto end = shape.delta.begin() + shape.lines;
    const auto at = static_cast<std::size_t>(std::find(shape.delta.begin(), end, line) -
                                             shape.delta.begin());
    if (at < static_cast<std::size_t>(shape.lines)) {
      shape.operations[at] = std::max(shape.operations[at], static_cast<std::uint8_t>(alike));
    }
  }
}

}  // namespace

CompiledAccess::Request CompiledAccess::request_of(std::span<const std::int64_t> offsets,
                                                   std::int64_t address) const {
  constexpr std::int64_t kThousandths = 1000;
  std::array<std::int64_t, memory::kMaxLines> lanes;
  lanes.fill(memory::kNoLane);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::int64_t landing = static_cast<std::int64_t>(i) * width;
    lanes[static_cast<std::size_t>(first_lane) + i] = lands_in_order ? landing
                                                                     : address + offsets[i];
  }
  Request r;
  r.shape = memory::coalesce(offsets, width, static_cast<int>(address % memory::kLineBytes));
  r.banks = memory::bank_access(lanes, width, merge_pairs);
  const std::int64_t moved = std::int64_t{r.banks.wavefronts} * memory::kWavefrontBytes;
  r.cycles = std::max<std::int64_t>(1, (moved * kThousandths + unit_bytes - 1) / unit_bytes);
  if (atomic) { count_operations(offsets, address % memory::kLineBytes, aggregate, r.shape); }
  if (unit_lanes > 0) {
    const auto active = static_cast<std::int64_t>(offsets.size());
    r.cycles = std::max(r.cycles, (active + unit_lanes - 1) / unit_lanes);
  }
  return r;
}

const CompiledAccess::Request& CompiledAccess::request(int misalignment) const {
  std::int16_t& known = known_[static_cast<std::size_t>(misalignment)];
  if (known == 0) {
    requests_.push_back(request_of(lane_offsets, misalignment));
    known = static_cast<std::int16_t>(requests_.size());
  }
  return requests_[static_cast<std::size_t>(known - 1)];
}

namespace {

const gpu::PipeSpec& pipe_spec(const gpu::PipesSpec& pipes, kernel::Pipe pipe) {
  switch (pipe) {
    case kernel::Pipe::Fp32: return pipes.fp32;
    case kernel::Pipe::Int32: return pipes.int32;
    case kernel::Pipe::Fp64: return pipes.fp64;
    case kernel::Pipe::Sfu: return pipes.sfu;
    case kernel::Pipe::Redux: return pipes.redux;
  }
  return pipes.fp32;
}

class Compiler {
 public:
  // `lanes`: threads of the warp.
  Compiler(const kernel::Kernel& kernel, const kernel::Role& role, const gpu::GpuSpec& gpu,
           std::int64_t lanes)
      : kernel_(kernel), gpu_(gpu) {
    at_.grid = kernel.grid;
    at_.blocks = kernel::volume(kernel.grid);
    at_.warps = role.warps;
    at_.warp_size = static_cast<int>(gpu.sm.warp_size);
    at_.lanes = static_cast<int>(lanes);
  }

  Code run(const Program& program) {
    block(program);
    emit(InstrKind::Exit);
    const std::int64_t most = loads_ + most_left_;
    if (waits_in_every_loop_ && most < kMaxScoreboard) {
      code_.scoreboard = std::bit_ceil(static_cast<std::uint32_t>(most + 1));
    }
    return std::move(code_);
  }

 private:
  Instr& emit(InstrKind kind) {
    Instr i;
    i.kind = kind;
    i.lanes = static_cast<std::int16_t>(at_.lanes);
    code_.instrs.push_back(i);
    return code_.instrs.back();
  }

  [[nodiscard]] std::int32_t here() const { return static_cast<std::int32_t>(code_.instrs.size()); }

  void block(const Program& program) {
    for (const Op& op : program) {
      one(op);
      code_.operations.resize(
          code_.instrs.size(),
          std::string(op.access.atomic ? "atomic" : isa::operation_name(op.kind)));
    }
  }

  void one(const Op& op) {
    switch (op.kind) {
      case OpKind::Arithmetic: arithmetic(op); break;
      case OpKind::Load: memory(op, InstrKind::Load); break;
      case OpKind::Store: memory(op, InstrKind::Store); break;
      case OpKind::WaitLoads:
        emit(InstrKind::WaitLoads).count = op.count;
        code_.partial_waits = code_.partial_waits || op.count > 0;
        most_left_ = std::max(most_left_, op.count);
        break;
      case OpKind::SharedLoad: shared(op, InstrKind::SharedLoad); break;
      case OpKind::SharedStore: shared(op, InstrKind::SharedStore); break;
      case OpKind::WaitShared: emit(InstrKind::WaitShared).count = op.count; break;
      case OpKind::BlockBarrier: emit(InstrKind::Barrier); break;
      case OpKind::Repeat: repeat(op); break;
      case OpKind::Diverge:
        switch (op.diverge_by) {
          case kernel::DivergeBy::Lane: lanes_diverge(op); break;
          case kernel::DivergeBy::Warp: warps_diverge(op, InstrKind::SkipUnless); break;
          case kernel::DivergeBy::Portion: warps_diverge(op, InstrKind::SkipPortion); break;
          case kernel::DivergeBy::Rank: warps_diverge(op, InstrKind::SkipRank); break;
        }
        break;
      case OpKind::CpAsync: memory(op, InstrKind::CpAsync).mbarrier = op.mbarrier; break;
      default: asynchronous(op); break;
    }
  }

  void asynchronous(const Op& op) {
    Instr i;
    i.kind = async_kind(op.kind);
    i.count = op.count;
    if (i.kind == InstrKind::PeerLoad) { loads_ += op.count; }
    if (i.kind == InstrKind::Mma) {
      const std::int64_t turn = op.count < kLongMmaRun ? kMmaTurn : kLongMmaTurn;
      code_.longest_turn = std::min(code_.longest_turn, turn);
    }
    i.mbarrier = op.mbarrier;
    i.lanes = static_cast<std::int16_t>(at_.lanes);
    compile_async(op, {kernel_, gpu_, at_}, i, code_);
    code_.instrs.push_back(i);
  }

  void arithmetic(const Op& op) {
    const gpu::PipeSpec& pipe = pipe_spec(gpu_.pipes, op.pipe);
    Instr& i = emit(InstrKind::Arithmetic);
    i.pipe = op.pipe;
    i.count = op.count;
    i.flops_per_lane = op.flops_per_lane;
    i.beside = op.beside;
    i.pipe_cycles = static_cast<std::int32_t>(
        std::max<std::int64_t>(1, gpu_.sm.warp_size / std::max<std::int64_t>(1, pipe.lanes)));
    i.crossing = static_cast<std::int32_t>(gpu_.pipes.crossing.count());
    i.latency = static_cast<std::int32_t>(pipe.latency.count());
    const std::int64_t dependent = (pipe.latency.count() + op.distance - 1) / op.distance;
    i.interval = static_cast<std::int32_t>(std::max<std::int64_t>(i.pipe_cycles, dependent));
  }

  Instr& memory(const Op& op, InstrKind kind) {
    const auto array = static_cast<std::size_t>(op.access.array);
    code_.accesses.push_back(
        resolve(op.access, op.count, at_, kernel_.arrays[array].bytes.count()));
    if (op.access.seed == 0) { code_.accesses.back().seed = code_.accesses.size(); }
    code_.accesses.back().unit_bytes = gpu_.l1.bandwidth.count();
    code_.accesses.back().unit_lanes = gpu_.address_unit.lanes;
    code_.accesses.back().merge_pairs = kind != InstrKind::Store &&
                                        memory::merges_pairs(gpu_.architecture);
    code_.accesses.back().lands_in_order = kind == InstrKind::CpAsync && op.access.bypass_l1;
    if (kind == InstrKind::Load) { loads_ += op.count; }
    Instr& i = emit(kind);
    i.count = op.count;
    i.access = static_cast<std::int32_t>(code_.accesses.size() - 1);
    i.lanes = static_cast<std::int16_t>(code_.accesses.back().lane_offsets.size());
    return i;
  }

  void shared(const Op& op, InstrKind kind) {
    kernel::SharedAccess access = op.shared;
    access.loop.resize(std::min(access.loop.size(), at_.trips.size()));
    if (access.seed == 0) { access.seed = code_.shared.size() + 1; }
    code_.shared.emplace_back(access, kind == InstrKind::SharedStore, at_.first_lane, at_.lanes,
                              gpu_);
    Instr& i = emit(kind);
    i.count = op.count;
    i.access = static_cast<std::int32_t>(code_.shared.size() - 1);
    i.latency = static_cast<std::int32_t>(gpu_.shared_memory.latency.count());
    i.lanes = static_cast<std::int16_t>(code_.shared.back().active_lanes());
  }

  void repeat(const Op& op) {
    const auto depth = static_cast<std::uint8_t>(at_.trips.size());
    const std::int32_t begin = here();
    begin_loop(op, depth);
    const std::int32_t start = here();
    at_.trips.push_back(op.count);
    const std::int64_t loads_before = loads_;
    const int inside = op.over == kernel::Over::Tiles ? 0 : 1;
    loops_ += inside;
    block(op.bodies.front());
    loops_ -= inside;
    at_.trips.pop_back();
    const bool waits = std::any_of(op.bodies.front().begin(), op.bodies.front().end(),
                                   [](const Op& o) { return o.kind == OpKind::WaitLoads; });
    waits_in_every_loop_ = waits_in_every_loop_ && (waits || loads_ == loads_before);
    Instr& end = emit(op.over == kernel::Over::Count   ? InstrKind::LoopEnd
                      : op.over == kernel::Over::Tiles ? InstrKind::TilesEnd
                      : op.over == kernel::Over::Steps ? InstrKind::StepsEnd
                                                       : InstrKind::IndexEnd);
    end.depth = depth;
    end.count = op.count;
    end.target = start;
    if (is_long(op)) {
      end.counts_trips = true;
      code_.long_loops.push_back({start, here() - 1, depth});
    }
    if (begin == start) { return; }
    end.object = code_.instrs[static_cast<std::size_t>(begin)].object;
    code_.instrs[static_cast<std::size_t>(begin)].target = here();
  }

  [[nodiscard]] bool is_long(const Op& op) const {
    constexpr std::int64_t kMany = 24;
    if (op.over == kernel::Over::Tiles || loops_ > 0) { return false; }
    return (op.over == kernel::Over::Steps ? kernel_.shares->steps : op.count) >= kMany;
  }

  // A loop whose trips differ from block to block may have none.
  void begin_loop(const Op& op, std::uint8_t depth) {
    if (op.over == kernel::Over::Count) { return; }
    if (op.over == kernel::Over::Index) {
      Instr& begin = emit(InstrKind::IndexBegin);
      begin.depth = depth;
      begin.count = op.count;
      begin.object = static_cast<std::int32_t>(code_.trips.size());
      code_.trips.push_back(op.trips);
      return;
    }
    code_.shares = true;
    Instr& begin = emit(op.over == kernel::Over::Tiles ? InstrKind::TilesBegin
                                                       : InstrKind::StepsBegin);
    begin.depth = depth;
    begin.count = op.skip;
  }

  // Every warp runs every way in turn with a share of its lanes.
  void lanes_diverge(const Op& op) {
    const Surroundings outside = at_;
    const int ways = static_cast<int>(op.bodies.size());
    for (int way = 0; way < ways; ++way) {
      const int from = outside.lanes * way / ways;
      const int to = outside.lanes * (way + 1) / ways;
      if (from == to) { continue; }
      at_.first_lane = outside.first_lane + from;
      at_.lanes = to - from;
      Instr& branch = emit(InstrKind::Branch);
      branch.latency = static_cast<std::int32_t>(gpu_.pipes.int32.latency.count());
      block(op.bodies[static_cast<std::size_t>(way)]);
    }
    at_ = outside;
  }

  // Warp i runs way i modulo the number of ways, with all its lanes; or all warps of a block the
  // way of its portion.
  void warps_diverge(const Op& op, InstrKind kind) {
    for (std::size_t way = 0; way < op.bodies.size(); ++way) {
      const std::int32_t skip = here();
      emit(kind);
      block(op.bodies[way]);
      Instr& s = code_.instrs[static_cast<std::size_t>(skip)];
      s.ways = static_cast<std::int16_t>(op.bodies.size());
      s.way = static_cast<std::int16_t>(way);
      s.target = here();
    }
  }

  const kernel::Kernel& kernel_;
  const gpu::GpuSpec& gpu_;
  Surroundings at_;
  Code code_;
  // For the size of the scoreboard: loads in the listing, the most that a wait leaves outstanding.
  std::int64_t loads_ = 0, most_left_ = 0;
  bool waits_in_every_loop_ = true;
  int loops_ = 0;  // around this place, but for that over tiles
};

}  // namespace

std::vector<Code> compile(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu) {
  std::vector<Code> codes;
  for (const kernel::Role& role : kernel.roles) {
    codes.push_back(Compiler(kernel, role, gpu, gpu.sm.warp_size).run(role.program));
  }
  const std::int64_t rest = kernel.block % gpu.sm.warp_size;
  if (rest != 0 && !kernel.roles.empty()) {
    const kernel::Role& last = kernel.roles.back();
    codes.push_back(Compiler(kernel, last, gpu, rest).run(last.program));
  }
  finish_async(kernel, codes);
  return codes;
}

}  // namespace wavetail::sm
