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

std::int64_t d_pitch(const Plan& p) {
  return (p.shape.d_m_major ? p.shape.m : p.shape.n) * p.shape.out_element;
}

std::int64_t a_step(const Plan& p) { return p.tile.k * p.shape.element; }

std::int64_t b_step(const Plan& p) { return p.shape.b_k_major ? a_step(p) : p.tile.k * b_pitch(p); }

kernel::Strides a_strides(const Plan& p, const std::vector<std::int64_t>& loop) {
  return {.block_y = p.tile.m * a_pitch(p),
          .block_z = p.split > 1 ? p.steps * a_step(p) : 0,
          .loop = loop};
}

kernel::Strides b_strides(const Plan& p, const std::vector<std::int64_t>& loop) {
  const std::int64_t column = p.tile.n * (p.shape.b_k_major ? b_pitch(p) : p.shape.element);
  return {.block_x = column, .block_z = p.split > 1 ? p.steps * b_step(p) : 0, .loop = loop};
}

kernel::Strides d_strides(const Plan& p) {
  if (p.shape.d_m_major) {
    const std::int64_t column = p.tile.n * d_pitch(p);
    return {.block_x = column, .block_y = p.tile.m * p.shape.out_element};
  }
  const std::int64_t column = p.tile.n * p.shape.out_element;
  return {.block_x = column, .block_y = p.tile.m * d_pitch(p)};
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

Copy copy_of(std::int64_t rows, std::int64_t row_bytes, std::int64_t warps) {
  Copy c;
  c.lanes_per_row = std::min<std::int64_t>(32, row_bytes / 16);
  c.per_row = ceil_div(row_bytes, 16 * 32);
  c.rows_at_once = 32 / c.lanes_per_row;
  c.count = ceil_div(ceil_div(rows, c.rows_at_once), warps);
  return c;
}

int image_array(const Plan& p) {
  const bool workspace = p.split > 1 || p.schedule == Schedule::StreamK;
  return workspace ? kWorkspace + 1 : kWorkspace;
}

void read_image(Listing& code, const Plan& p, Image part) {
  code.load({.array = image_array(p),
             .width = 4,
             .strides = {},
             .offset = static_cast<std::int64_t>(part) * (kImageBytes / kImageParts),
             .lanes = 1});
  code.wait(0);
}

namespace {

// The grid of tiles, and what of it is launched.
void set_grid(kernel::Kernel& k, const Plan& p) {
  const kernel::Dim3 tiles{p.tiles_n, p.tiles_m, p.split};
  k.band = p.group;
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
                         : p.mainloop == Mainloop::Tcgen05 ? "TMA and tcgen05"
                         : p.mainloop == Mainloop::CpAsync ? "cp.async and mma.sync"
                                                           : "plain copies and mma.sync";
  std::string note = fmt::format("tile {}x{}x{}", p.tile.m, p.tile.n, p.tile.k);
  if (p.swapped) { note += " of the transpose, weights on the left"; }
  if (!p.why.empty()) { note += ", " + p.why; }
  note += fmt::format("; {} {}, {}{}", p.stages, p.stages == 1 ? "stage" : "stages", mainloop,
                      p.specialised ? ", a producer warp" : "");
  if (p.pair) {
    note += ", pairs of blocks";
  } else if (p.cluster() > 1) {
    note += fmt::format(", clusters of {}x{}{}", p.cluster_x, p.cluster_y,
                        p.multicast ? " with multicast" : "");
  }
  if (p.split > 1) { note += fmt::format(", K in {} parts", p.split); }
  note += fmt::format("; groups of {} columns", p.group);
  if (p.schedule == Schedule::Persistent) { note += ", persistent"; }
  if (p.schedule == Schedule::StreamK) { note += ", stream-K"; }
  return note + "; " + wave_note(p);
}

}  // namespace

kernel::Kernel main_kernel(const Values& v, const Plan& p, const gpu::GpuSpec& gpu) {
  kernel::Kernel k;
  set_grid(k, p);
  k.shared_memory = unit::Bytes{p.shared_bytes()};
  const Shape& s = p.shape;
  const std::int64_t a = s.m * s.k * s.element, b = s.k * s.n * s.element;
  const std::int64_t d = s.m * s.n * s.out_element;
  const bool partial = p.split > 1, workspace = partial || p.schedule == Schedule::StreamK;
  k.arrays = {{v.array("x"), unit::Bytes{p.swapped ? b : a}, false},
              {v.array("weights"), unit::Bytes{p.swapped ? a : b}, v.flag("fresh")},
              {v.array("y"), unit::Bytes{d}, false}};
  if (p.swapped) { std::swap(k.arrays[kA], k.arrays[kB]); }
  const std::int64_t slots = p.tiles() * p.split * p.partial_bytes();
  if (workspace) { k.arrays.push_back({".workspace", unit::Bytes{slots}, false}); }
  k.arrays.push_back({".image", unit::Bytes{kImageBytes}, false});
  add_scale_arrays(k, p, v.array("x"), v.array("weights"));
  switch (p.mainloop) {
    case Mainloop::Tma: fill_wgmma(k, p, gpu); break;
    case Mainloop::Tcgen05: fill_tcgen05(k, p, gpu); break;
    default: fill_mma(k, p, gpu); break;
  }
  k.compulsory_read = unit::Bytes{a + b};
  for (std::size_t i = static_cast<std::size_t>(image_array(p)) + 1; i < k.arrays.size(); ++i) {
    *k.compulsory_read = *k.compulsory_read + k.arrays[i].bytes;
  }
  k.compulsory_write = unit::Bytes{partial ? slots : d};
  k.flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) *
            static_cast<double>(s.k * s.packed);
  if (p.mainloop != Mainloop::Tcgen05) { k.accumulators = p.tile.m * p.tile.n; }
  k.note = note_of(p);
  return k;
}

