// SPDX-License-Identifier: Apache-2.0
// D = A B on tensor cores: the plan of such a kernel, and what its programs are made of. A is
// row-major [m, k]; B is row-major [k, n] or, K-major, [n, k]; D is row-major [m, n]. blockIdx.x
// counts tiles along N, y along M, z splits of K. Blocks take them down bands of `group` columns
// (kernel/band.h): a wave covers a compact part of D.
//
//   gemm.cc         the template's parameters
//   gemm_plan.cc    parameters to a plan, and their mistakes
//   gemm_choice.cc  tile, cluster, split, schedule and order where the scenario leaves them open
//   gemm_estimate.cc  the closed-form time that the choice goes by
//   gemm_wgmma.cc   TMA and wgmma
//   gemm_tcgen05.cc, gemm_tcgen05_plan.cc  TMA, tcgen05 and tensor memory
//   gemm_mma.cc     cp.async or plain copies and mma.sync
//   gemm_mfma.cc    v_mfma of AMD's CDNA
//   gemm_store.cc   epilogues, workspace, the reduction behind split-K
//   gemm_scales.cc  scales of 8-bit and 4-bit operands, and sums that they are applied to
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernel/share.h"
#include "library/parts.h"

namespace wavetail::library::gemm {

enum class Mainloop : std::uint8_t { Tma, CpAsync, Sync, Tcgen05 };
enum class Schedule : std::uint8_t { DataParallel, Persistent, StreamK };

// Operands with scales of their own beside one of the whole matrix (parameter `scale`):
//   Block  FP32, one for 128 of K of a row of X, one for 128 x 128 weights; tcgen05 takes them as a
//          byte each (UE8M0) and applies them itself
//   Mx     a byte for 32 of K of every row of both (UE8M0)
//   Nv     a byte for 16 of K of every row of both (FP8)
enum class Scales : std::uint8_t { None, Block, Mx, Nv };
inline constexpr std::int64_t kScaleBlock = 128;

// k counts pairs of elements where two share a byte (fp4), and so does that of a tile.
struct Shape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t packed = 1;  // elements to one of k
  Scales scales = Scales::None;
  kernel::TensorType type = kernel::TensorType::Bf16;
  int element = 2, out_element = 2;  // bytes of A and B, of D
  bool b_k_major = false;            // B is [n, k]
  bool d_m_major = false;            // D is [n, m]
};

struct Tile {
  std::int64_t m = 0, n = 0, k = 0;
};

// Bytes of a block's shared memory beside the stages: mbarriers and the alignment of the stages to
// the 1 KiB that a 128 B swizzle repeats at.
inline constexpr std::int64_t kBesideStages = 1024;

// Registers per thread beside accumulators: addresses, descriptors, fragments.
inline constexpr std::int64_t kOtherRegisters = 40;
inline constexpr std::int64_t kProducerRegisters = 40;
inline constexpr std::int64_t kMostAccumulators = 208;

// What a warp issues beside a wgmma, for its descriptors, and per step, for loop and barriers:
// fitted to the instructions per cycle of three kernels that ncu profiled on an H100 (0.45, 0.65
// and 0.80; github waynehacking8/blackwell-tensorcore-kernels).
inline constexpr std::int64_t kBesideWgmma = 10, kBesideStep = 20;

