// SPDX-License-Identifier: Apache-2.0
// Rates and latencies of tensor instructions: chains of dependent ones in one warp, and SMs full of
// warps whose instructions depend on none under way. Launches, first and last instructions cancel
// between a short kernel and a long one.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "isa/tensor.h"
#include "study/protocols/all.h"
#include "study/protocols/bench.h"
#include "study/protocols/tensor.h"

namespace wavetail::study {

using kernel::Op;
using kernel::OpKind;
using kernel::TensorShape;
using kernel::TensorType;

// "m64n256k16", with anything in front.
TensorShape shape_in(std::string_view key, const std::string& text) {
  TensorShape s;
  const std::size_t begin = text.rfind('m');
  const char* at = text.data() + (begin == std::string::npos ? text.size() : begin);
  const char* end = text.data() + text.size();
  for (const auto& [letter, value] : {std::pair{'m', &s.m}, {'n', &s.n}, {'k', &s.k}}) {
    if (at == end || *at != letter) {
      throw Unmapped(fmt::format("{}={}: a shape as m64n256k16 is needed at its end", key, text));
    }
    const auto [next, error] = std::from_chars(at + 1, end, *value);
    if (error != std::errc{} || *value < 1 || *value > 1024) {
      throw Unmapped(fmt::format("{}={}: 1 to 1024 follows '{}'", key, text, letter));
    }
    at = next;
  }
  if (at != end) { throw Unmapped(fmt::format("{}={}: what follows the shape?", key, text)); }
  return s;
}

TensorType type_of(std::string_view key, std::string_view text, const gpu::GpuSpec& gpu) {
  constexpr std::array kNames{
      std::pair{"fp16", TensorType::Fp16}, std::pair{"bf16", TensorType::Bf16},
      std::pair{"tf32", TensorType::Tf32}, std::pair{"fp8", TensorType::Fp8},
      std::pair{"e4m3", TensorType::Fp8},  std::pair{"e5m2", TensorType::Fp8},
      std::pair{"int8", TensorType::Int8}, std::pair{"fp4", TensorType::Fp4},
      std::pair{"fp64", TensorType::Fp64}};
  for (const auto& [name, type] : kNames) {
    if (text != name) { continue; }
    if (isa::tensor_rate(gpu.tensor, type) > 0) { return type; }
    throw Unmapped(fmt::format("the tensor cores of {} do not take {}", gpu.name, name));
  }
  throw Unmapped(fmt::format("{}={}: unknown type", key, text));
}

namespace {

constexpr std::int64_t kTrips = 8;  // of the short kernel; the long one has twice as many
constexpr std::int64_t kPerTrip = 32;

Op run_of(OpKind kind, const TensorShape& shape, std::int64_t count, std::int64_t distance = 1) {
  Op op;
  op.kind = kind;
  op.tensor = shape;
  op.count = count;
  op.distance = distance;
  return op;
}

Op waiting(OpKind kind, std::int64_t left) {
  Op op;
  op.kind = kind;
  op.count = left;
  return op;
}

// Two kernels that differ in their trips, and what the second takes more.
struct Pair {
  scenario::Scenario scenario;
  std::function<double(const run::Happened&)> seconds;
};

template <class Body>
Pair pair_of(const gpu::GpuSpec& gpu, std::int64_t grid, std::int64_t block, Body&& body) {
  const auto make = [&](std::int64_t trips) {
    library::Listing code, inner = body();
    code.prologue(1);
    code.repeat(trips, std::move(inner));
    return library::plain_kernel(gpu, {grid, 1, 1}, block, 128, std::move(code));
  };
  std::vector<kernel::Kernel> kernels{make(kTrips), make(2 * kTrips)};
  kernels[0].name = "short";
  kernels[1].name = "long";
  return {scenario_of(gpu, std::move(kernels), {0, 1}),
          [](const run::Happened& h) { return seconds_of(h, 1) - seconds_of(h, 0); }};
}

// "fp16->fp32 dense", "int8 sparse": operands, sums and whether A is sparse.
void read_kind(Params& params, const gpu::GpuSpec& gpu, TensorShape& s) {
  std::string type = params.word("type");
  for (const auto& [suffix, sparse] : {std::pair{" dense", false}, {" sparse", true}}) {
    if (!type.ends_with(suffix)) { continue; }
    type.resize(type.size() - std::string_view(suffix).size());
    s.sparse = sparse;
  }
  const std::size_t arrow = type.find("->");
  const std::string sums = arrow == std::string::npos ? "" : type.substr(arrow + 2);
  s.type = type_of("type", type.substr(0, arrow), gpu);
  if (!sums.empty() && sums != "fp16" && sums != "fp32" && sums != "int32") {
    throw Unmapped(fmt::format("type={}: sums are fp16, fp32 or int32", params.word("type")));
  }
  s.fp16_sums = s.type == TensorType::Fp16 && sums != "fp32";
}

bool in_registers(Params& params) {
  return params.one_of("operands", std::array<std::string_view, 2>{"SS", "RS"}) == "RS";
}

// A warpgroup's groups of instructions, one of which stays under way.
Pair warpgroups(const gpu::GpuSpec& gpu, const TensorShape& s, std::int64_t sms) {
  constexpr std::int64_t kWarps = 4;
  return pair_of(gpu, sms, kWarps * gpu.sm.warp_size, [&] {
    library::Listing body;
    body.op(run_of(OpKind::Wgmma, s, kPerTrip));
    body.op(waiting(OpKind::WgmmaWait, 1));
    return body;
  });
}

Plan wgmma_interval(const gpu::GpuSpec& gpu, const TensorShape& s) {
  Pair p = warpgroups(gpu, s, 1);
  return {std::move(p.scenario), Quantity::Time, [seconds = p.seconds](const run::Happened& h) {
            return seconds(h) / (kTrips * kPerTrip);
          }};
}

void must_fit_wgmma(const TensorShape& s) {
  const std::int64_t depth = isa::wgmma_depth(s.type) * (s.sparse ? 2 : 1);
  if (s.m != 64 || s.k != depth || s.n % 8 != 0 || s.n > 256) {
    throw Unmapped(fmt::format("m{}n{}k{}: wgmma of this type is m64nNk{}", s.m, s.n, s.k, depth));
  }
}

}  // namespace

Plan mma_sync_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency", "throughput"});
  TensorShape s = shape_in("instr", params.word("instr"));
  read_kind(params, gpu, s);
  const std::int64_t depth = isa::wgmma_depth(s.type) * (s.sparse ? 2 : 1);
  if (s.m != 16 || s.n != 8 || (s.k != depth && s.k * 2 != depth)) {
    throw Unmapped(fmt::format("m{}n{}k{}: mma.sync of this type is m16n8 with k of {} or {}", s.m,
                               s.n, s.k, depth / 2, depth));
  }
  const bool latency = params.row().metric == "latency";
  constexpr std::int64_t kIndependent = 8, kWarps = 16;
  Pair p = pair_of(gpu, latency ? 1 : gpu.sms(), (latency ? 1 : kWarps) * gpu.sm.warp_size, [&] {
    library::Listing body;
    body.op(run_of(OpKind::Mma, s, kPerTrip, latency ? 1 : kIndependent));
    return body;
  });
  if (latency) {
    return {std::move(p.scenario), Quantity::Time, [seconds = p.seconds](const run::Happened& h) {
              return seconds(h) / (kTrips * kPerTrip);
            }};
  }
  const double flops = s.flops() * static_cast<double>(gpu.sms() * kWarps * kTrips * kPerTrip);
  return {std::move(p.scenario), Quantity::OpRate,
          [=, seconds = p.seconds](const run::Happened& h) { return flops / seconds(h); },
          gpu.sms()};
}

