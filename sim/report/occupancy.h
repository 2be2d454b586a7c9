// SPDX-License-Identifier: Apache-2.0
// `wavetail occupancy`: the launch rules' answer for one launch.
#pragma once

#include <string>

#include "gpu/spec.h"
#include "occupancy/occupancy.h"

namespace wavetail::report {

[[nodiscard]] std::string occupancy_text(const gpu::GpuSpec& gpu, const occupancy::Launch& launch,
                                         const occupancy::Occupancy& occupancy);
[[nodiscard]] std::string occupancy_json(const gpu::GpuSpec& gpu, const occupancy::Launch& launch,
                                         const occupancy::Occupancy& occupancy);
[[nodiscard]] std::string occupancy_csv(const gpu::GpuSpec& gpu, const occupancy::Launch& launch,
                                        const occupancy::Occupancy& occupancy);

}  // namespace wavetail::report
