// SPDX-License-Identifier: Apache-2.0
#include "bound/boxes.h"

#include <algorithm>
#include <array>

#include "isa/mbarriers.h"

namespace wavetail::bound {

namespace {

// One plane of a clipped box, as blocks see it that differ along some axes.
class Clipped {
 public:
  Clipped(const kernel::Box& box, const kernel::Kernel& kernel)
      : box_(box),
        kernel_(kernel),
        strides_{box.strides.block_x, box.strides.block_y, box.strides.block_z},
        array_(kernel.arrays.at(static_cast<std::size_t>(box.array)).bytes.count()),
        share_rows_(box.leader ? box.rows : box.rows / isa::receivers(box, kernel)) {}

  // Rows that the block at `index` moves: one at least, so that every box lands.
  [[nodiscard]] std::int64_t rows_of(const kernel::Dim3& index) const {
    std::int64_t at = box_.offset, share = 0, times = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t group = box_.multicast[axis] ? kernel_.cluster[axis] : 1;
      const std::int64_t within = index[axis] % group;
      at += (index[axis] - within) * strides_[axis];
      share += within * times;
      times *= group;
    }
    if (box_.leader && share > 0) { return 0; }
    at += share * share_rows_ * box_.pitch;
    const std::int64_t room = array_ - at + box_.pitch - box_.row_bytes;
    return std::clamp<std::int64_t>(room < 0 ? 0 : room / box_.pitch, 1, share_rows_);
  }

  [[nodiscard]] bool matters(std::size_t axis) const {
    return strides_[axis] != 0 || box_.multicast[axis];
  }

 private:
  const kernel::Box& box_;
  const kernel::Kernel& kernel_;
  std::array<std::int64_t, 3> strides_;
  std::int64_t array_, share_rows_;
};

}  // namespace

double moved_bytes(const kernel::Box& box, const kernel::Kernel& kernel) {
  const auto bytes = static_cast<double>(box.bytes());
  if (!box.clip) { return bytes / static_cast<double>(isa::receivers(box, kernel)); }
  const Clipped clipped(box, kernel);
  kernel::Dim3 extent = kernel.shares ? kernel.shares->tiles : kernel.grid;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!clipped.matters(axis)) { extent[axis] = 1; }
  }
  std::int64_t rows = 0;
  kernel::Dim3 at{};
  for (at[2] = 0; at[2] < extent[2]; ++at[2]) {
    for (at[1] = 0; at[1] < extent[1]; ++at[1]) {
      for (at[0] = 0; at[0] < extent[0]; ++at[0]) { rows += clipped.rows_of(at); }
    }
  }
  return static_cast<double>(rows * box.planes * box.row_bytes) /
         static_cast<double>(kernel::volume(extent));
}

}  // namespace wavetail::bound
