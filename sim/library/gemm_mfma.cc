// SPDX-License-Identifier: Apache-2.0
// The way of AMD's CDNA: wavefronts copy a step of K through their registers to shared memory
// (LDS), read fragments from there and multiply with v_mfma. The next step's loads are under way
// while one is multiplied; with room for two steps in shared memory one barrier per step is enough.
// Tiles and wavefronts are those of hipBLASLt's and HipKittens' kernels (github
// HazyResearch/HipKittens).
#include <algorithm>

#include <fmt/format.h>

#include "isa/availability.h"
#include "isa/tensor.h"
#include "library/gemm.h"
#include "occupancy/occupancy.h"

namespace wavetail::library::gemm {

namespace {

using kernel::OpKind;

constexpr std::int64_t kStepBytes = 128;  // of a row
constexpr std::int64_t kSide = 32;        // of a v_mfma's block

struct Way {
  std::int64_t m = 0, n = 0, warps = 0, along_m = 0;
  std::int64_t buffers = 1;  // steps in shared memory
  std::int64_t per_sm = 1, steps = 0, tiles = 0;

  [[nodiscard]] std::int64_t rows() const { return m / along_m; }  // of a wavefront

  [[nodiscard]] std::int64_t columns() const { return n / (warps / along_m); }

  [[nodiscard]] std::int64_t step_bytes() const { return (m + n) * kStepBytes; }
};

constexpr Way kWays[] = {{256, 256, 8, 2}, {256, 128, 8, 4}, {128, 256, 8, 2}, {128, 128, 4, 2},
                         {128, 64, 4, 2},  {64, 128, 4, 1},  {64, 64, 4, 2}};

// Accumulators, fragments of a slice, a step's loads.
std::int64_t registers_of(const Way& w, std::int64_t lanes) {
  const std::int64_t sums = w.rows() * w.columns() / lanes;
  const std::int64_t staged = w.step_bytes() / (w.warps * lanes * 4);
  return std::min<std::int64_t>(255, round_up(sums + staged + 40, 8));
}

double mfma_cycles(const Way& w, const Shape& s, const gpu::GpuSpec& gpu) {
  const std::int64_t depth = isa::wgmma_depth(s.type);
  const auto cost = isa::mfma_cost(gpu, {kSide, kSide, depth, s.type, false});
  const std::int64_t each = w.m / kSide * (w.n / kSide) * (kStepBytes / s.element / depth);
  return static_cast<double>(each * cost.pipe) /
         static_cast<double>(isa::kThousandths * gpu.sm.schedulers);
}

// Rounds of blocks, each step the longer of products and copies.
double cycles_of(const Way& w, const Shape& s, const gpu::GpuSpec& gpu) {
  const double in = unit::bytes_per_cycle(gpu.crossbar.ingress) *
                    static_cast<double>(gpu.clock.l2.count()) /
                    static_cast<double>(gpu.sm_clock().count());
  const double step = std::max(mfma_cycles(w, s, gpu), static_cast<double>(w.step_bytes()) / in);
  const double out = static_cast<double>(w.m * w.n * s.out_element) /
                     unit::bytes_per_cycle(gpu.crossbar.egress);
  constexpr double kBetween = 200;  // barriers and the first fragments of a step, a block alone
  const std::int64_t rounds = ceil_div(w.tiles, gpu.sms() * w.per_sm);
  return static_cast<double>(rounds * w.per_sm) *
         (static_cast<double>(w.steps) * (step + kBetween / static_cast<double>(w.per_sm)) + out);
}

std::optional<Way> choose(const Shape& s, const gpu::GpuSpec& gpu) {
  std::optional<Way> best;
  double least = 0;
  for (Way w : kWays) {
    w.steps = ceil_div(s.k * s.element, kStepBytes);
    w.tiles = ceil_div(s.m, w.m) * ceil_div(s.n, w.n);
    w.buffers = 2 * w.step_bytes() <= gpu.sm.shared_memory_per_block.count() ? 2 : 1;
    const auto fit = occupancy::occupy(gpu,
                                       {.block = w.warps * gpu.sm.warp_size,
                                        .registers = registers_of(w, gpu.sm.warp_size),
                                        .shared_memory = unit::Bytes{w.buffers * w.step_bytes()},
                                        .grid = w.tiles});
    if (!fit.launchable) { continue; }
    w.per_sm = std::max<std::int64_t>(1, fit.blocks_per_sm);
    const double cycles = cycles_of(w, s, gpu);
    if (!best || cycles < least) {
      least = cycles;
      best = w;
    }
  }
  return best;
}

// Rows of 128 B, eight lanes each.
void copy_in(Listing& code, const Way& w, const Shape& s, bool is_a, std::int64_t first,
             std::int64_t lanes) {
  constexpr std::int64_t kLanesPerRow = kStepBytes / 16;
  const std::int64_t rows = is_a ? w.m : w.n, at_once = lanes / kLanesPerRow;
  const std::int64_t pitch = s.k * s.element, count = ceil_div(rows, at_once * w.warps);
  kernel::Op op = simple(OpKind::Load, count);
  op.access.array = is_a ? kA : kB;
  op.access.width = 16;
  op.access.pattern = kernel::Pattern::Listed;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    op.access.offsets.push_back(lane / kLanesPerRow * pitch + lane % kLanesPerRow * 16);
  }
  op.access.bypass_l1 = true;
  op.access.walk = kernel::WalkKind::Strides;
  kernel::Strides& t = op.access.strides;
  (is_a ? t.block_y : t.block_x) = rows * pitch;
  t.warp = count * at_once * pitch;
  t.count = at_once * pitch;
  t.loop = {kStepBytes};
  op.access.offset = first * kStepBytes;
  code.op(std::move(op));
}

// `first` steps ahead of the loop's trip.
void copy_step(Listing& code, const Way& w, const Shape& s, std::int64_t first,
               std::int64_t lanes) {
  copy_in(code, w, s, true, first, lanes);
  copy_in(code, w, s, false, first, lanes);
  code.loop_step(2);
}

void put_step(Listing& code, const Way& w, std::int64_t lanes) {
  kernel::SharedAccess a;
  a.width = 16;
  a.warp = lanes * 16;
  a.count = w.warps * lanes * 16;
  code.shared_store(a, ceil_div(w.step_bytes(), w.warps * lanes * 16));
}

// Slices of a v_mfma's depth: fragments, then products.
void multiply_step(Listing& code, const Way& w, const Shape& s, std::int64_t lanes) {
  const std::int64_t depth = isa::wgmma_depth(s.type), slices = kStepBytes / s.element / depth;
  const std::int64_t bytes = (w.rows() + w.columns()) * depth * s.element;
  const std::int64_t blocks = w.rows() / kSide * (w.columns() / kSide);
  kernel::SharedAccess a;
  a.width = 16;
  a.count = lanes * 16;
  Listing slice;
  slice.shared_load(a, std::max<std::int64_t>(1, bytes / (lanes * 16)));
  slice.wait_shared(0);
  kernel::Op op = simple(OpKind::Mfma, blocks);
  op.distance = blocks;
  op.tensor = {kSide, kSide, depth, s.type, false};
  slice.op(std::move(op));
  code.repeat(slices, std::move(slice));
}

// Eight rows of 64 B at once, from the registers.
void store_tile(Listing& code, const Way& w, const Shape& s, std::int64_t lanes) {
  const std::int64_t pitch = s.n * s.out_element, width = 4 * s.out_element;
  const std::int64_t per_row = kSide / 4, rows = lanes / per_row;
  code.pack("bf16", w.rows() * w.columns() / lanes);
  for (std::int64_t column = 0; column < w.columns(); column += kSide) {
    kernel::Op op = simple(OpKind::Store, ceil_div(w.rows(), rows));
    op.access.array = kD;
    op.access.width = static_cast<int>(std::min<std::int64_t>(16, width));
    op.access.pattern = kernel::Pattern::Listed;
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      op.access.offsets.push_back(lane / per_row * pitch + lane % per_row * width);
    }
    op.access.walk = kernel::WalkKind::Strides;
    kernel::Strides& t = op.access.strides;
    t.block_x = w.n * s.out_element;
    t.block_y = w.m * pitch;
    t.warp = w.rows() * pitch;  // wavefronts below each other: as many bytes in like pieces
    t.count = rows * pitch;
    op.access.offset = column * s.out_element;
    code.op(std::move(op));
  }
}

