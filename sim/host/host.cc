// SPDX-License-Identifier: Apache-2.0
#include "host/host.h"

#include <algorithm>

namespace wavetail::host {

using event::Event;
using event::Target;

namespace {
constexpr std::int64_t kAllStreams = -1;
}

Host::Host(const gpu::GpuSpec& gpu, const std::vector<kernel::Kernel>& kernels,
           const Timeline& timeline, event::Wheel& wheel, device::Machine& machine,
           OnComplete on_complete)
    : gpu_(gpu),
      kernels_(kernels),
      timeline_(timeline),
      wheel_(wheel),
      machine_(machine),
      on_complete_(std::move(on_complete)),
      addresses_(kernels),
      ordinals_(kernels.size(), 0) {
  for (const kernel::Kernel& k : kernels) {
    codes_.push_back(sm::compile(k, gpu));
    fits_.push_back(k.duration ? occupancy::Occupancy{}
                               : occupancy::occupy(gpu, occupancy::launch_of(k)));
  }
}

void Host::begin() {
  frames_.push_back({&timeline_.items});
  go_on_at(Time{});
}

void Host::go_on_at(Time t) {
  end_ = std::max(end_, t);
  wheel_.schedule({t, Target::Host, static_cast<std::uint8_t>(Kind::Step), 0, 0});
}

void Host::handle(const Event& e) {
  if (e.kind == device::kKernelDone) {
    kernel_done(e.a);
    return;
  }
  switch (static_cast<Kind>(e.kind)) {
    case Kind::Step: step(); break;
    case Kind::Arrive: arrive(e.a); break;
    case Kind::StreamReady: {
      Stream& s = streams_[static_cast<int>(e.a)];
      s.ready_pending = false;
      advance(s);
      break;
    }
  }
}

// The thread's next item; leaves lists that are through.
void Host::step() {
  while (!frames_.empty()) {
    Frame& f = frames_.back();
    if (f.next < f.items->size()) {
      run_item((*f.items)[f.next], f);
      return;
    }
    frames_.pop_back();
    if (!frames_.empty()) {
      Frame& outer = frames_.back();
      if (++outer.done == (*outer.items)[outer.next].repeat) {
        outer.done = 0;
        ++outer.next;
      }
    }
  }
  program_over_ = true;
}

void Host::run_item(const Item& item, Frame& frame) {
  const Time now = wheel_.now();
  switch (item.kind) {
    case ItemKind::Launch:
    case ItemKind::Graph:
      if (++frame.done == item.repeat) {
        frame.done = 0;
        ++frame.next;
      }
      call(item);
      break;
    case ItemKind::SyncDevice:
      ++frame.next;
      wait_for(kAllStreams);
      break;
    case ItemKind::SyncStream:
      ++frame.next;
      wait_for(item.stream);
      break;
    case ItemKind::HostWork:
      ++frame.next;
      log_.spans.push_back({SpanKind::Work, now, now + item.work});
      go_on_at(now + item.work);
      break;
    case ItemKind::Repeat:
      frames_.push_back({&item.body});  // invalidates `frame`
      go_on_at(now);
      break;
  }
}

// A launch or graph call: the CPU is busy for its cost, then the work is on its way to the device.
void Host::call(const Item& item) {
  const bool graph = item.kind == ItemKind::Graph;
  const Time now = wheel_.now();
  const Time back = now + (graph ? timeline_.costs.graph_launch : timeline_.costs.launch);
  log_.spans.push_back({graph ? SpanKind::GraphCall : SpanKind::LaunchCall, now, back});
  const Time visible = back + gpu_.launch.submit;
  if (!graph) {
    submit(item, log_.spans.size() - 1, visible, Part::Alone);
  } else {
    bool first = true;
    for (const Item& node : item.body) {
      for (std::int64_t i = 0; i < node.repeat; ++i) {
        Item placed = node;
        placed.stream = item.stream;
        submit(placed, log_.spans.size() - 1, visible, first ? Part::GraphStart : Part::GraphNode);
        first = false;
      }
    }
  }
  go_on_at(back);
}

void Host::submit(const Item& launch, std::size_t span, Time at, Part part) {
  LaunchRecord record;
  record.kernel = launch.kernel;
  record.stream = launch.stream;
  record.call = span;
  record.arrived = at;
  log_.launches.push_back(record);
  parts_.push_back(part);
  ++streams_[launch.stream].submitted;
  ++under_way_;
  const auto number = static_cast<std::uint32_t>(log_.launches.size() - 1);
  wheel_.schedule({at, Target::Host, static_cast<std::uint8_t>(Kind::Arrive), 0, number});
}

bool Host::drained(std::int64_t stream) const {
  return std::all_of(streams_.begin(), streams_.end(), [&](const auto& s) {
    return (stream != kAllStreams && s.first != stream) || s.second.completed == s.second.submitted;
  });
}

void Host::wait_for(std::int64_t stream) {
  waiting_ = true;
  waited_stream_ = stream;
  wait_start_ = wheel_.now();
  check_wait();
}

void Host::check_wait() {
  if (waiting_ && drained(waited_stream_)) {
    waiting_ = false;
    const Time back = wheel_.now() + timeline_.costs.sync;
    log_.spans.push_back({SpanKind::Sync, wait_start_, back});
    go_on_at(back);
  }
}

void Host::arrive(std::uint32_t record) {
  Stream& s = streams_[log_.launches[record].stream];
  s.queue.push_back({record, parts_[record]});
  advance(s);
}

Duration Host::gap_before(Part part) const {
  const gpu::LaunchSpec& launch = gpu_.launch;
  return part == Part::GraphNode    ? launch.graph_gap
         : part == Part::GraphStart ? launch.graph_start
                                    : launch.stream_gap;
}

void Host::advance(Stream& s) {
  if (s.busy || s.ready_pending || s.queue.empty()) { return; }
  const Time earliest = s.ran ? s.last_end + gap_before(s.queue.front().part) : wheel_.now();
  if (earliest > wheel_.now()) {
    s.ready_pending = true;
    const auto stream = static_cast<std::uint32_t>(log_.launches[s.queue.front().record].stream);
    wheel_.schedule(
        {earliest, Target::Host, static_cast<std::uint8_t>(Kind::StreamReady), 0, stream});
    return;
  }
  start(s);
}

void Host::start(Stream& s) {
  const std::uint32_t number = s.queue.front().record;
  s.queue.pop_front();
  s.busy = true;
  s.ran = true;
  LaunchRecord& record = log_.launches[number];
  const auto k = static_cast<std::size_t>(record.kernel);
  const kernel::Kernel& kernel = kernels_[k];
  auto launch = std::make_unique<sm::Launch>();
  launch->id = number;
  launch->kernel = &kernel;
  launch->kernel_index = record.kernel;
  launch->codes = &codes_[k];
  launch->array_base = addresses_.of(kernel, ordinals_[k]++);
  launch->array_once = addresses_.once(kernel);
  launch->fit = fits_[k];
  launch->registers_per_warp = occupancy::registers_per_warp(gpu_, kernel.registers);
  launch->shared_memory_per_block = occupancy::shared_memory_per_block(gpu_, kernel.shared_memory)
                                        .count();
  launch->cluster = kernel::volume(kernel.cluster);
  launch->blocks = kernel::volume(kernel.grid);
  sm::Launch& started = *running_.emplace(number, std::move(launch)).first->second;
  record.started = wheel_.now();
  record.on_device = true;
  machine_.start(started);
}

void Host::kernel_done(std::uint32_t number) {
  const auto at = running_.find(number);
  const std::unique_ptr<sm::Launch> launch = std::move(at->second);
  running_.erase(at);
  LaunchRecord& record = log_.launches[number];
  record.ended = launch->ended;
  record.replayed = launch->replayed;
  end_ = std::max(end_, wheel_.now());
  on_complete_(*launch, record);
  Stream& s = streams_[record.stream];
  s.busy = false;
  s.last_end = wheel_.now();
  ++s.completed;
  --under_way_;
  advance(s);
  check_wait();
}

}  // namespace wavetail::host
