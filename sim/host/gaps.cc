// SPDX-License-Identifier: Apache-2.0
#include "host/gaps.h"

#include <algorithm>

namespace wavetail::host {

namespace {

// Did a synchronisation return between the call before this launch's and its own?
bool follows_sync(const Log& log, const LaunchRecord& launch) {
  for (std::size_t i = launch.call; i-- > 0;) {
    if (log.spans[i].kind == SpanKind::Sync) { return true; }
    if (log.spans[i].kind != SpanKind::Work) { return false; }
  }
  return false;
}

// Host work before the launch's call, as far as it lies within [from, to].
Duration work_within(const Log& log, const LaunchRecord& launch, Time from, Time to) {
  Duration sum;
  for (std::size_t i = launch.call; i-- > 0 && log.spans[i].end > from;) {
    const Span& s = log.spans[i];
    if (s.kind == SpanKind::Work && s.start < to) {
      sum += std::min(s.end, to) - std::max(s.start, from);
    }
  }
  return sum;
}

// Until the launch arrived, the host is to blame; after that, what the launch had to wait for.
void cut(const Log& log, const LaunchRecord& launch, Time from, Idle& idle) {
  const Time arrived = std::clamp(launch.arrived, from, launch.started);
  if (arrived > from) {
    if (follows_sync(log, launch)) {
      idle.sync += arrived - from;
      ++idle.sync_count;
    } else {
      const Duration work = work_within(log, launch, from, arrived);
      idle.host += work;
      idle.host_count += work > Duration{} ? 1 : 0;
      const Duration calls = arrived - from - work;
      idle.launch_bound += calls;
      idle.launch_bound_count += calls > Duration{} ? 1 : 0;
    }
  }
  if (launch.started > arrived) {
    idle.dependency += launch.started - arrived;
    ++idle.dependency_count;
  }
}

}  // namespace

Idle account_for_gaps(const Log& log, Time end) {
  std::vector<const LaunchRecord*> order;
  for (const LaunchRecord& l : log.launches) {
    if (l.on_device || l.ended > Time{}) {  // a run cut short leaves launches that never started
      order.push_back(&l);
    }
  }
  std::stable_sort(order.begin(), order.end(), [](const LaunchRecord* a, const LaunchRecord* b) {
    return a->started < b->started;
  });
  Idle idle;
  idle.before.resize(log.launches.size());
  Time busy_until;
  for (const LaunchRecord* l : order) {
    const Time ended = l->ended > Time{} ? l->ended : end;
    if (l->started > busy_until) {
      const Duration so_far = idle.launch_bound + idle.dependency;
      cut(log, *l, busy_until, idle);
      busy_until = l->started;
      if (l == order.front()) {
        idle.startup = idle.launch_bound;
        idle.first = static_cast<std::size_t>(l - log.launches.data());
      } else {
        idle.before[static_cast<std::size_t>(l - log.launches.data())] = idle.launch_bound +
                                                                         idle.dependency - so_far;
      }
    }
    if (ended > busy_until) {
      idle.busy += ended - busy_until;
      busy_until = ended;
    }
  }
  idle.tail = std::max(end, busy_until) - busy_until;
  return idle;
}

}  // namespace wavetail::host
