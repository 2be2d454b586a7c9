// SPDX-License-Identifier: Apache-2.0
#include "study/protocols/async.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace wavetail::study {

using kernel::Op;
using kernel::OpKind;

namespace {

Op of_kind(OpKind kind, std::int64_t count = 1) {
  Op op;
  op.kind = kind;
  op.count = count;
  return op;
}

}  // namespace

kernel::Box box(std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch,
                kernel::Strides strides) {
  return library::tensor_box(0, rows, row_bytes, pitch, std::move(strides));
}

Op tma_load(std::vector<kernel::Box> boxes, int mbarrier) {
  Op op = of_kind(OpKind::TmaLoad);
  op.mbarrier = mbarrier;
  op.boxes = std::move(boxes);
  return op;
}

Op mbarrier_wait(int mbarrier) {
  Op op = of_kind(OpKind::MbarrierWait);
  op.mbarrier = mbarrier;
  return op;
}

Op cluster_barrier() { return of_kind(OpKind::ClusterBarrier); }

Op cp_async(std::int64_t width, std::int64_t count, kernel::Strides strides, std::int64_t offset) {
  Op op = of_kind(OpKind::CpAsync, count);
  op.access.array = 0;
  op.access.width = static_cast<int>(width);
  op.access.bypass_l1 = width == 16;  // cp.async.cg; narrower ones are .ca
  op.access.walk = kernel::WalkKind::Strides;
  op.access.strides = std::move(strides);
  op.access.offset = offset;
  return op;
}

Op cp_async_commit() { return of_kind(OpKind::CpAsyncCommit); }

Op cp_async_wait(std::int64_t newest_left) { return of_kind(OpKind::CpAsyncWait, newest_left); }

std::pair<std::int64_t, std::int64_t> sides_of(std::string_view key, const std::string& text,
                                               std::string_view suffix) {
  constexpr std::int64_t kMost = 256;
  const char *at = text.data(), *end = at + text.size();
  std::int64_t width = 0, height = 0;
  const auto first = std::from_chars(at, end, width);
  const bool by = first.ptr != end && *first.ptr == 'x';
  const auto second = std::from_chars(first.ptr + (by ? 1 : 0), end, height);
  const bool sound = by && std::string_view(second.ptr, end) == suffix && width >= 1 &&
                     width <= kMost && height >= 1 && height <= kMost;
  if (!sound) {
    throw Unmapped(fmt::format("{}={}: WIDTHxHEIGHT{} with sides of 1 to {} is needed", key, text,
                               suffix, kMost));
  }
  return {width, height};
}

kernel::Mbarrier ring(std::string name, std::int64_t stages) {
  return {std::move(name), stages, std::nullopt, std::nullopt};
}

std::int64_t rounds_for(double traffic, double bytes, std::int64_t least) {
  return std::max(least, static_cast<std::int64_t>(std::ceil(traffic / bytes)));
}

}  // namespace wavetail::study
