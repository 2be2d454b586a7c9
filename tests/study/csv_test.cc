// SPDX-License-Identifier: Apache-2.0
// The reader of comma-separated values, and rows of measurements made of them.
#include "study/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/measurement.h"

namespace wavetail::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kHeader = "id,gpu,kind,params,metric,value,unit,lo,hi,source,confidence,notes\n";

std::shared_ptr<const config::Source> source(std::string text) {
  return std::make_shared<const config::Source>(config::Source{"m.csv", std::move(text)});
}

std::vector<std::vector<std::string>> cells(const std::string& text) {
  config::Diagnostics diagnostics;
  std::vector<std::vector<std::string>> all;
  for (const CsvRecord& record : read_csv(source(text), diagnostics)) {
    all.emplace_back();
    for (const CsvCell& cell : record) { all.back().push_back(cell.text); }
  }
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.render();
  return all;
}

std::vector<Measurement> rows(const std::string& text, std::string* mistakes = nullptr) {
  config::Diagnostics diagnostics;
  auto all = read_measurements(source(text), diagnostics);
  if (mistakes != nullptr) {
    *mistakes = diagnostics.render();
  } else {
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.render();
  }
  return all;
}

TEST(Csv, QuotedCellsHoldCommasQuotesAndLineEnds) {
  EXPECT_THAT(cells("a,\"b,\"\"c\"\"\nd\",e\n"), ElementsAre(ElementsAre("a", "b,\"c\"\nd", "e")));
}

TEST(Csv, LineEndsOfAnySystemAByteOrderMarkAndBlankLines) {
  EXPECT_THAT(cells("\xEF\xBB\xBF"
                    "a,b\r\n\r\nc,\rd,e"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("c", ""), ElementsAre("d", "e")));
}

TEST(Csv, CellsKnowTheirPlaces) {
  config::Diagnostics diagnostics;
  const auto records = read_csv(source("a,\"x\ny\",b\r\ncc,d\n"), diagnostics);
  EXPECT_EQ(records.at(0).at(2).place.line, 2);
  EXPECT_EQ(records.at(0).at(2).place.column, 4);
  EXPECT_EQ(records.at(1).at(1).place.line, 3);
  EXPECT_EQ(records.at(1).at(1).place.column, 4);
}

TEST(Csv, ABrokenRecordIsReportedAndTheNextIsRead) {
  config::Diagnostics diagnostics;
  const auto records = read_csv(source("a,\"b\"c\nd,e\nf,g\"h\n\"never"), diagnostics);
  EXPECT_EQ(diagnostics.count(), 3U);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records.at(0).at(0).text, "d");
}

TEST(Measurements, RowsAreReadWithTheirParameters) {
  const auto all = rows(kHeader + "STR-1,H200,kind,a=1;b=x y;c=,m,2.5,GB/s,1,4e3,src,high,n\n");
  ASSERT_EQ(all.size(), 1U);
  const Measurement& m = all.front();
  EXPECT_EQ(m.set, "STR");
  EXPECT_EQ(m.value, 2.5);
  EXPECT_EQ(m.hi, 4000);
  EXPECT_THAT(m.params, ElementsAre(std::pair<std::string, std::string>("a", "1"),
                                    std::pair<std::string, std::string>("b", "x y"),
                                    std::pair<std::string, std::string>("c", "")));
}

TEST(Measurements, AllMistakesAreReportedInOneGo) {
  std::string text;
  rows(
      kHeader +
          "A-1,g,k,a=1,m,twelve,us,,,,,\nA-1,g,k,a=1;a=2;b,m,,us,3,2,,,\nA-2,g,k\n,g,k,,m,,,,,,,\n",
      &text);
  EXPECT_THAT(text, HasSubstr("m.csv:2:15: error: 'value' is 'twelve'"));
  EXPECT_THAT(text, HasSubstr("m.csv:3:1: error: the id 'A-1' is given twice; first at line 2"));
  EXPECT_THAT(text, HasSubstr("m.csv:3:13: error: 'params' has 'a' twice"));
  EXPECT_THAT(text, HasSubstr("m.csv:3:17: error: 'params' has 'b'; key=value is needed"));
  EXPECT_THAT(text, HasSubstr("m.csv:3:25: error: 'lo' is 3, above 'hi'"));
  EXPECT_THAT(text, HasSubstr("m.csv:4:1: error: the row has 3 cells; 12 are needed"));
  EXPECT_THAT(text, HasSubstr("m.csv:5:1: error: 'id' is empty"));
}

TEST(Measurements, AWrongHeaderNamesTheColumn) {
  std::string text;
  rows("id,gpu,type,params\n", &text);
  EXPECT_THAT(text,
              HasSubstr("m.csv:1:8: error: column 3 of the header is 'type'; 'kind' is needed"));
  rows("", &text);
  EXPECT_THAT(text, HasSubstr("m.csv:1:1: error: the file is empty"));
}

TEST(Measurements, TightRowsHaveThreeCollectionsWithinAQuarter) {
  const auto all = rows(kHeader +
                        "A-1,g,k,,m,100,us,90,115,,,collections=3\n"
                        "A-2,g,k,,m,100,us,90,116,,,collections=9;x\n"
                        "A-3,g,k,,m,100,us,90,110,,,collections=2\nA-4,g,k,,m,100,us,,,,,\n");
  EXPECT_TRUE(all[0].is_tight());
  EXPECT_FALSE(all[1].is_tight());
  EXPECT_EQ(all[1].collections(), 9);
  EXPECT_FALSE(all[2].is_tight());
  EXPECT_FALSE(all[3].is_tight());
}

}  // namespace
}  // namespace wavetail::study
