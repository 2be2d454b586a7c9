// SPDX-License-Identifier: Apache-2.0
#include "study/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "isa/availability.h"
#include "occupancy/occupancy.h"
#include "study/protocols/all.h"

namespace wavetail::study {

namespace {

constexpr std::string_view
    kNoMatrices = "matrix products by tensor instructions have no protocol yet";
constexpr std::string_view kNarrowLayer =
    "replays of a graph: activations made narrow, library products over copies of "
    "the weights";
constexpr std::string_view kGrouped = "a product of groups of rows after a flush of L2";
constexpr std::string_view kNoSteps = "steps of whole models have no protocol yet";

constexpr std::array kProtocols = {
    Protocol{"attention", "the attention kernel alone, launched again and again",
             attention_kernel_plan},
    Protocol{"attention_decode_bf16",
             "replays of a graph: cache write, split-KV attention, merge of the splits",
             framework_decode_plan},
    Protocol{"attention_mla", "decode attention over a latent cache, bound by the tensor cores",
             latent_attention_plan},
    Protocol{"attention_prefill_causal_bf16", "replays of a graph: cache write, attention",
             framework_prefill_plan},
    Protocol{"babelstream", "a thread per FP64 element, timed on the host with a synchronisation",
             babelstream_plan},
    Protocol{"bmm_fp32", "a batch of FP32 products by the FP32 pipe", sgemm_plan},
    Protocol{"cache_bw_same_data_all_sms", "every block reads the same set again and again",
             l1_curve_plan},
    Protocol{"clock_under_load", "SMs read L2 on a board that has been busy for long", clock_plan},
    Protocol{"coalescing_load", "warp loads over a stated number of sectors, halves and lines",
             coalescing_load_plan},
    Protocol{"coalescing_store", "warp stores over a stated number of sectors and lines",
             coalescing_store_plan},
    Protocol{"copy_bw_scaling", "which blocks run on which SMs is stated in words only"},
    Protocol{"core_microarch", "latency of shared memory and rate of issue, where that is asked",
             core_plan},
    Protocol{"cpasync_dram_throughput",
             "every thread copies an element per trip by cp.async, from DRAM", cpasync_dram_plan},
    Protocol{"cpasync_latency_all_sms",
             "every SM copies once from DRAM by cp.async, all at the same time", cpasync_cold_plan},
    Protocol{"cumsum_fp32", "scans have no template"},
    Protocol{"d2d_copy", "copies within the device, one after the other", device_copy_plan},
    Protocol{"derived_block_residence", "resident blocks times the time between two that leave",
             residence_plan},
    Protocol{"dgemm", "the size of the product is not stated"},
    Protocol{"dpx_latency", "a chain of dependent DPX functions in one warp", dpx_latency_plan},
    Protocol{"dpx_throughput", "every SM full of warps that call a DPX function",
             dpx_throughput_plan},
    Protocol{"dram_throughput", "every SM streams from an array that no cache holds",
             level_throughput_plan},
    Protocol{"dsmem_latency", "a chain of dependent loads from a peer's shared memory",
             dsmem_latency_plan},
    Protocol{"dsmem_throughput", "every block copies from its neighbour's shared memory",
             dsmem_throughput_plan},
    Protocol{"eager_gelu", "a compiled pointwise function, called and synchronised from the host",
             eager_gelu_plan},
    Protocol{"eager_layernorm",
             "a compiled reduction over rows, called and synchronised from the host",
             eager_layernorm_plan},
    Protocol{"eager_matmul",
             "the library's half-precision product, called and synchronised from the host",
             eager_matmul_plan},
    Protocol{"eager_softmax", "an eager framework's softmax, called and synchronised from the host",
             eager_softmax_plan},
    Protocol{"elementwise_amax_scale",
             "magnitudes and their maximum, eager, replayed again and again", amax_plan},
    Protocol{"elementwise_fp32", "an eager framework's vectorised kernel on tensors beyond L2",
             elementwise_plan},
    Protocol{"elementwise_quantize",
             "a conversion to FP8 with a given scale, replayed again and again", quantize_plan},
    Protocol{"gemm_bf16",
             "launches of a kernel that the row states, or library products: graphs replayed over "
             "copies of the weights, calls after a flush of L2, or one call after the other",
             gemm_plan},
    Protocol{"gemm_bf16_grouped_contiguous", kGrouped, grouped_plan},
    Protocol{"gemm_bf16_grouped_masked", kGrouped, grouped_plan},
    Protocol{"gemm_fp16", "launches of a kernel that the row states, one after the other",
             ladder_plan},
    Protocol{"gemm_fp16_mma_sync", "launches of a kernel that the row states, one after the other",
             ladder_plan},
    Protocol{"gemm_fp32", "an FP32 product by the FP32 pipe, wave by wave", sgemm_plan},
    Protocol{"gemm_fp8",
             "launches of a kernel that the row states, a library's after a flush of L2, or one "
             "after the other",
             fp8_plan},
    Protocol{"gemm_fp8_block", kNarrowLayer, narrow_layer_plan},
    Protocol{"gemm_fp8_blockscale", "a block-scaled product after a flush of L2", blockscale_plan},
    Protocol{"gemm_fp8_grouped_contiguous", kGrouped, grouped_plan},
    Protocol{"gemm_fp8_grouped_masked", kGrouped, grouped_plan},
    Protocol{"gemm_nvfp4", kNarrowLayer, narrow_layer_plan},
    Protocol{"gemm_phase_cycles", "what the warps of a kernel wait for in a phase of its loop",
             phase_plan},
    Protocol{"gemm_tf32", kNoMatrices},
    Protocol{"hbm_to_smem_throughput", "a block per SM streams a set through a ring of stages",
             memory_path_plan},
    Protocol{"l1_access_pattern", "cycles of one SM per warp load of a pattern in L1",
             l1_pattern_plan},
    Protocol{"l1_throughput", "every SM reads a set in L1", level_throughput_plan},
    Protocol{"l2_bw_curve", "blocks read one of several chunks each, from L2 or beyond",
             l2_curve_plan},
    Protocol{"l2_partition_latency", "a chain through lines of one L2 partition, held or not",
             partition_latency_plan},
    Protocol{"l2_stream_bw_vs_occupancy",
             "a thread per element of a small array, at a stated number of blocks per SM",
             l2_stream_plan},
    Protocol{"l2_throughput", "every SM reads a set in L2", level_throughput_plan},
    Protocol{"launch_overhead", "empty kernels and a synchronisation", launch_overhead_plan},
    Protocol{"layernorm_fp32", "an eager framework's LayerNorm, caches cold", layernorm_plan},
    Protocol{"library_attention_decode_bf16",
             "replays of a graph: cache write, split-KV attention, merge of the splits",
             library_decode_plan},
    Protocol{"library_attention_prefill_bf16", "replays of a graph: cache write, attention",
             library_prefill_plan},
    Protocol{"library_gemm_bf16",
             "a graph of library products over copies of the weights, replayed back to back",
             library_gemm_plan},
    Protocol{"library_gemm_fp8", kNarrowLayer, library_fp8_plan},
    Protocol{"library_gemm_fp8_blockscale", kNarrowLayer, library_fp8_blocks_plan},
    Protocol{"library_gemm_nvfp4", kNarrowLayer, library_nvfp4_plan},
    Protocol{"library_moe",
             "replays of a graph: tokens sorted by expert, two grouped products, their sum",
             library_moe_plan},
    Protocol{"llm_decode", kNoSteps},
    Protocol{"llm_first_token", kNoSteps},
    Protocol{"mem_latency", "a chain of dependent loads in a level of memory", latency_plan},
    Protocol{"mem_latency_curve", "a chain of dependent loads through a set of a stated size",
             latency_curve_plan},
    Protocol{"memory_clock", "what the bandwidth of the GPU file means", memory_clock_plan},
    Protocol{"mma_si_latency", "from one tensor instruction to the next of its issuer",
             si_latency_plan},
    Protocol{"mma_sync", "mma.sync: a chain in one warp, or every SM full of independent ones",
             mma_sync_plan},
    Protocol{"mma_throughput", "its shapes are labels that fit no instruction of the GPU"},
    Protocol{"ncu_profile", "counters of one launch of a stated kernel, with nothing in L2",
             profile_plan},
    Protocol{"noc", "single links of the network on chip are not parts of the machine"},
    Protocol{"norm_or_elementwise",
             "kernels of Triton, eager and compiled frameworks between two events, L2 cleared",
             norm_plan},
    Protocol{"occupancy_case", "blocks per SM by the launch rules", occupancy_case_plan},
    Protocol{"occupancy_rule", "a limit as the GPU's file has it", occupancy_rule_plan},
    Protocol{"op_cost", "a chain of dependent operations in one warp", op_chain_plan},
    Protocol{"opencl_benchmark", "every SM full of dependent multiply-adds", op_rate_plan},
    Protocol{"repeated_small_kernel", "launches that follow each other in a stream or a graph",
             small_kernel_plan},
    Protocol{"rmsnorm_pdl", "programmatic dependent launch is not part of the machine"},
    Protocol{"roofline", "threads that walk two arrays and multiply and add between the loads",
             roofline_plan},
    Protocol{"sm_pipe_mixed", "every SM loads from shared memory and shuffles in turn",
             sm_pipe_mixed_plan},
    Protocol{"sm_pipe_throughput", "every SM accesses shared memory, shuffles or reduces",
             sm_pipe_plan},
    Protocol{"smem_throughput", "every SM reads shared memory", level_throughput_plan},
    Protocol{"softmax_fp32", "an eager framework's softmax, caches cold", softmax_plan},
    Protocol{"store_block_permutation", "blocks store tiles with their threads permuted",
             store_permutation_plan},
    Protocol{"stream_bw_vs_occupancy",
             "a thread per element of large arrays, at a stated number of blocks per SM",
             stream_plan},
    Protocol{"stream_triad", "grid and block are not stated"},
    Protocol{"sum_reduction", "the library's reduction of a large array", sum_plan},
    Protocol{"tma_dram_throughput", "a ring of boxes per block, from DRAM", tma_dram_plan},
    Protocol{"tma_extra_latency", "dependent boxes of 16 B in L2 against dependent loads",
             tma_extra_plan},
    Protocol{"tma_latency_all_sms", "every SM asks for a box in DRAM, all at the same time",
             tma_cold_plan},
    Protocol{"tma_multicast", "blocks that need the same tiles, with and without multicast",
             tma_multicast_plan},
    Protocol{"tma_throughput", "a box at a time per block, from DRAM", tma_throughput_plan},
    Protocol{"umma_initiation_interval", "what each further tcgen05.mma of a round adds",
             umma_interval_plan},
    Protocol{"umma_latency", "rounds of one tcgen05.mma, a commit and a wait", umma_latency_plan},
    Protocol{"umma_throughput", "rounds of many tcgen05.mma, a commit and a wait",
             umma_throughput_plan},
    Protocol{"wgmma", "a warpgroup per SM that never lets its tensor pipe wait", wgmma_plan},
    Protocol{"wgmma_sparse", "the same with a sparse A", wgmma_sparse_plan},
};

static_assert(std::is_sorted(kProtocols.begin(), kProtocols.end(),
                             [](const Protocol& a, const Protocol& b) { return a.kind < b.kind; }));

// As a scenario that holds such a launch would be refused.
void refuse_missing(const kernel::Program& program, const gpu::GpuSpec& gpu) {
  for (const kernel::Op& op : program) {
    if (const auto why = isa::lacks(isa::operation_name(op.kind), gpu.architecture)) {
      throw Unmapped(*why);
    }
    for (const kernel::Program& body : op.bodies) { refuse_missing(body, gpu); }
  }
}

void refuse_unlaunchable(const scenario::Scenario& scenario, const gpu::GpuSpec& gpu) {
  for (const kernel::Kernel& k : scenario.kernels) {
    if (k.duration) { continue; }
    for (const kernel::Role& role : k.roles) { refuse_missing(role.program, gpu); }
    const auto fit = occupancy::occupy(gpu, occupancy::launch_of(k));
    if (!fit.launchable) {
      throw Unmapped(fmt::format("{} refuses kernel '{}': {}", gpu.name, k.name, fit.reason));
    }
  }
}

}  // namespace

std::span<const Protocol> protocols() { return kProtocols; }

Plan plan_of(const Measurement& row, const gpu::GpuSpec& gpu) {
  const auto it = std::find_if(kProtocols.begin(), kProtocols.end(),
                               [&](const Protocol& p) { return p.kind == row.kind; });
  if (it == kProtocols.end()) {
    std::vector<std::string> known;
    for (const Protocol& p : kProtocols) { known.emplace_back(p.kind); }
    throw Unmapped(
        fmt::format("kind '{}' has no protocol{}", row.kind, base::hint(row.kind, known, false)));
  }
  if (it->plan == nullptr) { throw Unmapped(std::string(it->sentence)); }
  Params params(row);
  params.ignore({"clock_mhz"});  // the GPU has it already
  Plan plan = it->plan(params, gpu);
  params.finish();
  refuse_unlaunchable(plan.scenario, gpu);
  (void)in_unit(1, plan.quantity, row.unit, gpu.sm_clock(), plan.sms);  // a known unit?
  return plan;
}

}  // namespace wavetail::study
