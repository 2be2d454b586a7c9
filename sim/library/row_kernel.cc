// SPDX-License-Identifier: Apache-2.0
#include "library/row_kernel.h"

#include <algorithm>

namespace wavetail::library {

namespace {

// How the elements of a row are shared out: whole trips of `vectors` vectors per thread, then what
// is left, spread over all warps.
struct Division {
  std::int64_t per_vector = 1;  // elements
  std::int64_t group = 1;       // threads that share a row
  std::int64_t vectors = 1;     // per thread and trip
  std::int64_t whole = 0;       // trips
  std::int64_t rest = 0;        // vectors of a row behind them

  [[nodiscard]] std::int64_t each() const { return vectors * per_vector; }
};

Division divide(const RowKernel& k) {
  int widest = 1;
  for (const RowTensor& t : k.tensors) { widest = std::max(widest, dtype_bytes(t.dtype)); }
  Division d;
  d.per_vector = k.width / widest;
  d.group = k.lanes == 0 ? k.threads : k.lanes;
  const std::int64_t row = k.cols / d.per_vector;
  d.vectors = k.kept ? std::max<std::int64_t>(1, row / d.group) : k.unroll;
  d.whole = row / (d.group * d.vectors);
  d.rest = row - d.whole * d.group * d.vectors;
  return d;
}

class Builder {
 public:
  Builder(const RowKernel& k, const gpu::GpuSpec& gpu) : k_(k), gpu_(gpu), d_(divide(k)) {}

  [[nodiscard]] Listing program() const {
    Listing row;
    for (std::int64_t i = 0; i < k_.lookups; ++i) {
      row.load({.array = 0,
                .width = 4,
                .strides = {.block_x = row_bytes(k_.tensors.front()) * k_.trips,
                            .loop = loop(row_bytes(k_.tensors.front()), 0)},
                .offset = i * 32,
                .broadcast = true});
      row.wait(0);
      row.int32(2, 1);
    }
    for (std::size_t p = 0; p < k_.passes.size(); ++p) { append_pass(row, p); }
    if (k_.scalars > 0) { row.append(scalars()); }
    Listing code;
    code.prologue(static_cast<std::int64_t>(k_.tensors.size()) + (k_.scalars > 0 ? 1 : 0));
    if (k_.trips == 1) {
      code.append(std::move(row));
    } else {
      row.loop_step(static_cast<std::int64_t>(k_.tensors.size()));
      code.repeat(k_.trips, std::move(row));
    }
    if (k_.sums > 0) { code.store(sums()); }
    return code;
  }

  [[nodiscard]] std::int64_t rows_per_warp() const {
    return gpu_.sm.warp_size / d_.group * k_.rows_per_lane;
  }

  [[nodiscard]] std::int64_t rows_per_block() const {
    return k_.lanes == 0 ? 1 : rows_per_warp() * (k_.threads / gpu_.sm.warp_size);
  }

  [[nodiscard]] std::int64_t row_bytes(const RowTensor& t) const {
    return k_.cols * dtype_bytes(t.dtype);
  }

  [[nodiscard]] int sums_array() const {
    return static_cast<int>(k_.tensors.size()) + (k_.scalars > 0 ? 1 : 0);
  }

