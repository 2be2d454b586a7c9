// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <csignal>

namespace wavetail::cli {

namespace {

// A signal handler has no other way to speak.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) { interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

const std::atomic<bool>* catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction present = {};
  sigaction(SIGHUP, nullptr, &present);
  if (present.sa_handler != SIG_IGN) { sigaction(SIGHUP, &action, nullptr); }  // not under nohup
  return &interrupted;
}

}  // namespace wavetail::cli
