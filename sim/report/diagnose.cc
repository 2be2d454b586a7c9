// SPDX-License-Identifier: Apache-2.0
#include "report/diagnose.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/advice.h"
#include "report/figures.h"
#include "unit/human.h"

namespace wavetail::report {

namespace {

using result::KernelResult;
using unit::human;

std::string pct(double v) { return human(v, "pct"); }

// The mean of the gaps that a launch is the cause of.
double mean_launch_gap(const result::Gaps& g) {
  const auto count = g.launch_bound_count + g.dependency_count;
  return count > 0 ? (g.launch_bound_us + g.dependency_us) / static_cast<double>(count) : 0;
}

bool rivals(double gap_us, const KernelResult& k) {
  return k.launches > 0 && 3 * gap_us > k.time_us;
}

// Collects the findings of one kernel; each rule looks at a few figures and speaks or keeps silent.
class Reader {
 public:
  Reader(const KernelResult& k, double gap_us) : k_(k), gap_us_(gap_us) {}

  std::vector<Finding> findings() {
    gaps();
    if (k_.bound.name == "stated") { return std::move(found_); }
    few_blocks();
    under_way();
    coalescing();
    banks();
    dram();
    l2();
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
  // A remedy that leaves `factor` of the time, but no less than the bound.
  [[nodiscard]] double remaining(double factor) const {
    return std::max(k_.bound.time_us, k_.time_us * std::clamp(factor, 0.0, 1.0));
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
    if (!rivals(gap_us_, k_)) { return; }
    say("launch_gaps",
        fmt::format("the gap before a launch, {} on average, rivals the kernel's {}",
                    human(gap_us_, "us"), human(k_.time_us, "us")),
        "fewer launches: fuse it with its neighbours, batch its work, or launch it from a graph");
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
    const double per_request = k_.sectors_per_request.value_or(0) * 32;
    const std::string evidence = fmt::format("{} under way, {} needed for the pins' rate",
                                             human(*k_.bytes_in_flight, "bytes"),
                                             human(*needed, "bytes"));
    if (per_request > 0 && per_request <= 256 && k_.useful_sector_pct.value_or(100) >= 75) {
      const double wider = std::min(missing, 512 / per_request);
      say("narrow_loads",
          fmt::format("{}; a request brings {} where 16 B per lane would bring 512 B", evidence,
                      human(per_request, "bytes")),
          "wider loads: 16 B per lane, vectorised or through asynchronous copies",
          remaining(1 / wider));
    } else if (k_.theoretical_occupancy_pct.value_or(100) < 25) {
      say("too_few_warps",
          fmt::format("{}; {} of the warp slots can be filled ({})", evidence,
                      pct(*k_.theoretical_occupancy_pct), fmt::join(k_.limiters, ", ")),
          "more resident warps, or more independent loads in each", remaining(1 / missing));
    } else {
      say("too_few_loads", evidence,
          "more independent loads before the first use: unroll, prefetch, deeper pipeline",
          remaining(1 / missing));
    }
  }

  void coalescing() {
    if (!k_.useful_sector_pct || *k_.useful_sector_pct >= 75) { return; }
    say("coalescing",
        fmt::format("{} sectors per request, {} of their bytes are asked for",
                    human(k_.sectors_per_request.value_or(0), ""), pct(*k_.useful_sector_pct)),
        "let neighbouring lanes read neighbouring addresses; transpose through shared memory",
        remaining(*k_.useful_sector_pct / 100));
  }

  // What is left of the time if the share `conflicts` of `affected` goes: no less than the other
  // ceilings, and that of shared memory without its conflicts.
  [[nodiscard]] double without_conflicts(double affected, double conflicts) const {
    double floor = 0;
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
    if (k_.dram_pct.value_or(0) < 70) { return; }
    say("dram", fmt::format("{} of the pins' rate", pct(*k_.dram_pct)),
        "only fewer bytes help: fusion, a narrower dtype, reuse in L2");
  }

  void l2() {
    if (k_.bound.name != "l2" || ceiling() < 60) { return; }
    say("l2", fmt::format("{} of what crossbar and L2 can bring", pct(ceiling())),
        "more reuse in registers, L1 and shared memory: larger tiles, multicast");
  }

  void issue() {
    if (k_.issue_slot_pct.value_or(0) < 60) { return; }
    say("issue", fmt::format("{} of the issue slots are used", pct(*k_.issue_slot_pct)),
        "fewer instructions: wider accesses, less address arithmetic, tensor instructions",
        remaining(*k_.issue_slot_pct / 100));
  }

  void tensor() {
    if (k_.tensor_pct.value_or(0) >= 60) {
      say("tensor", fmt::format("the tensor cores do {} of what they can", pct(*k_.tensor_pct)),
          "a narrower type, fewer padded rows, wgmma instead of mma.sync",
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
    if (k_.active_lanes_pct.value_or(100) >= 80) { return; }
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
        remaining(1 - stall("barrier") / 200));
  }

  void queue() {
    if (stall("lg_throttle") < 15) { return; }
    say("memory_queue",
        fmt::format("{} of warp time waits for the queue of memory instructions",
                    pct(stall("lg_throttle"))),
        "fewer, wider memory instructions", remaining(1 - stall("lg_throttle") / 200));
  }

  void turnover() {
    const double lost = stall("start") + stall("exit");
    if (lost < 20) { return; }
    say("block_turnover",
        fmt::format("{} of warp time goes to starting and retiring blocks", pct(lost)),
        "more work per block: loop inside it, or a persistent kernel", remaining(1 - lost / 100));
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

  [[nodiscard]] double ceiling() const { return percent(k_.bound.time_us, k_.time_us); }

  const KernelResult& k_;
  double gap_us_;
  std::vector<Finding> found_;
};

std::string verdict_of(const KernelResult& k, double ceiling) {
  if (k.bound.name == "stated") { return "a stated duration: nothing is simulated inside"; }
  const auto figure = fmt::format("{} of the {} ceiling", pct(ceiling), k.bound.name);
  if (ceiling >= 70) { return figure + ": near the best that this way of doing it can give"; }
  if (ceiling < 30) {
    return figure + ": far below; suspect parallelism, coalescing or bank conflicts";
  }
  return figure + ": something besides the ceiling costs time";
}

std::string occupancy_of(const KernelResult& k) {
  if (!k.theoretical_occupancy_pct) { return {}; }
  const double o = *k.theoretical_occupancy_pct;
  const auto figure = fmt::format("{} occupancy", pct(o));
  if (o >= 50) { return figure + ": enough"; }
  if (o < 25) { return figure + ": worth a look, unless few warps carry much work each"; }
  return figure + ": enough if every warp has several independent loads or instructions under way";
}

std::vector<std::string> checklist_of(const KernelResult& k) {
  std::vector<std::string> list;
  const double moved = k.dram_read_bytes.value_or(0) + k.dram_write_bytes.value_or(0);
  if (const auto least = link(k.bound.chain, "compulsory_bytes")) {
    list.push_back(fmt::format("bytes moved: {} through DRAM, {} compulsory", human(moved, "bytes"),
                               human(*least, "bytes")));
  }
  if (k.useful_sector_pct) {
    list.push_back(fmt::format("coalescing: {} sectors per request, {} of their bytes useful",
                               human(k.sectors_per_request.value_or(0), ""),
                               pct(*k.useful_sector_pct)));
  }
  list.push_back(k.bank_wavefronts_per_request
                     ? fmt::format("bank conflicts: {} wavefronts per shared-memory request, {} "
                                   "of them conflicts",
                                   human(*k.bank_wavefronts_per_request, ""),
                                   pct(k.bank_conflict_pct.value_or(0)))
                     : "bank conflicts: no shared-memory access");
  if (const auto intensity = link(k.bound.chain, "intensity_flop_per_byte")) {
    list.push_back(
        fmt::format("dtype: {} FLOP per byte; half the bytes per element would double it",
                    human(*intensity, "")));
  }
  if (k.l2_hit_pct) {
    list.push_back(fmt::format("L2 reuse: {} of sectors hit; compulsory bytes are {} of L2",
                               pct(*k.l2_hit_pct), human(k.l2_fit_ratio.value_or(0), "ratio")));
  }
  return list;
}

// The kernels that a gap of this length rivals.
std::string small_kernels(const result::RunResult& run, double gap_us) {
  std::string names;
  for (const auto& k : run.kernels) {
    if (rivals(gap_us, k)) {
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", k.name, human(k.time_us, "us"));
    }
  }
  return names;
}

}  // namespace

Diagnosis diagnose(const KernelResult& kernel, const result::Gaps& gaps) {
  Diagnosis d;
  d.ceiling_pct = percent(kernel.bound.time_us, kernel.time_us);
  d.verdict = verdict_of(kernel, d.ceiling_pct);
  d.occupancy = occupancy_of(kernel);
  d.findings = Reader(kernel, mean_launch_gap(gaps)).findings();
  const auto remains = [&](const Finding& f) { return f.estimate_us.value_or(kernel.time_us); };
  // The launches around it, or a saturated unit, explain the time better than a remedy inside does.
  const auto rank = [&](const Finding& f) {
    return f.mechanism == "launch_gaps" ? 0 : f.mechanism == "dram" || f.mechanism == "l2" ? 1 : 2;
  };
  std::stable_sort(d.findings.begin(), d.findings.end(), [&](const Finding& a, const Finding& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : remains(a) < remains(b);
  });
  d.binds = d.findings.empty() ? kernel.bound.name : d.findings.front().mechanism;
  d.checklist = checklist_of(kernel);
  return d;
}

std::vector<Finding> diagnose_timeline(const result::RunResult& run) {
  std::vector<Finding> findings;
  for (const auto& gap : gap_classes(run.gaps)) {
    if (gap.name == "tail" || percent(gap.time_us, run.time_us) < 5) { continue; }
    const double each = gap.time_us / static_cast<double>(std::max<std::int64_t>(1, gap.count));
    const bool launches = gap.name == "launch_bound" || gap.name == "dependency";
    auto evidence = fmt::format("{} in {} gap{} of {} each, {} of the time: {}",
                                human(gap.time_us, "us"), gap.count, gap.count == 1 ? "" : "s",
                                human(each, "us"), pct(percent(gap.time_us, run.time_us)),
                                gap.meaning);
    if (const auto names = launches ? small_kernels(run, each) : ""; !names.empty()) {
      evidence += fmt::format("; the gap rivals {}", names);
    }
    findings.push_back({launches ? "launch_gaps" : gap.name + "_gaps", evidence, gap.remedy,
                        run.time_us - gap.time_us});
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
