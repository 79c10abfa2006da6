// Numbers in messages.
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

#include "core/base/message_text.h"

#include "test/unit/support.h"

namespace neardup::text_test {
namespace {

TEST(Text, NumbersAsPostgreSQLWritesThem) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(-0.0), "-0");
  EXPECT_EQ(number_text(1), "1");
  EXPECT_EQ(number_text(1.0000001), "1.0000001");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(number_text(1000000), "1000000");
  EXPECT_EQ(number_text(123456789012345), "123456789012345");
  EXPECT_EQ(number_text(1e15), "1e+15");
  EXPECT_EQ(number_text(0.0001), "0.0001");
  EXPECT_EQ(number_text(0.00001), "1e-05");
  EXPECT_EQ(number_text(-2.5e-300), "-2.5e-300");
  EXPECT_EQ(number_text(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "-Infinity");
}

TEST(Text, NumbersReadAgainAreTheSame) {
  test::Random random(3);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t bits = random();
    double v;
    std::memcpy(&v, &bits, sizeof v);
    if (v != v) continue;
    ASSERT_EQ(std::strtod(number_text(v).c_str(), nullptr), v);
  }
}

}  // namespace
}  // namespace neardup::text_test
