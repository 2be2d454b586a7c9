// SPDX-License-Identifier: Apache-2.0
// grouped_gemm: rows of X in groups, each with weights of its own, in one launch, as mixtures of
// experts multiply (DeepGEMM's grouped kernels, CUTLASS' grouped products). Every tile belongs to
// one group; a table says where its rows, weights and results are, which stands in blockIdx.z of
// the gemm template's programs. Groups lie behind each other, or `room` rows apart (masked). Where
// groups have few rows the weights are the left operand, so that rows take few columns.
//
//   rows: [200, 0, 130], tiles of 128 rows: z = 0, 1 of group 0, z = 2, 3 of group 2
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isa/availability.h"
#include "isa/tensor.h"
#include "library/all.h"
#include "library/gemm.h"

namespace wavetail::library {

namespace gemm {

namespace {

constexpr std::size_t kMostGroups = 4096;

struct Groups {
  std::vector<std::int64_t> rows;
  std::int64_t room = 0;  // rows from group to group; 0: they follow each other

  [[nodiscard]] std::int64_t total() const {
    std::int64_t all = 0;
    for (const std::int64_t r : rows) { all += r; }
    return all;
  }

  [[nodiscard]] std::int64_t extent() const {
    return room > 0 ? room * static_cast<std::int64_t>(rows.size()) : total();
  }

  [[nodiscard]] std::int64_t active() const {
    return std::count_if(rows.begin(), rows.end(), [](std::int64_t r) { return r > 0; });
  }
};

// A tile's place: its group, its first row, and its first column of tiles (or row of weights).
struct Place {
  std::int64_t group = 0, row = 0, column = 0;
};

// Tiles of rows that a plan cuts, in pairs where two blocks multiply together.
std::int64_t rows_per_place(const Plan& p) { return p.swapped ? p.tile.n : p.tile.m * p.cluster_y; }

std::int64_t row_places(const Plan& p, const Groups& g) {
  std::int64_t n = 0;
  for (const std::int64_t r : g.rows) { n += ceil_div(r, rows_per_place(p)); }
  return n;
}

// Every place in the order of its z: a group's columns in turn, and down all of its rows in each.
std::vector<Place> places_of(const Plan& p, const Groups& g) {
  std::vector<Place> places;
  const std::int64_t columns = p.swapped ? 1 : p.tiles_n / p.group;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < g.rows.size(); ++i) {
    const auto group = static_cast<std::int64_t>(i);
    if (g.room > 0) { first = group * g.room; }
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t r = 0; r < g.rows[i]; r += rows_per_place(p)) {
        places.push_back({group, first + r, c * p.group});
      }
    }
    first += g.rows[i];
  }
  return places;
}

// The plan's tiles along both sides, of all groups together.
void count_groups(Plan& p, const Groups& g, const gpu::GpuSpec& gpu) {
  const bool engine = p.mainloop == Mainloop::Tcgen05;
  if (engine) {
    count_tcgen05(p, gpu);
  } else {
    count_tiles(p);
    count_capacity(p, gpu);
  }
  (p.swapped ? p.tiles_n : p.tiles_m) = row_places(p, g) * (p.swapped ? 1 : p.cluster_y);
}

// Weights of every group that has rows come from DRAM, beside what the closed form knows.
double seconds_of(const Plan& p, const Groups& g, const gpu::GpuSpec& gpu) {
  const double chain = p.mainloop == Mainloop::Tcgen05 ? estimate_tcgen05(p, gpu)
                                                       : estimate_us(p, gpu) * 1e-6;
  const std::int64_t columns = p.swapped ? p.shape.m : p.shape.n;
  const auto bytes = static_cast<double>((g.active() * columns + g.total()) * p.shape.k *
                                         p.shape.element);
  const double dram = bytes / static_cast<double>(gpu.sustained_bandwidth().count());
  return std::cbrt(chain * chain * chain + dram * dram * dram);
}

Plan with_tile(Plan p, std::int64_t rows, std::int64_t columns, bool pair) {
  p.tile = {rows, columns, 128 / p.shape.element};
  p.pair = pair;
  p.cluster_y = pair ? 2 : 1;
  p.schedule = p.mainloop == Mainloop::CpAsync ? Schedule::DataParallel : Schedule::Persistent;
  return p;
}

