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
// arithmetic.cc: operation rates and chains of dependent operations
[[nodiscard]] Plan op_rate_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan op_chain_plan(Params& params, const gpu::GpuSpec& gpu);
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
// occupancy.cc: launch rules
[[nodiscard]] Plan occupancy_rule_plan(Params& params, const gpu::GpuSpec& gpu);
[[nodiscard]] Plan occupancy_case_plan(Params& params, const gpu::GpuSpec& gpu);

}  // namespace wavetail::study
