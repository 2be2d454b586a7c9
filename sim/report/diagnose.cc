// SPDX-License-Identifier: Apache-2.0
#include "report/diagnose.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/advice.h"
#include "report/figures.h"
#include "report/verdict.h"
#include "unit/human.h"

namespace wavetail::report {

namespace {

using result::KernelResult;
using unit::human;

std::string pct(double v) { return human(v, "pct"); }

constexpr double kWidest = 16;  // bytes per lane of one load

// Whether the device idles before this kernel for long, as its time goes.
bool rivals(const KernelResult& k) { return 3 * k.gap_us.value_or(0) > k.time_us; }

// Collects the findings of one kernel; each rule looks at a few figures and speaks or keeps silent.
class Reader {
 public:
  explicit Reader(const KernelResult& k) : k_(k) {}

  std::vector<Finding> findings() {
    gaps();
    if (k_.bound.name == "stated") { return std::move(found_); }
    few_blocks();
    under_way();
    coalescing();
    banks();
    dram();
    l2();
    atomics();
    issue();
    tensor();
    pipe();
    divergence();
    tail();
    barrier();
    queue();
    turnover();
    chain();
    return std::move(found_);
  }

 private:
  // A remedy that leaves `factor` of the time and the bytes as they are: no less than the bound,
  // nor than what these bytes take.
  [[nodiscard]] double remaining(double factor) const {
    return std::max(fewer_bytes(factor), k_.traffic_us.value_or(0));
  }

  // A remedy that leaves `factor` of time and bytes: of the latter no less than the compulsory
  // ones.
  [[nodiscard]] double fewer_bytes(double factor) const {
    return std::max(k_.bound.time_us, k_.time_us * std::clamp(factor, 0.0, 1.0));
  }

  // A remedy against waiting: what SMs are busy with stays, too.
  [[nodiscard]] double without_waits(double factor) const {
    return remaining(std::max(factor, k_.sm_busy_pct.value_or(0) / 100));
  }

  void say(std::string mechanism, std::string evidence, std::string remedy,
           std::optional<double> estimate = {}) {
    found_.push_back({std::move(mechanism), std::move(evidence), std::move(remedy), estimate});
  }

  [[nodiscard]] double stall(const std::string& reason) const {
    return share(k_.stall_pct, reason);
  }

  [[nodiscard]] bool waits_for_memory() const {
    return stall("long_scoreboard") + stall("lg_throttle") >= 30 && k_.dram_pct.value_or(0) < 70;
  }

  [[nodiscard]] bool leaves_sms_idle() const { return share(k_.slot_pct, "not_reached") >= 5; }

  void gaps() {
    if (!rivals(k_)) { return; }
    say("launch_gaps",
        fmt::format("the gap before a launch, {} on average, rivals the kernel's {}",
                    human(*k_.gap_us, "us"), human(k_.time_us, "us")),
        k_.from_graphs
            ? "fewer launches: fuse it with its neighbours, or batch its work"
            : "fewer launches: fuse it with its neighbours, batch its work, or launch it from a "
              "graph");
  }

  void few_blocks() {
    if (!leaves_sms_idle()) { return; }
    const double idle = share(k_.slot_pct, "not_reached");
    const auto sms = sms_of(k_);
    say("too_few_blocks",
        fmt::format(
            "{} blocks reach {} of {} SMs; {} of the issue slots are on SMs without a block",
            k_.grid, k_.sms_reached.value_or(0), sms ? human(*sms, "") : "all", pct(idle)),
        "a larger grid: smaller blocks or tiles, or split the reduction over blocks",
        remaining(1 - idle / 100));
  }

  // Bytes under way against what Little asks for, and why there are not more.
  void under_way() {
    const auto needed = link(k_.bound.chain, "needed_in_flight_bytes");
    if (!needed || !k_.bytes_in_flight || !waits_for_memory() || leaves_sms_idle()) { return; }
    const double missing = *needed / std::max(1.0, *k_.bytes_in_flight);
    if (missing < 1.3) { return; }
    const std::string evidence = fmt::format("{} under way, {} needed for the pins' rate",
                                             human(*k_.bytes_in_flight, "bytes"),
                                             human(*needed, "bytes"));
    const double width = k_.bound.load_width;
    if (width > 0 && 2 * width <= kWidest && k_.useful_sector_pct.value_or(100) >= 75) {
      const double wider = std::min(missing, kWidest / width);
      say("narrow_loads",
          fmt::format("{}; loads bring {} per lane where one can bring 16 B", evidence,
                      human(width, "bytes")),
          "wider loads: 16 B per lane, vectorised or through asynchronous copies",
          remaining(1 / wider));
    } else if (k_.theoretical_occupancy_pct.value_or(100) < 25) {
      say("too_few_warps",
          fmt::format("{}; {} of the warp slots can be filled ({})", evidence,
                      pct(*k_.theoretical_occupancy_pct), fmt::join(k_.limiters, ", ")),
          "more resident warps, or more independent loads in each", without_waits(1 / missing));
    } else {
      say("too_few_loads", evidence,
          "more independent loads before the first use: unroll, prefetch, deeper pipeline",
          without_waits(1 / missing));
    }
  }

