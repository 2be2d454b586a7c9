// SPDX-License-Identifier: Apache-2.0
// The keys of a scenario file, one table per kind of map: what the readers accept, what messages
// list and what the schema is made from.
#pragma once

#include "config/reader.h"

namespace wavetail::scenario {

// Of every kernel that is simulated: how random its data are.
[[nodiscard]] config::Key data_key();

[[nodiscard]] const config::KeyTable& root_keys();
[[nodiscard]] const config::KeyTable& host_keys();
[[nodiscard]] const config::KeyTable& simulation_keys();
[[nodiscard]] const config::KeyTable& initial_keys();
[[nodiscard]] const config::KeyTable& assume_keys();

[[nodiscard]] const config::KeyTable& program_kernel_keys();   // a kernel with a program of its own
[[nodiscard]] const config::KeyTable& duration_kernel_keys();  // a stand-in
[[nodiscard]] const config::KeyTable& array_keys();
[[nodiscard]] const config::KeyTable& role_keys();

[[nodiscard]] const config::KeyTable& operation_keys();   // the operations themselves
[[nodiscard]] const config::KeyTable& trips_keys();       // a loop's, where blocks differ
[[nodiscard]] const config::KeyTable& arithmetic_keys();  // {count, distance, flops}
[[nodiscard]] const config::KeyTable& access_keys();      // load and store
[[nodiscard]] const config::KeyTable& strides_keys();
[[nodiscard]] const config::KeyTable& atomic_keys();
[[nodiscard]] const config::KeyTable& shared_access_keys();  // shared_load and shared_store
[[nodiscard]] const config::KeyTable& swizzle_keys();
[[nodiscard]] const config::KeyTable& shared_strides_keys();
[[nodiscard]] const config::KeyTable& diverge_keys();
[[nodiscard]] const config::KeyTable& dpx_keys();

// async_keys.cc
[[nodiscard]] const config::KeyTable& mbarrier_keys();  // the long form of a kernel's mbarrier
[[nodiscard]] const config::KeyTable& arrive_keys();
[[nodiscard]] const config::KeyTable& copy_keys();  // cp_async
[[nodiscard]] const config::KeyTable& box_keys();
[[nodiscard]] const config::KeyTable& tma_load_keys();
[[nodiscard]] const config::KeyTable& tma_store_keys();
[[nodiscard]] const config::KeyTable& box_strides_keys();
[[nodiscard]] const config::KeyTable& wgmma_keys();
[[nodiscard]] const config::KeyTable& mma_keys();
[[nodiscard]] const config::KeyTable& mfma_keys();
[[nodiscard]] const config::KeyTable& tcgen05_mma_keys();
[[nodiscard]] const config::KeyTable& tcgen05_cp_keys();
[[nodiscard]] const config::KeyTable& tmem_access_keys();  // tcgen05_ld, tcgen05_st
[[nodiscard]] const config::KeyTable& commit_keys();
[[nodiscard]] const config::KeyTable& named_barrier_keys();
[[nodiscard]] const config::KeyTable& peer_keys();

[[nodiscard]] const config::KeyTable& item_keys();  // the items of a timeline
[[nodiscard]] const config::KeyTable& graph_keys();
[[nodiscard]] const config::KeyTable& repeat_keys();

[[nodiscard]] const config::KeyTable& expectation_keys();

// JSON Schema of a scenario file.
[[nodiscard]] std::string schema_json();

}  // namespace wavetail::scenario
