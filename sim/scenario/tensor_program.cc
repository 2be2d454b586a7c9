// SPDX-License-Identifier: Apache-2.0
// Tensor operations of a program: mma.sync, wgmma, tcgen05 and MFMA.
#include <algorithm>

#include "isa/tensor.h"
#include "scenario/keys.h"
#include "scenario/program.h"

namespace wavetail::scenario {

using config::At;
using config::MapReader;
using kernel::Op;
using kernel::OpKind;
using kernel::TensorType;

namespace {

constexpr config::Range kCount{"1", "1000000"};

Op of_kind(OpKind kind) {
  Op op;
  op.kind = kind;
  return op;
}

// The dtype's rate must not be 0 on this GPU.
bool read_type(const MapReader& map, const std::vector<TensorType>& types, const gpu::GpuSpec* gpu,
               TensorType& out) {
  if (!map.has("dtype")) { return false; }
  std::vector<std::string> names;
  for (const TensorType t : types) { names.emplace_back(isa::name(t)); }
  const auto which = config::choice(map.at("dtype"), names);
  if (!which) { return false; }
  out = types[*which];
  if (gpu != nullptr && isa::tensor_rate(gpu->tensor, out) <= 0) {
    map.at("dtype").complain("the tensor cores of " + gpu->name + " do not take " + names[*which]);
    return false;
  }
  return true;
}

// "16", or "16 or 32".
void read_one_of(const MapReader& map, std::string_view key, std::vector<std::int64_t> allowed,
                 std::int64_t& value) {
  if (!map.read(key, value)) { return; }
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) { return; }
  std::string text;
  for (const std::int64_t n : allowed) { text += (text.empty() ? "" : " or ") + std::to_string(n); }
  map.at(key).refuse("allowed: " + text);
}

}  // namespace

// False if the operation is none of these.
bool ProgramReader::read_tensor(const At& at, std::string_view operation,
                                kernel::Program& out) const {
  if (operation == "wgmma") {
    read_wgmma(at, out);
  } else if (operation == "mma") {
    read_mma(at, out);
  } else if (operation == "mfma") {
    read_mfma(at, out);
  } else if (operation == "tcgen05_mma") {
    read_tcgen05_mma(at, out);
  } else if (operation == "tcgen05_cp") {
    Op op = of_kind(OpKind::Tcgen05Copy);
    const MapReader map(at.node, at.path, tcgen05_cp_keys(), diagnostics);
    unit::Bytes bytes;
    map.read("bytes", bytes, {"32 B", "256 KiB"});
    map.read("count", op.count, kCount);
    op.bytes = bytes.count();
    if (has_tmem(at)) { out.push_back(op); }
  } else if (operation == "tcgen05_commit") {
    read_commit(at, out);
  } else if (operation == "tcgen05_ld" || operation == "tcgen05_st") {
    Op op = of_kind(operation == "tcgen05_ld" ? OpKind::Tcgen05Load : OpKind::Tcgen05Store);
    const MapReader map(at.node, at.path, tmem_access_keys(), diagnostics);
    read_one_of(map, "columns", {1, 2, 4, 8, 16, 32, 64, 128}, op.columns);
    map.read("count", op.count, kCount);
    if (has_tmem(at)) { out.push_back(op); }
  } else if (operation == "tcgen05_wait") {
    Op op = of_kind(OpKind::Tcgen05Wait);
    const std::vector<std::string> kinds{"ld", "st"};
    op.count = static_cast<std::int64_t>(config::choice(at, kinds).value_or(0));
    out.push_back(op);
  } else {
    return false;
  }
  return true;
}

bool ProgramReader::has_tmem(const At& at) const {
  if (kernel.tmem_columns == 0) {
    at.complain("the kernel has no tensor memory: 'tmem_columns' is not stated");
  }
  return kernel.tmem_columns > 0;
}