Listing program_of(const Way& w, const Shape& s, std::int64_t lanes) {
  Listing code, first, step;
  code.prologue(3);
  copy_step(first, w, s, 0, lanes);
  first.wait(0);
  put_step(first, w, lanes);
  first.barrier();
  code.repeat(1, std::move(first));
  copy_step(step, w, s, 1, lanes);
  multiply_step(step, w, s, lanes);
  step.wait(0);
  if (w.buffers == 1) { step.barrier(); }
  put_step(step, w, lanes);
  step.barrier();
  code.repeat(w.steps - 1, std::move(step));
  multiply_step(code, w, s, lanes);
  store_tile(code, w, s, lanes);
  return code;
}

}  // namespace

bool takes_mfma(const gpu::GpuSpec& gpu) { return !isa::lacks("mfma", gpu.architecture); }

std::vector<Mistake> make_mfma(const Values& v, const gpu::GpuSpec& gpu,
                               std::vector<kernel::Kernel>& out) {
  for (const char* key :
       {"tile", "stages", "cluster", "split_k", "schedule", "mainloop", "cta_group", "roles",
        "warps", "registers", "under_way", "blocks", "epilogue", "group"}) {
    if (v.has(key)) { return {{key, "is stated; with v_mfma tile and program are chosen"}}; }
  }
  Shape s;
  if (auto m = shape_of(v, gpu, s); !m.empty()) { return m; }
  if (!s.b_k_major) { return {{"b_layout", "is kn; this way reads both operands along K: nk"}}; }
  if (s.scales != Scales::None) { return {{"scale", "is stated; v_mfma has none here: none"}}; }
  const auto way = choose(s, gpu);
  if (!way) { return {{"", "no tile fits a block"}}; }
  const std::int64_t lanes = gpu.sm.warp_size;
  kernel::Kernel k = plain_kernel(gpu, {ceil_div(s.n, way->n), ceil_div(s.m, way->m), 1},
                                  way->warps * lanes, registers_of(*way, lanes),
                                  program_of(*way, s, lanes));
  const std::int64_t a = s.m * s.k * s.element, b = s.n * s.k * s.element;
  k.arrays = {{v.array("x"), unit::Bytes{a}, false},
              {v.array("weights"), unit::Bytes{b}, v.flag("fresh")},
              {v.array("y"), unit::Bytes{s.m * s.n * s.out_element}, false}};
  k.shared_memory = unit::Bytes{way->buffers * way->step_bytes()};
  k.compulsory_read = unit::Bytes{a + b};
  k.compulsory_write = unit::Bytes{s.m * s.n * s.out_element};
  k.flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) *
            static_cast<double>(s.k * s.packed);
  k.note = fmt::format(
      "tile {}x{}x{} on {} wavefronts, v_mfma, {} {} of K in shared memory; {} "
      "tiles",
      way->m, way->n, kStepBytes / s.element, way->warps, way->buffers,
      way->buffers == 1 ? "step" : "steps", way->tiles);
  out.push_back(std::move(k));
  return {};
}

}  // namespace wavetail::library::gemm
