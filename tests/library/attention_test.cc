// SPDX-License-Identifier: Apache-2.0
#include "library/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "kernel/trips.h"
#include "occupancy/occupancy.h"
#include "support/specs.h"

namespace wavetail::library {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Numbers = std::map<std::string, std::int64_t, std::less<>>;
using Words = std::map<std::string, std::string, std::less<>>;

std::vector<kernel::Kernel> made(const Numbers& numbers, const Words& words,
                                 const gpu::GpuSpec& gpu = specs::h100()) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = build(*find_template("attention"), {numbers, words}, gpu, kernels);
  EXPECT_THAT(mistakes, IsEmpty()) << mistakes.front().parameter << ' ' << mistakes.front().message;
  return kernels;
}

std::string mistake(const Numbers& numbers, const Words& words,
                    const gpu::GpuSpec& gpu = specs::h100()) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = build(*find_template("attention"), {numbers, words}, gpu, kernels);
  return mistakes.empty() ? "" : mistakes.front().parameter + " " + mistakes.front().message;
}

Numbers prompt(std::int64_t q, std::int64_t kv, std::int64_t tokens, std::int64_t dim = 128) {
  return {{"q_heads", q}, {"kv_heads", kv}, {"seqlen", tokens}, {"head_dim", dim}};
}

const Words kPrefill{{"mode", "prefill"}}, kDecode{{"mode", "decode"}};

TEST(Attention, LaunchesInEveryForm) {
  const auto gpu = specs::h100();
  for (const char* kernel : {"fa2", "fa3"}) {
    for (const std::int64_t dim : {64, 96, 128, 192, 256, 512}) {
      for (const Words& mode : {kPrefill, kDecode}) {
        Numbers n = prompt(16, 4, 1000, dim);
        n["kv_len"] = 5000;
        Words words = mode;
        words["kernel"] = kernel;
        for (const kernel::Kernel& k : made(n, words)) {
          const auto fit = occupancy::occupy(gpu, occupancy::launch_of(k));
          EXPECT_TRUE(fit.launchable) << k.note << fit.reason;
          std::int64_t warps = 0, registers = 0;
          for (const kernel::Role& role : k.roles) {
            warps += role.warps;
            registers += role.warps * role.registers.value_or(k.registers);
          }
          EXPECT_EQ(warps * 32, k.block) << k.note;
          EXPECT_LE(registers * 32, gpu.sm.registers) << k.note;
        }
      }
    }
  }
}

// Two tiles of 128 queries while tensor memory has room, one above 128 elements of V; in decode a
// few query heads.
TEST(Attention, LaunchesOnBlackwell) {
  const auto gpu = specs::b200();
  for (const std::int64_t dim : {64, 128, 192, 256, 512}) {
    for (const Words& mode : {kPrefill, kDecode}) {
      if (dim > 256 && mode == kPrefill) { continue; }
      Numbers n = prompt(16, 4, 1000, dim);
      n["kv_len"] = 5000;
      const kernel::Kernel k = made(n, mode, gpu).front();
      const auto fit = occupancy::occupy(gpu, occupancy::launch_of(k));
      EXPECT_TRUE(fit.launchable) << k.note << fit.reason;
      EXPECT_GT(k.tmem_columns, 0) << k.note;
      if (mode == kPrefill) {
        EXPECT_EQ(k.grid[1], dim <= 128 ? (4000 + 255) / 256 : (4000 + 127) / 128);
      }
    }
  }
  Words words = kPrefill;
  words["kernel"] = "fa4";
  EXPECT_THAT(mistake(prompt(8, 8, 64), words), HasSubstr("kernel is fa4"));
  EXPECT_THAT(mistake(prompt(8, 8, 64, 512), words, gpu), HasSubstr("head_dim"));
}

// Blocks of keys of every tile, counted query by query.
TEST(Attention, SkipsExactlyTheMaskedBlocks) {
  for (const auto& [group, tokens, prefix] :
       {std::tuple{1, 1000, 0}, {4, 777, 0}, {6, 500, 300}, {3, 100, 1000}, {8, 1, 0}}) {
    Numbers n = prompt(group, 1, tokens);
    n["kv_prefix"] = prefix;
    const kernel::Kernel k = made(n, kPrefill).front();
    const std::int64_t rows = 128, cols = 128, tiles = k.grid[1];
    EXPECT_EQ(tiles, (group * tokens + rows - 1) / rows);
    const kernel::Op* loop = nullptr;
    for (const kernel::Op& op : k.roles.front().program) {
      if (op.kind == kernel::OpKind::Repeat) { loop = &op; }
    }
    ASSERT_NE(loop, nullptr);
    for (std::int64_t y = 0; y < tiles; ++y) {
      const std::int64_t tile = tiles - 1 - y;
      const std::int64_t last = std::min<std::int64_t>((tile + 1) * rows, group * tokens) - 1;
      const std::int64_t keys = prefix + last / group + 1;
      EXPECT_EQ(trips_of(loop->trips, loop->count, {0, y, 0}), (keys + cols - 1) / cols)
          << group << ' ' << tokens << ' ' << y;
    }
  }
}

TEST(Attention, PacksTheQueryHeadsOfAGroup) {
  Numbers n{{"batch", 4}, {"q_heads", 32}, {"kv_heads", 4}, {"kv_len", 256}};
  EXPECT_EQ(kernel::volume(made(n, kDecode).front().grid), 16);
  n["packed"] = 0;
  EXPECT_EQ(kernel::volume(made(n, kDecode).front().grid), 128);
}

TEST(Attention, SplitsTheKeysOfFewSequences) {
  const Numbers one{{"q_heads", 32}, {"kv_heads", 8}, {"kv_len", 32768}};
  const auto split = made(one, kDecode);
  ASSERT_THAT(split, SizeIs(2));
  EXPECT_EQ(split[1].name, "combine");
  // The fewest that fill 0.85 of what the best number does: 112 of 132 SMs against 128.
  EXPECT_EQ(split[0].grid[2], 14);
  Numbers many = one;
  many["batch"] = 16;
  EXPECT_THAT(made(many, kDecode), SizeIs(1));
  Numbers brief = one;
  brief["kv_len"] = 512;  // four blocks of keys
  EXPECT_THAT(made(brief, kDecode), SizeIs(1));
}

TEST(Attention, RefusesWhatItCannotState) {
  EXPECT_THAT(mistake({{"q_heads", 30}, {"kv_heads", 8}, {"kv_len", 64}}, kDecode),
              HasSubstr("q_heads is 30; a multiple of the 8 KV heads"));
  EXPECT_THAT(mistake({{"q_heads", 8}, {"kv_heads", 8}}, kDecode), HasSubstr("kv_len is missing"));
  EXPECT_THAT(mistake({{"q_heads", 8}, {"kv_heads", 8}}, kPrefill), HasSubstr("seqlen is missing"));
  Words words = kPrefill;
  words["kernel"] = "vector";
  EXPECT_THAT(mistake(prompt(8, 8, 64), words), HasSubstr("decode only"));
  words["kernel"] = "fa3";
  EXPECT_THAT(mistake(prompt(8, 8, 64), words, specs::sm86()), HasSubstr("kernel is fa3"));
}

}  // namespace
}  // namespace wavetail::library
