// Lines of the S-curve, and what it refuses.
#include "core/suggest/s_curve.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace neardup::s_curve_test {
namespace {

TEST(SCurve, OfAThreshold) {
  const std::vector<std::string> lines = s_curve({0.8, 256, {}, {}});
  ASSERT_EQ(lines.size(), 28u);
  EXPECT_EQ(lines[0], "probability that jaccard >= 0.8 (205 of 256 components)");
  EXPECT_EQ(lines[1], "       0          0.25         0.5        0.75           1");
  EXPECT_EQ(lines[2], "0.50       |                                                | 0.0000");
  EXPECT_EQ(lines[17], "0.80     ->|#########################-----------------------| 0.5249");
  EXPECT_EQ(lines[18], "0.82       |#######################################         | 0.8121");
  EXPECT_EQ(lines[26], "0.98       |################################################| 1.0000");
}

TEST(SCurve, OfBands) {
  const std::vector<std::string> lines = s_curve({0.9, 128, 9, 13});
  ASSERT_EQ(lines.size(), 28u);
  EXPECT_EQ(lines[0], "probability that one of 9 bands of 13 components agrees; -> is the threshold, 0.9");
  EXPECT_EQ(lines[22], "0.90     ->|#############################################---| 0.9286");
}

// The curve of a low threshold begins below it, but not below 0.
TEST(SCurve, BeginsBelowTheThreshold) {
  EXPECT_EQ(s_curve({0.3, 128, {}, {}})[2].substr(0, 4), "0.10");
  EXPECT_EQ(s_curve({0.1, 128, {}, {}})[2].substr(0, 4), "0.00");
  EXPECT_EQ(s_curve({1, 128, {}, {}})[2].substr(0, 4), "0.50");
}

std::string refused(const CurveOptions& options) {
  try {
    s_curve(options);
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing";
}

TEST(SCurve, RefusesArguments) {
  EXPECT_EQ(refused({80, 128, {}, {}}), "threshold must be above 0 and at most 1: 80");
  EXPECT_EQ(refused({0, 128, {}, {}}), "threshold must be above 0 and at most 1: 0");
  EXPECT_EQ(refused({0.8, 15, {}, {}}), "num_perm must be between 16 and 4096: 15");
  EXPECT_EQ(refused({0.8, 128, 16, {}}), "bands and rows must be given together");
  EXPECT_EQ(refused({0.8, 128, 0, 4}), "bands must be at least 1: 0");
  EXPECT_EQ(refused({0.8, 128, 4, 0}), "rows must be at least 1: 0");
  EXPECT_EQ(refused({0.8, 128, 64, 4}), "64 bands of 4 rows need 256 components, and num_perm is 128");
  EXPECT_EQ(refused({0.8, 128, INT32_MAX, INT32_MAX}),
            "2147483647 bands of 2147483647 rows need 4611686014132420609 components, and num_perm is 128");
}

}  // namespace
}  // namespace neardup::s_curve_test
