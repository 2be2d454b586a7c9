// SPDX-License-Identifier: Apache-2.0
// The program as scripts see it: exit codes, what goes to which stream, files that appear whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace wavetail {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Outcome {
  int code = -1;
  std::string out, err;
};

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("wavetail-cli-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }

  void TearDown() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  // `line` is shell; $W is the program.
  Outcome shell(const std::string& line) {
    const auto out = folder_ / "stdout";
    const auto err = folder_ / "stderr";
    const std::string whole = "W='" WAVETAIL_BINARY "'; cd '" + folder_.string() + "'; { " + line +
                              "\n} >'" + out.string() + "' 2>'" + err.string() + "' </dev/null";
    const int status = std::system(("bash -c \"" + escaped(whole) + "\"").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
  }

  static std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '$' || c == '\\' || c == '`') { out += '\\'; }
      out += c;
    }
    return out;
  }

  // Two launches of stated duration and a copy.
  std::string small(const std::string& expect = "") {
    return file(
        "small.yaml",
        "schema: wavetail/scenario/1\nname: small\ngpu: h100-sxm\nkernels:\n"
        "  c: {template: copy, bytes: 1 MiB}\n  k: {duration: 5 us}\ntimeline:\n- launch: c\n"
        "- {launch: k, repeat: 2}\n- sync: device\n" +
            expect);
  }

  fs::path folder_;
};

TEST_F(Cli, UnknownCommandsNameTheNearestAndAll) {
  const auto r = shell("$W chek x");
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(r.err,
            "wavetail: unknown command 'chek'; did you mean 'check'?\n"
            "Commands: run, check, explain, occupancy, validate, calibrate, list, schema\n");
}

TEST_F(Cli, ValidateExitsAsTheInterfaceSays) {
  const std::string
      header = "id,gpu,kind,params,metric,value,unit,lo,hi,source,confidence,notes\\n";
  const auto with = [&](const std::string& rows, const std::string& options) {
    return shell("printf '" + header + rows + "' | $W validate - " + options);
  };
  const std::string rule = "O-1,H100,occupancy_rule,rule=max warps per SM,value,64,warps,,,,,\\n";
  const auto good = with(rule, "--format csv");
  EXPECT_EQ(good.code, 0);
  EXPECT_THAT(good.out, HasSubstr("O-1,O,H100,h100-sxm,occupancy_rule,value,64,64,warps,0"));
  EXPECT_EQ(good.err, "");  // the bar is for terminals
  EXPECT_EQ(with(rule + rule, "").code, 2);
  EXPECT_EQ(with(rule, "--set kernels.k.grid=1").code, 2);
  const auto cut = with("L-1,H100,mem_latency,level=L2,latency,,cycles,,,,,\\n",
                        "--max-events 1000");
  EXPECT_EQ(cut.code, 4);
  EXPECT_THAT(cut.out, HasSubstr("This report is partial"));
}

TEST_F(Cli, CalibrateWritesAGpuThatPredictsWhatItReports) {
  const std::string
      fit = "$W calibrate --gpu h100 '" WAVETAIL_SOURCE_DIR
            "/tests/golden/cli/calibrate.csv' --fit launch.host_launch,launch.host_sync ";
  const auto json = shell(fit + "--write fitted.yaml --format json --jobs 1");
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(json.err, "");
  const auto rows = nlohmann::json::parse(json.out)["rows"];
  const auto validated = shell("$W validate '" WAVETAIL_SOURCE_DIR
                               "/tests/golden/cli/calibrate.csv' --gpu fitted.yaml --format json");
  const auto again = nlohmann::json::parse(validated.out)["rows"];
  ASSERT_EQ(rows.size(), 8U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["id"], again[i]["id"]);
    EXPECT_EQ(rows[i]["predicted"], again[i]["predicted"]);
    EXPECT_EQ(rows[i]["error_pct"], again[i]["error_pct"]);
  }
  EXPECT_EQ(shell(fit + "--format json --jobs 5").out, json.out);
  EXPECT_EQ(shell(fit + "--write fitted.yaml --out fitted.yaml").code, 2);
}

TEST_F(Cli, HelpAndVersion) {
  EXPECT_THAT(shell("$W --version").out, StartsWith("wavetail "));
  EXPECT_EQ(shell("$W --help").code, 0);
  EXPECT_EQ(shell("$W").code, 2);
  for (const auto* command :
       {"run", "check", "explain", "occupancy", "validate", "calibrate", "list", "schema"}) {
    const auto r = shell(std::string("$W ") + command + " --help");
    EXPECT_EQ(r.code, 0) << command;
    EXPECT_THAT(r.out, StartsWith(std::string("Usage: wavetail ") + command));
  }
}

