// SPDX-License-Identifier: Apache-2.0
// Attention kernels as their authors time them: the kernel alone, again and again. Heads follow
// from a hidden size of 2048 where a row has none (the benchmark of FlashAttention-2 and -3). A
// backward pass counts 2.5 times the FLOPs of a forward one.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "kernel/trips.h"
#include "study/protocols/all.h"
#include "study/protocols/attention.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kHidden = 2048;

struct Named {
  std::string_view name;
  const char* kernel;
  const char* dtype;
  bool overlap = true, specialised = true, backward = false;
};

constexpr std::array kNamed{
    Named{"FA3 fwd", "fa3", "bf16"},
    Named{"FA3 fp16 fwd", "fa3", "fp16"},
    Named{"FA3 fp16 fwd no GEMM-softmax pipelining", "fa3", "fp16", false, true},
    Named{"FA3 fp16 fwd no warp specialisation", "fa3", "fp16", true, false},
    Named{"FA3 fp8 fwd", "fa3", "fp8"},
    Named{"cuDNN fwd", "fa3", "bf16"},
    Named{"cuDNN fp8 fwd", "fa3", "fp8"},
    Named{"FA2 fwd", "fa2", "bf16"},
    Named{"FA2 fp16 fwd", "fa2", "fp16"},
    Named{"FA3 bwd", "fa3", "bf16", true, true, true},
    Named{"cuDNN bwd", "fa3", "bf16", true, true, true},
    Named{"FA2 bwd", "fa2", "bf16", true, true, true},
};

const Named& named(Params& params) {
  std::array<std::string_view, kNamed.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) { names[i] = kNamed[i].name; }
  const std::string name = params.one_of("kernel", names);
  for (const Named& n : kNamed) {
    if (n.name == name) { return n; }
  }
  return kNamed.front();
}

bool causal(Params& params) {
  const std::string text = params.one_of(
      "causal", std::array<std::string_view, 4>{"0", "1", "False", "True"});
  return text == "1" || text == "True";
}

// "32 (derived from ms and TFLOPS)"
std::int64_t leading_count(Params& params, std::string_view key) {
  const std::string text = params.word(key);
  std::int64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  if (n < 1) { throw Unmapped(fmt::format("{}={}: a whole number is needed", key, text)); }
  return n;
}

void read_heads(Params& params, Attention& a) {
  if (params.has("batch_x_heads")) {
    a.q_heads = leading_count(params, "batch_x_heads");
  } else {
    a.batch = params.count("batch");
    params.agrees("tokens", a.batch * a.length);
    const std::int64_t hidden = params.has("hidden") ? params.count("hidden") : kHidden;
    a.q_heads = params.has("heads")     ? leading_count(params, "heads")
                : params.has("q_heads") ? params.count("q_heads")
                                        : hidden / a.dim;
  }
  a.kv_heads = params.has("kv_heads") ? params.count("kv_heads") : a.q_heads;
}

// The three kernels of a backward pass over `units` heads.
std::vector<kernel::Kernel> backward_kernels(const Attention& a, std::int64_t units,
                                             std::int64_t length, bool causal,
                                             const gpu::GpuSpec& gpu) {
  return from_template("attention",
                       {.numbers = {{"batch", units},
                                    {"q_heads", 1},
                                    {"kv_heads", 1},
                                    {"head_dim", a.dim},
                                    {"seqlen", length},
                                    {"causal", causal ? 1 : 0}},
                        .words = {{"mode", "backward"}, {"dtype", a.dtype}, {"kernel", a.kernel}}},
                       gpu);
}

// Blocks of queries that a block of keys goes through.
double steps_of(const kernel::Kernel& k) {
  for (const kernel::Role& role : k.roles) {
    for (const kernel::Op& op : role.program) {
      if (op.kind != kernel::OpKind::Repeat) { continue; }
      return op.over == kernel::Over::Index
                 ? kernel::count_trips(op.trips, op.count, kernel::indices_of(k)).mean
                 : static_cast<double>(op.count);
    }
  }
  return 0;
}

