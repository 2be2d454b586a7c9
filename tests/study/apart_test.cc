// SPDX-License-Identifier: Apache-2.0
// Which rows count apart, and the statistics of both sides.
#include "study/apart.h"

#include <gtest/gtest.h>

#include "study/validation.h"

namespace wavetail::study {
namespace {

Measurement decode(std::string dim, std::string q_heads, std::string kv_len, double us) {
  Measurement m;
  m.set = "LAG";
  m.kind = "library_attention_decode_bf16";
  m.unit = "us";
  m.params = {{"batch", "64"},
              {"q_heads", std::move(q_heads)},
              {"kv_heads", "8"},
              {"head_dim", std::move(dim)},
              {"kv_len", std::move(kv_len)}};
  m.value = us;
  m.lo = 0.9 * us;
  m.hi = 1.1 * us;
  m.notes = "collections=2";
  return m;
}

gpu::GpuSpec gpu_of(std::int64_t terabytes_per_second) {
  gpu::GpuSpec gpu;
  gpu.l2.capacity = unit::Bytes{50'000'000};
  gpu.hbm.bandwidth = unit::Bandwidth{terabytes_per_second * 1'000'000'000'000};
  return gpu;
}

TEST(Apart, IsWhatNoSingleMechanismGives) {
  const gpu::GpuSpec gpu = gpu_of(3);
  EXPECT_EQ(apart_of(decode("128", "32", "1024", 200), gpu), "");
  EXPECT_NE(apart_of(decode("512", "32", "1024", 1000), gpu), "");
  EXPECT_NE(apart_of(decode("128", "384", "1024", 200), gpu), "");
  Measurement wide = decode("128", "32", "1024", 200);
  wide.hi = 2.6 * *wide.lo;
  EXPECT_NE(apart_of(wide, gpu), "");
}

TEST(Apart, ManyCollectionsOfALargeGroupAreOneMechanism) {
  Measurement row = decode("128", "384", "1024", 200);
  row.notes = "collections=3";
  EXPECT_EQ(apart_of(row, gpu_of(3)), "");
}

// 268 MB in 200 us are 1.34 TB/s.
TEST(Apart, FasterThanDramIsApartUnlessL2HoldsIt) {
  EXPECT_NE(apart_of(decode("128", "32", "1024", 200), gpu_of(1)), "");
  gpu::GpuSpec large = gpu_of(1);
  large.l2.capacity = unit::Bytes{300'000'000};
  EXPECT_EQ(apart_of(decode("128", "32", "1024", 200), large), "");
}

TEST(Apart, IsLeftOutOfTightRows) {
  Validation v;
  for (const char* why : {"", "a reason"}) {
    RowResult r{.row = decode("128", "32", "1024", 100)};
    r.row.notes = "collections=5";
    r.predicted = r.row.value;
    r.apart = why;
    v.rows.push_back(r);
  }
  compare(v);
  ASSERT_EQ(v.groups.size(), 1U);
  EXPECT_EQ(v.groups[0].all.n, 2);
  EXPECT_EQ(v.groups[0].tight.n, 1);
  EXPECT_EQ(v.groups[0].single.n, 1);
  EXPECT_EQ(v.groups[0].apart.n, 1);
}

}  // namespace
}  // namespace wavetail::study