bool ProgramReader::pairs(const At& at) const {
  const bool even = kernel::volume(kernel.cluster) % 2 == 0;
  if (!even) {
    at.complain("the blocks of a cluster come in pairs only if it has an even number of them; '" +
                kernel.name + "' has " + std::to_string(kernel::volume(kernel.cluster)));
  }
  return even;
}

void ProgramReader::read_wgmma(const At& at, kernel::Program& out) const {
  Op op = of_kind(OpKind::Wgmma);
  const MapReader map(at.node, at.path, wgmma_keys(), diagnostics);
  kernel::TensorShape& s = op.tensor;
  const bool typed = read_type(
      map,
      {TensorType::Fp16, TensorType::Bf16, TensorType::Tf32, TensorType::Fp8, TensorType::Int8},
      gpu, s.type);
  map.read_flag("sparse", s.sparse);
  s.m = 64;
  s.k = isa::wgmma_depth(s.type) * (s.sparse ? 2 : 1);
  const std::string depth = std::to_string(s.k);
  map.read("m", s.m, {"64", "64"});
  if (typed) { map.read("k", s.k, {depth, depth}); }
  if (map.read("n", s.n, {"8", "256"}) && s.n % 8 != 0) {
    map.at("n").refuse("it must be a multiple of 8");
  }
  if (map.has("a")) {
    const std::vector<std::string> places{"shared", "registers"};
    s.a_in_registers = config::choice(map.at("a"), places) == std::size_t{1};
  }
  map.read("count", op.count, kCount);
  if (warps % 4 != 0) {
    at.complain("wgmma is for warpgroups of four warps; the role has " + std::to_string(warps));
  }
  if (divergent) { at.complain("wgmma inside 'diverge' does not reach whole warpgroups"); }
  if (typed) { out.push_back(op); }
}

void ProgramReader::read_mma(const At& at, kernel::Program& out) const {
  Op op = of_kind(OpKind::Mma);
  const MapReader map(at.node, at.path, mma_keys(), diagnostics);
  kernel::TensorShape& s = op.tensor;
  if (!read_type(map,
                 {TensorType::Fp16, TensorType::Bf16, TensorType::Tf32, TensorType::Fp8,
                  TensorType::Int8, TensorType::Fp64},
                 gpu, s.type)) {
    return;
  }
  const bool fp64 = s.type == TensorType::Fp64;
  map.read_flag("sparse", s.sparse);
  if (map.has("sums")) {
    const std::vector<std::string> types{"fp32", "fp16"};
    s.fp16_sums = config::choice(map.at("sums"), types) == std::size_t{1};
    if (s.fp16_sums && s.type != TensorType::Fp16 && s.type != TensorType::Fp8) {
      map.at("sums").complain("sums in fp16 go with operands in fp16 or fp8");
    }
  }
  s.m = fp64 ? 8 : 16;
  s.n = 8;
  s.k = isa::wgmma_depth(s.type) * (s.sparse ? 2 : 1);
  const std::int64_t widest = s.k;
  const std::string m = std::to_string(s.m);
  map.read("m", s.m, {m, m});
  map.read("n", s.n, {"8", "8"});
  read_one_of(map, "k", fp64 ? std::vector{widest} : std::vector{widest / 2, widest}, s.k);
  map.read("count", op.count, kCount);
  map.read("distance", op.distance, kCount);
  out.push_back(op);
}