namespace {

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  if (takes_mfma(gpu)) { return make_mfma(v, gpu, out); }
  Plan p;
  auto mistakes = takes_tcgen05(v, gpu) ? make_tcgen05_plan(v, gpu, p) : make_plan(v, gpu, p);
  if (!mistakes.empty()) { return mistakes; }
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

constexpr std::int64_t kMost = 1 << 20;

std::vector<Parameter> shape_parameters() {
  return {
      required_count("m", 1, kMost, "rows of A and D"),
      required_count("n", 1, kMost, "columns of B and D"),
      required_count("k", 1, kMost, "columns of A, rows of B"),
      choice_parameter("dtype", "bf16", {"bf16", "fp16", "tf32", "fp8", "fp4"},
                       "of A and B; sums are FP32, D is 16-bit (FP32 for tf32)"),
      choice_parameter(
          "scale", {}, {"none", "block", "mx", "nv"},
          "of fp8 and fp4: one for a matrix; for 128 of K of A's rows and 128 x 128 of "
          "B; a byte for 32 or for 16 of K of both; none for fp8, nv for fp4 if absent"),
      counts_parameter("tile", 512, 3, "[m, n, k] of a block's tile; chosen if absent"),
      count_parameter("stages", 1, 64, {},
                      "stages of K in shared memory; as many as fit if absent"),
      counts_parameter("cluster", 16, 2,
                       "[x, y] blocks per cluster, along N and M; none or a pair if absent"),
      flag_parameter("multicast", "true",
                     "blocks of a cluster fetch a share each of the operand that they need alike"),
      count_parameter("split_k", 1, 64, {},
                      "parts of K for blocks of their own, summed by NAME.reduce; 1 if absent, but "
                      "chosen with the tile"),
      choice_parameter("schedule", {}, {"data-parallel", "persistent", "stream-k"},
                       "a block per tile; blocks that loop over tiles; an equal share of all steps "
                       "of K for every block; a block per tile if absent, but persistent with "
                       "tcgen05, and where the tile is chosen and there are several waves"),
      choice_parameter("mainloop", {}, {"tma", "tcgen05", "cp_async", "sync"},
                       "TMA and wgmma or tcgen05, or mma.sync behind cp.async or plain copies; the "
                       "best that the GPU has if absent"),
      count_parameter("cta_group", 1, 2, {},
                      "tcgen05: blocks that multiply together; chosen if absent")};
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> all = shape_parameters();
  const std::vector<Parameter> ways{
      choice_parameter(
          "roles", {}, {"cooperative", "none"},
          "a producer warp beside the multiplying warps, or none; cooperative with tma "
          "if absent"),
      count_parameter("warps", 1, 32, {},
                      "warps that multiply: warpgroups of 4 with tma; by the tile if absent"),
      count_parameter("registers", 24, 255, {},
                      "per thread, as launched; what the sums need if absent"),
      count_parameter("under_way", 0, 1, {},
                      "groups of wgmma under way when a stage is released; 1 with a producer warp "
                      "if absent"),
      choice_parameter("arrivals", "warpgroup", {"warpgroup", "thread"},
                       "who arrives at the mbarriers of the ring: a thread of each multiplying "
                       "warpgroup, or every thread"),
      flag_parameter("swizzle", "true",
                     "mma.sync: rows of a stage are swizzled, so that fragments are read without "
                     "bank conflicts"),
      flag_parameter("read_ahead", "true",
                     "mma.sync: the next slice's fragments are read while one is multiplied; else "
                     "in turn, with a barrier behind every stage"),
      count_parameter("blocks", 1, kMost, {},
                      "blocks of schedule: persistent; as many as fit if absent"),
      choice_parameter("out", {}, {"16-bit", "fp32"}, "of D; 16-bit, but fp32 for tf32, if absent"),
      choice_parameter("d_layout", "mn", {"mn", "nm"}, "D row-major [m, n], or column-major"),
      choice_parameter("epilogue", {}, {"tma", "direct", "scalar"},
                       "D by way of shared memory and the TMA, or from registers, two neighbouring "
                       "sums per store or one; tma with tma if absent"),
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
  all.insert(all.end(), ways.begin(), ways.end());
  return all;
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
