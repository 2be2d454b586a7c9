// SPDX-License-Identifier: Apache-2.0
// What protocols share: timelines of launches, block residency held at a stated number of blocks
// per SM, and long kernels whose steady part is simulated instead of the whole.
#pragma once

#include <functional>
#include <vector>

#include "kernel/kernel.h"
#include "library/parts.h"
#include "study/protocol.h"

namespace wavetail::study {

// A scenario of these kernels, launched one after the other as `order` says (indices), with a
// synchronisation at the end. Costs of the host are the GPU file's.
[[nodiscard]] scenario::Scenario scenario_of(const gpu::GpuSpec& gpu,
                                             std::vector<kernel::Kernel> kernels,
                                             const std::vector<int>& order);

// Mean time of one launch of kernel `k`, first block dispatched to last block retired, in seconds.
[[nodiscard]] double seconds_of(const run::Happened& happened, std::size_t k);

// By how much the time of launch `later` exceeds that of launch `earlier`, in seconds.
[[nodiscard]] double seconds_more(const run::Happened& happened, std::size_t later,
                                  std::size_t earlier);

// Gives the kernel shared memory, and the SM a carve-out as small as possible, so that exactly
// `blocks_per_sm` blocks fit: the "spoiler" with which benchmarks hold occupancy. Throws Unmapped
// if no size does.
void hold_residency(kernel::Kernel& kernel, const gpu::GpuSpec& gpu, std::int64_t blocks_per_sm);

// Blocks `first` to `first + count - 1` of a grid that is too long to simulate.
struct Piece {
  std::int64_t first = 0, count = 0;
};

// A kernel of many like blocks. It is simulated in three launches that follow each other through
// its data: one that brings the caches into their steady state, a short one and a long one. Between
// the short and the long one lies a whole number of waves, so that what both have (start, tail)
// cancels; the rest of the grid takes as long per block as the blocks between them. A grid not much
// longer than the three is simulated whole, after itself.
struct LongKernel {
  std::int64_t blocks = 0;        // of the whole grid
  std::int64_t wave = 0;          // blocks resident at once
  double bytes_per_block = 0;     // traffic of one, loads and stores
  double settle_bytes = 0;        // traffic after which the caches have settled
  double measured_bytes = 128e6;  // least traffic between the short and the long launch
  std::function<kernel::Kernel(Piece)> make = {};
};

struct Steady {
  scenario::Scenario scenario;
  // Of the whole grid, or of all rounds, in seconds.
  std::function<double(const run::Happened&)> seconds;
  // Between two blocks that leave, over the whole GPU; of one round; in seconds.
  std::function<double(const run::Happened&)> seconds_per_block;
};

[[nodiscard]] Steady steady(const gpu::GpuSpec& gpu, const LongKernel& kernel);

// A kernel whose blocks stay and loop. It is simulated with `lead` rounds of its loop and with
// `between` more, each launch on arrays of its own that no cache holds. What both have (start,
// first and last rounds) cancels; the rest of the loop takes as long per round as the rounds
// between them. A loop that is no longer is simulated whole.
struct LongLoop {
  std::int64_t rounds = 0;  // of the whole kernel
  std::int64_t lead = 0, between = 0;
  std::function<kernel::Kernel(std::int64_t rounds)> make = {};
};

[[nodiscard]] Steady steady(const gpu::GpuSpec& gpu, const LongLoop& loop);

// Blocks of `kernel` that all SMs hold at once; Unmapped if it does not fit at all.
[[nodiscard]] std::int64_t wave_of(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu);

// Time of a load from shared memory whose address comes from the one before (latency.cc).
[[nodiscard]] Plan shared_latency(const gpu::GpuSpec& gpu);

// Shuffles (SHFL) and reductions over a warp (REDUX) on every SM, if `test` names one (pipes.cc).
[[nodiscard]] std::optional<Plan> warp_exchange_plan(const std::string& test, std::int64_t block,
                                                     const gpu::GpuSpec& gpu);

// Kernels between two events of a stream, behind a buffer that is cleared on the device
// (triton.testing.do_bench). While the device clears, the host runs ahead. A copy of L2's size
// stands for the end of the clearing: it leaves every second line dirty, as the rows of Liger want
// it (docs/deviations.md, cleared-l2). An event is a launch of no work that takes kEvent; time
// counts from the end of one to the end of the other. `waits`: the host synchronises behind that
// many of the kernels and goes on with `pause` of work.
inline constexpr unit::Duration kEvent{2'200'000};  // chosen on a sample of Liger's rows

struct Timed {
  std::vector<kernel::Kernel> kernels = {};
  std::int64_t waits = 0;
  unit::Duration pause = {};
  // Where one of the kernels is too long and only its first waves are among them: a shorter and a
  // longer run of it, made behind the second event, whose difference counts `rest` times more.
  std::vector<kernel::Kernel> probes = {};
  double rest = 0;
};

[[nodiscard]] Steady between_events(const gpu::GpuSpec& gpu, Timed timed);

// Host time of an eager framework's call beside the launches, in Python and its dispatcher, until
// the first launch: of an operator; of a library product, which looks for an algorithm too; of a
// function behind a compiler's guards (torch.compile, a Triton launcher), which takes
// kCompiledReturn more behind the launch; of every buffer that it returns beside the first. Chosen
// on the shortest calls among LLMCompass' rows (A100), with the GPU file's costs of launch,
// submission and synchronisation; nothing was held out.
inline constexpr unit::Duration kOperatorCall{3'300'000}, kProductCall{17'500'000},
    kCompiledCall{35'000'000}, kCompiledReturn{6'000'000}, kBuffer{2'300'000};

// `run` as a framework's call between two events of a stream with nothing in it, as a
// synchronisation behind each call leaves it: the host's way to the launch (`call`, launch,
// submission) and the second event come on top. They are seen on a launch of no work behind the
// kernels.
[[nodiscard]] Steady called_between_events(Steady run, unit::Duration call);

// A framework's call, timed on the host: from its beginning to the end of a synchronisation behind
// it, repeated until caches have settled. `after`: host work between launch and synchronisation.
[[nodiscard]] Steady timed_calls(const gpu::GpuSpec& gpu, std::vector<kernel::Kernel> kernels,
                                 unit::Duration call, unit::Duration after = {});

// A template of the library with its parameters; Unmapped with the library's reason where it cannot
// state the shape.
[[nodiscard]] std::vector<kernel::Kernel> from_template(std::string_view name,
                                                        library::Arguments arguments,
                                                        const gpu::GpuSpec& gpu);

}  // namespace wavetail::study
