// SPDX-License-Identifier: Apache-2.0
// Kernels of published ladders, by name. What a row does not say is taken from the kernels' public
// sources: github pranjalssh/fast.cu (steps k2 to k11 of its worklog), HazyResearch/ThunderKittens
// kernels/gemm, waynehacking8/blackwell-tensorcore-kernels (wmma, cutlass_sm90) and NVIDIA/cutlass
// examples/47. nvjet's names say tile, stages and cluster; its rows are D's columns.
#include "study/protocols/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

// "320x128x64x3" -> 320, 128, 64, 3: the numbers of the first word that is made of them.
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> found;
  for (std::size_t at = 0; at < text.size();) {
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    const auto next = static_cast<std::size_t>(rest - text.data());
    if (error == std::errc() && (!found.empty() || (next < text.size() && text[next] == 'x'))) {
      found.push_back(value);
      if (next == text.size() || text[next] != 'x') { return found; }
      at = next + 1;
    } else {
      found.clear();
      at = std::max(at + 1, error == std::errc() ? next : at + 1);
    }
  }
  return found;
}

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

// A step of the worklog.
struct Step {
  std::string_view name;
  std::array<std::int64_t, 3> tile;
  std::int64_t stages = 0, warps = 0;
  bool specialised = true, every_thread = true, persistent = false;
  std::int64_t cluster = 1;
  bool tma_epilogue = false;
};

constexpr Step kSteps[] = {
    {"k2", {64, 64, 64}, 1, 4, false},
    {"k3", {128, 128, 64}, 1, 4, false},
    {"k4", {128, 128, 64}, 5, 4},
    {"k5b", {128, 256, 64}, 3, 8},
    {"k5", {128, 256, 64}, 3, 8},
    {"k6a", {128, 256, 64}, 3, 8, true, true, true},
    {"k6b", {128, 256, 64}, 3, 8, true, true, true},
    {"k6", {128, 256, 64}, 3, 8, true, true, true},
    {"k7", {128, 256, 64}, 3, 8, true, false, true},
    {"k8", {128, 256, 64}, 3, 8, true, false, true, 2},
    {"k9", {128, 256, 64}, 3, 8, true, false, true, 2},
    {"k10", {128, 256, 64}, 3, 8, true, false, true, 2, true},
    {"k11", {128, 256, 64}, 3, 8, true, false, true, 2, true},
    {"fast.cu", {128, 256, 64}, 3, 8, true, false, true, 2, true},
};

// What every kernel may state of itself.
void read_stated(Params& params, Product& p) {
  if (params.has("tile")) { p.tile = numbers_in(params.word("tile") + "x"); }
  if (params.has("stages")) { p.stages = params.count("stages"); }
  if (params.has("cluster")) {
    p.cluster_m = std::max<std::int64_t>(1, params.count("cluster", 0));
  }
  if (params.has("regs")) { p.registers = params.count("regs"); }
  for (const std::string_view threads : {"threads", "block"}) {
    if (!params.has(threads)) { continue; }
    const std::int64_t group = 128;
    p.warps = (params.count(threads) - (p.specialised ? group : 0)) / 32;
  }
  if (params.has("grid")) {
    const std::int64_t grid = params.count("grid");
    if (p.schedule == "persistent") { p.blocks = grid; }
  }
}

// Columns of tiles that are walked down together: of a schedule "16x8 tile groups" the eight; one
// tile after the other along N otherwise; or, where every block takes its tiles side by side, those
// that are under way at once.
std::int64_t group_of(Params& params, const Step& s, const Product& p) {
  const std::int64_t columns = library::ceil_div(p.n, p.tile[1]);
  if (!s.persistent) { return columns; }
  std::int64_t wanted = 8;
  if (params.has("schedule")) {
    const auto sides = numbers_in(params.word("schedule"));
    if (sides.size() == 2) { wanted = sides[1]; }
  } else if (s.name == "k6a") {
    const std::int64_t tiles = columns * library::ceil_div(p.m, p.tile[0]);
    wanted = columns / std::max<std::int64_t>(1, library::ceil_div(tiles, p.blocks));
  }
  while (wanted > 1 && columns % wanted != 0) { --wanted; }
  return std::max<std::int64_t>(1, wanted);
}