std::vector<Plan> ways_of(const Plan& open) {
  std::vector<Plan> ways;
  if (open.mainloop == Mainloop::Tcgen05) {
    for (const std::int64_t n : {32, 64, 128, 192, 256}) {
      ways.push_back(with_tile(open, 128, n, false));
      ways.push_back(with_tile(open, 128, n, true));
    }
    return ways;
  }
  if (open.mainloop == Mainloop::CpAsync) {
    for (const std::int64_t m : {16, 32, 64, 128}) {
      for (const std::int64_t n : {64, 128, 256}) {
        if (m * n < 32768) { ways.push_back(with_tile(open, m, n, false)); }
      }
    }
    return ways;
  }
  const std::int64_t widest = open.promotes() ? 160 : 256;
  for (const std::int64_t n : {64, 96, 128, 160, 192, 256}) {
    if (n > widest) { continue; }
    ways.push_back(with_tile(open, 64, n, false));
    ways.push_back(with_tile(open, 128, n, false));
  }
  Plan turned = open;
  turn(turned);
  for (const std::int64_t n : {8, 16, 32, 64, 128}) {
    ways.push_back(with_tile(turned, 64, n, false));
    ways.push_back(with_tile(turned, 128, n, false));
  }
  return ways;
}

// The least closed-form time.
std::optional<Plan> choose(const Plan& open, const Groups& g, bool may_turn,
                           const gpu::GpuSpec& gpu) {
  std::optional<Plan> best;
  double least = 0;
  for (Plan p : ways_of(open)) {
    if (p.swapped && !may_turn) { continue; }
    constexpr std::int64_t kMost = 16, kCopies = 3;
    p.stages = std::min(most_stages(p, gpu), p.mainloop == Mainloop::CpAsync ? kCopies : kMost);
    if (p.stages < 2) { continue; }
    count_groups(p, g, gpu);
    const double s = seconds_of(p, g, gpu);
    if (!best || s < least) {
      least = s;
      best = p;
    }
  }
  return best;
}

// Distances of the table's entries from the array's start, by array.
struct Tables {
  std::vector<std::int64_t> a, b, d, a_scales, b_scales;
};

Tables tables_of(const Plan& p, const Groups& g) {
  const Shape& s = p.shape;
  const std::int64_t rows_of_weights = p.swapped ? s.m : s.n, steps = ceil_div(s.k, p.tile.k);
  const std::int64_t weights = rows_of_weights * s.k * s.element;
  const std::int64_t scale_row = scale_row_bytes(p) * (p.promotes() ? 1 : steps);
  const auto weight_scales = [&](std::int64_t rows) {
    return p.promotes() ? ceil_div(rows, kScaleBlock) * steps * 4
                        : round_up(rows, kScaleBlock) * scale_row;
  };
  Tables t;
  for (const Place& place : places_of(p, g)) {
    const std::int64_t x = place.row * a_pitch(p), d = place.row * d_pitch(p);
    const std::int64_t w = place.group * weights + place.column * p.tile.n * b_pitch(p);
    const std::int64_t blocks = place.group * weight_scales(rows_of_weights) +
                                weight_scales(place.column * p.tile.n);
    const std::int64_t scale = place.row * scale_row;
    if (p.swapped) {
      t.a.push_back(place.group * weights);
      t.b.push_back(x);
      t.d.push_back(d);
    } else {
      t.a.push_back(x);
      t.b.push_back(w);
      t.d.push_back(d + place.column * p.tile.n * s.out_element);
    }
    (p.swapped ? t.b_scales : t.a_scales).push_back(scale);
    (p.swapped ? t.a_scales : t.b_scales).push_back(blocks);
  }
  return t;
}

void place(kernel::Strides& s, int array, const Plan& p, const Tables& t) {
  const std::vector<std::int64_t>* table = array == kA                      ? &t.a
                                           : array == kB                    ? &t.b
                                           : array == kD                    ? &t.d
                                           : array == scale_array(p, true)  ? &t.a_scales
                                           : array == scale_array(p, false) ? &t.b_scales
                                                                            : nullptr;
  if (table == nullptr) { return; }
  s.at_z = *table;
  s.block_z = table->size() < 2 ? 0
                                : table->back() / (static_cast<std::int64_t>(table->size()) - 1);
}

void place(kernel::Program& program, const Plan& p, const Tables& t) {
  for (kernel::Op& op : program) {
    if (op.access.array >= 0) { place(op.access.strides, op.access.array, p, t); }
    for (kernel::Box& box : op.boxes) { place(box.strides, box.array, p, t); }
    for (kernel::Program& body : op.bodies) { place(body, p, t); }
  }
}

