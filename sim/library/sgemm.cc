// SPDX-License-Identifier: Apache-2.0
// sgemm: the template's parameters, and the tile where a scenario leaves it open.
#include "library/sgemm.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "isa/availability.h"
#include "library/all.h"
#include "occupancy/occupancy.h"

namespace wavetail::library {

namespace sgemm {

std::int64_t Plan::warps_m() const {
  const std::int64_t each = warps() / slices;
  std::int64_t best = 1;
  double best_sides = 0;
  for (std::int64_t along = 1; along <= each; along *= 2) {
    const double part_m = static_cast<double>(tile_m) / static_cast<double>(along);
    const double part_n = static_cast<double>(tile_n * along) / static_cast<double>(each);
    if (part_m < 4 || part_n < 4) { continue; }
    const double sides = part_m + part_n;
    if (best_sides == 0 || sides < best_sides) {
      best = along;
      best_sides = sides;
    }
  }
  return best;
}

// Sums, two sets of fragments, addresses; a copy through registers also what it moves.
std::int64_t Plan::registers() const {
  const std::int64_t part = tile_m / warps_m() / 8 + tile_n / warps_n() / 4;
  const std::int64_t moved = async ? 0 : stage_bytes() / threads / 4;
  return std::min<std::int64_t>(255, round_up(patch() + 2 * part + 24 + moved, 8));
}

namespace {

struct Candidate {
  std::int64_t m, n, threads;
};

// Of cuBLAS's FP32 kernels (profiles of A100 and H100, github sitar-lab/NeuSight).
constexpr std::array kCandidates{
    Candidate{256, 128, 256}, Candidate{128, 256, 256}, Candidate{256, 64, 128},
    Candidate{128, 128, 128}, Candidate{128, 64, 128},  Candidate{64, 128, 128},
    Candidate{64, 64, 128},   Candidate{128, 32, 128},  Candidate{32, 128, 128},
    Candidate{64, 32, 64},    Candidate{32, 32, 64}};
constexpr std::array<std::int64_t, 11> kSplits{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64};

std::int64_t capacity(const Plan& p, const gpu::GpuSpec& gpu) {
  const auto fit = occupancy::occupy(gpu,
                                     {.block = p.threads,
                                      .registers = p.registers(),
                                      .shared_memory = unit::Bytes{p.stages * p.stage_bytes()}});
  return std::max<std::int64_t>(1, fit.capacity());
}

// Cycles of the grid: rounds of blocks, each step of which takes the FP32 pipe or shared memory,
// whichever is busier; split parts are written and read once more.
double cycles(const Plan& p, const gpu::GpuSpec& gpu) {
  const std::int64_t at_once = capacity(p, gpu), sms = gpu.sms();
  const std::int64_t rounds = p.tiles() / at_once, rest = p.tiles() % at_once;
  const auto lanes = static_cast<double>(gpu.pipes.fp32.lanes * gpu.sm.schedulers);
  const double part_m = static_cast<double>(p.tile_m) / static_cast<double>(p.warps_m());
  const double part_n = static_cast<double>(p.tile_n) / static_cast<double>(p.warps_n());
  const double issue = static_cast<double>(p.tile_m * p.tile_n) / lanes *
                       (1 + (part_m / 8 + part_n / 4) / static_cast<double>(4 * p.patch()));
  const double wavefronts = static_cast<double>(p.warps()) * (part_m / 8 + part_n / 4) +
                            static_cast<double>(p.tile_m + p.tile_n) / 8;
  const double step = static_cast<double>(p.tile_k) * std::max(issue, wavefronts) + 30;
  const double block = static_cast<double>(p.steps()) * step + 2000;
  const double blocks = static_cast<double>(rounds * ceil_div(at_once, sms) + ceil_div(rest, sms));
  const double split = p.split == 1 ? 0
                                    : 3000 + static_cast<double>(p.m * p.n * p.batch * p.split) *
                                                 8 / static_cast<double>(16 * sms);
  return blocks * block + split;
}

Parameter counts(std::string_view name, std::int64_t high, std::size_t most,
                 std::string_view sentence) {
  return {name, ParameterKind::Counts, false, 1, high, {}, {}, sentence, most};
}

std::vector<Mistake> check(const Plan& p, const gpu::GpuSpec& gpu) {
  const auto shown = fmt::format("{}x{}x{}", p.tile_m, p.tile_n, p.tile_k);
  const auto power = [](std::int64_t n) { return (n & (n - 1)) == 0; };
  if (!power(p.tile_m) || !power(p.tile_n) || !power(p.tile_k) || p.tile_m < 16 || p.tile_n < 16 ||
      p.tile_k < 4) {
    return {{"tile", fmt::format("is {}; sides are powers of two from 16 on, steps of K from 4 on",
                                 shown)}};
  }
  const std::int64_t warps = p.threads / gpu.sm.warp_size;
  if (p.threads % gpu.sm.warp_size != 0 || !power(warps) || warps % p.slices != 0) {
    return {{"threads", fmt::format("is {}; a power of two of whole warps is needed, a multiple of "
                                    "the {} slices",
                                    p.threads, p.slices)}};
  }
  if (p.patch() < 1 || p.patch() > 200) {
    return {{"threads", fmt::format("is {}; each would hold {} sums of a tile of {}: 1 to 200",
                                    p.threads, p.patch(), shown)}};
  }
  if (p.tile_k % p.slices != 0) {
    return {{"slices",
             fmt::format("is {}; they must divide the {} of a step along K", p.slices, p.tile_k)}};
  }
  const std::int64_t bytes = p.stages * p.stage_bytes();
  if (bytes > gpu.sm.shared_memory_per_block.count()) {
    return {{"stages", fmt::format("is {}; they take {} B, a block has {} B of shared memory",
                                   p.stages, bytes, gpu.sm.shared_memory_per_block.count())}};
  }
  if (p.split > 1 && p.batch > 1) {
    return {{"split_k", "is for a single product; there is a batch"}};
  }
  return {};
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  Plan p;
  p.m = v.number("m");
  p.n = v.number("n");
  p.k = v.number("k");
  p.batch = v.number("batch");
  p.b_k_major = v.word("b_layout") == "nk";
  p.async = !isa::lacks("cp_async", gpu.architecture);
  p.stages = v.number_or("stages", p.async ? 3 : 2);
  p.slices = v.number("slices");
  p.split = v.number_or("split_k", 1);
  if (v.has("tile")) {
    const auto tile = v.list_or("tile", {0, 0, 8 * p.slices});
    p.tile_m = tile[0];
    p.tile_n = tile[1];
    p.tile_k = tile[2];
    p.threads = v.number_or(
        "threads", std::clamp<std::int64_t>(p.tile_m * p.tile_n / 128 * p.slices, 64, 256));
  } else {
    if (v.has("threads") || p.slices > 1) {
      return {{v.has("threads") ? "threads" : "slices", "needs a tile beside it"}};
    }
    choose(p, gpu, !v.has("split_k"));
  }
  if (auto mistakes = check(p, gpu); !mistakes.empty()) { return mistakes; }
  out.push_back(main_kernel(p, gpu, v.array("x"), v.array("weights"), v.array("y")));
  if (p.split > 1) { out.push_back(sum_of_parts(p, gpu, v.array("y"))); }
  return {};
}

}  // namespace

// As gemm's: the parts of K one after the other, four elements per thread.
kernel::Kernel sum_of_parts(const Plan& p, const gpu::GpuSpec& gpu, const std::string& y) {
  constexpr std::int64_t kThreads = 256;
  const std::int64_t bytes = p.m * p.n * 4, tile = kThreads * 16;
  Listing code;
  code.prologue(2);
  code.load({.array = 0,
             .count = p.split,
             .strides = {.block_x = tile, .warp = gpu.sm.warp_size * 16, .count = bytes},
             .streaming = true});
  code.wait(0);
  code.fp32(p.split * 4, 4, 1);
  code.store({.array = 1, .strides = {.block_x = tile, .warp = gpu.sm.warp_size * 16}});
  kernel::Kernel k = plain_kernel(gpu, {ceil_div(bytes, tile), 1, 1}, kThreads,
                                  round_up(24 + 4 * p.split, 8), std::move(code));
  k.name = "reduce";
  k.arrays = {{".workspace", unit::Bytes{round_up(bytes * p.split, 512)}, false},
              {y, unit::Bytes{round_up(bytes, 512)}, false}};
  k.compulsory_read = unit::Bytes{bytes * p.split};
  k.compulsory_write = unit::Bytes{bytes};
  k.flops = static_cast<double>(p.m * p.n * p.split);
  k.note = fmt::format("sums {} parts", p.split);
  return k;
}

void choose(Plan& plan, const gpu::GpuSpec& gpu, bool split_too) {
  double least = 0;
  Plan best = plan;
  for (const Candidate& c : kCandidates) {
    for (const std::int64_t split : kSplits) {
      Plan p = plan;
      p.tile_m = c.m;
      p.tile_n = c.n;
      p.threads = c.threads;
      if (split_too) {
        if (split > 1 && (p.batch > 1 || ceil_div(p.k, p.tile_k) < 16 * split)) { continue; }
        p.split = split;
      } else if (split > 1) {
        continue;
      }
      const double estimate = cycles(p, gpu);
      if (least == 0 || estimate < least) {
        least = estimate;
        best = p;
      }
    }
  }
  plan = best;
  plan.why = fmt::format("least of {} tiles", kCandidates.size());
}

}  // namespace sgemm

Template sgemm_template() {
  constexpr std::int64_t kMost = 1 << 20;
  return {"sgemm",
          "matrix times matrix in FP32 without tensor cores",
          {required_count("m", 1, kMost, "rows of A and D"),
           required_count("n", 1, kMost, "columns of B and D"),
           required_count("k", 1, kMost, "columns of A, rows of B"),
           count_parameter("batch", 1, kMost, "1", "products"),
           sgemm::counts("tile", 256, 3, "[m, n, k] of a block's tile; chosen if absent"),
           count_parameter("threads", 32, 1024, {}, "per block; 128 sums each if absent"),
           count_parameter("slices", 1, 8, "1",
                           "groups of warps that share out the steps of K and sum up at the end"),
           count_parameter("stages", 1, 16, {},
                           "of K in shared memory; 3 behind cp.async, 2 without it if absent"),
           count_parameter("split_k", 1, 64, {},
                           "parts of K for blocks of their own, summed by NAME.reduce; chosen with "
                           "the tile if absent"),
           {"b_layout",
            ParameterKind::Choice,
            false,
            0,
            0,
            "nk",
            {"kn", "nk"},
            "B row-major [k, n], or K-major [n, k]"},
           array_parameter("x", "A"),
           array_parameter("weights", "B"),
           array_parameter("y", "D")},
          &sgemm::make,
          {{"m", "k", "batch"}, {"k", "n", "batch"}, {"m", "n", "batch"}}};
}

}  // namespace wavetail::library
