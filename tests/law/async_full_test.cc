// SPDX-License-Identifier: Apache-2.0
#include "law/async_laws.h"

namespace wavetail::tests {
namespace {

constexpr std::uint64_t kFirst = 40, kLast = 340;

TEST(AsyncLawsFull, Rings) { expect_async_laws(AsyncKind::Ring, kFirst, kLast); }

TEST(AsyncLawsFull, Copies) { expect_async_laws(AsyncKind::Copies, kFirst, kLast); }

TEST(AsyncLawsFull, Tensor) { expect_async_laws(AsyncKind::Tensor, kFirst, kLast); }

TEST(AsyncLawsFull, Peers) { expect_async_laws(AsyncKind::Peers, kFirst, kLast); }

TEST(AsyncLawsFull, QuantumAgrees) {
  for (const AsyncKind kind :
       {AsyncKind::Ring, AsyncKind::Copies, AsyncKind::Tensor, AsyncKind::Peers}) {
    EXPECT_LE(quantum_difference(kind, 60), 2) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace wavetail::tests
