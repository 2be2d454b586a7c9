// SPDX-License-Identifier: Apache-2.0
#include "scenario/words.h"

namespace wavetail::scenario {

std::vector<std::string> words_of(std::string_view path) {
  if (path.ends_with(".limiters")) {
    return {"registers", "shared_memory", "warps", "blocks", "cluster", "tmem"};
  }
  if (path.ends_with(".bound.name")) {
    return {"dram",   "l2",     "issue", "fp32",      "int32",   "fp64",  "sfu",
            "shared", "tensor", "tma",   "in_flight", "latency", "stated"};
  }
  if (path == "confidence" || path.ends_with(".confidence")) {
    return {"measured", "vendor", "derived", "assumed"};
  }
  return {};
}

}  // namespace wavetail::scenario