// Random operands draw more power than zeros; the clock follows where the GPU's model has that.
Plan wgmma_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency", "throughput"});
  TensorShape s = shape_in("instr", params.word("instr"));
  read_kind(params, gpu, s);
  s.a_in_registers = in_registers(params);
  s.fp16_sums = false;
  params.ignore({"data"});
  must_fit_wgmma(s);
  if (params.row().metric == "latency") { return wgmma_interval(gpu, s); }
  Pair p = warpgroups(gpu, s, gpu.sms());
  const double flops = s.flops() * static_cast<double>(gpu.sms() * kTrips * kPerTrip);
  return {std::move(p.scenario), Quantity::OpRate,
          [=, seconds = p.seconds](const run::Happened& h) { return flops / seconds(h); },
          gpu.sms()};
}

// The widest instruction of FP16, whose dense form takes 128 cycles.
Plan wgmma_sparse_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency"});
  TensorShape s{64, 256, 32, TensorType::Fp16, false};
  s.sparse = true;
  s.a_in_registers = in_registers(params);
  return wgmma_interval(gpu, s);
}

// From one instruction to the next of the thread or warpgroup that issues them.
Plan si_latency_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency"});
  const std::string instr = params.word("instr");
  TensorShape s = shape_in("instr", instr);
  s.type = TensorType::Fp16;
  if (instr.starts_with("wgmma ")) {
    must_fit_wgmma(s);
    return wgmma_interval(gpu, s);
  }
  if (!instr.starts_with("tcgen05.mma ")) {
    throw Unmapped(fmt::format("instr={}: wgmma or tcgen05.mma is known", instr));
  }
  s.ctas = s.m > 128 ? 2 : 1;
  return tcgen05_issue(gpu, s);
}

}  // namespace wavetail::study
