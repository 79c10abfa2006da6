// Rows of a word model: their stored form, there and back and against hostile bytes; information; similarity.
#include "core/word_model/word_row.h"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/word_model/word_information.h"

#include "test/reference/word_reference.h"
#include "test/unit/support.h"

namespace neardup::word_row_test {
namespace {

struct Row {
  std::vector<uint32_t> features;
  std::vector<uint16_t> values;
  WordRow view() const { return {features.data(), values.data(), features.size()}; }
  bool operator==(const Row&) const = default;
};

std::vector<uint8_t> encoded(const Row& row) {
  std::vector<uint8_t> out;
  encode_word_row(row.view(), &out);
  return out;
}

Row decoded(const std::vector<uint8_t>& bytes, uint32_t features = kMaxWordFeatures) {
  const test::Exact exact({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  Row out;
  decode_word_row(exact.data(), exact.size(), features, &out.features, &out.values);
  return out;
}

std::string refusal(const std::vector<uint8_t>& bytes, uint32_t features = kMaxWordFeatures) {
  try {
    decoded(bytes, features);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::corrupt_data);
    return e.what();
  }
  return "accepted";
}

Row some_row(test::Random& random, size_t most, uint32_t features) {
  Row row;
  uint64_t f = random() % 3;
  const uint64_t step = 1 + random() % (1 + features / (most + 1));
  for (size_t n = random() % (most + 1); n > 0 && f < features; --n) {
    row.features.push_back(static_cast<uint32_t>(f));
    row.values.push_back(static_cast<uint16_t>(1 + random() % kMaxInformation));
    f += 1 + random() % step;
  }
  return row;
}

TEST(WordRow, ByExample) {
  EXPECT_EQ(encoded({}), (std::vector<uint8_t>{1, 0}));
  const Row row{{0, 1, 300, 16384}, {1, 32767, 256, 2}};
  const std::vector<uint8_t> bytes{1, 4, 0, 0, 0xaa, 0x02, 0xd3, 0x7d, 1, 0, 0xff, 0x7f, 0, 1, 2, 0};
  EXPECT_EQ(encoded(row), bytes);
  EXPECT_EQ(decoded(bytes), row);
  EXPECT_EQ(decoded(bytes, 16385), row);
  EXPECT_EQ(row_weight(row.view()), 1u + 32767 + 256 + 2);
}

TEST(WordRow, ThereAndBack) {
  test::Random random(1);
  for (int i = 0; i < 300; ++i) {
    const uint32_t features = i % 3 == 0 ? kMaxWordFeatures : 1 + random() % 100000;
    const Row row = some_row(random, i % 2 ? 5 : 400, features);
    ASSERT_EQ(decoded(encoded(row), features), row);
  }
  const Row last{{kMaxWordFeatures - 1}, {5}};
  EXPECT_EQ(decoded(encoded(last)), last);
  // Appended to what is there.
  Row two{{7}, {8}};
  const std::vector<uint8_t> bytes = encoded(last);
  decode_word_row(bytes.data(), bytes.size(), kMaxWordFeatures, &two.features, &two.values);
  EXPECT_EQ(two, (Row{{7, kMaxWordFeatures - 1}, {8, 5}}));
}

TEST(WordRow, DamagedBytes) {
  const std::string damaged = "stored features of a word are damaged: ";
  EXPECT_EQ(refusal({}), damaged + "no bytes");
  EXPECT_EQ(refusal({2, 0}), damaged + "format 2 is not known, this library reads format 1");
  EXPECT_EQ(refusal({1}), damaged + "they end too early");
  EXPECT_EQ(refusal({1, 0, 0}), damaged + "their length is wrong");
  EXPECT_EQ(refusal({1, 1}), damaged + "they end too early");
  EXPECT_EQ(refusal({1, 1, 0, 1}), damaged + "they end too early");
  EXPECT_EQ(refusal({1, 1, 0, 1, 0, 0}), damaged + "their length is wrong");
  EXPECT_EQ(refusal({1, 1, 0, 0, 0}), damaged + "a value is not between 1 and 32767");
  EXPECT_EQ(refusal({1, 1, 0, 0, 0x80}), damaged + "a value is not between 1 and 32767");
  EXPECT_EQ(refusal({1, 1, 5, 1, 0}, 5), damaged + "a feature is not one of the model");
  EXPECT_EQ(refusal({1, 1, 5, 1, 0}, 6), "accepted");
  // Features of 2^32 and more, however the distances add up.
  EXPECT_EQ(refusal({1, 2, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 1, 0, 1, 0}, UINT32_MAX),
            damaged + "a feature is not one of the model");
  const std::string form = damaged + "a number is not of 32 bits, or longer than need be";
  EXPECT_EQ(refusal({1, 0x80, 0}), form);
  EXPECT_EQ(refusal({1, 0xff, 0xff, 0xff, 0xff, 0x1f}), form);
  EXPECT_EQ(refusal({1, 0x80, 0x80, 0x80, 0x80, 0x80, 1}), form);
  EXPECT_EQ(refusal({1, 0xff, 0xff, 0xff, 0xff, 0x0f}), damaged + "they end too early");
}

// Any change of a byte is refused or another row, and every row that is read is written the same.
TEST(WordRow, ChangedBytes) {
  test::Random random(2);
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint8_t> bytes = encoded(some_row(random, 6, 5000));
    const size_t at = random() % bytes.size();
    switch (random() % 3) {
      case 0:
        bytes[at] ^= static_cast<uint8_t>(1 + random() % 255);
        break;
      case 1:
        bytes.resize(at);
        break;
      default:
        bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), static_cast<uint8_t>(random()));
    }
    try {
      ASSERT_EQ(encoded(decoded(bytes, 5000)), bytes);
    } catch (const Error& e) {
      ASSERT_EQ(e.code(), Errc::corrupt_data);
    }
  }
}

