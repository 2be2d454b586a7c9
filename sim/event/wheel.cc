// SPDX-License-Identifier: Apache-2.0
#include "event/wheel.h"

#include <algorithm>
#include <bit>

namespace wavetail::event {

Wheel::Wheel() : slots_(kSlots), occupied_(kSlots / 64, 0) { nodes_.reserve(1U << 16); }

// The open slot is already in order: a late arrival goes behind all events of its time.
void Wheel::insert_into_batch(const Event& e) {
  auto behind = std::upper_bound(batch_.begin() + static_cast<std::ptrdiff_t>(batch_next_),
                                 batch_.end(), e,
                                 [](const Event& x, const Event& y) { return x.time < y.time; });
  batch_.insert(behind, e);
}

bool Wheel::advance() {
  batch_.clear();
  batch_next_ = 0;
  if (in_wheel_ == 0) {
    if (far_.empty()) { return false; }
    cursor_ = slot_number(far_.top().event.time) - 1;
    migrate_far();
  }
  cursor_ = next_occupied();
  migrate_far();
  open(cursor_);
  return true;
}

// First occupied slot after the cursor, as a slot number; at least one exists.
std::int64_t Wheel::next_occupied() const {
  const auto start = static_cast<std::uint32_t>(cursor_ + 1) & (kSlots - 1);
  auto distance_to = [&](std::uint32_t index) {
    return static_cast<std::int64_t>((index - start) & (kSlots - 1));
  };
  const std::uint64_t first = occupied_[start >> 6] >> (start & 63);
  if (first != 0) { return cursor_ + 1 + std::countr_zero(first); }
  // Words after the first one, by the summary bits, around the wheel and back to the first word's
  // low part.
  const std::uint32_t words = kSlots / 64;
  std::uint32_t word = ((start >> 6) + 1) & (words - 1);
  for (;;) {
    const std::uint64_t group = summary_[word >> 6] >> (word & 63);
    if (group != 0) {
      word += static_cast<std::uint32_t>(std::countr_zero(group));
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(occupied_[word]));
      return cursor_ + 1 + distance_to((word << 6) + bit);
    }
    word = ((word | 63) + 1) & (words - 1);
  }
}

// Whatever now lies within the wheel's reach leaves the heap before anything can be appended behind
// it.
void Wheel::migrate_far() {
  while (!far_.empty() && slot_number(far_.top().event.time) < cursor_ + kSlots) {
    append(far_.top().event);
    far_.pop();
  }
}

void Wheel::open(std::int64_t slot) {
  const auto index = static_cast<std::uint32_t>(slot) & (kSlots - 1);
  std::uint32_t n = slots_[index].head;
  bool sorted = true;
  while (n != kNone) {
    Node& node = nodes_[n];
    sorted = sorted && (batch_.empty() || batch_.back().time <= node.event.time);
    batch_.push_back(node.event);
    const std::uint32_t next = node.next;
    node.next = free_;
    free_ = n;
    n = next;
    --in_wheel_;
  }
  slots_[index] = Slot{};
  occupied_[index >> 6] &= ~(1ULL << (index & 63));
  if (occupied_[index >> 6] == 0) { summary_[index >> 12] &= ~(1ULL << ((index >> 6) & 63)); }
  if (!sorted) { sort_batch(); }
}

// Few events share a slot: insertion keeps equal times in their order of scheduling.
void Wheel::sort_batch() {
  for (std::size_t i = 1; i < batch_.size(); ++i) {
    const Event e = batch_[i];
    std::size_t at = i;
    for (; at > 0 && batch_[at - 1].time > e.time; --at) { batch_[at] = batch_[at - 1]; }
    batch_[at] = e;
  }
}

}  // namespace wavetail::event
