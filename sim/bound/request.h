// SPDX-License-Identifier: Apache-2.0
// What one warp instruction asks of memory, in closed form: lanes, bytes, and the 32 B sectors that
// its lane addresses fall into.
//
//   16 B per lane along a row:  512 B in 16 sectors      4 B per lane, 32 B apart:  128 B in 32
//   sectors
#pragma once

#include <cstdint>

#include "kernel/op.h"
#include "unit/quantity.h"

namespace wavetail::bound {

// The lanes [first, first + count) of a warp.
struct Lanes {
  int first = 0;
  int count = 0;
};

struct Request {
  int lanes = 0;              // that take part
  double useful_bytes = 0;    // lanes x width
  double distinct_bytes = 0;  // of these, bytes that are certainly different ones
  double sectors = 0;         // for random lanes: one each and more, as if no two met
  double most_sectors = 0;    // wherever the instruction's address lies
};

// `active` are the lanes that execute the instruction; the access may narrow them further. The
// address of the instruction counts as aligned to a line, moved by access.offset. Lanes that reach
// over more than the array wrap in it and may meet.
[[nodiscard]] Request request_of(const kernel::MemoryAccess& access, Lanes active,
                                 std::int64_t array_bytes = INT64_MAX);

}  // namespace wavetail::bound