struct Plan {
  Shape shape;
  Tile tile;
  Mainloop mainloop = Mainloop::Tma;
  Schedule schedule = Schedule::DataParallel;
  bool specialised = false;      // a producer warp and consumer warpgroups
  bool tma_epilogue = false;     // D leaves through shared memory and the TMA
  bool staged_epilogue = false;  // D leaves through shared memory in rows of 16 B per lane
  bool scalar_epilogue = false;  // D leaves from registers, an element per store
  bool multicast = false;
  bool pair = false;  // tcgen05: two blocks along M multiply together, each holds half of B
  // D^T = W X^T in place of D = X W^T, so that few rows of X take few columns of a tensor
  // instruction: `shape` is that of the transposed product then, the left operand the weights.
  bool swapped = false;
  std::int64_t cluster_x = 1, cluster_y = 1;
  std::int64_t stages = 1;
  std::int64_t split = 1;
  std::int64_t group = 1;                 // columns of tiles that are walked down together
  std::int64_t tiles_m = 1, tiles_n = 1;  // padded to whole clusters
  std::int64_t steps = 1;                 // of K per tile (and split)
  std::int64_t capacity = 1;              // blocks that are resident at once
  std::int64_t wanted_warps = 0;          // that multiply; 0: by the tile
  std::int64_t wanted_registers = 0;      // per thread, as launched; 0: by the plan
  std::int64_t lanes = 32;                // of a warp
  std::int64_t left = 1;                  // groups of wgmma under way when a stage is released
  bool every_thread_arrives = false;      // at the mbarriers; else a thread of each warpgroup
  bool swizzled = true;                   // mma.sync: rows of a stage
  bool reads_ahead = true;                // mma.sync: the next slice's fragments
  std::int64_t blocks = 0;                // of a persistent kernel; 0: as many as fit
  std::string why;                        // what was chosen, for the note

  [[nodiscard]] std::int64_t a_bytes() const { return tile.m * tile.k * shape.element; }

  [[nodiscard]] std::int64_t b_bytes() const {
    return tile.n * tile.k * shape.element / (pair ? 2 : 1);
  }

  // Of both sides' scales (gemm_scales.cc).
  [[nodiscard]] std::int64_t scale_bytes() const;

  [[nodiscard]] std::int64_t stage_bytes() const { return a_bytes() + b_bytes() + scale_bytes(); }

  // Sums of a step are scaled and added to others on the CUDA cores.
  [[nodiscard]] bool promotes() const {
    return shape.scales == Scales::Block && mainloop != Mainloop::Tcgen05;
  }

  // Of k, per tensor instruction.
  [[nodiscard]] std::int64_t depth() const;

  [[nodiscard]] std::int64_t tiles() const { return tiles_m * tiles_n; }

  [[nodiscard]] std::int64_t cluster() const { return cluster_x * cluster_y; }

  // Warps that multiply, and how they divide the tile among them: wgmma takes blocks of 64 rows, a
  // warpgroup each; mma.sync a grid of warps.
  [[nodiscard]] std::int64_t warps() const;
  [[nodiscard]] std::int64_t row_blocks() const;  // wgmma: blocks of 64 rows per warpgroup

  // wgmma: equal parts of at most 256 columns that the tile is multiplied in.
  [[nodiscard]] std::int64_t column_blocks() const { return ceil_div(tile.n, 256); }

  [[nodiscard]] Tile warp_tile() const;  // mma.sync

  [[nodiscard]] std::int64_t accumulators() const {  // registers per multiplying thread
    return tile.m * tile.n / (warps() * 32);
  }

  // Those of a step and of the tile, where the former are scaled on the CUDA cores.
  [[nodiscard]] std::int64_t held_sums() const { return accumulators() * (promotes() ? 2 : 1); }

  // The tile's extent along D's rows as they lie in memory, and across them.
  [[nodiscard]] std::int64_t along() const { return shape.d_m_major ? tile.m : tile.n; }

  [[nodiscard]] std::int64_t across() const { return shape.d_m_major ? tile.n : tile.m; }

  // Of D's rows as they lie in memory, what is staged at once: 128 bytes of each, and how many such
  // buffers there are.
  [[nodiscard]] std::int64_t strip() const;

  [[nodiscard]] std::int64_t strips() const { return along() / strip(); }

  [[nodiscard]] std::int64_t buffers() const { return strips() < 2 ? 1 : 2; }

  [[nodiscard]] std::int64_t staging_bytes() const {
    return tma_epilogue ? across() * strip() * shape.out_element * buffers() : 0;
  }

  [[nodiscard]] std::int64_t shared_bytes() const {
    return stages * stage_bytes() + staging_bytes() + kBesideStages;
  }

  [[nodiscard]] std::int64_t partial_bytes() const { return tile.m * tile.n * 4; }