// The grid of places; weights and their scales of all groups.
void regroup(kernel::Kernel& k, const Plan& p, const Groups& g) {
  const auto groups = static_cast<std::int64_t>(g.rows.size());
  const auto places = static_cast<std::int64_t>(places_of(p, g).size());
  const kernel::Dim3 tiles{p.swapped ? 1 : p.group, p.swapped ? p.tiles_m : p.cluster_y, places};
  k.grid = tiles;
  k.band = 0;
  if (p.loops_over_tiles()) {
    k.shares = kernel::Shares{tiles, p.steps, false};
    const std::int64_t work = kernel::volume(tiles) / p.cluster();
    k.grid = {std::min(p.capacity / p.cluster(), work) * p.cluster_x, p.cluster_y, 1};
  }
  const Tables t = tables_of(p, g);
  for (kernel::Role& role : k.roles) { place(role.program, p, t); }
  kernel::Array& weights = k.arrays[p.swapped ? kA : kB];
  weights.bytes = unit::Bytes{weights.bytes.count() * groups};
  if (p.shape.scales != Scales::None) {
    kernel::Array& scales = k.arrays[static_cast<std::size_t>(scale_array(p, p.swapped))];
    scales.bytes = unit::Bytes{scales.bytes.count() * groups};
  }
  const std::int64_t columns = p.swapped ? p.shape.m : p.shape.n;
  k.compulsory_read = unit::Bytes{(g.total() + g.active() * columns) * p.shape.k * p.shape.element};
  k.compulsory_write = unit::Bytes{g.total() * columns * p.shape.out_element};
  k.flops = 2.0 * static_cast<double>(g.total() * columns) *
            static_cast<double>(p.shape.k * p.shape.packed);
  k.note = fmt::format("tile {}x{}x{}{}; {} places of {} groups with rows; {}", p.tile.m, p.tile.n,
                       p.tile.k, p.swapped ? " of the transpose, weights on the left" : "", places,
                       g.active(), k.note);
}

std::vector<Mistake> make_grouped(const Arguments& arguments, const gpu::GpuSpec& gpu,
                                  std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  Groups g{{}, v.number("room")};
  if (const auto rows = arguments.lists.find("rows"); rows != arguments.lists.end()) {
    g.rows = rows->second;
  }
  if (g.total() == 0) { return {{"rows", "has no rows at all"}}; }
  const std::int64_t most = *std::max_element(g.rows.begin(), g.rows.end());
  if (g.room > 0 && g.room < most) {
    return {{"room", fmt::format("is {}; a group has {} rows", g.room, most)}};
  }
  Arguments whole = arguments;
  whole.numbers["m"] = g.extent();
  whole.words.emplace("b_layout", "nk");
  whole.words.emplace("d_layout", "mn");
  Plan p;
  p.lanes = gpu.sm.warp_size;
  if (auto m = shape_of(Values(whole), gpu, p.shape); !m.empty()) { return m; }
  const bool engine = !isa::lacks("tcgen05_mma", gpu.architecture);
  const bool hopper = !isa::lacks("wgmma", gpu.architecture);
  p.mainloop = engine ? Mainloop::Tcgen05 : hopper ? Mainloop::Tma : Mainloop::CpAsync;
  if (const auto why = isa::lacks("mma", gpu.architecture); why && !engine && !hopper) {
    return {{"dtype", "is " + v.word("dtype") + "; " + *why}};
  }
  p.specialised = p.mainloop == Mainloop::Tma;
  p.tma_epilogue = engine || hopper;
  p.staged_epilogue = !p.tma_epilogue;
  p.multicast = true;
  p.left = p.specialised && !p.promotes() ? 1 : 0;
  const auto chosen = choose(p, g, v.flag("transposes"), gpu);
  if (!chosen) { return {{"", "no tile fits the shared memory of a block"}}; }
  p = *chosen;
  p.group = p.swapped ? 1 : choose_group(p);
  while (p.tiles_n % p.group != 0) { p.group -= p.cluster_x; }  // a place is so many whole columns
  whole.numbers["fresh"] = v.flag("fresh") ? 1 : 0;
  kernel::Kernel k = main_kernel(Values(whole), p, gpu);
  regroup(k, p, g);
  out.push_back(std::move(k));
  return {};
}

}  // namespace

}  // namespace gemm

Template grouped_gemm_template() {
  constexpr std::int64_t kMost = 1 << 24;
  return {
      "grouped_gemm",
      "groups of rows times weights of their own",
      {{"rows",
        ParameterKind::Counts,
        true,
        0,
        kMost,
        {},
        {},
        "rows of every group, 0 where it has none",
        gemm::kMostGroups},
       required_count("n", 1, 1 << 20, "columns of D"),
       required_count("k", 1, 1 << 20, "columns of X"),
       {"dtype",
        ParameterKind::Choice,
        false,
        0,
        0,
        "bf16",
        {"bf16", "fp16", "tf32", "fp8", "fp4"},
        "of X and the weights"},
       {"scale",
        ParameterKind::Choice,
        false,
        0,
        0,
        {},
        {"none", "block", "mx", "nv"},
        "as of gemm"},
       count_parameter("room", 0, kMost, "0",
                       "rows from the start of a group to that of the next; 0: they follow each "
                       "other"),
       flag_parameter("transposes", "true",
                      "weights may be the left operand where groups have few rows"),
       flag_parameter("fresh", "false", "every launch reads weights of its own"),
       array_parameter("x", "X"),
       array_parameter("weights", "weights, group by group"),
       array_parameter("y", "D")},
      &gemm::make_grouped,
      {{"n", "k"}}};
}

}  // namespace wavetail::library
