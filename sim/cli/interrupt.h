// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP ask for an end: the simulation stops, and what there is so far is
// reported.
#pragma once

#include <atomic>

namespace wavetail::cli {

// Catches the signals from now on and returns the flag that they set. A second signal kills the
// program. A SIGHUP that is ignored already (nohup) stays so.
[[nodiscard]] const std::atomic<bool>* catch_interrupts();

}  // namespace wavetail::cli