  // Registers: what a trip loads, or the row, as FP32 values.
  [[nodiscard]] std::int64_t registers() const {
    const std::int64_t values = d_.each() * k_.rows_per_lane;
    const std::int64_t fits = gpu_.sm.registers / k_.threads / 8 * 8;
    return std::min({round_up(20 + k_.held + values + values / 4, 8), std::int64_t{128}, fits});
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> loop(std::int64_t row, std::int64_t trip) const {
    std::vector<std::int64_t> strides;
    if (k_.trips > 1) { strides.push_back(row); }
    if (trip != 0) { strides.push_back(trip); }
    return strides;
  }

  // The first warp of a block, or every warp for its rows.
  [[nodiscard]] Listing scalars() const {
    const std::int64_t rows = k_.lanes == 0 ? 1 : rows_per_warp();
    Listing store, all;
    store.store({.array = static_cast<int>(k_.tensors.size()),
                 .width = 4,
                 .count = k_.scalars,
                 .strides = {.block_x = rows_per_block() * 4 * k_.trips,
                             .warp = k_.lanes == 0 ? 0 : rows * 4,
                             .count = k_.rows * 4,
                             .loop = loop(rows_per_block() * 4, 0)},
                 .lanes = static_cast<int>(rows)});
    all.first_warps(k_.lanes == 0 ? k_.threads / gpu_.sm.warp_size : 1, std::move(store));
    return all;
  }

  // A row of partial sums per block and value, in vectors of four.
  [[nodiscard]] Access sums() const {
    const std::int64_t row = k_.cols * 4;
    return {
        .array = sums_array(),
        .width = 16,
        .count = ceil_div(k_.cols, 4 * k_.threads) * k_.sums,
        .strides = {
            .block_x = row * k_.sums, .warp = gpu_.sm.warp_size * 16, .count = k_.threads * 16}};
  }

  // A tensor's access in one trip (`looped`: the whole trips, in a loop) or of the rest.
  [[nodiscard]] Access access(int tensor, bool rest, bool looped) const {
    const RowTensor& t = k_.tensors[static_cast<std::size_t>(tensor)];
    const std::int64_t width = d_.per_vector * dtype_bytes(t.dtype), warp = gpu_.sm.warp_size;
    const std::int64_t row = t.shared ? 0 : row_bytes(t), trip = d_.group * width * d_.vectors;
    if (k_.lanes != 0) { return of_lanes(t, tensor, width); }
    Access a{.array = tensor,
             .width = width,
             .count = d_.vectors,
             .strides = {.block_x = row * k_.trips,
                         .warp = warp * width,
                         .count = d_.group * width,
                         .loop = loop(row, looped ? trip : 0)},
             .streaming = false};
    if (rest) {
      const std::int64_t warps = d_.group / warp;
      a.count = ceil_div(d_.rest, d_.group);
      const std::int64_t lanes = ceil_div(d_.rest, warps * a.count);
      a.lanes = static_cast<int>(lanes);
      a.strides.warp = lanes * width;
      a.strides.count = warps * lanes * width;
      a.offset = d_.whole * trip;
    }
    return a;
  }

  // Short rows: a warp holds `rows_per_warp` of them, side by side in memory; its lanes take
  // consecutive vectors of one row after the other.
  [[nodiscard]] Access of_lanes(const RowTensor& t, int tensor, std::int64_t width) const {
    const std::int64_t row = t.shared ? 0 : row_bytes(t);
    const bool one_row = d_.group == gpu_.sm.warp_size;
    return {.array = tensor,
            .width = width,
            .count = ceil_div(k_.cols / d_.per_vector, d_.group) * k_.rows_per_lane,
            .strides = {
                .block_x = row * rows_per_block(),
                .warp = row * rows_per_warp(),
                .count = t.shared && !one_row
                             ? 0
                             : d_.group * width * (one_row ? 1 : gpu_.sm.warp_size / d_.group)}};
  }

  void arithmetic(Listing& code, const RowPass& p, std::int64_t elements, bool first) const {
    if (first || !k_.kept) {
      for (const int t : p.loads) {
        code.unpack(k_.tensors[static_cast<std::size_t>(t)].dtype, elements);
      }
    }
    const std::int64_t apart = std::min<std::int64_t>(elements, 8);
    code.fp32(p.fp32 * elements, p.distance == 0 ? apart : p.distance, 1);
    code.arithmetic(kernel::Pipe::Sfu, p.sfu * elements, apart, 1);
    for (const int t : p.stores) {
      code.pack(k_.tensors[static_cast<std::size_t>(t)].dtype, elements);
    }
  }

  [[nodiscard]] kernel::SharedAccess in_shared(bool looped) const {
    const std::int64_t width = d_.per_vector * dtype_bytes(k_.tensors.front().dtype);
    kernel::SharedAccess a;
    a.width = static_cast<int>(width);
    a.warp = gpu_.sm.warp_size * width;
    a.count = d_.group * width;
    if (looped) { a.loop = loop(0, d_.group * width * d_.vectors); }
    return a;
  }

  [[nodiscard]] Listing trip(std::size_t number, bool rest, bool looped) const {
    const RowPass& p = k_.passes[number];
    const std::int64_t vectors = rest ? ceil_div(d_.rest, d_.group) : d_.vectors;
    const std::int64_t elements = k_.lanes != 0 ? ceil_div(k_.cols, d_.group) * k_.rows_per_lane
                                                : vectors * d_.per_vector;
    Listing code;
    for (const int t : p.loads) { code.load(access(t, rest, looped)); }
    if (p.from_shared) {
      code.shared_load(in_shared(looped), vectors);
      code.wait_shared(0);
    }
    if (!p.loads.empty()) { code.wait(0); }
    arithmetic(code, p, elements, number == 0);
    if (p.to_shared) { code.shared_store(in_shared(looped), vectors); }
    for (const int t : p.stores) { code.store(access(t, rest, looped)); }
    if (p.every_trip && looped) { block_sum(code, k_.threads, p.reduced, gpu_); }
    if (looped) { code.loop_step(static_cast<std::int64_t>(p.loads.size() + p.stores.size())); }
    return code;
  }

  void append_pass(Listing& code, std::size_t number) const {
    const RowPass& p = k_.passes[number];
    if (k_.lanes != 0) {
      code.append(trip(number, false, false));
    } else {
      if (d_.whole > 1) { code.repeat(d_.whole, trip(number, false, true)); }
      if (d_.whole == 1) { code.append(trip(number, false, false)); }
      if (d_.rest > 0) { code.append(trip(number, true, false)); }
    }
    if (p.reduced == 0 || (p.every_trip && d_.whole > 1)) { return; }
    if (k_.lanes != 0) {
      warp_sum(code, d_.group, p.reduced * k_.rows_per_lane);
    } else {
      block_sum(code, k_.threads, p.reduced, gpu_);
    }
  }

  static void warp_sum(Listing& code, std::int64_t lanes, std::int64_t values);
  friend void wavetail::library::block_sum(Listing&, std::int64_t, std::int64_t,
                                           const gpu::GpuSpec&);

  const RowKernel& k_;
  const gpu::GpuSpec& gpu_;
  Division d_;
};

void Builder::warp_sum(Listing& code, std::int64_t lanes, std::int64_t values) {
  kernel::SharedAccess shuffle;  // one wavefront of the same pipe
  shuffle.lanes = 1;
  for (std::int64_t step = 1; step < lanes; step *= 2) {
    code.shared_load(shuffle, values);
    code.wait_shared(0);
    code.fp32(values, values, 1);
  }
}

}  // namespace

void block_sum(Listing& code, std::int64_t threads, std::int64_t values, const gpu::GpuSpec& gpu) {
  const std::int64_t warps = threads / gpu.sm.warp_size;
  Builder::warp_sum(code, gpu.sm.warp_size, values);
  if (warps == 1) { return; }
  kernel::SharedAccess one;
  one.lanes = 1;
  code.shared_store(one, values);
  code.barrier();
  kernel::SharedAccess all;
  all.lanes = static_cast<int>(warps);
  code.shared_load(all, values);
  code.wait_shared(0);
  Builder::warp_sum(code, warps, values);
}

std::int64_t triton_warps(std::int64_t cols) {
  return cols >= 32768 ? 32 : cols >= 8192 ? 16 : cols >= 2048 ? 8 : 4;
}

kernel::Kernel row_kernel(const RowKernel& r, const gpu::GpuSpec& gpu) {
  const Builder builder(r, gpu);
  const std::int64_t grid = ceil_div(r.rows, builder.rows_per_block() * r.trips);
  kernel::Kernel k = plain_kernel(gpu, {grid, 1, 1}, r.threads, builder.registers(),
                                  builder.program());
  std::int64_t read = 0, written = r.scalars * r.rows * 4;
  for (std::size_t i = 0; i < r.tensors.size(); ++i) {
    const RowTensor& t = r.tensors[i];
    const std::int64_t bytes = builder.row_bytes(t) * (t.shared ? 1 : r.rows);
    k.arrays.push_back({t.array, unit::Bytes{round_up(bytes, 512)}, t.fresh});
    const auto in = [&](const std::vector<int> RowPass::* list) {
      return std::any_of(r.passes.begin(), r.passes.end(), [&](const RowPass& p) {
        return std::find((p.*list).begin(), (p.*list).end(), static_cast<int>(i)) !=
               (p.*list).end();
      });
    };
    if (in(&RowPass::loads)) { read += bytes; }
    if (in(&RowPass::stores)) { written += bytes; }
  }
  if (r.scalars > 0) {
    k.arrays.push_back({".scalars", unit::Bytes{round_up(r.scalars * r.rows * 4, 512)}, false});
  }
  if (r.sums > 0) {
    const std::int64_t bytes = grid * r.cols * 4 * r.sums;
    k.arrays.push_back({".sums", unit::Bytes{round_up(bytes, 512)}, false});
    written += bytes;
  }
  k.compulsory_read = unit::Bytes{read};
  k.compulsory_write = unit::Bytes{written};
  std::int64_t flops = 0, shared = r.threads / gpu.sm.warp_size * 16;
  for (const RowPass& p : r.passes) {
    flops += p.fp32 + p.sfu;
    if (p.to_shared) { shared += round_up(builder.row_bytes(r.tensors.front()), r.threads * 16); }
  }
  k.flops = static_cast<double>(r.rows * r.cols) * static_cast<double>(flops);
  k.shared_memory = unit::Bytes{r.lanes == 0 ? shared : 16};
  return k;
}

}  // namespace wavetail::library
