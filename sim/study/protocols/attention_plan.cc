// SPDX-License-Identifier: Apache-2.0
// What is simulated of an attention operation. The kernels of a framework are, for a prompt, one
// that sums up the lengths; one that writes new keys and values to the cache; the attention kernel;
// and, where the keys are split, the one that merges the splits.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernel/trips.h"
#include "study/protocols/attention.h"

namespace wavetail::study {

namespace {

// `splits`: 0 as the library chooses.
std::vector<kernel::Kernel> attention_kernels(const Attention& a, std::int64_t splits,
                                              const gpu::GpuSpec& gpu) {
  library::Arguments arguments{
      .numbers = {{"batch", a.batch},
                  {"q_heads", a.q_heads},
                  {"kv_heads", a.kv_heads},
                  {"head_dim", a.dim},
                  {"head_dim_v", a.dim_v},
                  {a.decode ? "kv_len" : "seqlen", a.length}},
      .words = {{"mode", a.decode ? "decode" : "prefill"}, {"dtype", a.dtype}}};
  if (!a.decode) {
    arguments.numbers["kv_prefix"] = a.prefix;
    arguments.numbers["causal"] = a.causal ? 1 : 0;
  }
  if (a.decode && splits > 0) { arguments.numbers["splits"] = splits; }
  arguments.numbers["overlap"] = a.overlap ? 1 : 0;
  arguments.numbers["specialised"] = a.specialised ? 1 : 0;
  arguments.numbers["varlen"] = a.varlen ? 1 : 0;
  arguments.numbers["latent"] = a.latent ? 1 : 0;
  if (!a.packed) { arguments.numbers["packed"] = 0; }
  if (a.page > 0) { arguments.numbers["page"] = a.page; }
  if (!a.kernel.empty()) { arguments.words["kernel"] = a.kernel; }
  return from_template("attention", std::move(arguments), gpu);
}

// Between two nodes of a graph, SM cycles beside the GPU file's gap, which is one of a kernel of
// few instructions that the SMs still hold: kernels of these libraries are long programs that a
// launch fetches anew on every SM. Chosen on the shortest operations of vLLM (AID rows) on H100
// and A100, where it is the same number of cycles; no rows of these were held out.
constexpr double kFetch = 3000;

gpu::GpuSpec with_fetches(const Attention& a, gpu::GpuSpec gpu) {
  if (a.alone || a.lean) { return gpu; }
  gpu.launch.graph_gap += unit::Duration{
      std::llround(kFetch * 1e12 / static_cast<double>(gpu.sm_clock().count()))};
  return gpu;
}

// Keys and values of the new tokens go to the slots of the cache that a list names, where queries
// are rotated, these with them: a block per token, up to 512 threads of 16 B each.
kernel::Kernel cache_write(const Attention& a, std::int64_t tokens, const gpu::GpuSpec& gpu) {
  const std::int64_t heads = a.kv_heads * (a.dim + a.dim_v) + (a.rotates ? a.q_heads * a.dim : 0);
  const std::int64_t bytes = heads * library::dtype_bytes(a.dtype);
  const std::int64_t threads = std::clamp<std::int64_t>(
      library::round_up(library::ceil_div(bytes, 16), 32), 32, 512);
  const std::int64_t rounds = library::ceil_div(bytes, threads * 16);
  library::Listing code;
  code.prologue(3);
  code.load({.array = 2, .width = 8, .strides = {.block_x = 8}, .broadcast = true});
  code.wait(0);
  code.int32(8, 4);
  library::Access move{
      .array = 0,
      .count = rounds,
      .strides = {.block_x = bytes, .warp = gpu.sm.warp_size * 16, .count = threads * 16}};
  code.load(move);
  code.wait(0);
  move.array = 1;
  code.store(move);
  kernel::Kernel k = library::plain_kernel(gpu, {tokens, 1, 1}, threads, 32, std::move(code));
  const unit::Bytes all{library::round_up(tokens * bytes, 128)};
  k.arrays = {{"fresh", all, false},
              {"written", all, false},
              {"slots", unit::Bytes{library::round_up(tokens * 8, 128)}, false}};
  return k;
}

// Where every sequence's tokens start: a block adds up the lengths.
kernel::Kernel sum_lengths(std::int64_t batch, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kThreads = 256;
  library::Listing code;
  code.prologue(2);
  const library::Access lengths{.array = 0,
                                .width = 4,
                                .count = library::ceil_div(batch, kThreads),
                                .strides = {.warp = 4 * gpu.sm.warp_size, .count = 4 * kThreads}};
  code.load(lengths);
  code.wait(0);
  for (int scan = 0; scan < 2; ++scan) {  // within warps, then over them
    code.shuffle_sum(gpu.sm.warp_size, lengths.count);
    kernel::SharedAccess sums;
    code.shared_store(sums, 1);
    code.barrier();
    code.shared_load(sums, 1);
    code.wait_shared(0);
  }
  library::Access starts = lengths;
  starts.array = 1;
  code.store(starts);
  kernel::Kernel k = library::plain_kernel(gpu, {1, 1, 1}, kThreads, 32, std::move(code));
  const unit::Bytes bytes{library::round_up(4 * batch, 4 * kThreads)};
  k.arrays = {{"lengths", bytes, false}, {"starts", bytes, false}};
  return k;
}

// A part of the operation: `units` pairs of sequence and KV head, of another length.
struct Part {
  std::int64_t units = 1, length = 1, prefix = 0;
};

using Kernels = std::vector<kernel::Kernel>;

struct Operation {
  Attention whole;
  gpu::GpuSpec gpu;

