// SPDX-License-Identifier: Apache-2.0
// Grouped products, and mixtures of experts of frameworks. How many tokens an expert gets follows
// the collectors' own rule (github ai-dynamo/aiconfigurator, collector/helper.py): balanced, or
// drawn from a power law between 1 and 0.8 of the tokens and scaled to all choices, the rank with
// the most of them taken as the one that is measured. The draws here are the law's quantiles in a
// shuffled order; nobody published the collectors' own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "study/protocols/all.h"
#include "study/protocols/library.h"

namespace wavetail::study {

namespace {

using Rows = std::vector<std::int64_t>;

// The nth of a fixed sequence of numbers that look random.
std::uint64_t mixed(std::uint64_t n) {
  n += 0x9e3779b97f4a7c15;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9;
  n = (n ^ (n >> 27)) * 0x94d049bb133111eb;
  return n ^ (n >> 31);
}

// Quantiles of a density that falls as x to the power of -alpha from `low` to `high`, shuffled.
std::vector<double> power_law(std::int64_t count, double alpha, double low, double high) {
  std::vector<double> all;
  const double a = std::pow(low, 1 - alpha), b = std::pow(high, 1 - alpha);
  for (std::int64_t i = 0; i < count; ++i) {
    const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    all.push_back(std::pow((b - a) * u + a, 1 / (1 - alpha)));
  }
  for (std::size_t i = all.size(); i > 1; --i) { std::swap(all[i - 1], all[mixed(i) % i]); }
  return all;
}

// Whole rows, none above `most`, that add up to `target`.
Rows rounded(const std::vector<double>& weights, std::int64_t target, std::int64_t most) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  Rows rows;
  std::int64_t left = target;
  for (const double w : weights) {
    rows.push_back(
        std::min<std::int64_t>(most, std::llround(w / sum * static_cast<double>(target))));
    left -= rows.back();
  }
  while (left != 0) {
    const auto at = left > 0 ? std::min_element(rows.begin(), rows.end())
                             : std::max_element(rows.begin(), rows.end());
    *at += left > 0 ? 1 : -1;
    left += left > 0 ? -1 : 1;
  }
  return rows;
}

struct Routing {
  std::int64_t tokens = 0, topk = 0, experts = 0, ranks = 1;
};

// Of the experts of the fullest rank.
Rows local_rows(const Routing& r, std::optional<double> alpha) {
  const std::int64_t target = r.tokens * r.topk, each = r.experts / r.ranks;
  Rows all(static_cast<std::size_t>(r.experts), 0);
  if (!alpha) {  // choice i of token t: expert t + i x stride, spread out if tokens are few
    const std::int64_t stride = library::ceil_div(r.experts, r.topk);
    for (std::int64_t t = 0; t < r.tokens; ++t) {
      for (std::int64_t i = 0; i < r.topk; ++i) {
        const std::int64_t first = r.tokens >= stride ? t : t * stride / r.tokens;
        ++all[static_cast<std::size_t>((first + i * stride) % r.experts)];
      }
    }
    all.resize(static_cast<std::size_t>(each));
    return all;
  }
  const bool many = target > r.experts;
  const double high = many ? 0.8 * static_cast<double>(r.tokens) : 2;
  all = rounded(power_law(r.experts, *alpha, many ? 1 : 0.01, std::max(high, 1.01)), target,
                r.tokens);
  Rows best;
  std::int64_t most = -1;
  for (std::int64_t rank = 0; rank < r.ranks; ++rank) {
    const Rows some(all.begin() + rank * each, all.begin() + (rank + 1) * each);
    const std::int64_t sum = std::accumulate(some.begin(), some.end(), std::int64_t{0});
    if (sum > most) {
      most = sum;
      best = some;
    }
  }
  return best;
}

std::optional<double> alpha_of(const std::string& distribution) {
  constexpr std::string_view kLaw = "power_law_";
  if (distribution == "balanced") { return std::nullopt; }
  if (!distribution.starts_with(kLaw)) {
    throw Unmapped(fmt::format("distribution={}: balanced or a power law", distribution));
  }
  return std::stod(distribution.substr(kLaw.size()));
}

struct Weights {
  std::string_view name, dtype, scale;
  double bytes = 2;
};

constexpr Weights kWeights[] = {{"bfloat16", "bf16", "none", 2},
                                {"fp8", "fp8", "none", 1},
                                {"fp8_block", "fp8", "block", 1},
                                {"nvfp4", "fp4", "nv", 0.5}};

Weights weights_of(const std::string& name) {
  for (const Weights& w : kWeights) {
    if (w.name == name) { return w; }
  }
  throw Unmapped(fmt::format("dtype={}: there are bfloat16, fp8, fp8_block and nvfp4", name));
}

// Rows and columns of a product in groups, and its operations.
struct Grouped {
  Rows rows;
  std::int64_t n = 0, k = 0, room = 0;