  [[nodiscard]] bool loops_over_tiles() const { return schedule != Schedule::DataParallel; }
};

[[nodiscard]] int out_bytes(kernel::TensorType type);
[[nodiscard]] std::int64_t registers_of(const Plan& plan);  // per thread, as launched

// gemm_plan.cc
[[nodiscard]] std::vector<Mistake> make_plan(const Values& v, const gpu::GpuSpec& gpu, Plan& plan);
// The product's shape alone.
[[nodiscard]] std::vector<Mistake> shape_of(const Values& v, const gpu::GpuSpec& gpu, Shape& shape);
// The most stages that fit.
[[nodiscard]] std::int64_t most_stages(const Plan& plan, const gpu::GpuSpec& gpu);
// Tiles along both sides, padded to the cluster.
void count_tiles(Plan& plan);
void count_capacity(Plan& plan, const gpu::GpuSpec& gpu);

// gemm_tcgen05_plan.cc: the same for tcgen05, with a choice of its own.
[[nodiscard]] bool takes_tcgen05(const Values& v, const gpu::GpuSpec& gpu);
[[nodiscard]] std::vector<Mistake> make_tcgen05_plan(const Values& v, const gpu::GpuSpec& gpu,
                                                     Plan& plan);
// Seconds of a launch in closed form; its places and tiles.
[[nodiscard]] double estimate_tcgen05(const Plan& plan, const gpu::GpuSpec& gpu);
void count_tcgen05(Plan& plan, const gpu::GpuSpec& gpu);
// Of a block: a warp that fetches, one that multiplies, those of the epilogue.
[[nodiscard]] std::int64_t tcgen05_warps(const Plan& plan);
[[nodiscard]] std::int64_t tcgen05_registers(const Plan& plan);  // per thread
// Columns of tensor memory: the sums of two tiles, so that one leaves while the next is made.
[[nodiscard]] std::int64_t tmem_columns(const Plan& plan);

// gemm_mfma.cc: a plan and a program of its own.
[[nodiscard]] bool takes_mfma(const gpu::GpuSpec& gpu);
[[nodiscard]] std::vector<Mistake> make_mfma(const Values& v, const gpu::GpuSpec& gpu,
                                             std::vector<kernel::Kernel>& out);

// gemm_choice.cc
struct Wanted {  // by the scenario
  bool tile = false, cluster = false, split = false, schedule = false, epilogue = false;
};

// The product the other way round: D^T = B^T A^T.
void turn(Plan& plan);
void choose_tile(Plan& plan, const Wanted& wanted, const gpu::GpuSpec& gpu);
[[nodiscard]] std::int64_t choose_group(const Plan& plan);

// gemm_estimate.cc: the time of a launch in closed form.
[[nodiscard]] double estimate_us(const Plan& plan, const gpu::GpuSpec& gpu);
// Bytes that a block fetches per step, shares of peers taken off.
[[nodiscard]] double fetched(const Plan& plan);
[[nodiscard]] std::string wave_note(const Plan& plan);

// gemm.cc: the kernel of a plan; arrays by the words x, weights and y.
[[nodiscard]] kernel::Kernel main_kernel(const Values& v, const Plan& plan,
                                         const gpu::GpuSpec& gpu);

// gemm_scales.cc
// FP32 instructions per thread and step that scale the sums, and what they take of a step that
// nothing else of the same warps hides.
[[nodiscard]] std::int64_t promotion_instructions(const Plan& plan);
[[nodiscard]] double promotion_cycles(const Plan& plan, const gpu::GpuSpec& gpu);
// Bytes of scales of a row and step.
[[nodiscard]] std::int64_t scale_row_bytes(const Plan& plan);
// Boxes of the scales of a step, in loops that `loop` (with the step as its last) moves through.
[[nodiscard]] std::vector<kernel::Box> scale_boxes(const Plan& plan, bool in_tiles);
// Where sums are promoted: the weights' scales of a tile, read before its first step; behind the
// products of a step, the sums times their scales, added to the tile's.
void read_weight_scales(Listing& code, const Plan& plan);
void promote(Listing& code, const Plan& plan);
// tcgen05: a stage's scales go to tensor memory before its products.
void copy_scales(Listing& code, const Plan& plan);
// Columns of tensor memory that scales of a stage take.
[[nodiscard]] std::int64_t scale_columns(const Plan& plan);
void add_scale_arrays(kernel::Kernel& k, const Plan& plan, const std::string& x,
                      const std::string& weights);