  [[nodiscard]] std::int64_t new_tokens() const {
    return whole.decode ? whole.batch : whole.batch * whole.length;
  }

  // A prompt's lengths are summed up first; a decode step's are known.
  [[nodiscard]] Kernels kernels() const {
    Kernels all;
    if (!whole.alone) {
      if (!whole.decode) { all.push_back(sum_lengths(whole.batch, gpu)); }
      all.push_back(cache_write(whole, new_tokens(), gpu));
    }
    for (kernel::Kernel& k : attention_kernels(whole, 0, gpu)) { all.push_back(std::move(k)); }
    return all;
  }

  [[nodiscard]] kernel::Kernel attention() const {
    return attention_kernels(whole, 0, gpu).front();
  }

  // The attention kernel of a part, whose keys are not split.
  [[nodiscard]] kernel::Kernel part(const Part& part) const {
    Attention a = whole;
    a.batch = part.units;
    a.q_heads = whole.q_heads / whole.kv_heads;
    a.kv_heads = 1;
    a.length = part.length;
    a.prefix = part.prefix;
    return attention_kernels(a, 1, gpu).front();
  }
};

// Blocks of keys that a block of the grid goes through, on average.
double steps_of(const kernel::Kernel& k) {
  double steps = 0;
  for (const kernel::Op& op : k.roles.front().program) {
    if (op.kind != kernel::OpKind::Repeat) { continue; }
    steps += op.over == kernel::Over::Index
                 ? kernel::count_trips(op.trips, op.count, kernel::indices_of(k)).mean
                 : static_cast<double>(op.count);
  }
  return steps;
}

double blocks_of(const kernel::Kernel& k) { return static_cast<double>(kernel::volume(k.grid)); }

// A benchmark's run is nine operations long. Where that is longer than the window of the power
// limit, parts of it run on a board that has been busy.
bool is_long_run(const gpu::GpuSpec& gpu, double flops) {
  constexpr double kOperations = 9, kShare = 0.6;  // of the dense rate, roughly
  const double rate = kShare * gpu.tensor.bf16 * static_cast<double>(gpu.sms()) *
                      static_cast<double>(gpu.sm_clock().count());
  return kOperations * flops / rate > unit::seconds(gpu.power.control.window);
}

// The kernels that run beside the attention kernel. Of a long cache write the machine leaves out
// the waves that repeat themselves.
Kernels beside(const Operation& o) {
  Kernels all;
  if (!o.whole.alone) {
    all.push_back(cache_write(o.whole, o.new_tokens(), o.gpu));
    if (!o.whole.decode) { all.push_back(sum_lengths(o.whole.batch, o.gpu)); }
  }
  if (kernel::Kernel last = o.kernels().back(); o.whole.decode && last.name == "combine") {
    all.push_back(std::move(last));
  }
  return all;
}

// Parts of the attention kernel, each on arrays of its own, beside the other kernels, in one graph.
// `seconds` makes the attention kernel's time out of those of its parts.
Plan in_parts(const Operation& o, const std::vector<Part>& parts,
              std::function<double(const std::vector<double>&)> seconds) {
  Kernels all = beside(o);
  const std::size_t others = all.size();
  for (const Part& part : parts) { all.push_back(o.part(part)); }
  const std::size_t n = all.size();
  host::Item graph{.kind = host::ItemKind::Graph};
  for (std::size_t i = 0; i < n; ++i) {
    for (kernel::Array& a : all[i].arrays) { a.name += fmt::format(".{}", i); }
    all[i].name = fmt::format("part{}", i + 1);
    graph.body.push_back({.kernel = static_cast<int>(i)});
  }
  scenario::Scenario s = scenario_of(o.gpu, std::move(all), {});
  let_repeat(s);
  s.busy_board = is_long_run(o.gpu, o.attention().flops);
  s.timeline.items.insert(s.timeline.items.begin(), std::move(graph));
  return {std::move(s), Quantity::Time,
          [=](const run::Happened& h) {
            std::vector<double> times;
            for (std::size_t i = others; i < n; ++i) { times.push_back(seconds_of(h, i)); }
            const auto& l = h.log.launches;
            const double gap = unit::seconds(l[1].started - l[0].ended);
            double sum = seconds(times) + gap;
            for (std::size_t i = 0; i < others; ++i) { sum += seconds_of(h, i) + gap; }
            return sum;
          },
          o.gpu.sms()};
}

// Many blocks of few steps: some waves of them, two at least and more than L2 holds, and twice as
// many; time grows evenly with their number once operands and results come from and go to DRAM.
Plan fewer_units(const Operation& o, const kernel::Kernel& k, double wave, double tiles,
                 double steps) {
  double bytes = 0;
  for (const kernel::Array& array : k.arrays) { bytes += static_cast<double>(array.bytes.count()); }
  const double twice_l2 = 2 * static_cast<double>(o.gpu.l2.capacity.count()) /
                          (bytes / static_cast<double>(o.whole.units()));
  const double waves = std::max(2.0, std::floor(kMostSteps / (3 * wave * steps)));
  const auto few = std::clamp<std::int64_t>(std::llround(std::max(waves * wave / tiles, twice_l2)),
                                            1, std::max<std::int64_t>(1, o.whole.units() / 2));
  const auto more = static_cast<double>(o.whole.units() - 2 * few) / static_cast<double>(few);
  const Part a{few, o.whole.length, o.whole.prefix}, b{2 * few, o.whole.length, o.whole.prefix};
  return in_parts(o, {a, b},
                  [=](const std::vector<double>& t) { return t[1] + more * (t[1] - t[0]); });
}

// Tiles per head and units that fill a wave best, a few tiles sharing the keys of a unit.
std::pair<std::int64_t, std::int64_t> fill_wave(std::int64_t heads, std::int64_t tiles,
                                                std::int64_t wave) {
  constexpr std::int64_t kMost = 4;
  std::pair<std::int64_t, std::int64_t> best{1, 1};
  for (std::int64_t t = 1; t <= std::min(kMost, tiles); ++t) {
    const std::int64_t units = std::max<std::int64_t>(1, wave / (heads * t));
    const auto filled = [&](std::int64_t a, std::int64_t b) {
      return heads * a * b > wave ? 0 : heads * a * b;
    };
    if (filled(t, units) >= filled(best.first, best.second)) { best = {t, units}; }
  }
  return best;
}

// Long prompts: one wave of tiles with few keys before them and one with more tell what a block of
// keys takes, and a tile beside its blocks. SMs are kept busy to the end by short tiles, or the
// longest tile is the end.
Plan few_tiles(const Operation& o, const kernel::Kernel& k, std::int64_t wave) {
  const std::int64_t heads = kernel::volume(k.grid) / (o.whole.units() * k.grid[1]);
  const auto [tiles, units] = fill_wave(heads, k.grid[1], wave);
  const std::int64_t tokens = std::max<std::int64_t>(1, o.whole.length * tiles / k.grid[1]);
  constexpr std::int64_t kNear = 512, kFar = 1536;
  const bool causal = o.whole.causal;
  const Part a{units, tokens, kNear}, b{units, tokens, kFar};
  const auto last_of = [&](std::int64_t length, std::int64_t prefix) {  // steps of the last tile
    return steps_of(o.part({units, 1, prefix + length - 1}));
  };
  const double near = causal ? last_of(tokens, kNear) : steps_of(o.part(a));
  const double far = causal ? last_of(tokens, kFar) : steps_of(o.part(b));
  const double all_tiles = blocks_of(k), all_steps = all_tiles * steps_of(k);
  const double chain = causal ? last_of(o.whole.length, o.whole.prefix) : steps_of(k);
  const auto slots = static_cast<double>(wave);
  return in_parts(o, {a, b}, [=](const std::vector<double>& t) {
    const double step = (t[1] - t[0]) / (far - near), tile = t[0] - step * near;
    return std::max((tile * all_tiles + step * all_steps) / slots, tile + step * chain);
  });
}

// Few blocks that go through many keys each: two shorter lengths.
Plan shorter(const Operation& o, const kernel::Kernel& k) {
  const double steps = steps_of(k), blocks = blocks_of(k);
  const std::int64_t splits = o.whole.kernel == "vector" ? 1 : k.grid[2];
  const double keys = static_cast<double>(o.whole.length) /
                      (static_cast<double>(splits) * steps);  // of a block of keys
  const double few = std::max(2.0, std::floor(kMostSteps / blocks / 3));
  const auto length = [&](double n) { return static_cast<std::int64_t>(std::ceil(n * keys)); };
  const std::int64_t units = o.whole.units() * splits;
  const double a = steps_of(o.part({units, length(few)})),
               b = steps_of(o.part({units, length(2 * few)}));
  return in_parts(
      o, {{units, length(few)}, {units, length(2 * few)}},
      [=](const std::vector<double>& t) { return t[1] + (steps - b) * (t[1] - t[0]) / (b - a); });
}

// Many blocks that go through many keys each.
Plan shorter_and_fewer(const Operation& o, const kernel::Kernel& k, double wave) {
  const double steps = steps_of(k), blocks = blocks_of(k);
  const auto length = [&](double n) {
    return static_cast<std::int64_t>(std::ceil(n * static_cast<double>(o.whole.length) / steps));
  };
  const auto units = static_cast<std::int64_t>(wave * static_cast<double>(o.whole.units()) /
                                               blocks * 2);
  const Part a{units, length(2)}, b{units, length(6)}, c{2 * units, length(2)};
  const double near = steps_of(o.part(a)), far = steps_of(o.part(b));
  const double rounds = static_cast<double>(o.whole.units()) / static_cast<double>(units);
  return in_parts(o, {a, b, c}, [=](const std::vector<double>& t) {
    const double step = (t[1] - t[0]) / (far - near), round = t[2] - t[0];
    return t[0] - round + rounds * (round + step * (steps - near));
  });
}

}  // namespace

Plan attention_plan(const Attention& a, const gpu::GpuSpec& gpu, double most_steps) {
  const Operation o{a, with_fetches(a, gpu)};
  const kernel::Kernel k = o.attention();
  const double steps = steps_of(k), blocks = blocks_of(k);
  const auto wave = static_cast<double>(wave_of(k, gpu));
  const double waves = blocks / wave;
  const auto whole = [&] {  // a long one is replayed once, behind another
    GraphReplays how;
    if (steps * blocks > kMostSteps / 4) { how.warm_up = how.timed = 1; }
    return graph_replays(o.gpu, o.kernels(), how);
  };
  if (steps * blocks <= most_steps && (waves <= 8 || most_steps > kMostSteps)) { return whole(); }
  // All blocks of a decode step do the same, so that the machine leaves out waves of them itself.
  constexpr double kWaves = 12;  // that it goes through
  const bool repeats = a.decode && waves > 8 && kWaves * wave * steps <= 2 * kMostSteps;
  if (repeats && most_steps <= kMostSteps) { return whole(); }
  if (waves > 4 && steps <= 6) {
    return fewer_units(o, k, wave, blocks / static_cast<double>(a.units()), steps);
  }
  if (!a.decode) { return waves >= 1 ? few_tiles(o, k, std::llround(wave)) : whole(); }
  return waves > 4 ? shorter_and_fewer(o, k, wave) : shorter(o, k);
}

}  // namespace wavetail::study
