// SPDX-License-Identifier: Apache-2.0
// gemm: D = A B, FP32 sums, on tensor cores, as a library's kernel: wgmma behind a ring of TMA
// boxes on Hopper, mma.sync behind cp.async elsewhere.
#include "library/gemm.h"

#include <algorithm>

#include <fmt/format.h>

#include "library/all.h"

namespace wavetail::library {

namespace gemm {

kernel::Op simple(kernel::OpKind kind, std::int64_t count) {
  kernel::Op op;
  op.kind = kind;
  op.count = count;
  return op;
}

kernel::Op on_mbarrier(kernel::OpKind kind, int mbarrier, bool cluster_wide) {
  kernel::Op op = simple(kind);
  op.mbarrier = mbarrier;
  op.cluster_wide = cluster_wide;
  return op;
}

std::int64_t a_pitch(const Plan& p) { return p.shape.k * p.shape.element; }

std::int64_t b_pitch(const Plan& p) {
  return (p.shape.b_k_major ? p.shape.k : p.shape.n) * p.shape.element;
}

std::int64_t d_pitch(const Plan& p) { return p.shape.n * p.shape.out_element; }

std::int64_t a_step(const Plan& p) { return p.tile.k * p.shape.element; }

std::int64_t b_step(const Plan& p) { return p.shape.b_k_major ? a_step(p) : p.tile.k * b_pitch(p); }

kernel::Strides a_strides(const Plan& p, const std::vector<std::int64_t>& loop) {
  return {.block_y = p.tile.m * a_pitch(p),
          .block_z = p.split > 1 ? p.steps * a_step(p) : 0,
          .loop = loop};
}

kernel::Strides b_strides(const Plan& p, const std::vector<std::int64_t>& loop) {
  const std::int64_t column = p.shape.b_k_major ? p.tile.n * b_pitch(p)
                                                : p.tile.n * p.shape.element;
  return {.block_x = column,
          .block_z = p.split > 1 ? p.steps * b_step(p) : p.group * column,
          .loop = loop};
}

kernel::Strides d_strides(const Plan& p) {
  const std::int64_t column = p.tile.n * p.shape.out_element;
  return {.block_x = column, .block_y = p.tile.m * d_pitch(p), .block_z = p.group * column};
}

Listing over_tiles(const Plan& p, Listing tile) {
  if (!p.loops_over_tiles()) { return tile; }
  kernel::Op op = simple(kernel::OpKind::Repeat, ceil_div(p.tiles(), p.capacity));
  op.over = kernel::Over::Tiles;
  op.bodies.push_back(tile.take());
  Listing code;
  code.op(std::move(op));
  return code;
}

Listing over_steps(const Plan& p, Listing step, std::int64_t skip) {
  Listing code;
  if (p.schedule != Schedule::StreamK) {
    code.repeat(p.steps - skip, std::move(step));
    return code;
  }
  kernel::Op op = simple(kernel::OpKind::Repeat, p.steps);
  op.over = kernel::Over::Steps;
  op.skip = skip;
  op.bodies.push_back(step.take());
  code.op(std::move(op));
  return code;
}

namespace {

// The grid of tiles, and what of it is launched.
void set_grid(kernel::Kernel& k, const Plan& p) {
  const kernel::Dim3 tiles{p.group, p.tiles_m, p.split > 1 ? p.split : p.tiles_n / p.group};
  k.cluster = {p.cluster_x, p.cluster_y, 1};
  k.grid = tiles;
  if (!p.loops_over_tiles()) { return; }
  const bool stream_k = p.schedule == Schedule::StreamK;
  k.shares = kernel::Shares{tiles, p.steps, stream_k};
  const std::int64_t work = p.tiles() / p.cluster() * (stream_k ? p.steps : 1);
  const std::int64_t clusters = std::min(p.capacity / p.cluster(), work);
  k.grid = {clusters * p.cluster_x, p.cluster_y, 1};
}

std::string note_of(const Plan& p) {
  const char* mainloop = p.mainloop == Mainloop::Tma       ? "TMA and wgmma"
                         : p.mainloop == Mainloop::CpAsync ? "cp.async and mma.sync"
                                                           : "plain copies and mma.sync";
  std::string note = fmt::format("tile {}x{}x{}", p.tile.m, p.tile.n, p.tile.k);
  if (!p.why.empty()) { note += ", " + p.why; }
  note += fmt::format("; {} {}, {}{}", p.stages, p.stages == 1 ? "stage" : "stages", mainloop,
                      p.specialised ? ", a producer warp" : "");
  if (p.cluster() > 1) {
    note += fmt::format(", clusters of {}x{}{}", p.cluster_x, p.cluster_y,
                        p.multicast ? " with multicast" : "");
  }
  if (p.split > 1) { note += fmt::format(", K in {} parts", p.split); }
  note += fmt::format("; groups of {} columns", p.group);
  if (p.schedule == Schedule::Persistent) { note += ", persistent"; }
  if (p.schedule == Schedule::StreamK) { note += ", stream-K"; }
  return note + "; " + wave_note(p);
}

kernel::Kernel main_kernel(const Values& v, const Plan& p, const gpu::GpuSpec& gpu) {
  kernel::Kernel k;
  set_grid(k, p);
  k.shared_memory = unit::Bytes{p.shared_bytes()};
  p.mainloop == Mainloop::Tma ? fill_wgmma(k, p, gpu) : fill_mma(k, p, gpu);
  const Shape& s = p.shape;
  const std::int64_t a = s.m * s.k * s.element, b = s.k * s.n * s.element;
  const std::int64_t d = s.m * s.n * s.out_element;
  const bool partial = p.split > 1, workspace = partial || p.schedule == Schedule::StreamK;
  k.arrays = {{v.array("x"), unit::Bytes{a}, false},
              {v.array("weights"), unit::Bytes{b}, v.flag("fresh")},
              {v.array("y"), unit::Bytes{d}, false}};
  const std::int64_t slots = p.tiles() * p.split * p.partial_bytes();
  if (workspace) { k.arrays.push_back({".workspace", unit::Bytes{slots}, false}); }
  k.compulsory_read = unit::Bytes{a + b};
  k.compulsory_write = unit::Bytes{partial ? slots : d};
  k.flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  k.accumulators = p.tile.m * p.tile.n;
  k.note = note_of(p);
  return k;
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  Plan p;
  if (auto mistakes = make_plan(v, gpu, p); !mistakes.empty()) { return mistakes; }
  out.push_back(main_kernel(v, p, gpu));
  if (p.split > 1) { out.push_back(reduce_kernel(p, gpu, v.array("y"))); }
  return {};
}

Parameter counts_parameter(std::string_view name, std::int64_t high, std::size_t most,
                           std::string_view sentence) {
  return {name, ParameterKind::Counts, false, 1, high, {}, {}, sentence, most};
}

Parameter choice_parameter(std::string_view name, std::string_view fallback,
                           std::vector<std::string_view> choices, std::string_view sentence) {
  return {name, ParameterKind::Choice, false, 0, 0, fallback, std::move(choices), sentence};
}

std::vector<Parameter> parameters() {
  constexpr std::int64_t kMost = 1 << 20;
  return {
      required_count("m", 1, kMost, "rows of A and D"),
      required_count("n", 1, kMost, "columns of B and D"),
      required_count("k", 1, kMost, "columns of A, rows of B"),
      choice_parameter("dtype", "bf16", {"bf16", "fp16", "tf32", "fp8"},
                       "of A and B; sums are FP32, D is 16-bit (FP32 for tf32)"),
      counts_parameter("tile", 256, 3, "[m, n, k] of a block's tile; chosen if absent"),
      count_parameter("stages", 1, 64, {},
                      "stages of K in shared memory; as many as fit if absent"),
      counts_parameter("cluster", 16, 2,
                       "[x, y] blocks per cluster, along N and M; none or a pair if absent"),
      flag_parameter("multicast", "true",
                     "blocks of a cluster fetch a share each of the operand that they need alike"),
      count_parameter("split_k", 1, 64, {},
                      "parts of K for blocks of their own, summed by NAME.reduce; 1 if absent, but "
                      "chosen with the tile"),
      choice_parameter("schedule", "data-parallel", {"data-parallel", "persistent", "stream-k"},
                       "a block per tile; blocks that loop over tiles; an equal share of all steps "
                       "of K for every block"),
      choice_parameter("mainloop", {}, {"tma", "cp_async", "sync"},
                       "TMA and wgmma, or mma.sync behind cp.async or plain copies; the best that "
                       "the GPU has if absent"),
      choice_parameter(
          "roles", {}, {"cooperative", "none"},
          "a producer warp beside the multiplying warps, or none; cooperative with tma "
          "if absent"),
      choice_parameter("epilogue", {}, {"tma", "direct"},
                       "D by way of shared memory and the TMA, or from registers; tma with tma if "
                       "absent"),
      count_parameter("group", 1, kMost, {},
                      "columns of tiles that are walked down together; the order whose waves read "
                      "least if absent"),
      choice_parameter(
          "b_layout", {}, {"kn", "nk"},
          "B row-major [k, n], or K-major [n, k]; nk for types that need it if absent"),
      flag_parameter("fresh", "false",
                     "every launch reads a B of its own, as successive layers do"),
      array_parameter("x", "A"),
      array_parameter("weights", "B"),
      array_parameter("y", "D")};
}

}  // namespace

}  // namespace gemm

Template gemm_template() {
  return {"gemm",
          "matrix times matrix on tensor cores",
          gemm::parameters(),
          &gemm::make,
          {{"m", "k"}, {"k", "n"}, {"m", "n"}}};
}

}  // namespace wavetail::library
