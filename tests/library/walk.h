// SPDX-License-Identifier: Apache-2.0
// Executes a kernel's programs lane by lane and notes which bytes of which array are touched: the
// slow, obvious reading of kernel/op.h that templates are judged by.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernel/kernel.h"

namespace wavetail::library {

struct Touched {
  std::map<std::string, std::vector<int>> reads, writes;  // times per byte
  std::vector<int> shared_reads, shared_writes;           // the same, all blocks together
  double flops = 0;                                       // lanes x flops_per_lane
  std::int64_t most_in_flight = 0;  // loads of one warp issued and not yet waited for
  std::vector<std::string> faults;  // misaligned accesses, accesses that wrap in the middle

  [[nodiscard]] std::int64_t bytes_read() const { return distinct(reads); }

  [[nodiscard]] std::int64_t bytes_written() const { return distinct(writes); }

  static std::int64_t distinct(const std::map<std::string, std::vector<int>>& arrays) {
    std::int64_t bytes = 0;
    for (const auto& [name, times] : arrays) {
      for (const int t : times) { bytes += t > 0 ? 1 : 0; }
    }
    return bytes;
  }
};

class Walker {
 public:
  Walker(const kernel::Kernel& k, int warp_size) : k_(k), warp_size_(warp_size) {}

  Touched run() {
    for (at_.z = 0; at_.z < k_.grid[2]; ++at_.z) {
      for (at_.y = 0; at_.y < k_.grid[1]; ++at_.y) {
        for (at_.x = 0; at_.x < k_.grid[0]; ++at_.x) { block(); }
      }
    }
    return touched_;
  }

 private:
  struct At {
    std::int64_t x = 0, y = 0, z = 0, warp = 0;
    std::vector<std::int64_t> trips;
  };

  void block() {
    for (const kernel::Role& role : k_.roles) {
      for (at_.warp = 0; at_.warp < role.warps; ++at_.warp) {
        in_flight_ = 0;
        program(role.program);
      }
    }
  }

  void program(const kernel::Program& p) {
    for (const kernel::Op& op : p) { step(op); }
  }

  void step(const kernel::Op& op) {
    switch (op.kind) {
      case kernel::OpKind::Arithmetic:
        touched_.flops += static_cast<double>(op.count * op.flops_per_lane * warp_size_);
        break;
      case kernel::OpKind::Load:
        in_flight_ += op.count;
        touched_.most_in_flight = std::max(touched_.most_in_flight, in_flight_);
        access(op, touched_.reads);
        break;
      case kernel::OpKind::Store: access(op, touched_.writes); break;
      case kernel::OpKind::WaitLoads: in_flight_ = std::min(in_flight_, op.count); break;
      case kernel::OpKind::SharedLoad:
      case kernel::OpKind::SharedStore: shared(op); break;
      case kernel::OpKind::WaitShared:
      case kernel::OpKind::BlockBarrier: break;
      case kernel::OpKind::Repeat:
        at_.trips.push_back(0);
        for (std::int64_t t = 0; t < op.count; ++t) {
          at_.trips.back() = t;
          program(op.bodies[0]);
        }
        at_.trips.pop_back();
        break;
      case kernel::OpKind::Diverge:
        if (op.diverge_by == kernel::DivergeBy::Warp) {
          const auto ways = static_cast<std::int64_t>(op.bodies.size());
          program(op.bodies[static_cast<std::size_t>(at_.warp * ways / k_.roles.front().warps)]);
          break;
        }
        for (const auto& body : op.bodies) { program(body); }
        break;
      default: FAIL() << "an operation that this walk does not follow";
    }
  }

  void access(const kernel::Op& op, std::map<std::string, std::vector<int>>& arrays) {
    const kernel::MemoryAccess& a = op.access;
    const kernel::Array& array = k_.arrays[static_cast<std::size_t>(a.array)];
    std::vector<int>& times = arrays[array.name];
    times.resize(static_cast<std::size_t>(array.bytes.count()));
    const kernel::Strides& s = a.strides;
    for (std::int64_t i = 0; i < op.count; ++i) {
      std::int64_t base = a.offset + at_.x * s.block_x + at_.y * s.block_y + at_.z * s.block_z +
                          at_.warp * s.warp + i * s.count;
      for (std::size_t l = 0; l < s.loop.size(); ++l) {
        base += s.loop[l] * (l < at_.trips.size() ? at_.trips[l] : 0);
      }
      for (int lane = 0; lane < (a.lanes == 0 ? warp_size_ : a.lanes); ++lane) {
        const std::int64_t address = (base + place_of(a, lane)) % array.bytes.count();
        if (address % a.width != 0) { fault(array.name, "misaligned", address); }
        if (address + a.width > array.bytes.count()) { fault(array.name, "wraps", address); }
        for (int b = 0; b < a.width && address + b < array.bytes.count(); ++b) {
          ++times[static_cast<std::size_t>(address + b)];
        }
      }
    }
  }

  // What the block writes to and reads from its shared memory, byte by byte; templates use rows and
  // whole columns.
  void shared(const kernel::Op& op) {
    const kernel::SharedAccess& a = op.shared;
    std::vector<int>& times = op.kind == kernel::OpKind::SharedLoad ? touched_.shared_reads
                                                                    : touched_.shared_writes;
    times.resize(static_cast<std::size_t>(k_.shared_memory.count()));
    for (std::int64_t i = 0; i < op.count; ++i) {
      std::int64_t base = a.offset + at_.warp * a.warp + i * a.count;
      for (std::size_t l = 0; l < a.loop.size(); ++l) { base += a.loop[l] * at_.trips[l]; }
      for (std::int64_t lane = 0; lane < (a.lanes == 0 ? warp_size_ : a.lanes); ++lane) {
        const bool down = a.pattern == kernel::SharedPattern::Column;
        const std::int64_t address = a.swizzle(base + lane * (down ? a.pitch : a.width));
        if (address % a.width != 0) { fault("shared memory", "misaligned", address); }
        if (address < 0 || address + a.width > k_.shared_memory.count()) {
          fault("shared memory", "left", address);
          continue;
        }
        for (int b = 0; b < a.width; ++b) { ++times[static_cast<std::size_t>(address + b)]; }
      }
    }
  }

  static std::int64_t place_of(const kernel::MemoryAccess& a, int lane) {
    if (a.pattern == kernel::Pattern::Broadcast) { return 0; }
    if (a.pattern == kernel::Pattern::Listed) { return a.offsets[static_cast<std::size_t>(lane)]; }
    return lane * (a.pattern == kernel::Pattern::Strided ? a.stride : a.width);
  }

  void fault(const std::string& array, const char* what, std::int64_t address) {
    if (touched_.faults.size() < 8) {
      touched_.faults.push_back(k_.name + " " + array + " " + what + " at " +
                                std::to_string(address));
    }
  }

  const kernel::Kernel& k_;
  int warp_size_;
  At at_;
  std::int64_t in_flight_ = 0;
  Touched touched_;
};

inline Touched walk(const kernel::Kernel& k, int warp_size = 32) {
  return Walker(k, warp_size).run();
}

}  // namespace wavetail::library
