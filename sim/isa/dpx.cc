// SPDX-License-Identifier: Apache-2.0
#include "isa/dpx.h"

#include <array>

#include "isa/availability.h"

namespace wavetail::isa {

namespace {

using kernel::Pipe;

// CUDA C++ Programming Guide, DPX: viaddmax is max(a + b, c), vimax3 max(a, b, c), vimax max(a, b),
// vibmax max(a, b) and which of the two; each with min for max, with u for s, and most with relu.
constexpr std::array<std::string_view, 4> kKinds{"viadd", "vi3", "vi", "vib"};

struct Function {
  std::string_view kind;
  bool halves = false;  // two of 16 bits
  bool relu = false;
};

// Takes `part` off the front of `text`.
bool take(std::string_view& text, std::string_view part) {
  if (!text.starts_with(part)) { return false; }
  text.remove_prefix(part.size());
  return true;
}

std::optional<Function> parse(std::string_view text) {
  Function f;
  if (take(text, "viadd")) {
    f.kind = kKinds[0];
  } else if (take(text, "vib")) {
    f.kind = kKinds[3];
  } else if (take(text, "vi")) {
    f.kind = kKinds[2];
  } else {
    return std::nullopt;
  }
  if (!take(text, "max") && !take(text, "min")) { return std::nullopt; }
  if (f.kind == kKinds[2] && take(text, "3")) { f.kind = kKinds[1]; }
  if (!take(text, "_s") && !take(text, "_u")) { return std::nullopt; }
  f.halves = take(text, "16x2");
  if (!f.halves && !take(text, "32")) { return std::nullopt; }
  f.relu = take(text, "_relu");
  if (!text.empty() || (f.relu && f.kind == kKinds[3])) { return std::nullopt; }
  return f;
}

}  // namespace

// Sequences as measured chains and rates have them (HPMLL, DPX on an H800 and an A100). 32 bits:
// the addition is a multiply-add of the FMA pipe, each maximum an instruction of the integer pipe,
// and of vibmax one more says which. Two halves: one instruction from 9.0 on; before, eight of the
// integer pipe, two in a row and then half by half.
std::optional<std::vector<DpxStep>> dpx_steps(std::string_view function,
                                              std::string_view architecture) {
  const auto f = parse(function);
  if (!f) { return std::nullopt; }
  const bool native = compute_capability(architecture).value_or(0) >= 90;
  std::vector<DpxStep> steps;
  if (f->halves && native) {
    steps = {{Pipe::Int32, f->kind == "vi3" ? 2 : 1, 1}};
  } else if (f->halves) {
    steps = {{Pipe::Int32, 2, 1}, {Pipe::Int32, 6, 4}};
  } else if (f->kind == "viadd") {
    steps = {{Pipe::Fp32, 1, 1}, {Pipe::Int32, 1, 1}};
  } else {
    steps = {{Pipe::Int32, f->kind == "vi" ? 1 : 2, 1}};
  }
  if (f->relu && !native) { steps.push_back({Pipe::Int32, 1, 1}); }
  return steps;
}

std::string dpx_functions() {
  return "viadd, vi or vib, max or min, 3 (of vi), _s or _u, 32 or 16x2, _relu (not of vib): "
         "viaddmax_s32, vimin3_s16x2_relu, vibmax_u32";
}

}  // namespace wavetail::isa
