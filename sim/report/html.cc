// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <fmt/format.h>

#include <map>

#include "report/advice.h"
#include "report/figures.h"
#include "report/text.h"
#include "report/xml.h"
#include "unit/human.h"

namespace wavetail::report {

namespace {

constexpr std::string_view kStyle =
    "body{font:14px/1.45 system-ui,sans-serif;margin:2rem;max-width:75rem;color:#222}"
    "table{border-collapse:collapse;margin:.5rem 0}"
    "th,td{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:right}"
    "th:first-child,td:first-child,.left{text-align:left}"
    "pre{font:12px/1.4 ui-monospace,monospace;overflow-x:auto}";

// Distinct at a glance, also without colour vision (Okabe and Ito's palette).
constexpr std::string_view kColours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                         "#56b4e9", "#d55e00", "#f0e442", "#999999"};

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>"
      "<style>{}</style></head><body>\n{}</body></html>\n",
      xml_text(title), kStyle, body);
}

struct Part {
  std::string name;
  double amount = 0;
  std::string label;
};

// One bar of parts side by side, a legend below it.
std::string bar(const std::vector<Part>& parts) {
  double sum = 0;
  for (const auto& p : parts) { sum += p.amount; }
  if (sum <= 0) { return {}; }
  constexpr double kWidth = 800;
  std::string out = fmt::format(
      "<svg width=\"{0}\" height=\"24\" viewBox=\"0 0 {0} 24\" role=\"img\">", kWidth);
  std::string legend = "<p>";
  double x = 0;
  std::size_t colour = 0;
  for (const auto& p : parts) {
    if (p.amount <= 0) { continue; }
    const double width = kWidth * p.amount / sum;
    const auto fill = kColours[colour++ % std::size(kColours)];
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"0\" width=\"{:.1f}\" height=\"24\" fill=\"{}\"><title>{}: "
        "{}</title></rect>",
        x, width, fill, xml_text(p.name), xml_text(p.label));
    legend += fmt::format("<span style=\"color:{}\">&#9632;</span> {} {} &nbsp; ", fill,
                          xml_text(p.name), xml_text(p.label));
    x += width;
  }
  return out + "</svg>" + legend + "</p>\n";
}

std::string table_html(const Table& table) {
  std::string out = "<table><tr>";
  for (const auto& c : table.columns()) {
    out += fmt::format("<th{}>{}</th>", c.align == Table::Align::Left ? " class=\"left\"" : "",
                       xml_text(c.title));
  }
  out += "</tr>\n";
  for (const auto& row : table.rows()) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += fmt::format("<td{}>{}</td>",
                         table.columns()[i].align == Table::Align::Left ? " class=\"left\"" : "",
                         xml_text(row[i]));
    }
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string time_bar(const result::RunResult& run) {
  std::vector<Part> parts = {{"kernels", run.busy_us, unit::human(run.busy_us, "us")}};
  for (const auto& gap : gap_classes(run.gaps)) {
    parts.push_back({gap.name, gap.time_us, unit::human(gap.time_us, "us")});
  }
  return bar(parts);
}

std::string stall_bars(const result::RunResult& run) {
  std::string out;
  for (const auto& k : run.kernels) {
    std::vector<Part> parts;
    for (const auto& [name, pct] : k.stall_pct) {
      parts.push_back({name, pct, unit::human(pct, "pct")});
    }
    if (const auto drawn = bar(parts); !drawn.empty()) {
      out += fmt::format("<h3>{}</h3>\n{}", xml_text(k.name), drawn);
    }
  }
  return out.empty() ? out : "<h2>What warps spend their time on</h2>\n" + out;
}

std::string pre(std::string_view text) {
  return fmt::format("<pre>{}</pre>\n", [&] {
    std::string lines;
    for (const char c : text) { lines += c == '\n' ? "\n" : xml_text(std::string_view(&c, 1)); }
    return lines;
  }());
}

}  // namespace

std::string to_html(const result::RunResult& run) {
  std::string body = fmt::format("<h1>{} on {}</h1>\n", xml_text(run.scenario), xml_text(run.gpu));
  body += pre(header_text(run)) + "<h2>Where the time goes</h2>\n" + time_bar(run) +
          pre(time_text(run));
  body += "<h2>Kernels</h2>\n" + table_html(kernel_table(run)) + stall_bars(run);
  body += "<h2>Details</h2>\n";
  for (const auto& k : run.kernels) { body += pre(kernel_text(k, run)); }
  if (!run.expect.empty()) { body += "<h2>Expectations</h2>\n" + pre(expect_text(run.expect)); }
  return page(run.scenario + " on " + run.gpu, body);
}

std::string html_of_table(std::string_view title, const Table& table) {
  return page(title, fmt::format("<h1>{}</h1>\n{}", xml_text(title), table_html(table)));
}

std::string html_of_text(std::string_view title, std::string_view text) {
  return page(title, fmt::format("<h1>{}</h1>\n{}", xml_text(title), pre(text)));
}

}  // namespace wavetail::report
