// SPDX-License-Identifier: Apache-2.0
#include "sm/warp.h"

namespace wavetail::sm {

std::int64_t& bucket(result::StallCycles& s, Reason reason) {
  switch (reason) {
    case Reason::Start: return s.start;
    case Reason::NotSelected: return s.not_selected;
    case Reason::LongScoreboard: return s.long_scoreboard;
    case Reason::Wait: return s.wait;
    case Reason::MathPipeThrottle: return s.math_pipe_throttle;
    case Reason::LgThrottle: return s.lg_throttle;
    case Reason::ShortScoreboard: return s.short_scoreboard;
    case Reason::MioThrottle: return s.mio_throttle;
    case Reason::Barrier: return s.barrier;
    case Reason::BranchResolving: return s.branch_resolving;
    case Reason::Exit: return s.exit;
    case Reason::Gmma: return s.gmma;
    case Reason::Drain: return s.drain;
  }
  return s.exit;
}

std::string_view name(Reason reason) {
  switch (reason) {
    case Reason::Start: return "start";
    case Reason::NotSelected: return "not_selected";
    case Reason::LongScoreboard: return "long_scoreboard";
    case Reason::Wait: return "wait";
    case Reason::MathPipeThrottle: return "math_pipe_throttle";
    case Reason::LgThrottle: return "lg_throttle";
    case Reason::ShortScoreboard: return "short_scoreboard";
    case Reason::MioThrottle: return "mio_throttle";
    case Reason::Barrier: return "barrier";
    case Reason::BranchResolving: return "branch_resolving";
    case Reason::Exit: return "exit";
    case Reason::Gmma: return "gmma";
    case Reason::Drain: return "drain";
  }
  return "exit";
}

}  // namespace wavetail::sm
