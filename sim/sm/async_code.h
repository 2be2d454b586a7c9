// SPDX-License-Identifier: Apache-2.0
// Compiles asynchronous, tensor and cluster operations: boxes resolved to strides, costs of tensor
// instructions, what the roles of a kernel share.
#pragma once

#include "sm/code.h"
#include "sm/walk.h"

namespace wavetail::sm {

struct AsyncContext {
  const kernel::Kernel& kernel;
  const gpu::GpuSpec& gpu;
  const Surroundings& at;
};

[[nodiscard]] InstrKind async_kind(kernel::OpKind kind);

// Fills `instr` and the tables of `code` that it points into.
void compile_async(const kernel::Op& op, const AsyncContext& context, Instr& instr, Code& code);

// What needs all roles: mbarriers, and whether any role is asynchronous.
void finish_async(const kernel::Kernel& kernel, std::vector<Code>& codes);

}  // namespace wavetail::sm