// Programs. Array numbers in all of them; behind the workspace, if there is one, the kernel's image
// and the scales of A and B:
inline constexpr int kA = 0, kB = 1, kD = 2, kWorkspace = 3;
[[nodiscard]] int image_array(const Plan& plan);
[[nodiscard]] int scale_array(const Plan& plan, bool is_a);

// Strides of a tile's corner: A moves with y, B with x and z, D with all.
[[nodiscard]] kernel::Strides a_strides(const Plan& plan, const std::vector<std::int64_t>& loop);
[[nodiscard]] kernel::Strides b_strides(const Plan& plan, const std::vector<std::int64_t>& loop);
[[nodiscard]] kernel::Strides d_strides(const Plan& plan);
// Bytes from one step of K to the next.
[[nodiscard]] std::int64_t a_step(const Plan& plan);
[[nodiscard]] std::int64_t b_step(const Plan& plan);
[[nodiscard]] std::int64_t a_pitch(const Plan& plan);
[[nodiscard]] std::int64_t b_pitch(const Plan& plan);
[[nodiscard]] std::int64_t d_pitch(const Plan& plan);

void fill_wgmma(kernel::Kernel& k, const Plan& plan, const gpu::GpuSpec& gpu);
void fill_tcgen05(kernel::Kernel& k, const Plan& plan, const gpu::GpuSpec& gpu);
void fill_mma(kernel::Kernel& k, const Plan& plan, const gpu::GpuSpec& gpu);

// tcgen05: a warp's lanes of so many columns, to its registers.
[[nodiscard]] Listing from_tensor_memory(std::int64_t columns);
// What follows the last step of a tile: to D, to the workspace, or as the portion says. `depth`:
// enclosing loops.
[[nodiscard]] Listing finish_tile(const Plan& plan, std::int64_t depth);
// Puts `tile` into the loop over the block's tiles, if there is one.
[[nodiscard]] Listing over_tiles(const Plan& plan, Listing tile);
// One tile's loop over K, of which the first `skip` steps have been done.
[[nodiscard]] Listing over_steps(const Plan& plan, Listing step, std::int64_t skip = 0);
[[nodiscard]] kernel::Kernel reduce_kernel(const Plan& plan, const gpu::GpuSpec& gpu,
                                           const std::string& y);

// The warps of a block share the copy of rows x row_bytes: 16 B per lane, as many lanes side by
// side as a row has, the others on the next rows.
struct Copy {
  std::int64_t lanes_per_row = 0, rows_at_once = 0, count = 0, per_row = 1;
};

[[nodiscard]] Copy copy_of(std::int64_t rows, std::int64_t row_bytes, std::int64_t warps);

// Parts of the kernel's image: 128 B each of parameters, code and tensor maps. Loops of mma.sync
// are unrolled over stages and slices, and the code of loop and epilogue lies apart from the first.
enum class Image : std::uint8_t { Parameters, Code, Maps, Loop, Epilogue };
inline constexpr std::int64_t kImageParts = 8;
inline constexpr std::int64_t kImageBytes = 16384;

// What a part of the image holds is not in the SM's caches when a launch begins, and nothing starts
// without it: one read from L2, or of what an earlier block has brought. Code behind the main loop
// has come by the time that it is needed.
void read_image(Listing& code, const Plan& plan, Image part);

[[nodiscard]] kernel::Op simple(kernel::OpKind kind, std::int64_t count = 1);
[[nodiscard]] kernel::Op on_mbarrier(kernel::OpKind kind, int mbarrier, bool cluster_wide = false);

}  // namespace wavetail::library::gemm
