// SPDX-License-Identifier: Apache-2.0
#include "report/schema.h"

#include <fmt/format.h>

#include <array>

#include "base/nearest.h"
#include "cli/options.h"
#include "cli/output.h"
#include "gpu/keys.h"
#include "report/calibration.h"
#include "scenario/keys.h"

namespace wavetail::cli {

namespace {

struct Schema {
  std::string_view name;
  std::string (*json)();
};

constexpr std::array kSchemas = {
    Schema{"gpu", gpu::schema_json}, Schema{"scenario", scenario::schema_json},
    Schema{"result", report::result_schema}, Schema{"calibration", report::calibration_schema}};

}  // namespace

int schema(const Words& words) {
  Reader options("schema gpu|scenario|result|calibration [options]",
                 "Prints the JSON Schema of a file or of a result.", {.formats = {Format::Json}});
  options.positional("WHAT", 1);
  if (!options.read(words)) { return kOk; }
  const auto& what = options.arguments().front();
  std::vector<std::string> names;
  for (const auto& s : kSchemas) {
    if (s.name == what) {
      write_result(options.common().out, s.json());
      return kOk;
    }
    names.emplace_back(s.name);
  }
  throw Mistake(fmt::format("unknown schema '{}'{}; there is {}", what,
                            base::hint(what, names, false), base::joined(names)));
}

}  // namespace wavetail::cli
