// SPDX-License-Identifier: Apache-2.0
#include "report/junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/csv.h"
#include "report/json.h"
#include "report/xml.h"
#include "run/expect.h"

namespace wavetail::report {

namespace {

std::int64_t count(const std::vector<Checked>& checked, CheckStatus status) {
  return std::count_if(checked.begin(), checked.end(),
                       [&](const Checked& c) { return c.status == status; });
}

std::string_view name(CheckStatus s) {
  switch (s) {
    case CheckStatus::Passed: return "passed";
    case CheckStatus::Failed: return "failed";
    case CheckStatus::KnownMiss: return "known miss";
  }
  return "failed";
}

std::string sentence(const result::ExpectationResult& e) {
  auto text = fmt::format("{}: wanted {}, got {}", e.path, e.wanted, e.got);
  if (e.verdict == result::Verdict::UnexpectedPass) {
    text += fmt::format("; it is marked as known miss '{}' and passes now: remove the mark",
                        e.known_miss);
  } else if (e.verdict == result::Verdict::KnownMiss) {
    text += fmt::format(" (known miss '{}')", e.known_miss);
  }
  return text;
}

}  // namespace

CheckStatus status_of(std::string_view problem,
                      const std::vector<result::ExpectationResult>& expectations) {
  const auto any = [&](auto&& of) {
    return std::any_of(expectations.begin(), expectations.end(), of);
  };
  if (!problem.empty() || any([](const auto& e) { return run::is_failure(e.verdict); })) {
    return CheckStatus::Failed;
  }
  return any([](const auto& e) { return e.verdict == result::Verdict::KnownMiss; })
             ? CheckStatus::KnownMiss
             : CheckStatus::Passed;
}

std::string check_line(const Checked& c) {
  const auto n = c.expectations.size();
  auto out = fmt::format("{:<10}  {} ({} expectation{})\n", name(c.status), c.file, n,
                         n == 1 ? "" : "s");
  if (!c.problem.empty()) {
    std::string indented = "    ";
    for (const char ch : c.problem) { indented += ch == '\n' ? "\n    " : std::string(1, ch); }
    indented.erase(indented.find_last_not_of(" \n") + 1);
    out += indented + "\n";
  }
  for (const auto& e : c.expectations) {
    if (e.verdict != result::Verdict::Passed) {
      out += fmt::format("    {}{}{}\n", e.place, e.place.empty() ? "" : ": ", sentence(e));
    }
  }
  return out;
}

std::string check_summary(const std::vector<Checked>& checked) {
  return fmt::format("{} passed, {} failed, {} known misses\n", count(checked, CheckStatus::Passed),
                     count(checked, CheckStatus::Failed), count(checked, CheckStatus::KnownMiss));
}

std::string to_junit(const std::vector<Checked>& checked) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<testsuite name=\"wavetail check\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
      checked.size(), count(checked, CheckStatus::Failed), count(checked, CheckStatus::KnownMiss));
  for (const auto& c : checked) {
    out += fmt::format("  <testcase classname=\"wavetail\" name=\"{}\">", xml_text(c.file));
    std::string details = c.problem;
    for (const auto& e : c.expectations) {
      if (e.verdict != result::Verdict::Passed) {
        details += (details.empty() ? "" : "\n") + sentence(e);
      }
    }
    if (c.status == CheckStatus::Failed) {
      out += fmt::format("<failure message=\"{}\"/>", xml_text(details));
    } else if (c.status == CheckStatus::KnownMiss) {
      out += fmt::format("<skipped message=\"{}\"/>", xml_text(details));
    }
    out += "</testcase>\n";
  }
  return out + "</testsuite>\n";
}

std::string check_csv(const std::vector<Checked>& checked) {
  std::string out = "file,status,path,wanted,got,verdict,known_miss\n";
  for (const auto& c : checked) {
    const auto start = fmt::format("{},{}", csv_cell(c.file), name(c.status));
    for (const auto& e : c.expectations) {
      out += fmt::format("{},{},{},{},{},{}\n", start, csv_cell(e.path), csv_cell(e.wanted),
                         csv_cell(e.got), result::name(e.verdict), csv_cell(e.known_miss));
    }
    if (c.expectations.empty()) { out += start + ",,," + csv_cell(c.problem) + ",,\n"; }
  }
  return out;
}

std::string check_json(const std::vector<Checked>& checked) {
  Json json = {{"schema", "wavetail/check/1"}, {"files", Json::array()}};
  for (const auto& c : checked) {
    Json expectations = Json::array();
    for (const auto& e : c.expectations) { expectations.push_back(to_json(e)); }
    json["files"].push_back({{"file", c.file},
                             {"status", name(c.status)},
                             {"problem", c.problem.empty() ? Json(nullptr) : Json(c.problem)},
                             {"expect", expectations}});
  }
  json["passed"] = count(checked, CheckStatus::Passed);
  json["failed"] = count(checked, CheckStatus::Failed);
  json["known_misses"] = count(checked, CheckStatus::KnownMiss);
  return text_of(json);
}

}  // namespace wavetail::report
