// SPDX-License-Identifier: Apache-2.0
#include "scenario/program.h"

#include <algorithm>

#include "base/nearest.h"
#include "isa/dpx.h"
#include "scenario/keys.h"

namespace wavetail::scenario {

namespace {

using config::At;
using config::MapReader;
using kernel::Op;
using kernel::OpKind;
using kernel::Pipe;

constexpr config::Range kCount{"1", "1000000"};
constexpr config::Range kTrips{"1", "1000000000"};

std::string entry_path(const At& at, std::size_t index) {
  return at.path + "[" + std::to_string(index) + "]";
}

// The key that says which operation this is; null with a message if there is none.
const config::Entry* operation(const At& at) {
  const auto known = config::names(operation_keys());
  if (!at.node.is_map()) {
    at.refuse("an operation is a map of one of: " + base::joined(known));
    return nullptr;
  }
  for (const config::Entry& entry : at.node.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) { return &entry; }
  }
  if (at.node.entries.empty()) {
    at.refuse("an operation is a map of one of: " + base::joined(known));
    return nullptr;
  }
  const config::Entry& first = at.node.entries.front();
  const auto near = base::nearest_word(first.key, known);
  at.diagnostics.error(first.place, "'" + at.path + "': unknown operation '" + first.key +
                                        "'; there are: " + base::joined(known) +
                                        (near ? "; did you mean '" + *near + "'?" : ""));
  return nullptr;
}

void refuse_others(const At& at, const config::Entry& main, std::string_view companion) {
  for (const config::Entry& entry : at.node.entries) {
    if (&entry != &main && entry.key != companion) {
      at.diagnostics.error(entry.place,
                           "'" + at.path + "': '" + entry.key + "' beside '" + main.key +
                               "'; an operation has one key" +
                               (companion.empty() ? "" : " and '" + std::string(companion) + "'"));
    }
  }
}

std::int64_t operations(const kernel::Program& program) {
  std::int64_t n = 0;
  for (const Op& op : program) {
    ++n;
    for (const kernel::Program& body : op.bodies) { n += operations(body); }
  }
  return n;
}

}  // namespace

kernel::Program ProgramReader::read(const At& at) const {
  kernel::Program program;
  if (!at.node.is_list() || at.node.items.empty()) {
    at.refuse("a list with at least one operation is needed");
    return program;
  }
  for (std::size_t i = 0; i < at.node.items.size(); ++i) {
    read_operation({at.node.items[i], entry_path(at, i), diagnostics}, program);
  }
  return program;
}

void ProgramReader::read_operation(const At& at, kernel::Program& out) const {
  const config::Entry* main = operation(at);
  if (main == nullptr || !take_operations(at, 1)) { return; }
  refuse_others(at, *main, main->key == "repeat" ? "body" : "");
  const At value{main->value, config::join(at.path, main->key), diagnostics};
  if (!available(value, main->key) || read_async(value, main->key, out)) { return; }
  if (main->key == "load" || main->key == "store") {
    out.push_back(
        read_memory_access(value, main->key == "load" ? OpKind::Load : OpKind::Store, *this));
  } else if (main->key == "atomic") {
    out.push_back(read_atomic(value, *this));
  } else if (main->key == "shared_load" || main->key == "shared_store") {
    out.push_back(read_shared_access(
        value, main->key == "shared_load" ? OpKind::SharedLoad : OpKind::SharedStore, *this));
  } else if (main->key == "shuffle") {
    // A shuffle is a wavefront of the load/store unit, as a load from shared memory is.
    Op op;
    op.kind = OpKind::SharedLoad;
    op.count = config::quantity<std::int64_t>(value, kCount).value_or(1);
    out.push_back(op);
  } else if (main->key == "dpx") {
    read_dpx(value, out);
  } else if (main->key == "wait_loads" || main->key == "wait_shared") {
    read_wait(value, main->key == "wait_loads" ? OpKind::WaitLoads : OpKind::WaitShared, out);
  } else if (main->key == "barrier") {
    read_barrier(value, out);
  } else if (main->key == "repeat") {
    read_repeat(at, out);
  } else if (main->key == "diverge") {
    read_diverge(value, out);
  } else {
    const Pipe pipe = main->key == "fp32"    ? Pipe::Fp32
                      : main->key == "int32" ? Pipe::Int32
                      : main->key == "fp64"  ? Pipe::Fp64
                      : main->key == "redux" ? Pipe::Redux
                                             : Pipe::Sfu;
    read_arithmetic(value, pipe, out);
  }
}

