// SPDX-License-Identifier: Apache-2.0
// transpose: y = x^T through a tile in shared memory, the classic of bank conflicts. Every block
// reads a tile along the rows of x into shared memory, and writes it along the rows of y: there a
// warp reads a column of the tile, whose rows stand a power of two apart.
//
//   plain     every lane of a column in one bank
//   padded    each row one 4-byte word longer: columns walk over the banks
//   swizzled  the word within a row XORed with the row: as many bytes as plain, no conflicts
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "library/all.h"
#include "library/parts.h"

namespace wavetail::library {

namespace {

constexpr std::int64_t kThreads = 256;
constexpr std::int64_t kWord = 4, kBankBytes = 128;  // of a bank, of all banks

// The tile in shared memory.
struct Tile {
  std::int64_t side = 0;     // rows and columns
  std::int64_t element = 0;  // bytes
  std::int64_t pitch = 0;    // bytes from row to row
  kernel::Swizzle swizzle;
};

Tile tile_of(std::int64_t side, std::int64_t element, const std::string& layout) {
  const std::int64_t row = side * element;
  Tile t{side, element, layout == "padded" ? row + kWord : row, {}};
  if (layout == "swizzled") {
    const auto log2 = [](std::int64_t n) { return std::countr_zero(static_cast<unsigned>(n)); };
    // Rows shorter than all banks share a line of banks: the row's number counts from there on.
    const int base = log2(kWord);
    t.swizzle = {log2(std::min(row, kBankBytes) / kWord), base,
                 log2(std::max(row, kBankBytes)) - base};
  }
  return t;
}

std::vector<Mistake> check(const Values& v, std::int64_t side, std::int64_t warp) {
  if (!std::has_single_bit(static_cast<std::uint64_t>(side)) || side % warp != 0) {
    return {{"tile",
             fmt::format("is {}; a power of two and whole warps of {} are needed", side, warp)}};
  }
  constexpr std::int64_t kMostRowsOfTiles = 65535;
  for (const auto* key : {"rows", "cols"}) {
    if (v.number(key) % side != 0) {
      return {
          {key, fmt::format("is {}; a multiple of the tile's {} is needed", v.number(key), side)}};
    }
  }
  if (v.number("rows") / side > kMostRowsOfTiles) {
    return {{"rows", fmt::format("is {}; up to {} tiles one below the other", v.number("rows"),
                                 kMostRowsOfTiles)}};
  }
  return {};
}

// One side of the copy: a warp takes a line of the tile at a time, in pieces of a warp's lanes.
class Copy {
 public:
  Copy(const Tile& tile, std::int64_t warp_size)
      : tile_(tile),
        lanes_(warp_size),
        warps_(kThreads / warp_size),
        lines_(tile.side / warps_),
        pieces_(tile.side / warp_size) {}

  // Global memory, rows `line` bytes long, of the tile at (blockIdx.x, blockIdx.y).
  [[nodiscard]] std::vector<Access> global(int array, std::int64_t line, std::int64_t block_x,
                                           std::int64_t block_y) const {
    std::vector<Access> all;
    for (std::int64_t p = 0; p < pieces_; ++p) {
      all.push_back({.array = array,
                     .width = tile_.element,
                     .count = lines_,
                     .strides = {.block_x = block_x,
                                 .block_y = block_y,
                                 .warp = line,
                                 .count = warps_ * line},
                     .offset = p * lanes_ * tile_.element});
    }
    return all;
  }

  // The tile, along its rows or down its columns.
  [[nodiscard]] std::vector<kernel::SharedAccess> shared(bool down) const {
    const std::int64_t lane = down ? tile_.pitch : tile_.element;
    const std::int64_t line = down ? tile_.element : tile_.pitch;
    std::vector<kernel::SharedAccess> all;
    for (std::int64_t p = 0; p < pieces_; ++p) {
      kernel::SharedAccess a;
      a.width = static_cast<int>(tile_.element);
      a.pattern = down ? kernel::SharedPattern::Column : kernel::SharedPattern::Contiguous;
      a.pitch = down ? tile_.pitch : 0;
      a.swizzle = tile_.swizzle;
      a.offset = p * lanes_ * lane;
      a.warp = line;
      a.count = warps_ * line;
      all.push_back(a);
    }
    return all;
  }

  [[nodiscard]] std::int64_t lines() const { return lines_; }

  [[nodiscard]] std::int64_t pieces() const { return pieces_; }

 private:
  Tile tile_;
  std::int64_t lanes_, warps_, lines_, pieces_;
};

Listing program(const Tile& tile, std::int64_t rows, std::int64_t cols, std::int64_t warp_size) {
  const Copy copy(tile, warp_size);
  const std::int64_t side = tile.side * tile.element;
  const bool swizzled = tile.swizzle.bits > 0;
  Listing code;
  code.prologue(2);
  for (const Access& a : copy.global(0, cols * tile.element, side, cols * side)) { code.load(a); }
  code.wait(0);
  if (swizzled) { code.int32(2); }  // XOR and address of this thread's place
  for (const auto& a : copy.shared(false)) { code.shared_store(a, copy.lines()); }
  code.barrier();
  if (swizzled) { code.int32(2); }
  for (const auto& a : copy.shared(true)) { code.shared_load(a, copy.lines()); }
  code.wait_shared(0);
  for (const Access& a : copy.global(1, rows * tile.element, rows * side, side)) { code.store(a); }
  return code;
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  const std::int64_t rows = v.number("rows"), cols = v.number("cols"), side = v.number("tile");
  if (auto mistakes = check(v, side, gpu.sm.warp_size); !mistakes.empty()) { return mistakes; }
  const Tile tile = tile_of(side, dtype_bytes(v.word("dtype")), v.word("layout"));
  const Copy copy(tile, gpu.sm.warp_size);
  const std::int64_t registers = round_up(20 + copy.lines() * copy.pieces(), 8);
  kernel::Kernel k = plain_kernel(gpu, {cols / side, rows / side, 1}, kThreads, registers,
                                  program(tile, rows, cols, gpu.sm.warp_size));
  const unit::Bytes bytes{rows * cols * tile.element};
  k.shared_memory = unit::Bytes{side * tile.pitch};
  k.arrays = {{v.array("x"), bytes}, {v.array("y"), bytes}};
  k.compulsory_read = k.compulsory_write = bytes;
  k.note = fmt::format("tiles of {} x {}, rows {} B apart in shared memory", side, side,
                       tile.pitch);
  if (tile.swizzle.bits > 0) {
    k.note += fmt::format(", swizzle <{}, {}, {}>", tile.swizzle.bits, tile.swizzle.base,
                          tile.swizzle.shift);
  }
  out.push_back(std::move(k));
  return {};
}

}  // namespace

Template transpose_template() {
  return {"transpose",
          "writes a row-major matrix transposed, through a tile in shared memory",
          {required_count("rows", 32, std::int64_t{1} << 31, "rows read"),
           required_count("cols", 32, std::int64_t{1} << 31, "columns read"),
           dtype_parameter("fp32"),
           count_parameter("tile", 32, 64, "32", "rows and columns of a block's tile"),
           {"layout",
            ParameterKind::Choice,
            false,
            0,
            0,
            "padded",
            {"plain", "padded", "swizzled"},
            "rows of the tile in shared memory: as they are, 4 B longer, or XORed with the row"},
           array_parameter("x", "matrix read"),
           array_parameter("y", "matrix written")},
          &make,
          {{"rows", "cols"}}};
}

}  // namespace wavetail::library
