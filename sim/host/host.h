// SPDX-License-Identifier: Apache-2.0
// The CPU thread that drives the device, and the streams between them. The thread goes through its
// timeline: launch calls and graph calls cost CPU time and then become visible to the device after
// `submit`; a synchronisation waits for the device; host work takes the time it states. A stream
// starts its next launch when the one before has ended and the gap between two kernels has passed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "device/machine.h"
#include "event/wheel.h"
#include "host/addresses.h"
#include "host/log.h"
#include "host/timeline.h"
#include "kernel/kernel.h"
#include "sm/launch.h"

namespace wavetail::host {

class Host {
 public:
  // Called when a launch is complete, before it is forgotten.
  using OnComplete = std::function<void(const sm::Launch&, const LaunchRecord&)>;

  Host(const gpu::GpuSpec& gpu, const std::vector<kernel::Kernel>& kernels,
       const Timeline& timeline, event::Wheel& wheel, device::Machine& machine,
       OnComplete on_complete);

  // Schedules the first step at time 0.
  void begin();

  // Events of Target::Host.
  void handle(const event::Event& e);

  // The thread is through and every launch is complete.
  [[nodiscard]] bool finished() const { return program_over_ && under_way_ == 0; }

  [[nodiscard]] const Log& log() const { return log_; }

  [[nodiscard]] const occupancy::Occupancy& fit(int kernel) const {
    return fits_[static_cast<std::size_t>(kernel)];
  }

  // The launches that are on the device, by the index of their record in the log.
  [[nodiscard]] const std::map<std::uint32_t, std::unique_ptr<sm::Launch>>& running() const {
    return running_;
  }

  // Time of the last completion on host or device.
  [[nodiscard]] Time end() const { return end_; }

 private:
  enum class Kind : std::uint8_t {
    Step,         // the thread goes on
    Arrive,       // a = record of a launch that the device now sees
    StreamReady,  // a = stream: the gap before its next launch has passed
  };

  // A place in the timeline: a list of items, the present one, how often it has run.
  struct Frame {
    const std::vector<Item>* items;
    std::size_t next = 0;
    std::int64_t done = 0;  // repeats of items[next] that are over
  };

  // What a launch is part of: it stands alone, begins a graph, or follows a node of its graph.
  enum class Part : std::uint8_t { Alone, GraphStart, GraphNode };

  struct Queued {
    std::uint32_t record;
    Part part;
  };

  struct Stream {
    std::deque<Queued> queue;
    bool busy = false;
    bool ready_pending = false;
    Time last_end;
    bool ran = false;
    std::int64_t submitted = 0, completed = 0;
  };

  void step();
  void run_item(const Item& item, Frame& frame);
  void call(const Item& item);
  void submit(const Item& launch, std::size_t span, Time at, Part part);
  void wait_for(std::int64_t stream);
  void check_wait();
  void arrive(std::uint32_t record);
  void advance(Stream& stream);
  [[nodiscard]] Duration gap_before(Part part) const;
  void start(Stream& stream);
  void kernel_done(std::uint32_t launch);
  void go_on_at(Time t);
  [[nodiscard]] bool drained(std::int64_t stream) const;

  const gpu::GpuSpec& gpu_;
  const std::vector<kernel::Kernel>& kernels_;
  const Timeline& timeline_;
  event::Wheel& wheel_;
  device::Machine& machine_;
  OnComplete on_complete_;
  Addresses addresses_;
  std::vector<std::vector<sm::Code>> codes_;  // by kernel
  std::vector<occupancy::Occupancy> fits_;    // by kernel
  std::vector<std::int64_t> ordinals_;        // launches so far, by kernel
  std::vector<Frame> frames_;
  std::map<int, Stream> streams_;
  std::vector<Part> parts_;                                       // by record
  std::map<std::uint32_t, std::unique_ptr<sm::Launch>> running_;  // by record
  Log log_;
  bool program_over_ = false;
  bool waiting_ = false;
  std::int64_t waited_stream_ = 0;
  Time wait_start_;
  std::int64_t under_way_ = 0;
  Time end_;
};

}  // namespace wavetail::host
