// SPDX-License-Identifier: Apache-2.0
#include "run/budget.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "bound/work.h"
#include "host/launches.h"
#include "kernel/share.h"
#include "memory/l2_directory.h"
#include "memory/shape.h"
#include "occupancy/occupancy.h"
#include "sm/code.h"
#include "unit/human.h"

namespace wavetail::run {

using result::Outcome;

namespace {

constexpr std::int64_t kDefaultMaxEvents = 2'000'000'000;
constexpr std::int64_t kDefaultMaxMemory = 4'000'000'000;

// Wall time for the estimate in a refusal, on the slow side: measured on a server's core, 16 to 22
// million events of arithmetic per second, 0.1 us per line of a dense stream, 0.25 to 0.5 us per
// line where every lane has a page of its own. The latter wait for the computer's own memory.
constexpr double kSecondsPerEvent = 0.1e-6;
constexpr double kSecondsPerScatteredSector = 0.5e-6;

// What the machine holds per unit of its caches (memory/l1.h, memory/page_table.h,
// memory/hbm_channel.h).
constexpr double kBytesPerL1Line = 21;
constexpr double kBytesPerL2Page = 32;  // two entries of the page table, never more than half full
constexpr double kBytesPerBank = 16;
// Of what the L2 holds: a frame of its directory, in a list that grows by doubling
// (memory/l2_directory.h); at worst there is one for every line.
constexpr double kBytesPerFrame = 192;
constexpr double kBytesPerWarpSlot = 1024;  // a warp, its scoreboard, its events (sm/warp.h)
constexpr double kBytesPerSm = 16e3;        // its credits and the calendar of its port
// Events under way and requests: shipped workloads peak at 21 to 69 MB in all (--timing).
constexpr double kBytesPerRun = 24e6;

std::string events(std::int64_t n) {
  return n % 1'000'000 == 0 ? std::to_string(n / 1'000'000) + " million events"
                            : std::to_string(n) + (n == 1 ? " event" : " events");
}

std::string in_millions(double n) {
  return std::to_string(static_cast<std::int64_t>(n / 1e6 + 0.5)) + " million";
}

// Sectors of accesses whose lanes share none: less than half of what they fetch is asked for.
double scattered_sectors(const bound::Work& work) {
  double sectors = 0;
  for (const bound::AccessWork& a : work.accesses) {
    if (memory::kSectorBytes * a.sectors >= 2 * a.useful_bytes) { sectors += a.sectors; }
  }
  return sectors;
}

double machine_bytes(const gpu::GpuSpec& gpu) {
  const auto count = [](std::int64_t n) { return static_cast<double>(n); };
  const std::int64_t l1_lines = gpu.sm.unified_l1.count() / memory::kLineBytes;
  return kBytesPerL1Line * count(std::max(l1_lines, gpu.l1.ways)) * count(gpu.sms()) +
         kBytesPerL2Page * count(gpu.cached().count()) / memory::kPageBytes +
         kBytesPerBank * count(gpu.hbm.channels * gpu.hbm.banks) +
         (kBytesPerSm + kBytesPerWarpSlot * count(gpu.sm.max_warps)) * count(gpu.sms()) +
         kBytesPerRun;
}

// The directory's frames: pages of the arrays, as far as the L2 has room for them, and those that
// it holds at the start.
double frame_bytes(const scenario::Scenario& s, const std::vector<double>& launches,
                   bool scattered) {
  const double lines = static_cast<double>(s.gpu.cached().count()) / memory::kLineBytes;
  const double whole = lines / memory::kLinesPerPage;
  double pages = 0;
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    for (const kernel::Array& a : s.kernels[k].arrays) {
      const double copies = a.per_launch ? launches[k]
                                         : std::min(launches[k], static_cast<double>(a.copies));
      pages += copies * std::ceil(static_cast<double>(a.bytes.count()) / memory::kPageBytes);
    }
  }
  const double strangers = s.initial_l2 == scenario::InitialL2::Empty ? 0 : whole;
  return kBytesPerFrame * (strangers + std::min(pages, scattered ? lines : whole));
}

// Blocks do more or less by their index: none of their waves are left out.
bool goes_by_index(const kernel::Program& program) {
  return std::any_of(program.begin(), program.end(), [](const kernel::Op& op) {
    return op.over == kernel::Over::Index ||
           std::any_of(op.bodies.begin(), op.bodies.end(), goes_by_index);
  });
}

// Of a launch's waves those that are simulated where steady ones may be left out: seldom more than
// some (device/wave_skip.h).
double simulated_share(const kernel::Kernel& k, const scenario::Scenario& s) {
  constexpr double kWaves = 20;
  const bool alike = std::none_of(k.roles.begin(), k.roles.end(), [](const kernel::Role& role) {
    return goes_by_index(role.program);
  });
  if (s.simulation.skip_waves <= 0 || !alike || (k.shares && k.shares->contiguous)) { return 1; }
  double waves = 0;
  if (k.shares) {
    waves = static_cast<double>(kernel::portions_of(k, 0));
  } else {
    const std::int64_t places = occupancy::occupy(s.gpu, occupancy::launch_of(k)).capacity();
    waves = static_cast<double>(kernel::volume(k.grid)) /
            static_cast<double>(std::max<std::int64_t>(1, places));
  }
  return std::min(1.0, kWaves / std::max(1.0, waves));
}

}  // namespace