  [[nodiscard]] bool whole_sectors() const { return k_.useful_sector_pct.value_or(100) >= 75; }

  void coalescing() {
    if (whole_sectors()) { return; }
    say("coalescing",
        fmt::format("{} sectors per request, {} of their bytes are asked for",
                    human(k_.sectors_per_request.value_or(0), ""), pct(*k_.useful_sector_pct)),
        "let neighbouring lanes read neighbouring addresses; transpose through shared memory",
        coalesced(*k_.useful_sector_pct / 100));
  }

  // Whole sectors leave `useful` of what the SMs ask for. DRAM moves no more than now, and no less
  // than the compulsory bytes where that is what it moves already.
  [[nodiscard]] double coalesced(double useful) const {
    const double moved = k_.dram_read_bytes.value_or(0) + k_.dram_write_bytes.value_or(0);
    const double least = link(k_.bound.chain, "compulsory_bytes").value_or(0);
    const double kept = moved > 0 ? std::min(1.0, least / moved) : 0;
    return fewer_bytes(std::max(useful, kept * k_.dram_pct.value_or(0) / 100));
  }

  // What is left of the time if the share `conflicts` of `affected` goes: no less than the other
  // ceilings, and that of shared memory without its conflicts.
  [[nodiscard]] double without_conflicts(double affected, double conflicts) const {
    double floor = k_.traffic_us.value_or(0);
    for (const result::ChainLink& l : k_.bound.chain) {
      const double left = l.key == "shared_us" ? 1 - conflicts : 1;
      floor = l.unit == "us" ? std::max(floor, l.value * left) : floor;
    }
    return std::max(floor, k_.time_us * (1 - affected * conflicts));
  }

  // Wavefronts that conflicts add cost time where the data path is busy or warps wait for it.
  void banks() {
    const double conflicts = k_.bank_conflict_pct.value_or(0);
    const double waits = stall("short_scoreboard") + stall("mio_throttle");
    const double busy = k_.shared_busy_pct.value_or(0);
    if (conflicts >= 20 && std::max(busy, waits) >= 20) {
      say("bank_conflicts",
          fmt::format("{} wavefronts per shared-memory request, {} of them conflicts; {} of warp "
                      "time waits for shared memory, its data path is busy {}",
                      human(*k_.bank_wavefronts_per_request, ""), pct(conflicts), pct(waits),
                      pct(busy)),
          "pad the rows by one access width, or swizzle: XOR the column with the row (Swizzle<B, "
          "M, S>, TMA's 128 B mode), which keeps 16 B accesses aligned",
          without_conflicts(std::max(busy, waits) / 100, conflicts / 100));
    } else if (busy >= 60) {
      say("shared_memory",
          fmt::format("shared memory's data path is busy {}, {} of its wavefronts are conflicts",
                      pct(busy), pct(conflicts)),
          "more reuse in registers: larger tiles per thread; fewer passes through shared memory");
    }
  }

  void dram() {
    if (!pins_bind(k_)) { return; }
    say("dram", fmt::format("{} of the pins' rate", pct(*k_.dram_pct)),
        whole_sectors() ? "only fewer bytes help: fusion, a narrower dtype, reuse in L2"
                        : "only fewer bytes help: whole sectors first, then fusion and reuse");
  }

  void l2() {
    if (k_.bound.name != "l2" || ceiling() < 60) { return; }
    say("l2", fmt::format("{} of what crossbar and L2 can bring", pct(ceiling())),
        "more reuse in registers, L1 and shared memory: larger tiles, multicast");
  }

  void atomics() {
    if (k_.bound.name != "atomics" || ceiling() < 40) { return; }
    say("atomics", fmt::format("{} of what slices of L2 can do in atomics", pct(ceiling())),
        "fewer of them on one address: sums in registers or shared memory first, more addresses");
  }