TEST(WordRow, CommonInformation) {
  test::Random random(3);
  for (int i = 0; i < 500; ++i) {
    const Row a = some_row(random, 30, 60), b = some_row(random, 30, 60);
    reference::FixedRow x, y;
    for (size_t j = 0; j < a.features.size(); ++j) x[a.features[j]] = a.values[j];
    for (size_t j = 0; j < b.features.size(); ++j) y[b.features[j]] = b.values[j];
    const uint64_t weights = row_weight(a.view()) + row_weight(b.view());
    ASSERT_EQ(common_information(a.view(), b.view()), common_information(b.view(), a.view()));
    ASSERT_EQ(common_information(a.view(), a.view()), 2 * row_weight(a.view()));
    if (weights == 0) continue;
    const double similarity =
        static_cast<double>(common_information(a.view(), b.view())) / static_cast<double>(weights);
    ASSERT_EQ(similarity, reference::similarity(x, y));
  }
}

uint16_t information(uint64_t c, uint64_t t, uint64_t a, uint64_t b, uint32_t discount = 0) {
  return word_information({c, discounted_log(c, discount)}, LoggedCount(t), LoggedCount(a), LoggedCount(b), discount);
}

TEST(WordInformation, ByExample) {
  EXPECT_EQ(information(1, 1, 1, 1), 0);
  EXPECT_EQ(information(1, 2, 1, 1), 710);   // 1024 ln 2 = 709.78
  EXPECT_EQ(information(3, 10, 5, 4), 415);  // 1024 ln 1.5 = 415.2
  EXPECT_EQ(information(2, 10, 5, 4), 0);    // as often as by chance
  EXPECT_EQ(information(1, 10, 5, 4), 0);
  EXPECT_EQ(information(3, 10, 5, 4, 500), 228);       // 1024 ln 1.25 = 228.5
  EXPECT_EQ(information(3, 10, 5, 4, 999), 1);         // 2.001 is above chance
  EXPECT_EQ(information(1, 1000, 1, 1, 999), 0);       // 0.001 is chance
  EXPECT_EQ(information(1, UINT64_MAX, 1, 1), 32767);  // 44.4 nats, above the greatest
  // Above 1 by less than half a unit.
  EXPECT_EQ(information(100001, 100000, 100000, 100000), 1);
  // Equal in every logarithm, not as integers.
  const uint64_t big = uint64_t{1} << 62;
  EXPECT_EQ(information(big + 1, big, big, big), 1);
  EXPECT_EQ(information(big, big, big, big + 1), 0);
  EXPECT_EQ(information(big, big, big, big), 0);
}

TEST(WordInformation, EqualsTheReference) {
  test::Random random(4);
  for (int i = 0; i < 20000; ++i) {
    const auto any = [&random] { return 1 + (random() >> (random() % 64)); };
    uint64_t a = any(), b = any(), c = any(), t = any();
    if (i % 4 == 0) c = a, t = b + random() % 3;  // close to none
    if (a == 0 || b == 0 || c == 0 || t == 0) continue;
    ASSERT_EQ(information(c, t, a, b), reference::information(c, t, a, b)) << c << " " << t << " " << a << " " << b;
    const auto discount = static_cast<uint32_t>(1 + random() % (kDiscountUnits - 1));
    a >>= 10, b >>= 10, c >>= 10;
    if (i % 4 == 1) t = 1000 * b, a = c - std::min<uint64_t>(c, 1);
    if (a == 0 || b == 0 || c == 0) continue;
    ASSERT_EQ(information(c, t, a, b, discount), reference::information(c, t, a, b, discount))
        << c << " " << t << " " << a << " " << b << " " << discount;
  }
}

}  // namespace
}  // namespace neardup::word_row_test