Product worklog_step(Params& params, const Step& s, Product p) {
  constexpr std::int64_t kBlocks = 128;  // of its persistent kernels
  params.ignore({"acc", "data", "wgmma", "dtype"});
  p.tile.assign(s.tile.begin(), s.tile.end());
  p.stages = s.stages;
  p.warps = s.warps;
  p.specialised = s.specialised;
  p.overlapped = false;
  p.every_thread_arrives = s.every_thread;
  p.schedule = s.persistent ? "persistent" : "data-parallel";
  p.blocks = s.persistent ? kBlocks : 0;
  p.cluster_m = s.cluster;
  p.d_column_major = true;
  p.epilogue = s.tma_epilogue ? "tma" : "scalar";
  p.registers = s.specialised ? 168 : 0;
  read_stated(params, p);
  p.group = group_of(params, s, p);
  return p;
}

// cuBLAS' kernels for Hopper write FP32 where the name says hss; their tile is stated as columns x
// rows of a row-major D.
Product nvjet(Params& params, const std::string& made, Product p) {
  const auto sides = numbers_in(made);
  if (sides.size() < 3) { throw Unmapped(fmt::format("'{}' states no tile", made)); }
  p.schedule = "persistent";
  p.fp32_out = true;
  if (params.has("tile")) { read_stated(params, p); }
  p.tile = {sides[1], sides[0], sides[2]};
  if (sides.size() > 3) { p.stages = sides[3]; }
  p.cluster_m = 2;
  p.registers = 168;
  p.warps = 8;
  return p;
}

// CUTLASS' collective builder without further words: results from registers, one by one.
Product cutlass(Params& params, Product p) {
  p.tile = {128, 256, 64};
  p.stages = 4;
  p.schedule = "persistent";
  p.fp32_out = true;
  p.b_k_major = false;
  p.epilogue = "scalar";
  p.registers = 168;
  read_stated(params, p);
  p.cluster_m = 2;
  p.group = library::ceil_div(p.n, p.tile[1]);
  return p;
}

Product wmma(Params& params, Product p) {
  const bool large = p.m >= 1536 && p.n >= 1536;
  p.tile = large ? std::vector<std::int64_t>{128, 128, 32} : std::vector<std::int64_t>{64, 64, 32};
  p.stages = large ? 3 : 2;
  p.specialised = false;
  p.mainloop = "cp_async";
  p.epilogue = "direct";
  p.fp32_out = true;
  p.b_k_major = false;
  p.swizzled = false;
  p.reads_ahead = false;
  p.registers = 64;
  read_stated(params, p);
  if (p.tile.size() == 2) { p.tile.push_back(32); }
  p.warps = 16;
  p.blocks = 0;
  p.cluster_m = 1;
  p.group = library::ceil_div(p.n, p.tile[1]);
  return p;
}

// examples/47: 4 warps of 64 x 64, 4 stages, FP32 sums, FP16 results.
Product stream_k_example(Params& params, const std::string& kernel, Product p) {
  params.ignore({"tile"});
  p.dtype = "fp16";
  p.tile = {128, 128, 32};
  p.stages = 4;
  p.warps = 4;
  p.specialised = false;
  p.b_k_major = false;
  p.mainloop = "cp_async";
  p.epilogue = "direct";
  if (kernel.ends_with("streamk")) { p.schedule = "stream-k"; }
  if (kernel.ends_with("splitk2")) {
    p.split = 2;
    p.serial = true;
  }
  return p;
}

Product kittens(Params& params, Product p) {
  params.ignore({"cfg"});
  const bool fp8 = p.dtype == "fp8";
  p.tile = {128, 256, fp8 ? 128 : 64};
  p.stages = 4;
  p.overlapped = false;
  p.schedule = "persistent";
  p.registers = 168;
  p.b_k_major = fp8;
  return p;
}

// The steps of ThunderKittens' B200 ladder (kernels/gemm/educational_b200, level_07 to level_09): a
// tile per block and all of its shared memory; the last multiplies two tiles of 128 rows per block,
// in pairs. Level 10 is the library's own kernel, which stays and overlaps.
Product kittens_level(const std::string& kernel, Product p) {
  const std::string level = kernel.substr(std::min(kernel.size(), kernel.find("level ") + 6), 2);
  p.mainloop = "tcgen05";
  p.b_k_major = false;
  p.whole_sm = true;
  p.stages = 3;
  if (level == "07") {
    p.tile = {128, 128, 64};
  } else if (level == "08") {
    p.tile = {128, 256, 64};
  } else if (level == "09") {
    p.tile = {512, 256, 64};
    p.cluster_m = 2;
  } else if (level == "10") {
    p.tile = {256, 256, 64};
    p.stages = 4;
    p.cluster_m = 2;
    p.schedule = "persistent";
    return p;
  } else {
    throw Unmapped(
        fmt::format("kernel={}: products by WMMA out of one stage or by the FP32 pipe, element by "
                    "element, have no template",
                    kernel));
  }
  p.group = library::ceil_div(p.n, p.tile[1]);
  return p;
}

