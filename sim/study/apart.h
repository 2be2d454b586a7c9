// SPDX-License-Identifier: Apache-2.0
// Rows that no single mechanism gives, by what the row itself says: independent collections of it
// differ by more than one kernel can, or few of them ran a kernel that stands in for a missing one.
// Reports count them apart.
#pragma once

#include <string>

#include "gpu/spec.h"
#include "study/measurement.h"

namespace wavetail::study {

// Why a row counts apart; empty where it does not.
//
//   any row with lo and hi        hi above 2.5 times lo
//   attention                     head_dim above 256, for which libraries fall back
//   attention                     48 and more query heads per KV head from at most two collections
//   attention, one query          keys and values that L2 cannot hold, read faster than DRAM's peak
[[nodiscard]] std::string apart_of(const Measurement& row, const gpu::GpuSpec& gpu);

}  // namespace wavetail::study