// One wave of blocks, and two with the same and with twice the length: what a block of keys and
// what each of its steps takes. The small kernels around it take as long per row as in the last.
Plan backward_plan(const Attention& a, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kLength = 1024, kBlocks = kLength / 128;
  const auto whole = backward_kernels(a, a.units(), a.length, a.causal, gpu);
  const std::int64_t wave = wave_of(whole[1], gpu), units = wave / kBlocks;
  const double near = steps_of(backward_kernels(a, units, kLength, false, gpu)[1]);
  const double steps = steps_of(whole[1]);
  const double rounds = static_cast<double>(kernel::volume(whole[1].grid)) /
                        static_cast<double>(wave);
  const double rows = static_cast<double>(a.units() * a.length) /
                      static_cast<double>(2 * units * kLength);
  std::vector<kernel::Kernel> all;
  std::vector<int> order;
  for (const auto& [n, length] :
       {std::pair{units, kLength}, {units, 2 * kLength}, {2 * units, kLength}}) {
    for (kernel::Kernel& k : backward_kernels(a, n, length, false, gpu)) {
      k.name = fmt::format("part{}", all.size());
      for (kernel::Array& array : k.arrays) { array.name += fmt::format(".{}", order.size() / 3); }
      order.push_back(static_cast<int>(all.size()));
      all.push_back(std::move(k));
    }
  }
  return {scenario_of(gpu, std::move(all), order), Quantity::Time,
          [=](const run::Happened& h) {
            const double one = seconds_of(h, 1), longer = seconds_of(h, 4), two = seconds_of(h, 7);
            const double step = (longer - two) / (2 * near);  // two waves of twice the steps
            const double block = two - one - step * near;
            return 2 * one - two + rounds * (block + step * steps) +
                   rows * (seconds_of(h, 6) + seconds_of(h, 8));
          },
          gpu.sms()};
}

double flops_of(const Attention& a, bool backward) {
  const auto s = static_cast<double>(a.length);
  return 4.0 * static_cast<double>(a.batch * a.q_heads * a.dim) * s * s / (a.causal ? 2 : 1) *
         (backward ? 2.5 : 1);
}

Plan as_rate(Plan plan, double flops) {
  plan.quantity = Quantity::OpRate;
  plan.figure = [seconds = plan.figure, flops](const run::Happened& h) {
    return flops / seconds(h);
  };
  return plan;
}

}  // namespace

Plan attention_kernel_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time", "throughput"});
  const Named& kernel = named(params);
  Attention a;
  a.alone = true;
  a.kernel = kernel.kernel;
  a.dtype = kernel.dtype;
  a.overlap = kernel.overlap;
  a.specialised = kernel.specialised;
  a.dim = a.dim_v = params.count("headdim");
  a.length = params.count("seqlen");
  a.causal = causal(params);
  read_heads(params, a);
  params.ignore({"dtype", "note"});
  Plan plan = kernel.backward ? backward_plan(a, gpu) : attention_plan(a, gpu);
  if (params.row().metric == "time") { return plan; }
  return as_rate(std::move(plan), flops_of(a, kernel.backward));
}

// FlashMLA's benchmark where the tensor cores bind it: 128 query heads, a long cache, as many
// sequences as fill the SMs.
Plan latent_attention_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"peak"});
  params.must_be("kernel", "MLA dense decode compute-bound");
  Attention a;
  a.alone = a.decode = a.latent = true;
  a.kernel = "fa3";
  a.dim = params.count("head_dim_k");
  a.dim_v = params.count("head_dim_v");
  params.agrees("block_m", 64);
  a.q_heads = 128;
  a.batch = gpu.sms() / 2;  // two tiles of 64 heads each
  a.length = 8192;
  const double flops = 2.0 * static_cast<double>(a.batch * a.q_heads * a.length) *
                       static_cast<double>(a.dim + a.dim_v);
  return as_rate(attention_plan(a, gpu), flops);
}

}  // namespace wavetail::study