  void issue() {
    if (k_.issue_slot_pct.value_or(0) < 60) { return; }
    say("issue", fmt::format("{} of the issue slots are used", pct(*k_.issue_slot_pct)),
        fmt::format("fewer instructions: {}less address arithmetic, tensor instructions",
                    wide() ? "" : "wider accesses, "),
        remaining(*k_.issue_slot_pct / 100));
  }

  void tensor() {
    if (k_.tensor_pct.value_or(0) >= 60) {
      say("tensor", fmt::format("the tensor cores do {} of what they can", pct(*k_.tensor_pct)),
          "a narrower type, fewer padded rows, wgmma or tcgen05 instead of mma.sync",
          remaining(*k_.tensor_pct / 100));
    }
    if (k_.bound.name == "tma" && ceiling() >= 70) {
      say("tma", fmt::format("the TMA engine is busy {} of the time", pct(ceiling())),
          "larger tiles, multicast", remaining(ceiling() / 100));
    }
  }

  void pipe() {
    if (k_.tensor_pct.value_or(0) > k_.fp32_pct.value_or(0)) { return; }
    const double busy = std::max(k_.fp32_pct.value_or(0), stall("math_pipe_throttle"));
    if (stall("math_pipe_throttle") < 20 && k_.fp32_pct.value_or(0) < 60) { return; }
    say("pipe",
        fmt::format("FP32 pipe busy {}, {} of warp time waits for a pipe",
                    pct(k_.fp32_pct.value_or(0)), pct(stall("math_pipe_throttle"))),
        "move work to another pipe: tensor cores, half precision, fewer special functions",
        remaining(busy / 100));
  }

  void divergence() {
    if (k_.active_lanes_pct.value_or(100) >= 80 || k_.issue_slot_pct.value_or(100) < 5) { return; }
    say("divergence",
        fmt::format("{} of the lanes are active per instruction", pct(*k_.active_lanes_pct)),
        "branch by warp instead of by lane; regroup the work",
        remaining(*k_.active_lanes_pct / 100));
  }

  void tail() {
    if (k_.waves.value_or(0) < 1 || leaves_sms_idle()) { return; }
    const double efficiency = k_.wave_efficiency_pct.value_or(100);
    if (efficiency >= 85 || *k_.waves < 2) { return; }
    say("wave_tail",
        fmt::format("{} waves, {} full: the last one leaves most of the machine idle", *k_.waves,
                    pct(efficiency)),
        "a grid of whole waves: another tile, split-K or stream-K, a persistent kernel",
        remaining(efficiency / 100));
  }

  void barrier() {
    if (stall("barrier") < 20) { return; }
    say("barrier", fmt::format("{} of warp time waits at a block barrier", pct(stall("barrier"))),
        "fewer or narrower barriers; smaller blocks, so that others fill the wait",
        without_waits(1 - stall("barrier") / 200));
  }

  void queue() {
    if (stall("lg_throttle") < 15) { return; }
    say("memory_queue",
        fmt::format("{} of warp time waits for the queue of memory instructions",
                    pct(stall("lg_throttle"))),
        wide() ? "fewer memory instructions: reuse in registers, asynchronous copies"
               : "fewer, wider memory instructions",
        remaining(1 - stall("lg_throttle") / 200));
  }

  void turnover() {
    const double lost = stall("start") + stall("exit");
    if (lost < 20) { return; }
    say("block_turnover",
        fmt::format("{} of warp time goes to starting and retiring blocks", pct(lost)),
        "more work per block: loop inside it, or a persistent kernel",
        without_waits(1 - lost / 100));
  }

  void chain() {
    if (!found_.empty()) { return; }
    const double waits = stall("wait") + stall("long_scoreboard") + stall("short_scoreboard") +
                         stall("gmma");
    say("latency",
        fmt::format("{} of warp time waits for its own last instruction; no unit is saturated",
                    pct(waits)),
        "more independent work per warp, more warps, a shorter dependent chain");
  }

  // Loads cannot be wider; nor can none.
  [[nodiscard]] bool wide() const {
    return k_.bound.load_width <= 0 || 2 * k_.bound.load_width > kWidest;
  }

  [[nodiscard]] double ceiling() const { return percent(k_.bound.time_us, k_.time_us); }

