// SPDX-License-Identifier: Apache-2.0
// The plans of all protocols, by the file of their family. A plan takes a row's parameters and a
// GPU at the row's clock; study/protocol.h says what it gives.
#pragma once

#include "study/protocol.h"

namespace wavetail::study {

// stream.cc: one element per thread, at a stated number of blocks per SM
[[nodiscard]] Plan stream_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan l2_stream_plan(Params& params, const gpu::GpuSpec& gpu);
// residence.cc: how long a block of such a kernel stays
[[nodiscard]] Plan residence_plan(Params& params, const gpu::GpuSpec& gpu);
// cache_curves.cc: all SMs read a set again and again
[[nodiscard]] Plan l2_curve_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan l1_curve_plan(Params& params, const gpu::GpuSpec& gpu);
// latency.cc: dependent loads of one thread
[[nodiscard]] Plan latency_curve_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan latency_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan tma_extra_plan(Params& params, const gpu::GpuSpec& gpu);
// throughput.cc: bytes per cycle of a level
[[nodiscard]] Plan level_throughput_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan sm_pipe_plan(Params& params, const gpu::GpuSpec& gpu);
// l1_pattern.cc: cycles per warp load of strided and two-dimensional patterns
[[nodiscard]] Plan l1_pattern_plan(Params& params, const gpu::GpuSpec& gpu);
// coalescing.cc, permutation.cc: lanes scattered over lines and sectors
[[nodiscard]] Plan coalescing_load_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan coalescing_store_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan store_permutation_plan(Params& params, const gpu::GpuSpec& gpu);
// launches.cc: small kernels launched again and again
[[nodiscard]] Plan small_kernel_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan launch_overhead_plan(Params& params, const gpu::GpuSpec& gpu);
// copies.cc: BabelStream, copies within the device, sums
[[nodiscard]] Plan babelstream_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan device_copy_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan sum_plan(Params& params, const gpu::GpuSpec& gpu);
// elementwise.cc: pointwise kernels and normalisations of frameworks
[[nodiscard]] Plan elementwise_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan norm_plan(Params& params, const gpu::GpuSpec& gpu);
// roofline.cc: loads and multiply-adds in turn
[[nodiscard]] Plan roofline_plan(Params& params, const gpu::GpuSpec& gpu);
// sgemm.cc: FP32 products
[[nodiscard]] Plan sgemm_plan(Params& params, const gpu::GpuSpec& gpu);
// rows.cc: softmax, layernorm and quantisation as frameworks launch them
[[nodiscard]] Plan softmax_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan layernorm_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan quantize_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan amax_plan(Params& params, const gpu::GpuSpec& gpu);
// eager.cc: operators called one at a time, timed on the host
[[nodiscard]] Plan eager_softmax_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan eager_matmul_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan eager_layernorm_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan eager_gelu_plan(Params& params, const gpu::GpuSpec& gpu);
// arithmetic.cc: operation rates and chains of dependent operations
[[nodiscard]] Plan op_rate_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan op_chain_plan(Params& params, const gpu::GpuSpec& gpu);
// tensor.cc, tcgen05.cc: rates and latencies of tensor instructions
[[nodiscard]] Plan mma_sync_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan wgmma_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan wgmma_sparse_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan si_latency_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan umma_latency_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan umma_interval_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan umma_throughput_plan(Params& params, const gpu::GpuSpec& gpu);
// pipes.cc: pipes alone and mixed, DPX functions, the core's own figures
[[nodiscard]] Plan dpx_latency_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan dpx_throughput_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan sm_pipe_mixed_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan core_plan(Params& params, const gpu::GpuSpec& gpu);
// attention.cc: attention of libraries
[[nodiscard]] Plan library_prefill_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan library_decode_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan framework_prefill_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan framework_decode_plan(Params& params, const gpu::GpuSpec& gpu);
// attention_papers.cc: attention kernels alone
[[nodiscard]] Plan attention_kernel_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan latent_attention_plan(Params& params, const gpu::GpuSpec& gpu);
// boxes.cc: the TMA from DRAM against bytes under way
[[nodiscard]] Plan tma_throughput_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan tma_dram_plan(Params& params, const gpu::GpuSpec& gpu);
// async_copies.cc: the same with cp.async
[[nodiscard]] Plan cpasync_dram_plan(Params& params, const gpu::GpuSpec& gpu);
// cold_copies.cc: one copy per SM, all at once, from DRAM
[[nodiscard]] Plan tma_cold_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan cpasync_cold_plan(Params& params, const gpu::GpuSpec& gpu);
// multicast.cc: tiles that several blocks need
[[nodiscard]] Plan tma_multicast_plan(Params& params, const gpu::GpuSpec& gpu);
// memory_paths.cc: rings of stages in shared memory, as kernels use them
[[nodiscard]] Plan memory_path_plan(Params& params, const gpu::GpuSpec& gpu);
// clusters.cc: shared memory of other blocks
[[nodiscard]] Plan dsmem_latency_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan dsmem_throughput_plan(Params& params, const gpu::GpuSpec& gpu);
// partitions.cc: dependent loads of one L2 partition
[[nodiscard]] Plan partition_latency_plan(Params& params, const gpu::GpuSpec& gpu);
// power.cc: clocks
[[nodiscard]] Plan clock_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan memory_clock_plan(Params& params, const gpu::GpuSpec& gpu);
// gemm.cc: matrix products of libraries
[[nodiscard]] Plan gemm_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan library_gemm_plan(Params& params, const gpu::GpuSpec& gpu);
// quantized.cc: products of FP8 and FP4 operands
[[nodiscard]] Plan library_fp8_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan library_fp8_blocks_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan library_nvfp4_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan narrow_layer_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan blockscale_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan fp8_plan(Params& params, const gpu::GpuSpec& gpu);
// moe.cc: grouped products, mixtures of experts
[[nodiscard]] Plan grouped_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan library_moe_plan(Params& params, const gpu::GpuSpec& gpu);
// ladders.cc: matrix products whose kernels are stated
[[nodiscard]] Plan ladder_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan profile_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan phase_plan(Params& params, const gpu::GpuSpec& gpu);
// occupancy.cc: launch rules
[[nodiscard]] Plan occupancy_rule_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan occupancy_case_plan(Params& params, const gpu::GpuSpec& gpu);

}  // namespace wavetail::study