void ProgramReader::read_arithmetic(const At& at, Pipe pipe, kernel::Program& out) const {
  Op op;
  op.kind = OpKind::Arithmetic;
  op.pipe = pipe;
  op.flops_per_lane = pipe == Pipe::Fp32 || pipe == Pipe::Fp64 ? 2 : 0;
  if (!at.node.is_map() || config::is_long(at.node)) {
    op.count = config::quantity<std::int64_t>(at, kCount).value_or(1);
    out.push_back(op);
    return;
  }
  const MapReader map(at.node, at.path, arithmetic_keys(), diagnostics);
  std::int64_t flops = op.flops_per_lane;
  map.read("count", op.count, kCount);
  map.read("distance", op.distance, kCount);
  map.read("flops", flops, {"0", "1000"});
  op.flops_per_lane = static_cast<int>(flops);
  out.push_back(op);
}

void ProgramReader::read_dpx(const At& at, kernel::Program& out) const {
  const MapReader map(at.node, at.path, dpx_keys(), diagnostics);
  if (!map.has("function")) { return; }
  const auto name = config::text(map.at("function"));
  if (!name) { return; }
  const auto steps = isa::dpx_steps(*name, gpu == nullptr ? "sm_90" : gpu->architecture);
  if (!steps) {
    map.at("function")
        .complain("there is no DPX function '" + *name + "'; there are: " + isa::dpx_functions());
    return;
  }
  Op calls;
  calls.kind = OpKind::Repeat;
  map.read("count", calls.count, kCount);
  kernel::Program body;
  for (const isa::DpxStep& step : *steps) {
    Op op;
    op.pipe = step.pipe;
    op.count = step.count;
    op.distance = step.distance;
    body.push_back(std::move(op));
  }
  if (calls.count == 1) {
    std::move(body.begin(), body.end(), std::back_inserter(out));
  } else if (loops == kernel::kMaxLoopDepth) {
    at.complain("loops are nested more than " + std::to_string(kernel::kMaxLoopDepth) +
                " deep: a count is one more");
  } else {
    calls.bodies.push_back(std::move(body));
    out.push_back(std::move(calls));
  }
}

void ProgramReader::read_wait(const At& at, OpKind kind, kernel::Program& out) const {
  Op op;
  op.kind = kind;
  op.count = config::quantity<std::int64_t>(at, {"0", "1000000"}).value_or(0);
  out.push_back(op);
}

void ProgramReader::read_barrier(const At& at, kernel::Program& out) const {
  const std::vector<std::string> scopes{"block"};
  if (!config::choice(at, scopes)) { return; }
  if (divergent) {
    at.complain(
        "a block barrier inside 'diverge' is not reached by all warps together; put it behind the "
        "branch");
  }
  Op op;
  op.kind = OpKind::BlockBarrier;
  out.push_back(op);
}

// Trips that depend on the block's index.
void ProgramReader::read_trips(const At& at, Op& op) {
  const MapReader map(at.node, at.path, trips_keys(), at.diagnostics);
  constexpr config::Range kAny{"-1000000000000", "1000000000000"};
  op.over = kernel::Over::Index;
  map.read("most", op.count, kTrips);
  map.read("least", op.trips.least, {"0", std::to_string(op.count)});
  map.read("offset", op.trips.offset, kAny);
  map.read("divisor", op.trips.divisor, {"1", "1000000000"});
  if (!map.has("block")) { return; }
  const At block = map.at("block");
  std::int64_t* const axes[] = {&op.trips.block_x, &op.trips.block_y, &op.trips.block_z};
  if (!block.node.is_list()) {
    op.trips.block_x = config::quantity<std::int64_t>(block, kAny).value_or(0);
    return;
  }
  if (block.node.items.empty() || block.node.items.size() > std::size(axes)) {
    block.complain("one to three counts are needed: [x, y, z]");
    return;
  }
  for (std::size_t i = 0; i < block.node.items.size(); ++i) {
    const At entry{block.node.items[i], entry_path(block, i), at.diagnostics};
    *axes[i] = config::quantity<std::int64_t>(entry, kAny).value_or(0);
  }
}

