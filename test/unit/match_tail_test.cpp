// Tails of the binomial distribution against sums of its terms.
#include "core/suggest/match_tail.h"

#include <gtest/gtest.h>

namespace neardup::match_tail_test {
namespace {

// The tail by the definition; long double has the range for it.
std::vector<long double> tail_by_definition(uint32_t n, long double p) {
  std::vector<long double> tail(n + 2);
  for (uint32_t m = n + 1; m-- > 0;) {
    long double term = 1;
    for (uint32_t i = 0; i < m; ++i) term *= static_cast<long double>(n - i) / (m - i) * p;
    for (uint32_t i = m; i < n; ++i) term *= 1 - p;
    tail[m] = tail[m + 1] + term;
  }
  return tail;
}

TEST(MatchTail, EqualsTheSumOfTerms) {
  for (const uint32_t num_perm : {1u, 16u, 64u, 128u, 256u, 1000u}) {
    for (const double similarity : {0.005, 0.3, 0.5, 0.8, 0.9, 0.995}) {
      const std::vector<double> tail = match_tail(num_perm, similarity);
      const std::vector<long double> exact = tail_by_definition(num_perm, similarity);
      ASSERT_EQ(tail.size(), num_perm + 1);
      for (uint32_t m = 0; m <= num_perm; ++m)
        EXPECT_NEAR(tail[m], static_cast<double>(exact[m]), 1e-300 + 1e-10 * static_cast<double>(exact[m]))
            << num_perm << " at " << similarity << ", " << m;
    }
  }
}

TEST(MatchTail, SmallCases) {
  EXPECT_EQ(match_tail(2, 0.5), (std::vector<double>{1, 0.75, 0.25}));
  EXPECT_EQ(match_tail(3, 0), (std::vector<double>{1, 0, 0, 0}));
  EXPECT_EQ(match_tail(3, 1), (std::vector<double>{1, 1, 1, 1}));
}

// Nowhere does a factor leave the range of double.
TEST(MatchTail, FourThousandComponents) {
  for (const double similarity : {1e-6, 0.2, 0.5, 0.999999}) {
    const std::vector<double> tail = match_tail(4096, similarity);
    EXPECT_NEAR(tail[0], 1, 1e-10);
    for (size_t m = 1; m < tail.size(); ++m) EXPECT_LE(tail[m], tail[m - 1]);
  }
  EXPECT_NEAR(match_tail(4096, 0.5)[2049], 0.4937669073181199, 1e-9);
}

}  // namespace
}  // namespace neardup::match_tail_test
