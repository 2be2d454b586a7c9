// SPDX-License-Identifier: Apache-2.0
// The `host` and `timeline` sections: what the host thread does.
#pragma once

#include "config/value.h"
#include "gpu/spec.h"
#include "host/timeline.h"
#include "scenario/kernels.h"

namespace wavetail::scenario {

// What `host` leaves out comes from the GPU file's launch section. Either pointer may be null.
[[nodiscard]] host::HostCosts read_host(const config::Node* node, const gpu::GpuSpec* gpu,
                                        config::Diagnostics& diagnostics);

[[nodiscard]] std::vector<host::Item> read_timeline(const config::At& at, const KernelSet& kernels);

}  // namespace wavetail::scenario