TEST_F(Cli, OptionsThatACommandDoesNotTakeAreErrors) {
  const auto r = shell("$W list gpus --gpu h100-sxm");
  EXPECT_EQ(r.code, 2);
  EXPECT_THAT(r.err, StartsWith("wavetail list: unknown option '--gpu'"));
  EXPECT_THAT(shell("$W run x.yaml --formta json").err, HasSubstr("did you mean '--format'?"));
  EXPECT_THAT(shell("$W run x.yaml --form json").err, HasSubstr("unknown option"));
  EXPECT_THAT(shell("$W run a b").err, HasSubstr("takes one SCENARIO"));
  EXPECT_THAT(shell("$W run").err, HasSubstr("SCENARIO is missing"));
  EXPECT_THAT(shell("$W run a --format").err, HasSubstr("'--format'"));
  EXPECT_THAT(shell("$W run a --format jsn").err,
              HasSubstr("unknown format 'jsn'; did you mean 'json'?"));
  EXPECT_THAT(shell("$W run a --format csv --format json").err, HasSubstr("more than once"));
  EXPECT_THAT(shell("$W schema gpu --format csv").err,
              HasSubstr("format csv is not available for schema"));
  EXPECT_THAT(shell("$W run a --jobs 0").err, HasSubstr("it must be above 0"));
  EXPECT_THAT(shell("$W run a --max-time 3.3.3").err, HasSubstr("'--max-time'"));
}

TEST_F(Cli, RunPrintsResultsOnStandardOutputAlone) {
  const auto r = shell("$W run " + small());
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err, "");
  EXPECT_THAT(r.out, StartsWith("small on h100-sxm\n"));
  for (const auto* format : {"json", "csv", "html"}) {
    const auto f = shell("$W run " + small() + " --format " + format);
    EXPECT_EQ(f.code, 0) << format;
    EXPECT_EQ(f.err, "") << format;
    EXPECT_NE(f.out, "") << format;
  }
}

TEST_F(Cli, TheSameInputGivesTheSameBytes) {
  const auto a = shell("$W run " + small() + " --format json --jobs 1");
  const auto b = shell("$W run " + small() + " --format json --jobs 4");
  EXPECT_EQ(a.out, b.out);
}

TEST_F(Cli, StandardInputIsAScenario) {
  small();
  EXPECT_EQ(shell("cat small.yaml | $W run - --format csv").out,
            shell("$W run small.yaml --format csv").out);
}

TEST_F(Cli, TimingIsAddedOnlyWhenAskedFor) {
  EXPECT_THAT(shell("$W run " + small() + " --format json").out, Not(HasSubstr("simulator")));
  EXPECT_THAT(shell("$W run " + small() + " --format json --timing").out,
              HasSubstr("\"peak_rss_bytes\""));
  const auto text = shell("$W run " + small() + " --timing");
  EXPECT_THAT(text.err, StartsWith("simulated in "));
  EXPECT_EQ(text.out, shell("$W run " + small()).out);
}

TEST_F(Cli, OutIsWrittenWholeOrNotAtAll) {
  EXPECT_EQ(shell("$W run " + small() + " --format json --out r.json").out, "");
  EXPECT_EQ(read(folder_ / "r.json"), shell("$W run " + small() + " --format json").out);
  const auto r = shell("$W run " + small() + " --out nowhere/r.txt");
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.err,
            "wavetail run: '--out' cannot write 'nowhere/r.txt': folder 'nowhere': No such file or "
            "directory\n");
  EXPECT_THAT(shell("$W run " + small() + " --out .").err, HasSubstr("Is a directory"));
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().string(), Not(EndsWith(".part")));
  }
}

TEST_F(Cli, OutputsDoNotReplaceWhatIsReadOrWrittenElsewhere) {
  const auto text = read(small());
  for (const std::string line :
       {"run s.yaml --trace s.yaml", "run s.yaml --out ./s.yaml", "explain s.yaml --out s.yaml",
        "check s.yaml --junit s.yaml", "check . --out s.yaml", "run s.yaml --out r --trace ./r"}) {
    file("s.yaml", text);
    const auto r = shell("$W " + line);
    EXPECT_EQ(r.code, 2) << line;
    EXPECT_THAT(r.err, HasSubstr("which the command reads or writes already")) << line;
    EXPECT_EQ(read(folder_ / "s.yaml"), text) << line;
  }
  EXPECT_EQ(shell("$W run s.yaml --out /dev/null --trace /dev/null").code, 0);
}

