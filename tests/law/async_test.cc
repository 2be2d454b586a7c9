// SPDX-License-Identifier: Apache-2.0
#include "law/async_laws.h"

namespace wavetail::tests {
namespace {

constexpr std::uint64_t kSeeds = 40;

TEST(AsyncLaws, Rings) { expect_async_laws(AsyncKind::Ring, 0, kSeeds); }

TEST(AsyncLaws, Copies) { expect_async_laws(AsyncKind::Copies, 0, kSeeds); }

TEST(AsyncLaws, Tensor) { expect_async_laws(AsyncKind::Tensor, 0, kSeeds); }

TEST(AsyncLaws, Peers) { expect_async_laws(AsyncKind::Peers, 0, kSeeds); }

TEST(AsyncLaws, QuantumAgrees) {
  for (const AsyncKind kind :
       {AsyncKind::Ring, AsyncKind::Copies, AsyncKind::Tensor, AsyncKind::Peers}) {
    EXPECT_LE(quantum_difference(kind, 10), 2) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace wavetail::tests
