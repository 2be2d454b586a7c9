// SPDX-License-Identifier: Apache-2.0
// FP32 products by hand, step by step: github siboehm/SGEMM_CUDA (kernels 1 to 12), the FP32 steps
// of github waynehacking8/blackwell-tensorcore-kernels (naive, tiled), and the first step of github
// pranjalssh/fast.cu (k1), which is SGEMM_CUDA's tenth on BF16 operands. Tiles and threads are
// those of their sources.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "study/protocols/sgemm.h"

namespace wavetail::study {

namespace {

using library::ceil_div;

struct Rung {
  std::string_view name;
  std::int64_t m, n, k, threads, stages;
  bool word_wise;
};

// Of the seventh and eighth step only where fragments lie in shared memory is new.
constexpr std::array kRungs{
    Rung{"3 ", 32, 32, 32, 1024, 1, true},    Rung{"4 ", 64, 64, 8, 512, 1, true},
    Rung{"5 ", 128, 128, 8, 256, 1, true},    Rung{"6 ", 128, 128, 8, 256, 1, false},
    Rung{"7 ", 128, 128, 8, 256, 1, true},    Rung{"8 ", 128, 128, 8, 256, 1, true},
    Rung{"9 ", 128, 128, 16, 256, 1, false},  Rung{"10 ", 128, 128, 16, 128, 1, false},
    Rung{"11 ", 128, 128, 16, 256, 2, false}, Rung{"12 ", 128, 128, 16, 128, 2, false},
    Rung{"tiled", 32, 32, 32, 1024, 1, true}, Rung{"k1 ", 128, 128, 16, 128, 1, false}};

// A thread per element of D, no shared memory: block of `x` times `y` threads, x along M or N.
struct Naive {
  std::int64_t x = 32, y = 32;
  bool along_m = false;
};

std::optional<Naive> naive_of(const std::string& kernel) {
  if (kernel.starts_with("1 ")) { return Naive{.along_m = true}; }
  if (kernel.starts_with("2 ")) { return Naive{}; }
  if (kernel.starts_with("naive")) { return Naive{16, 16}; }
  return std::nullopt;
}

// One of the two operands' loads: lane i reads at `lane(i)`.
kernel::Op gather(int array, std::int64_t count, kernel::Strides strides,
                  const std::function<std::int64_t(std::int64_t)>& lane) {
  kernel::Op op;
  op.kind = kernel::OpKind::Load;
  op.count = count;
  op.access.array = array;
  op.access.width = 4;
  op.access.pattern = kernel::Pattern::Listed;
  for (std::int64_t i = 0; i < 32; ++i) { op.access.offsets.push_back(lane(i)); }
  op.access.walk = kernel::WalkKind::Strides;
  op.access.strides = std::move(strides);
  return op;
}

// A step is 32 of K; the compiler unrolls by four.
kernel::Kernel naive(const SgemmRow& r, const Naive& how, std::int64_t steps,
                     const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kStep = 32, kUnroll = 4;
  const std::int64_t a = r.k * 4, b = r.n * 4, warp_rows = 32 / how.x;
  const std::int64_t tile_m = how.along_m ? how.x : how.y, tile_n = how.along_m ? how.y : how.x;
  const auto row = [&](std::int64_t lane) { return how.along_m ? lane % how.x : lane / how.x; };
  const auto column = [&](std::int64_t lane) { return how.along_m ? lane / how.x : lane % how.x; };
  const std::int64_t warp_m = how.along_m ? 0 : warp_rows, warp_n = how.along_m ? warp_rows : 0;
  library::Listing code, body;
  body.op(gather(0, kUnroll,
                 {.block_y = tile_m * a, .warp = warp_m * a, .count = 4, .loop = {4 * kUnroll}},
                 [&](std::int64_t lane) { return row(lane) * a; }));
  body.op(gather(1, kUnroll,
                 {.block_x = tile_n * 4, .warp = warp_n * 4, .count = b, .loop = {b * kUnroll}},
                 [&](std::int64_t lane) { return column(lane) * 4; }));
  body.loop_step(2);
  body.wait(0);
  body.fp32(kUnroll, 1, 2);
  code.prologue(3);
  code.repeat(steps * kStep / kUnroll, std::move(body));
  kernel::Op store = gather(
      2, 1, {.block_x = tile_n * 4, .block_y = tile_m * b, .warp = warp_m * b + warp_n * 4},
      [&](std::int64_t lane) { return row(lane) * b + column(lane) * 4; });
  store.kind = kernel::OpKind::Store;
  code.op(std::move(store));
  kernel::Kernel k = library::plain_kernel(gpu, {ceil_div(r.n, tile_n), ceil_div(r.m, tile_m), 1},
                                           how.x * how.y, 32, std::move(code));
  k.arrays = {{"a", unit::Bytes{r.m * a}, false},
              {"b", unit::Bytes{r.k * b}, false},
              {"d", unit::Bytes{r.m * b}, false}};
  return k;
}

}  // namespace

std::optional<WaveKernel> ladder_kernel(const SgemmRow& r, const gpu::GpuSpec& gpu) {
  if (const auto how = naive_of(r.kernel)) {
    return WaveKernel{.steps = ceil_div(r.k, 32),
                      .make = [=](std::int64_t steps) { return naive(r, *how, steps, gpu); }};
  }
  for (const Rung& rung : kRungs) {
    if (!r.kernel.starts_with(rung.name)) { continue; }
    library::sgemm::Plan p;
    p.m = r.m;
    p.n = r.n;
    p.k = r.k;
    p.b_k_major = false;
    p.tile_m = rung.m;
    p.tile_n = rung.n;
    p.tile_k = rung.k;
    p.threads = rung.threads;
    p.stages = rung.stages;
    p.word_wise = rung.word_wise;
    p.converted = rung.name == "k1 ";
    p.async = false;
    return tiles_of(p, gpu);
  }
  const bool numbered = !r.kernel.empty() && r.kernel[0] >= '1' && r.kernel[0] <= '9';
  if (numbered) { throw Unmapped(fmt::format("kernel={}: there are 0 to 12", r.kernel)); }
  return std::nullopt;
}

}  // namespace wavetail::study