Product tf32(Params& params, Product p) {
  p.schedule = "persistent";
  p.stages = 4;
  read_stated(params, p);
  p.cluster_m = 2;
  return p;
}

}  // namespace

bool states_kernel(const Params& params) { return params.has("kernel"); }

Product product_of(Params& params) {
  Product p;
  p.m = params.count("m");
  p.n = params.count("n");
  p.k = params.count("k");
  const std::string kernel = params.word("kernel"), word = first_word(kernel);
  const std::string impl = params.has("impl") ? params.word("impl") : "";
  const std::string& kind = params.row().kind;
  p.dtype = params.has("dtype")                      ? params.word("dtype")
            : kind.find("fp8") != std::string::npos  ? "fp8"
            : kind.find("fp16") != std::string::npos ? "fp16"
            : kind.find("tf32") != std::string::npos ? "tf32"
                                                     : "bf16";
  for (const Step& s : kSteps) {
    if (s.name == word) { return worklog_step(params, s, p); }
  }
  if (word == "k5a") {
    throw Unmapped(
        "a thread would hold 256 sums: the compiler keeps some in local memory and waits "
        "for every wgmma; programs have no such spills");
  }
  params.ignore({"dyn_smem_KB"});
  if (kernel.starts_with("nvjet")) { return nvjet(params, params.word("tile"), p); }
  if (word == "cublas_tc") { return nvjet(params, impl, p); }
  if (kernel.starts_with("cutlass_sm90") || kernel.starts_with("CUTLASS3")) {
    return cutlass(params, p);
  }
  if (kernel.starts_with("gemm_wmma_t") || word == "wmma") { return wmma(params, p); }
  if (kernel.starts_with("CUTLASS example 47")) { return stream_k_example(params, kernel, p); }
  if (word == "TK" && kernel.find("h100") != std::string::npos) { return kittens(params, p); }
  if (kernel.starts_with("TK level ")) { return kittens_level(kernel, p); }
  if (kernel.starts_with("sm90_xmma_gemm_tf32")) { return tf32(params, p); }
  throw Unmapped(fmt::format("kernel={}: how it is made is not known", kernel));
}

std::vector<kernel::Kernel> kernels_of(const Product& p, const gpu::GpuSpec& gpu) {
  library::Arguments a;
  a.numbers = {{"m", p.m},
               {"n", p.n},
               {"k", p.k},
               {"swizzle", p.swizzled ? 1 : 0},
               {"read_ahead", p.reads_ahead ? 1 : 0}};
  a.words = {{"dtype", p.dtype},
             {"mainloop", p.mainloop},
             {"schedule", p.schedule},
             {"epilogue", p.epilogue},
             {"roles", p.specialised ? "cooperative" : "none"},
             {"arrivals", p.every_thread_arrives ? "thread" : "warpgroup"},
             {"b_layout", p.b_k_major ? "nk" : "kn"},
             {"d_layout", p.d_column_major ? "nm" : "mn"}};
  a.lists = {{"tile", p.tile}};
  const bool engine = p.mainloop == "tcgen05";
  if (!engine) { a.lists.emplace("cluster", std::vector<std::int64_t>{1, p.cluster_m}); }
  if (engine) { a.numbers["cta_group"] = p.cluster_m; }
  const auto set = [&](const char* name, std::int64_t value) {
    if (value > 0) { a.numbers[name] = value; }
  };
  set("stages", p.stages);
  set("warps", p.warps);
  set("registers", p.registers);
  set("blocks", p.blocks);
  set("group", p.group);
  set("split_k", p.split);
  if (p.specialised && !engine) { a.numbers["under_way"] = p.overlapped ? 1 : 0; }
  if (p.fp32_out) { a.words["out"] = "fp32"; }
  std::vector<kernel::Kernel> kernels = from_template("gemm", std::move(a), gpu);
  if (p.serial) { kernels.resize(1); }
  for (kernel::Kernel& k : kernels) { k.name = k.name.empty() ? "product" : "product." + k.name; }
  if (p.whole_sm) { kernels.front().shared_memory = gpu.sm.shared_memory_per_block; }
  return kernels;
}

}  // namespace wavetail::study
