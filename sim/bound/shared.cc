// SPDX-License-Identifier: Apache-2.0
#include "bound/shared.h"

#include <algorithm>

#include "memory/bank_pattern.h"

namespace wavetail::bound {

namespace {

// Whether the instruction's address stays at multiples of `period` from where it begins.
bool stays_within(const kernel::SharedAccess& a, std::int64_t period) {
  const auto keeps = [&](std::int64_t step) { return step % period == 0; };
  return keeps(a.warp) && keeps(a.count) && std::all_of(a.loop.begin(), a.loop.end(), keeps);
}

}  // namespace

SharedRequest shared_request_of(const kernel::Op& op, Lanes active, const gpu::GpuSpec& gpu) {
  const kernel::SharedAccess& a = op.shared;
  const auto offsets = memory::lane_offsets(a, static_cast<int>(gpu.sm.warp_size), active.first,
                                            active.count);
  const auto idle = std::count(offsets.begin(), offsets.end(), memory::kNoLane);
  SharedRequest r;
  r.lanes = static_cast<int>(static_cast<std::ptrdiff_t>(offsets.size()) - idle);
  if (r.lanes == 0) { return r; }
  const bool merge = op.kind == kernel::OpKind::SharedLoad &&
                     memory::merges_pairs(gpu.architecture);
  const auto at = [&](std::int64_t base) {
    return memory::bank_access_at(a, offsets, base, merge);
  };
  const std::int64_t period = memory::bank_period(a);
  // Lanes below the address: whole periods keep them at 0 or above.
  std::int64_t lift = 0;
  for (const std::int64_t o : offsets) {
    lift = o == memory::kNoLane ? lift : std::max(lift, (period - 1 - o) / period * period);
  }
  const memory::BankAccess here = at(a.offset + lift);
  const bool random = a.pattern == kernel::SharedPattern::Random;
  r.passes = here.passes;
  // Lanes that are no wider than a bank's word meet the banks alike at every word.
  const bool turns_only = a.swizzle.bits == 0 && a.width >= memory::kBankBytes;
  r.exact = !random && (turns_only || stays_within(a, period));
  r.wavefronts = r.exact ? here.wavefronts : here.passes;
  return r;
}

double cycles_per_wavefront(const gpu::GpuSpec& gpu) {
  return memory::kWavefrontBytes * 1000.0 /
         static_cast<double>(gpu.shared_memory.bandwidth.count());
}

void SharedPath::serve(double now, const SharedRequest& request, std::int64_t count, bool load) {
  constexpr std::int64_t kFollowed = 64;  // loads; what is older has come back before
  const double service = request.wavefronts * each_;
  const double start = std::max(free_, now);
  const auto free_after = [&](std::int64_t n) {
    return std::max(start + static_cast<double>(n) * service,
                    now + static_cast<double>(n - 1) + service);
  };
  for (std::int64_t n = std::max<std::int64_t>(1, count - kFollowed + 1); load && n <= count; ++n) {
    const double issued = now + static_cast<double>(n - 1);
    ready_.push_back(std::max(issued, free_after(n) - 1) + latency_);
    if (static_cast<std::int64_t>(ready_.size()) > kFollowed) { ready_.pop_front(); }
  }
  free_ = free_after(count);
}

double SharedPath::back(double now, std::int64_t newest) {
  while (static_cast<std::int64_t>(ready_.size()) > newest) {
    now = std::max(now, ready_.front());
    ready_.pop_front();
  }
  return now;
}

void SharedPath::advance(double cycles) {
  free_ += cycles;
  for (double& ready : ready_) { ready += cycles; }
}

}  // namespace wavetail::bound