// 32 x 32 or 16 x 16, each lane with 8 bytes of A and of B; gfx950 has those with two and four
// times as many.
void ProgramReader::read_mfma(const At& at, kernel::Program& out) const {
  Op op = of_kind(OpKind::Mfma);
  const MapReader map(at.node, at.path, mfma_keys(), diagnostics);
  kernel::TensorShape& s = op.tensor;
  if (!read_type(map,
                 {TensorType::Fp16, TensorType::Bf16, TensorType::Tf32, TensorType::Fp8,
                  TensorType::Int8, TensorType::Fp4, TensorType::Fp64},
                 gpu, s.type)) {
    return;
  }
  const bool fp64 = s.type == TensorType::Fp64;
  s.m = fp64 ? 16 : 32;
  read_one_of(map, "m", fp64 ? std::vector<std::int64_t>{16} : std::vector<std::int64_t>{16, 32},
              s.m);
  s.n = s.m;
  read_one_of(map, "n", {s.m}, s.n);
  constexpr std::int64_t kOperandBits = 64 * 64;  // of all lanes
  const std::int64_t k = kOperandBits / (s.m * isa::bits(s.type));
  s.k = k;
  const bool wide = gpu == nullptr || gpu->architecture == "gfx950";
  read_one_of(map, "k", wide ? std::vector{k, 2 * k, 4 * k} : std::vector{k}, s.k);
  map.read("count", op.count, kCount);
  map.read("distance", op.distance, kCount);
  out.push_back(op);
}

void ProgramReader::read_tcgen05_mma(const At& at, kernel::Program& out) const {
  Op op = of_kind(OpKind::Tcgen05Mma);
  const MapReader map(at.node, at.path, tcgen05_mma_keys(), diagnostics);
  kernel::TensorShape& s = op.tensor;
  const bool typed = read_type(map,
                               {TensorType::Fp16, TensorType::Bf16, TensorType::Tf32,
                                TensorType::Fp8, TensorType::Int8, TensorType::Fp4},
                               gpu, s.type);
  read_one_of(map, "cta_group", {1, 2}, s.ctas);
  const bool paired = s.ctas != 2 || pairs(map.at("cta_group"));
  map.read_flag("sparse", s.sparse);
  s.m = 128 * s.ctas;
  if (map.read("m", s.m) && s.m != 64 * s.ctas && s.m != 128 * s.ctas) {
    map.at("m").refuse(s.ctas == 1 && s.m == 256
                           ? "one SM's products have 64 or 128 rows; 256 take a pair, cta_group: 2"
                           : "allowed: " + std::to_string(64 * s.ctas) + " or " +
                                 std::to_string(128 * s.ctas));
  }
  s.k = isa::wgmma_depth(s.type) * (s.sparse ? 2 : 1);
  const std::string depth = std::to_string(s.k);
  if (typed) { map.read("k", s.k, {depth, depth}); }
  const std::int64_t unit = s.m == 64 ? 8 : 16 * s.ctas;
  if (map.read("n", s.n, {"8", "256"}) && s.n % unit != 0) {
    map.at("n").refuse("it must be a multiple of " + std::to_string(unit));
  }
  if (map.has("a")) {
    const std::vector<std::string> places{"shared", "tmem"};
    s.a_in_registers = config::choice(map.at("a"), places) == std::size_t{1};
  }
  map.read("count", op.count, kCount);
  if (!has_tmem(at)) { return; }
  if (s.n > kernel.tmem_columns) {
    at.complain("its sums take " + std::to_string(s.n) + " columns, the block has " +
                std::to_string(kernel.tmem_columns));
  }
  if (typed && paired) { out.push_back(op); }
}

void ProgramReader::read_commit(const At& at, kernel::Program& out) const {
  Op op = of_kind(OpKind::Tcgen05Commit);
  if (at.node.is_map() && !config::is_long(at.node)) {
    const MapReader map(at.node, at.path, commit_keys(), diagnostics);
    if (map.has("barrier")) { op.mbarrier = mbarrier(map.at("barrier")); }
    if (map.has("scope")) {
      const std::vector<std::string> scopes{"block", "pair"};
      op.pair = config::choice(map.at("scope"), scopes) == std::size_t{1} && pairs(map.at("scope"));
    }
  } else {
    op.mbarrier = mbarrier(at);
  }
  if (op.mbarrier >= 0) { out.push_back(op); }
}

}  // namespace wavetail::scenario