TEST_F(Cli, AFullDiskIsAnErrorAndAClosedPipeIsNot) {
  const auto full = shell("$W list metrics > /dev/full");
  EXPECT_EQ(full.code, 2);
  EXPECT_EQ(full.err, "wavetail list: cannot write to standard output: No space left on device\n");
  const auto closed = shell("$W schema result | true; exit ${PIPESTATUS[0]}");
  EXPECT_EQ(closed.code, 0);
  EXPECT_EQ(closed.err, "");
}

TEST_F(Cli, TraceIsChromeTraceEvents) {
  EXPECT_EQ(shell("$W run " + small() + " --trace t.json").code, 0);
  EXPECT_THAT(read(folder_ / "t.json"), HasSubstr("\"traceEvents\""));
  EXPECT_THAT(read(folder_ / "t.json"), HasSubstr("\"ph\":\"X\""));
}

TEST_F(Cli, MistakesInTheFileAreTheUsers) {
  const auto bad = file("bad.yaml",
                        "schema: wavetail/scenario/1\nname: bad\ngpu: h100-sxm\nkernals: {}\n");
  const auto r = shell("$W run " + bad);
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.out, "");
  EXPECT_THAT(r.err, HasSubstr("bad.yaml:4:1: error: "));
}

TEST_F(Cli, AMissedExpectationIsExitOne) {
  EXPECT_EQ(shell("$W run " + small("expect: {kernels.k.time: 5 us}\n")).code, 0);
  EXPECT_EQ(shell("$W run " + small("expect: {kernels.k.time: 6 us}\n")).code, 1);
  EXPECT_EQ(shell("$W explain " + small("expect: {kernels.k.time: 6 us}\n")).code, 0);
}

TEST_F(Cli, CheckCountsAndKeepsTheOrderOfFiles) {
  fs::create_directories(folder_ / "s/deep");
  const std::string head =
      "schema: wavetail/scenario/1\ngpu: h100-sxm\nkernels:\n  k: {duration: 5 us}\ntimeline:\n- "
      "launch: k\n";
  file("s/b.yaml", head + "name: b\nexpect: {kernels.k.time: 5 us}\n");
  file("s/a.yaml", head + "name: a\nexpect: {kernels.k.time: 6 us}\n");
  file("s/deep/c.yaml",
       head + "name: c\nexpect: {kernels.k.time: {value: 6 us, known_miss: static-power}}\n");
  file("s/d.yaml",
       head + "name: d\nexpect: {kernels.k.time: {value: 5 us, known_miss: static-power}}\n");
  file("s/e.yaml", head + "name: e\nexpect: {error: nonsense}\nnonsense: 1\n");
  const auto r = shell("$W check s --jobs 3 --junit j.xml");
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.out, EndsWith("2 passed, 2 failed, 1 known misses\n"));
  EXPECT_LT(r.out.find("s/a.yaml"), r.out.find("s/b.yaml"));
  EXPECT_EQ(r.out, shell("$W check s --jobs 1").out);
  EXPECT_THAT(read(folder_ / "j.xml"), HasSubstr("failures=\"2\" skipped=\"1\""));
  EXPECT_EQ(shell("$W check s/b.yaml s/deep").code, 0);
  EXPECT_EQ(shell("$W check nowhere").code, 2);
  EXPECT_EQ(shell("$W run s/e.yaml").code, 0);
  EXPECT_THAT(shell("$W run s/e.yaml").out, HasSubstr("refused, as expected"));
}

TEST_F(Cli, BudgetsEndARunWithAPartialReport) {
  const auto large = file("large.yaml",
                          "schema: wavetail/scenario/1\nname: large\ngpu: h100-sxm\nkernels:\n"
                          "  c: {template: copy, bytes: 512 MiB}\ntimeline:\n- launch: c\n");
  const auto r = shell("$W run " + large + " --format json --max-events 20000");
  EXPECT_EQ(r.code, 4);
  EXPECT_THAT(r.out, HasSubstr("\"partial\": true"));
}

