// SPDX-License-Identifier: Apache-2.0
// Arrays that a kernel updates in place: every warp loads its own bytes, waits for them and stores
// to the same ones. What is loaded was not written by the launch before, so that it has to come
// from where it was at the start.
#pragma once

#include "kernel/kernel.h"

namespace wavetail::bound {

// Whether the array's only accesses are one load and one store of the same addresses, in one body
// of the program, the load first and a wait for all loads between the two. Holds for the bytes that
// the load touches once per launch.
[[nodiscard]] bool updated_in_place(const kernel::Kernel& kernel, int array);

}  // namespace wavetail::bound