Watch::Watch(const Control& control)
    : control_(control), start_(std::chrono::steady_clock::now()) {}

std::optional<std::string> Watch::look(std::int64_t so_far, std::int64_t& counted,
                                       Outcome& outcome) {
  const std::int64_t all = events_ += so_far - counted;
  counted = so_far;
  if (control_.cancelled != nullptr && control_.cancelled->load(std::memory_order_relaxed)) {
    outcome = Outcome::Interrupted;
    return "a signal ended the run";
  }
  const Budget& b = control_.budget;
  outcome = Outcome::OverBudget;
  if (all > b.max_events.value_or(kDefaultMaxEvents)) {
    return "the budget of " + events(b.max_events.value_or(kDefaultMaxEvents)) +
           " is spent (--max-events)";
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  if (b.max_time_s && elapsed.count() > *b.max_time_s) {
    return "the time budget is spent (--max-time)";
  }
  if (b.max_memory_bytes && resident_memory() > *b.max_memory_bytes) {
    return "the memory budget is spent (--max-memory)";
  }
  outcome = Outcome::Complete;
  return std::nullopt;
}

std::optional<std::string> Watch::refuse(const Needs& needs) const {
  const Budget& b = control_.budget;
  const double most = static_cast<double>(b.max_memory_bytes.value_or(kDefaultMaxMemory));
  if (needs.bytes > most) {
    return "by estimate the GPU's caches and warps take " + unit::human(needs.bytes, "bytes") +
           " of memory; " +
           (b.max_memory_bytes ? "--max-memory allows " : "the default limit is ") +
           unit::human(most, "bytes") + ". Nothing was simulated" +
           (b.max_memory_bytes ? "" : "; --max-memory sets another limit");
  }
  if (b.max_events || b.max_time_s || needs.events <= static_cast<double>(kDefaultMaxEvents)) {
    return std::nullopt;
  }
  return "by estimate the scenario needs " + in_millions(needs.events) + " events and some " +
         std::to_string(static_cast<std::int64_t>(needs.seconds)) + " s; the default limit is " +
         in_millions(static_cast<double>(kDefaultMaxEvents)) +
         ". Nothing was simulated; give --max-events or --max-time to run as far as that reaches";
}

Needs needs_of(const scenario::Scenario& s) {
  const std::vector<double> launches = host::count_launches(s.timeline, s.kernels.size());
  Needs needs;
  double scattered = 0;
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    const kernel::Kernel& kernel = s.kernels[k];
    if (kernel.duration) {
      needs.events += 4 * launches[k];
      continue;
    }
    const double simulated = s.simulation.replay ? std::min(launches[k], 3.0) : launches[k];
    const bound::Work work = bound::count_work(kernel, s.gpu);
    const double blocks = static_cast<double>(kernel::volume(kernel.grid));
    const double warps = blocks * static_cast<double>((kernel.block + s.gpu.sm.warp_size - 1) /
                                                      s.gpu.sm.warp_size);
    const double per_launch = 2 * blocks + 2 * warps + 2.5 * work.requests() +
                              1.5 * work.shared_requests() +
                              work.warp_instructions /
                                  static_cast<double>(s.simulation.issue_quantum) +
                              work.free_steps / sm::kMaxTurnSteps;
    needs.events += per_launch * simulated * simulated_share(kernel, s);
    scattered += scattered_sectors(work) * simulated;
  }
  needs.seconds = needs.events * kSecondsPerEvent + scattered * kSecondsPerScatteredSector;
  needs.bytes = machine_bytes(s.gpu) + frame_bytes(s, launches, scattered > 0);
  return needs;
}

std::int64_t memory_limit(const Budget& budget) {
  return budget.max_memory_bytes.value_or(kDefaultMaxMemory);
}

std::int64_t resident_memory() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace wavetail::run
