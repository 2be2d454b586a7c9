// SPDX-License-Identifier: Apache-2.0
// The queue of pending events: a timing wheel for the next four microseconds and a heap beyond
// it. Events
// come out in order of (time, order of scheduling), so that the same input always gives the same
// run.
//
//   Wheel wheel;
//   wheel.schedule({.time = now + 30_ns, .target = Target::Sm});
//   while (wheel.pop(e)) { handle(e); }      // handlers schedule further events at e.time or later
#pragma once

#include <array>
#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "event/event.h"

namespace wavetail::event {

class Wheel {
 public:
  Wheel();

  // e.time must not lie before now().
  void schedule(const Event& e);

  // Takes the next event; false when none is left.
  bool pop(Event& e);

  // The events that come next within the open slot; what handlers schedule into it may still join.
  [[nodiscard]] std::span<const Event> upcoming() const {
    return {batch_.data() + batch_next_, batch_.size() - batch_next_};
  }

  // The event just taken was the first of its slot.
  [[nodiscard]] bool slot_just_opened() const { return batch_next_ == 1; }

  [[nodiscard]] Time now() const { return now_; }

  [[nodiscard]] std::int64_t popped() const { return popped_; }

  [[nodiscard]] std::int64_t pending() const { return pending_; }

 private:
  static constexpr int kSlotBits = 8;    // a slot spans 256 ps
  static constexpr int kWheelBits = 14;  // 16,384 slots: 4.2 us
  static constexpr std::uint32_t kSlots = 1U << kWheelBits;
  static constexpr std::uint32_t kNone = 0xffffffffU;

  struct Node {
    Event event;
    std::uint32_t next = kNone;
  };

  struct Slot {
    std::uint32_t head = kNone, tail = kNone;
  };

  struct Far {
    Event event;
    std::uint64_t sequence = 0;
  };

  struct Later {
    bool operator()(const Far& a, const Far& b) const {
      return a.event.time != b.event.time ? a.event.time > b.event.time : a.sequence > b.sequence;
    }
  };

  static std::int64_t slot_number(Time t) { return t.picoseconds() >> kSlotBits; }

  void append(const Event& e);
  void insert_into_batch(const Event& e);
  bool advance();
  [[nodiscard]] std::int64_t next_occupied() const;
  void migrate_far();
  void open(std::int64_t slot);
  void sort_batch();

  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> occupied_;                    // one bit per slot
  std::array<std::uint64_t, kSlots / 64 / 64> summary_{};  // one bit per word of occupied_
  std::int64_t cursor_ = 0;                                // number of the open slot
  std::vector<Event> batch_;                               // events of the open slot, in order
  std::size_t batch_next_ = 0;
  std::int64_t in_wheel_ = 0;
  std::priority_queue<Far, std::vector<Far>, Later> far_;
  std::uint64_t far_sequence_ = 0;
  Time now_;
  std::int64_t popped_ = 0, pending_ = 0;
};

inline void Wheel::schedule(const Event& e) {
  ++pending_;
  const std::int64_t slot = slot_number(e.time);
  if (slot <= cursor_) {
    insert_into_batch(e);
  } else if (slot < cursor_ + kSlots) {
    append(e);
  } else {
    far_.push({e, far_sequence_++});
  }
}

inline void Wheel::append(const Event& e) {
  std::uint32_t n = free_;
  if (n == kNone) {
    n = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    free_ = nodes_[n].next;
  }
  nodes_[n].event = e;
  nodes_[n].next = kNone;
  const auto index = static_cast<std::uint32_t>(slot_number(e.time)) & (kSlots - 1);
  Slot& slot = slots_[index];
  if (slot.head == kNone) {
    slot.head = n;
    occupied_[index >> 6] |= 1ULL << (index & 63);
    summary_[index >> 12] |= 1ULL << ((index >> 6) & 63);
  } else {
    nodes_[slot.tail].next = n;
  }
  slot.tail = n;
  ++in_wheel_;
}

inline bool Wheel::pop(Event& e) {
  if (batch_next_ == batch_.size() && !advance()) { return false; }
  e = batch_[batch_next_++];
  now_ = e.time;
  ++popped_;
  --pending_;
  return true;
}

}  // namespace wavetail::event
