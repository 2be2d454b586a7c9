// SPDX-License-Identifier: Apache-2.0
// The `host` and `timeline` sections: what the host thread does.
#pragma once

#include "config/value.h"
#include "gpu/spec.h"
#include "host/timeline.h"
#include "scenario/kernels.h"

namespace wavetail::scenario {

// `host.mode` and `host.syncs`: what would a graph give, what would it give not to wait?
struct TimelineMode {
  bool graph = false;       // runs of launches become graphs
  bool drop_syncs = false;  // no synchronisations, and no host work right behind one
};

// What `host` leaves out comes from the GPU file's launch section. Either pointer may be null.
[[nodiscard]] host::HostCosts read_host(const config::Node* node, const gpu::GpuSpec* gpu,
                                        config::Diagnostics& diagnostics);

[[nodiscard]] TimelineMode read_mode(const config::Node* host, config::Diagnostics& diagnostics);

// Items after all repetitions; a real number, since nested counts may be huge.
[[nodiscard]] double expanded(const std::vector<host::Item>& items);

// What calls and launches cost by statement.
struct StatedCosts {
  host::HostCosts host;
  unit::Duration per_launch;  // on the device, before its first block
};

// Seconds of calls, gaps, host work and kernels with a stated duration, as if nothing overlapped.
[[nodiscard]] double stated_seconds(const std::vector<host::Item>& items,
                                    const std::vector<kernel::Kernel>& kernels,
                                    const StatedCosts& costs);

// The timeline as the mode has it. Launches of one stream that follow each other, repeated ones
// included, become one graph; a synchronisation, host work or a graph of the file's own ends the
// run.
[[nodiscard]] std::vector<host::Item> apply_mode(std::vector<host::Item> items, TimelineMode mode);

[[nodiscard]] std::vector<host::Item> read_timeline(const config::At& at, const KernelSet& kernels);

}  // namespace wavetail::scenario