void ProgramReader::read_repeat(const At& at, kernel::Program& out) const {
  Op op;
  op.kind = OpKind::Repeat;
  const config::Node* body = at.node.find("body");
  const At often{*at.node.find("repeat"), config::join(at.path, "repeat"), diagnostics};
  if (often.node.is_map() && !config::is_long(often.node)) {
    read_trips(often, op);
  } else {
    op.count = config::quantity<std::int64_t>(often, kTrips).value_or(1);
  }
  if (body == nullptr) {
    at.complain("'repeat' needs 'body' beside it: the list of operations that is repeated");
    return;
  }
  if (loops == kernel::kMaxLoopDepth) {
    at.complain("loops are nested more than " + std::to_string(kernel::kMaxLoopDepth) + " deep");
    return;
  }
  ProgramReader inner = *this;
  ++inner.loops;
  inner.trips.push_back(op.count);
  op.bodies.push_back(inner.read({*body, config::join(at.path, "body"), diagnostics}));
  out.push_back(std::move(op));
}

void ProgramReader::read_diverge(const At& at, kernel::Program& out) const {
  const MapReader map(at.node, at.path, diverge_keys(), diagnostics);
  Op op;
  op.kind = OpKind::Diverge;
  const std::vector<std::string> kinds{"lane", "warp", "rank"};
  if (map.has("by")) {
    const auto by = config::choice(map.at("by"), kinds).value_or(0);
    op.diverge_by = by == 2   ? kernel::DivergeBy::Rank
                    : by == 1 ? kernel::DivergeBy::Warp
                              : kernel::DivergeBy::Lane;
  }
  const bool uniform = map.has("ways") && map.has("body") && !map.has("paths");
  const bool listed = map.has("paths") && !map.has("ways") && !map.has("body");
  if (!at.node.is_map() || !(uniform || listed)) {
    at.complain("'ways' and 'body' are needed, or 'paths' alone");
    return;
  }
  if (uniform) {
    read_ways(map, op);
  } else {
    read_paths(map.at("paths"), op);
  }
  if (!op.bodies.empty()) { out.push_back(std::move(op)); }
}

bool ProgramReader::can_diverge(const At& at, kernel::DivergeBy by) const {
  if (most_ways(by) >= 2) { return true; }
  const std::string what = by == kernel::DivergeBy::Lane   ? "lane"
                           : by == kernel::DivergeBy::Warp ? "warp"
                                                           : "block of a cluster";
  at.complain("only one " + what + " comes here: nothing can diverge");
  return false;
}

// `ways` like branches.
void ProgramReader::read_ways(const MapReader& map, Op& op) const {
  std::int64_t count = 0;
  if (!can_diverge(map.at("ways"), op.diverge_by)) { return; }
  if (!map.read("ways", count, {"2", std::to_string(most_ways(op.diverge_by))})) { return; }
  const kernel::Program body = inside_branch(count, op.diverge_by).read(map.at("body"));
  if (take_operations(map.at("ways"), (count - 1) * operations(body))) {
    op.bodies.assign(static_cast<std::size_t>(count), body);
  }
}

void ProgramReader::read_paths(const At& at, Op& op) const {
  const std::size_t count = at.node.items.size();
  if (!can_diverge(at, op.diverge_by)) { return; }
  const std::int64_t most = most_ways(op.diverge_by);
  if (!at.node.is_list() || count < 2 || static_cast<std::int64_t>(count) > most) {
    at.complain("a list of 2 to " + std::to_string(most) + " programs is needed");
    return;
  }
  const ProgramReader inner = inside_branch(static_cast<std::int64_t>(count), op.diverge_by);
  for (std::size_t i = 0; i < count; ++i) {
    const At path{at.node.items[i], entry_path(at, i), diagnostics};
    const bool idle = path.node.is_list() && path.node.items.empty();
    op.bodies.push_back(idle ? kernel::Program{} : inner.read(path));
  }
}

// A branch cannot split further than to single lanes, warps or blocks of a cluster.
std::int64_t ProgramReader::most_ways(kernel::DivergeBy by) const {
  if (by == kernel::DivergeBy::Rank) { return kernel::volume(kernel.cluster); }
  return by == kernel::DivergeBy::Lane ? warp_size / lane_ways : 64 / warp_ways;
}

// All warps of a block take the way of its rank.
ProgramReader ProgramReader::inside_branch(std::int64_t ways, kernel::DivergeBy by) const {
  ProgramReader inner = *this;
  if (by == kernel::DivergeBy::Rank) { return inner; }
  inner.divergent = true;
  (by == kernel::DivergeBy::Lane ? inner.lane_ways : inner.warp_ways) *= ways;
  return inner;
}

bool ProgramReader::take_operations(const At& at, std::int64_t count) const {
  if (operations_left < 0) { return false; }  // said before
  operations_left -= count;
  if (operations_left < 0) {
    at.complain("with its branches laid out the kernel has more than " +
                std::to_string(kMostOperations) + " operations");
  }
  return operations_left >= 0;
}

}  // namespace wavetail::scenario
