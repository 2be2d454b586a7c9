// SPDX-License-Identifier: Apache-2.0
#include "occupancy/refusal.h"

#include <fmt/format.h>

#include "base/count.h"

namespace wavetail::occupancy {

namespace {

using Refusals = std::vector<Refusal>;

void refuse(Refusals& out, const char* resource, const std::string& why) {
  out.push_back({resource, fmt::format("{}: {}", resource, why)});
}

// Where warps are placed depends on what is resident already, so the check assumes a block's warps
// in whole rounds over the sub-partitions.
void check_registers(const gpu::SmSpec& sm, const gpu::GpuSpec& gpu, const Launch& l,
                     Refusals& out) {
  if (l.registers < 0 || l.registers > sm.max_registers_per_thread) {
    refuse(
        out, "registers",
        fmt::format("{} per thread; allowed up to {}", l.registers, sm.max_registers_per_thread));
    return;
  }
  const bool good_block = l.block >= 1 && l.block <= sm.max_threads_per_block;
  const auto per_warp = registers_per_warp(gpu, l.registers);
  if (!good_block || per_warp == 0) { return; }
  const auto warps = (l.block + sm.warp_size - 1) / sm.warp_size;
  const auto checked = (warps + sm.warp_unit - 1) / sm.warp_unit * sm.warp_unit;
  if (checked > sm.registers / per_warp) {
    refuse(out, "registers",
           fmt::format("{} (in units of {}) x {} per warp = {}; an SM has {}",
                       base::count_of(checked, "warp"), sm.warp_unit, per_warp, checked * per_warp,
                       sm.registers));
  }
}

void check_shared_memory(const gpu::SmSpec& sm, const Launch& l, Refusals& out) {
  if (l.shared_memory.count() < 0 || l.shared_memory > sm.shared_memory_per_block) {
    refuse(out, "shared_memory",
           fmt::format("{} per block; a block may have up to {}", bytes_of(l.shared_memory),
                       bytes_of(sm.shared_memory_per_block)));
  }
}

// tcgen05.alloc takes a power of two.
void check_tmem(const gpu::GpuSpec& gpu, const Launch& l, Refusals& out) {
  constexpr std::int64_t kLeast = 32;
  if (l.tmem_columns == 0) { return; }
  const auto columns = static_cast<std::uint64_t>(l.tmem_columns);
  const auto most = gpu.sm.tmem_columns;
  if (most == 0) {
    refuse(out, "tmem", fmt::format("{} has no tensor memory", gpu.architecture));
  } else if (l.tmem_columns < kLeast || l.tmem_columns > most || (columns & (columns - 1)) != 0) {
    refuse(out, "tmem",
           fmt::format("{} columns per block; allowed are powers of two from {} to {}",
                       l.tmem_columns, kLeast, most));
  }
}

void check_cluster(const gpu::GpuSpec& gpu, const Launch& l, Refusals& out) {
  const auto most = gpu.sm.max_cluster;
  const auto say = [&](const std::string& why) {
    refuse(out, "cluster", fmt::format("{}{}", base::count_of(l.cluster, "block"), why));
  };
  if (l.cluster < 1 || l.cluster > most) {
    say(most <= 1 ? fmt::format("; {} has no clusters", gpu.architecture)
                  : fmt::format("; allowed 1 to {}", most));
    return;
  }
  if (l.portable && l.cluster > kPortableCluster) {
    say(fmt::format("; portable are up to {}, up to {} with the non-portable opt-in",
                    kPortableCluster, most));
  }
  if (!gpu.gpcs.empty() && reachable_sms(gpu, l.cluster) == 0) { say("; no GPC has as many SMs"); }
  if (l.grid % l.cluster != 0) { say(fmt::format(" do not divide a grid of {} blocks", l.grid)); }
}

}  // namespace

std::vector<Refusal> refusals(const gpu::GpuSpec& gpu, const Launch& launch) {
  const auto& sm = gpu.sm;
  Refusals out;
  if (launch.block < 1 || launch.block > sm.max_threads_per_block) {
    out.push_back({"", fmt::format("threads: {} per block; allowed 1 to {}", launch.block,
                                   sm.max_threads_per_block)});
  }
  check_registers(sm, gpu, launch, out);
  check_shared_memory(sm, launch, out);
  check_tmem(gpu, launch, out);
  check_cluster(gpu, launch, out);
  return out;
}

std::string bytes_of(unit::Bytes bytes) {
  const auto n = bytes.count();
  return n % 1024 == 0 ? fmt::format("{} KiB", n / 1024) : fmt::format("{} B", n);
}

}  // namespace wavetail::occupancy
