// SPDX-License-Identifier: Apache-2.0
// Rules that hold between the values of a GPU file: what no single range can catch.
#pragma once

#include "config/diagnostics.h"
#include "config/node.h"
#include "gpu/spec.h"

namespace wavetail::gpu {

// Reports every broken rule at the value that is most likely the wrong one.
void check_rules(const GpuSpec& spec, const config::Node& root, config::Diagnostics& diagnostics);

}  // namespace wavetail::gpu