TEST_F(Cli, AnInterruptEndsARunWithAPartialReport) {
  const auto slow = file(
      "slow.yaml",
      "schema: wavetail/scenario/1\nname: slow\ngpu: h100-sxm\nsimulation: {replay: off}\n"
      "kernels:\n  c: {template: copy, bytes: 4 GiB}\ntimeline:\n- {launch: c, repeat: 100}\n");
  // Signals that come before they are caught end a program as they end any other: only once bit
  // 1 of those caught (SIGINT's) is set, the run hears of one.
  const std::string start = "$W run " + slow +
                            " --format json --max-events 1000000000000 & P=$!; "
                            "until grep -q '^SigCgt:.*[2367abef]$' /proc/$P/status; do sleep 0.05; "
                            "done; sleep 0.2; ";
  for (const std::string signal : {"INT", "TERM", "HUP"}) {
    const auto r = shell(start + "kill -" + signal + " $P; wait $P");
    EXPECT_EQ(r.code, 4) << signal << ": " << r.err;
    EXPECT_THAT(r.out, HasSubstr("\"outcome\": \"interrupted\"")) << signal;
  }
  // Under nohup a hangup is nothing: the run goes on until the interrupt.
  const auto kept = shell("trap '' HUP; " + start +
                          "kill -HUP $P; sleep 0.3; kill -TERM $P; wait $P");
  EXPECT_EQ(kept.code, 4) << kept.err;
}

TEST_F(Cli, OccupancyAnswersInJson) {
  const auto r = shell(
      "$W occupancy --gpu h100-sxm --block 256 --registers 128 --shared-memory 48KiB --format "
      "json");
  EXPECT_EQ(r.code, 0);
  EXPECT_THAT(r.out, HasSubstr("\"blocks_per_sm\": 2"));
  const auto refused = shell(
      "$W occupancy --gpu h100-sxm --block 608 --registers 104 --format json");
  EXPECT_EQ(refused.code, 0);
  EXPECT_THAT(refused.out, HasSubstr("\"launchable\": false"));
  EXPECT_EQ(shell("$W occupancy --gpu h100-sxm --block 256").code, 2);
  EXPECT_EQ(shell("$W occupancy --gpu h100-sxm --block 010 --registers 32").code, 2);
  EXPECT_EQ(shell("$W occupancy --gpu h999 --block 32 --registers 32").code, 2);
}

TEST_F(Cli, ListsAndSchemas) {
  for (const auto* what : {"gpus", "architectures", "workloads", "templates", "metrics",
                           "instructions", "mechanisms", "protocols"}) {
    for (const auto* format : {"text", "json", "csv", "html"}) {
      const auto r = shell(std::string("$W list ") + what + " --format " + format);
      EXPECT_EQ(r.code, 0) << what;
      EXPECT_GT(r.out.size(), 100U) << what << " " << format;
    }
  }
  EXPECT_EQ(shell("$W list gps").err,
            "wavetail list: unknown list 'gps'; did you mean 'gpus'?; there is gpus, "
            "architectures, workloads, templates, metrics, instructions, mechanisms, protocols\n");
  for (const auto* what : {"gpu", "scenario", "result", "calibration"}) {
    EXPECT_THAT(shell(std::string("$W schema ") + what).out, HasSubstr("\"$schema\"")) << what;
  }
}

// Where the program lies is nobody's business; a name that is listed can be used.
TEST_F(Cli, ShippedFilesAreNamedAsInTheSourceTree) {
  const auto gpus = shell("$W list gpus --format csv");
  EXPECT_THAT(gpus.out, HasSubstr(",configs/gpu/h100-sxm.yaml,"));
  EXPECT_THAT(gpus.out, Not(HasSubstr(",/")));
  const auto workloads = shell("$W list workloads --format csv");
  EXPECT_THAT(workloads.out, HasSubstr("\nworkloads/launch-gaps.yaml,"));
  EXPECT_THAT(workloads.out, Not(HasSubstr("\n/")));
  EXPECT_EQ(shell("cd '" WAVETAIL_SOURCE_DIR "' && $W list workloads --format csv").out,
            workloads.out);
  EXPECT_EQ(shell("$W check workloads/launch-gaps.yaml --gpu configs/gpu/h100-sxm.yaml").code, 0);
  EXPECT_EQ(shell("$W run ../workloads/launch-gaps.yaml").code, 2);
  // A file of that name here goes first.
  fs::create_directories(folder_ / "workloads");
  fs::copy(small(), folder_ / "workloads/launch-gaps.yaml");
  EXPECT_THAT(shell("$W run workloads/launch-gaps.yaml").out, StartsWith("small on "));
}

}  // namespace
}  // namespace wavetail
