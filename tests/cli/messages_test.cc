// SPDX-License-Identifier: Apache-2.0
// Command lines that ask for something that cannot be, and everything that they print, exactly:
// tests/golden/cli/NAME.txt. tools/update_golden rewrites the texts.
#include <array>
#include <ostream>
#include <string>

#include "support/golden.h"
#include "support/program.h"

namespace wavetail {
namespace {

struct Line {
  std::string name;       // of the golden file
  std::string arguments;  // shell
};

void PrintTo(const Line& line, std::ostream* out) { *out << line.name; }

const std::string kCalibrate = "calibrate --gpu h100-sxm tests/golden/cli/calibrate.csv ";

const std::array kLines = {
    Line{"set-out-of-range", "run workloads/launch-gaps.yaml --set 'gpu.hbm.bandwidth=0 GB/s'"},
    Line{"set-too-many-lines", "run workloads/launch-gaps.yaml --set gpu.l1.store_lines=1000000"},
    Line{"set-breaks-a-rule", "run workloads/launch-gaps.yaml --set gpu.sm.schedulers=3"},
    Line{"set-breaks-a-kernel",
         "run workloads/my-first-program.yaml --set gpu.sm.max_threads_per_block=128"},
    Line{"set-breaks-a-gpu-alone",
         "occupancy --gpu h100-sxm --block 64 --registers 32 --set 'gpu.l2.capacity=64 GiB'"},
    Line{"set-scales-nothing", "run workloads/my-first-program.yaml --set host.launch=x0"},
    Line{"set-lasts-too-long",
         "run workloads/my-first-program.yaml --set 'timeline[0].repeat=9000000' "
         "--set 'host.launch=1 s'"},
    Line{"skip-waves", "run workloads/launch-gaps.yaml --set 'simulation.skip_waves=9 %'"},
    Line{"gpu-unknown", "occupancy --gpu h1000-sxm --block 64 --registers 32"},
    Line{"no-registers", "occupancy --gpu h100-sxm --block 256 --registers 0"},
    Line{"no-block", "occupancy --gpu h100-sxm --block 0 --registers 32"},
    Line{"memory-for-the-machine",
         "run workloads/launch-gaps.yaml --max-memory '200 MB' --set 'gpu.sm.unified_l1=64 MiB'"},
    Line{"max-memory-without-unit", "run workloads/launch-gaps.yaml --max-memory lots"},
    Line{"max-time-fraction", "run workloads/launch-gaps.yaml --max-time 99.5 --format csv"},
    Line{"max-events-one", "run workloads/copy.yaml --max-events 1"},
    Line{"out-into-nothing", "run tests/golden/cli/large.yaml --out nowhere/result.txt"},
    Line{"trace-into-nothing", "run tests/golden/cli/large.yaml --trace nowhere/trace.json"},
    Line{"junit-into-nothing", "check tests/golden/cli/large.yaml --junit nowhere/junit.xml"},
    Line{"occupancy-grid-of-a-capability",
         "occupancy --gpu sm_90 --block 256 --registers 32 --grid 1000"},
    Line{"occupancy-smem", "occupancy --gpu sm_90 --block 256 --registers 32 --smem 4KiB"},
    Line{"check-nothing", "check nowhere"},
    Line{"set-a-kernel", "run workloads/launch-gaps.yaml --set 'kernels.step={}'"},
    Line{"set-nothing", "run workloads/launch-gaps.yaml --set 'host.launch=~'"},
    Line{"standard-input-a-folder", "run - < docs"},
    Line{"control-characters", "run \"$(printf 'a\\033[31mb\\177')\" --gpu h100-sxm"},
    Line{"too-many-events", "run tests/golden/cli/large.yaml"},
    Line{
        "too-many-random-events",
        "run tests/golden/cli/large.yaml --set 'kernels.k.program[0].body[0].load.pattern=random'"},
    Line{"calibrate", kCalibrate + "--fit gpu.launch.host_launch,launch.host_sync "
                                   "--fit shared_memory.latency --jobs 2"},
    Line{"calibrate-no-gpu", "calibrate tests/golden/cli/calibrate.csv --fit launch.submit"},
    Line{"calibrate-no-fit", kCalibrate},
    Line{"calibrate-unknown-path", kCalibrate + "--fit gpu.launch.host_lunch,hbm.latensy"},
    Line{"calibrate-no-number", kCalibrate + "--fit gpcs,gpu.sms,clock.mode,clock.sm"},
    Line{"calibrate-bounds",
         kCalibrate +
             "--fit hbm.efficiency=99%:70% --fit hbm.latency=300ns:50GB,l1.latency=33.5cycles "
             "--fit hbm.efficiency=70%:120%,launch.submit=5us,launch.host_launch=3us:5us,"
             "tensor.fp4,l2.latency_far=200ns:200ns,l1.queue=1:2:3:4,hbm.row=,hbm.burst "
             "--fit hbm.banks,hbm.banks"},
    Line{"calibrate-cannot-vary", kCalibrate + "--fit pipes.fp32.lanes"},
    Line{"calibrate-no-rows",
         "calibrate --gpu a100 tests/golden/cli/calibrate.csv --fit launch.submit"},
    Line{"calibrate-only-variants",
         "calibrate --gpu h100 - --fit launch.submit < tests/golden/cli/calibrate-h200.csv"},
    Line{"calibrate-nothing-predicted",
         "calibrate --gpu rtx4090 tests/golden/cli/calibrate.csv --fit launch.submit"},
    Line{"calibrate-too-few-rows",
         "calibrate --gpu h200 tests/golden/cli/calibrate.csv --fit launch.submit,hbm.latency"},
    Line{"calibrate-write-over-base", kCalibrate + "--fit launch.submit --write h100-sxm.yaml"},
    Line{"calibrate-write-no-name", kCalibrate + "--fit launch.submit --write 'my gpu.yaml'"},
    Line{"calibrate-set-breaks-a-rule",
         kCalibrate + "--fit launch.submit --set gpu.sm.schedulers=3"},
    Line{"calibrate-max-events", kCalibrate + "--fit launch.submit --max-events 10 --write x.yaml"},
};

class Messages : public testing::TestWithParam<Line> {};

TEST_P(Messages, AreExact) {
  const auto r = tests::run_program(GetParam().arguments);
  const std::string text = "$ wavetail " + GetParam().arguments + "\n" + r.out + "exit code " +
                           std::to_string(r.code) + "\n";
  golden::expect_equal("cli/" + GetParam().name + ".txt", text);
}

INSTANTIATE_TEST_SUITE_P(Golden, Messages, testing::ValuesIn(kLines),
                         [](const auto& test) { return golden::case_name(test); });

}  // namespace
}  // namespace wavetail
