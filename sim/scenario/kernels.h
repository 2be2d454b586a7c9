// SPDX-License-Identifier: Apache-2.0
// The `kernels` section: templates, programs of one's own, and stand-ins of stated duration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/reader.h"
#include "gpu/spec.h"
#include "kernel/kernels.h"

namespace wavetail::scenario {

// What a scenario's kernel became: a template may make several that are launched in a row.
struct KernelSet {
  kernel::Kernels kernels;
  std::map<std::string, std::vector<int>, std::less<>>
      by_name;  // the file's name -> indices, launch order

  [[nodiscard]] std::vector<std::string> names() const;
};

// `gpu` may be null where the GPU itself could not be read: what does not need it is checked all
// the same.
[[nodiscard]] KernelSet read_kernels(const config::At& at, const gpu::GpuSpec* gpu);

// How random a kernel's data are, from its `data`; 1 where it says nothing.
[[nodiscard]] double read_randomness(const config::MapReader& map);

// A kernel with a program of its own; its name is set.
[[nodiscard]] kernel::Kernel read_program_kernel(const config::At& at, const std::string& name,
                                                 const gpu::GpuSpec* gpu);

}  // namespace wavetail::scenario
