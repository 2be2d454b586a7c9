// SPDX-License-Identifier: Apache-2.0
// The device: SMs, memory and the block scheduler, wired. Launches are started by the host's
// streams; when a launch's last block has retired, the host gets a KernelDone event.
//
//   Machine m(gpu, wheel, {.issue_quantum = 16});
//   m.start(launch);  while (wheel.pop(e)) { m.handle(e) for Sm, Memory, Device; the host for Host;
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/block_scheduler.h"
#include "device/power.h"
#include "device/replay.h"
#include "device/trip_skip.h"
#include "device/wave_skip.h"
#include "event/wheel.h"
#include "gpu/spec.h"
#include "memory/clocks.h"
#include "memory/system.h"
#include "sm/launch.h"
#include "sm/sm.h"

namespace wavetail::device {

struct MachineOptions {
  std::int64_t issue_quantum = 16;
  std::uint64_t seed = 1;
  bool replay = false;  // only where launches never overlap
  // A launch may stand for one whose caches differ by no more than DRAM moves in this share of its
  // time (Replay::Nearness).
  double replay_within = 0;
  double skip_waves = 0;  // share by which a launch's time may be wrong; as replay
  bool busy = false;      // the board has been at its power limit for long
  // Asked now and then while a launch is simulated apart, with the events that took so far: whether
  // to give up. The launch is then simulated in line, where its run is stopped.
  std::function<bool(std::int64_t events_apart)> give_up = {};
};

// Of the block scheduler, per block.
[[nodiscard]] unit::Duration time_per_block(const gpu::GpuSpec& gpu, unit::Hertz clock);

// Event kind of Target::Host: a launch is complete, a = Launch::id.
inline constexpr std::uint8_t kKernelDone = 210;

class Machine {
 public:
  Machine(const gpu::GpuSpec& gpu, event::Wheel& wheel, const MachineOptions& options);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Starts a launch now. It must stay where it is until its KernelDone event.
  void start(sm::Launch& launch);

  // Events of Target::Sm, Memory and Device.
  void handle(const event::Event& e);

  // For the host's cache, ahead of an event: what its handler reads first, and what it reads then.
  void prefetch(const event::Event& e) const;
  void prefetch_further(const event::Event& e) const;

  // An account of whoever still waits, for hang reports: at most `limit` lines.
  [[nodiscard]] std::vector<std::string> waiting(std::size_t limit) const;

  // What a program did that the hardware has no rule for; empty: nothing. The run is then
  // worthless.
  [[nodiscard]] const std::string& fault() const { return surface_.fault; }

  // What launches have done so far; may start from what a run of the same kernels on the same
  // machine left.
  [[nodiscard]] Replay& replay() { return replay_; }

  [[nodiscard]] memory::System& memory() { return memory_; }

  [[nodiscard]] const memory::Clocks& clocks() const { return clocks_; }

  [[nodiscard]] const PowerControl& power() const { return power_; }

  // Events of launches that were simulated apart, at clocks that replay needed (see rehearse).
  [[nodiscard]] std::int64_t events_apart() const { return events_apart_; }

 private:
  enum class Kind : std::uint8_t {
    Dispatch,     // the block scheduler may place the next block
    Drained,      // L2 has taken the last store of a launch
    StandInDone,  // a = launch: a stated or replayed duration is over
    LeftOutOver,  // a = launch: so are the waves and trips that were left out
    Control,      // the power control decides
  };

  void dispatch();
  void block_free(std::uint16_t sm, std::uint32_t block_slot);
  void stand_in_done(std::vector<sm::Launch*>::iterator done);
  void block_wave_ended(sm::Launch& launch);
  void round_ended(sm::Launch& launch);
  void trips_ended(sm::Launch& launch);
  [[nodiscard]] result::Counters counters_now(sm::Launch& launch) const;
  void all_retired(sm::Launch& launch);
  void retired(sm::Launch& launch);
  void complete_drained();
  void complete(sm::Launch& launch);
  void close_account(sm::Launch& launch);
  void announce(const sm::Launch& launch);

  // clocking.cc
  void begin_metering();
  void control();
  void meter();
  void set_clock(unit::Hertz clock);
  void close_energy(sm::Launch& launch);
  bool repeat(sm::Launch& launch);
  void finish_at(sm::Launch& launch, unit::Duration drain);
  void repeat_paced(sm::Launch& launch, int most);
  [[nodiscard]] bool rehearse(const sm::Launch& launch, unit::Hertz clock);
  [[nodiscard]] bool begin_long(sm::Launch& launch);
  [[nodiscard]] bool is_long(const sm::Launch& launch) const;

  const gpu::GpuSpec& gpu_;
  event::Wheel& wheel_;
  MachineOptions options_;
  memory::Clocks clocks_;
  memory::System memory_;
  sm::Surface surface_;
  std::vector<sm::Sm> sms_;
  BlockScheduler blocks_;
  event::Server dispatcher_;
  unit::Duration dispatch_time_;  // per block
  bool dispatch_pending_ = false;
  std::vector<sm::Launch*> resident_;
  std::vector<sm::Launch*> draining_;  // all blocks retired, stores still on their way
  WaveSkip waves_;
  TripSkip trips_;
  Replay replay_;
  Replay::Key key_;  // of the launch being simulated, if replay is on
  PowerControl power_;
  unit::Time metered_until_;
  bool control_pending_ = false;
  std::int64_t events_apart_ = 0;
};

}  // namespace wavetail::device