  const KernelResult& k_;
  std::vector<Finding> found_;
};

// The kernels that their own gaps rival.
std::string small_kernels(const result::RunResult& run) {
  std::string names;
  for (const auto& k : run.kernels) {
    if (rivals(k)) {
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", k.name, human(k.time_us, "us"));
    }
  }
  return names;
}

bool saturates(const std::string& mechanism) {
  return mechanism == "dram" || mechanism == "l2" || mechanism == "atomics";
}

// What makes a saturated unit do too much explains a kernel's time best, then the unit; where none
// is, the launches around it. The rest goes by what it could give.
int rank(const Finding& f, bool saturated) {
  if (f.mechanism == "atomics") { return 0; }
  if (f.mechanism == "launch_gaps") { return saturated ? 3 : 0; }
  if (!saturated) { return 4; }
  return f.mechanism == "coalescing" ? 1 : saturates(f.mechanism) ? 2 : 4;
}

}  // namespace

Diagnosis diagnose(const KernelResult& kernel) {
  Diagnosis d;
  d.ceiling_pct = percent(kernel.bound.time_us, kernel.time_us);
  d.verdict = verdict_of(kernel);
  d.occupancy = occupancy_of(kernel);
  d.findings = Reader(kernel).findings();
  const bool saturated = std::any_of(d.findings.begin(), d.findings.end(),
                                     [](const Finding& f) { return saturates(f.mechanism); });
  const auto remains = [&](const Finding& f) { return f.estimate_us.value_or(kernel.time_us); };
  std::stable_sort(d.findings.begin(), d.findings.end(), [&](const Finding& a, const Finding& b) {
    const int first = rank(a, saturated);
    const int second = rank(b, saturated);
    return first != second ? first < second : remains(a) < remains(b);
  });
  d.binds = d.findings.empty() ? kernel.bound.name : d.findings.front().mechanism;
  d.checklist = checklist_of(kernel);
  return d;
}

std::vector<Finding> diagnose_timeline(const result::RunResult& run) {
  std::vector<Finding> findings;
  for (const auto& gap : gap_classes(run.gaps)) {
    if (gap.name == "tail" || percent(gap.avoidable_us, run.time_us) < 5) { continue; }
    const double each = gap.time_us / static_cast<double>(std::max<std::int64_t>(1, gap.count));
    const bool launches = gap.name == "launch_bound" || gap.name == "dependency";
    auto evidence = fmt::format("{} in {} gap{} of {} each, {} of the time: {}",
                                human(gap.time_us, "us"), gap.count, gap.count == 1 ? "" : "s",
                                human(each, "us"), pct(percent(gap.time_us, run.time_us)),
                                gap.meaning);
    if (const auto names = launches ? small_kernels(run) : ""; !names.empty()) {
      evidence += fmt::format("; gaps rival {}", names);
    }
    findings.push_back({launches ? "launch_gaps" : gap.name + "_gaps", evidence, gap.remedy,
                        run.time_us - gap.avoidable_us});
  }
  return findings;
}

std::vector<Mechanism> mechanisms() {
  return {
      {"too_few_blocks", "the grid leaves SMs without a block"},
      {"narrow_loads", "too few bytes are under way because each request brings few"},
      {"too_few_warps", "too few bytes are under way because few warps are resident"},
      {"too_few_loads", "too few bytes are under way because each warp waits early"},
      {"coalescing", "sectors are fetched of which lanes use a part"},
      {"bank_conflicts", "lanes ask one bank of shared memory for different words"},
      {"shared_memory", "shared memory's data path is busy"},
      {"dram", "the pins are busy"},
      {"l2", "crossbar or L2 slices are busy"},
      {"atomics", "slices of L2 are busy with atomics"},
      {"issue", "the warp schedulers are busy"},
      {"tensor", "the tensor cores are busy"},
      {"tma", "the copy engine of the SMs is busy"},
      {"pipe", "an arithmetic pipe is busy"},
      {"divergence", "instructions are issued with idle lanes"},
      {"wave_tail", "the last round of blocks fills a part of the machine"},
      {"barrier", "warps wait for each other"},
      {"memory_queue", "the queue of memory instructions is full"},
      {"block_turnover", "blocks start and retire more than they work"},
      {"latency", "a dependent chain, with nothing saturated"},
      {"launch_gaps", "the device idles between kernels while launches are on their way"},
      {"sync_gaps", "the device idles while the host waits"},
      {"host_gaps", "the device idles while the host works"},
  };
}

}  // namespace wavetail::report