  [[nodiscard]] double flops() const {
    const std::int64_t all = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
    return 2.0 * static_cast<double>(all) * static_cast<double>(n) * static_cast<double>(k);
  }
};

}  // namespace

// Behind the router, replayed; weights of a layer seldom fit L2, and there is one copy of them.
Plan library_moe_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  const Weights w = weights_of(params.word("dtype"));
  Routing r{params.count("tokens"), params.count("topk"), params.count("experts"),
            params.count("moe_ep")};
  const std::int64_t hidden = params.count("hidden"), inter = params.count("inter"),
                     parts = params.count("moe_tp");
  const auto alpha = alpha_of(params.word("distribution"));
  if (r.experts % r.ranks != 0 || inter % parts != 0) {
    throw Unmapped(fmt::format("experts={};moe_ep={};inter={};moe_tp={}: no whole shares",
                               r.experts, r.ranks, inter, parts));
  }
  Rows rows = local_rows(r, alpha);
  if (std::all_of(rows.begin(), rows.end(), [](std::int64_t n) { return n == 0; })) {
    rows[0] = 1;  // a rank without work does not show in a table: take its least
  }
  const std::int64_t unit = w.scale == "block" ? 128 : 32;
  std::vector<kernel::Kernel> kernels = from_template(
      "moe",
      {.numbers = {{"tokens", r.tokens},
                   {"hidden", hidden},
                   {"inter", library::round_up(inter / parts, unit)},
                   {"topk", r.topk},
                   {"experts", r.experts}},
       .words = {{"dtype", std::string(w.dtype)},
                 {"scale", std::string(w.scale)},
                 {"x", "x"},
                 {"up_weights", "w1"},
                 {"down_weights", "w2"},
                 {"y", "y"}},
       .lists = {{"rows", std::move(rows)}}},
      gpu);
  return graph_replays(gpu, std::move(kernels), {});
}

// DeepGEMM's benchmarks after a flush: groups behind each other, or each in a room of its own of
// which a count says how much is filled.
Plan grouped_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time", "throughput"});
  const std::string& kind = params.row().kind;
  const bool masked = kind.ends_with("masked");
  const std::int64_t groups = params.count("groups");
  Grouped g;
  g.n = params.count("n");
  g.k = params.count("k");
  const std::int64_t total = params.has("m_total") ? params.count("m_total") : 0;
  const std::int64_t rows = total > 0 ? total / groups
                            : params.has("m_per_group_expected")
                                ? params.count("m_per_group_expected")
                                : params.count("m_per_group");
  params.ignore({"layout", "in_", "out", "acc", "scale"});
  g.rows.assign(static_cast<std::size_t>(groups), rows);
  if (masked) { g.room = std::max<std::int64_t>(rows, 4096); }
  const bool fp8 = kind.find("fp8") != std::string::npos;
  const double flops = g.flops();
  return after_flush(
      from_template("grouped_gemm",
                    {.numbers = {{"n", g.n}, {"k", g.k}, {"room", g.room}, {"transposes", 0}},
                     .words = {{"dtype", fp8 ? "fp8" : "bf16"},
                               {"scale", fp8 ? "block" : "none"},
                               {"x", "x"},
                               {"weights", "w"},
                               {"y", "y"}},
                     .lists = {{"rows", g.rows}}},
                    gpu),
      flops, params.row().metric, gpu);
}

}  // namespace wavetail::study
