// SPDX-License-Identifier: Apache-2.0
// From the nodes of a GPU file to a GpuSpec. No value of the chip has a default: what neither the
// file nor its architecture (gpu/architecture.h) gives is an error. Sources and confidences go into
// GpuSpec::provenance, by path.
#pragma once

#include <optional>
#include <span>

#include "config/diagnostics.h"
#include "config/node.h"
#include "config/setting.h"
#include "gpu/spec.h"

namespace wavetail::gpu {

// A GPU file's nodes with `base` merged in, and where every value comes from.
struct Document {
  config::Node root;
  ProvenanceMap provenance;
};

// Source and confidence of every value below `root`: its own, or those of the nearest `from` around
// it; a value without either is assumed.
[[nodiscard]] ProvenanceMap read_provenance(const config::Node& root,
                                            config::Diagnostics& diagnostics);

// `file` on top of `base`: maps are merged, everything else (lists, long values) is replaced. The
// name and the aliases are the file's own.
[[nodiscard]] Document merge(Document base, Document file);

// Applies settings whose path begins with "gpu." (others are left alone). `gpu.sms` spreads SMs
// evenly over the GPCs. A set value is `assumed`, its source is the setting.
void apply_settings(Document& document, std::span<const config::Setting> settings,
                    config::Diagnostics& diagnostics);

// What a GPU can be called: letters, digits, '.', '_' and '-'.
[[nodiscard]] bool is_name(std::string_view text);

// Checks everything, cross-field rules included.
[[nodiscard]] std::optional<GpuSpec> read_gpu(const Document& document,
                                              config::Diagnostics& diagnostics);

}  // namespace wavetail::gpu
