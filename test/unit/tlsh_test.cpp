// TLSH digests against vectors of the reference implementation and the definition; the bit code; what is refused.
#include "core/signature/tlsh.h"

#include <bit>
#include <gtest/gtest.h>
#include <string>

#include "core/base/error.h"

#include "test/reference/tlsh_reference.h"
#include "test/unit/support.h"

namespace neardup::tlsh_test {
namespace {

using test::Random;

uint32_t distance(const std::string& a, const std::string& b, bool with_length = true) {
  return tlsh_distance(tlsh_of_text(a), tlsh_of_text(b), with_length);
}

uint32_t differing_bits(const std::string& a, const std::string& b) {
  uint8_t codes[2][kTlshCodeBytes];
  write_tlsh_code(tlsh_of_text(a), codes[0]);
  write_tlsh_code(tlsh_of_text(b), codes[1]);
  uint32_t bits = 0;
  for (size_t i = 0; i < kTlshCodeBytes; ++i)
    bits += static_cast<uint32_t>(std::popcount(static_cast<uint8_t>(codes[0][i] ^ codes[1][i])));
  return bits;
}

std::string some_digest(Random& random) {
  static const char kDigits[] = "0123456789abcdefABCDEF";
  std::string out = random() % 2 == 0 ? "T1" : "";
  for (size_t i = 0; i < kTlshHexDigits; ++i) out.push_back(kDigits[random() % (sizeof kDigits - 1)]);
  return out;
}

// The digest with some digits changed, of the header or anywhere.
std::string changed(Random& random, std::string digest) {
  const size_t first = digest.size() - kTlshHexDigits;
  const size_t among = random() % 2 == 0 ? 6 : kTlshHexDigits;
  for (uint64_t n = random() % 12; n > 0; --n) digest[first + random() % among] = "0123456789ABCDEF"[random() % 16];
  return digest;
}

std::string refusal_detail(const std::string& text) {
  try {
    const test::Exact exact(text);
    tlsh_of_text({reinterpret_cast<const char*>(exact.data()), exact.size()});
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::invalid_text);
    return e.detail();
  }
  return "accepted";
}

TEST(Tlsh, EqualsTheReferenceImplementation) {
  const auto lines = test::golden_lines("golden_tlsh.tsv");
  ASSERT_GT(lines.size(), 200u);
  for (const auto& f : lines) {
    ASSERT_EQ(f.size(), 4u);
    ASSERT_EQ(distance(f[0], f[1]), std::stoul(f[2])) << f[0] << " " << f[1];
    ASSERT_EQ(distance(f[0], f[1], false), std::stoul(f[3])) << f[0] << " " << f[1];
    ASSERT_LE(differing_bits(f[0], f[1]), std::stoul(f[3])) << f[0] << " " << f[1];
  }
}

TEST(Tlsh, EqualsTheDefinition) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = some_digest(random);
    const std::string b = i % 4 == 0 ? some_digest(random) : changed(random, a);
    for (const bool with_length : {false, true}) {
      const auto expected = static_cast<uint32_t>(reference::tlsh_distance(a, b, with_length));
      ASSERT_EQ(distance(a, b, with_length), expected) << a << " " << b;
      ASSERT_EQ(distance(b, a, with_length), expected) << a << " " << b;
    }
    ASSERT_LE(differing_bits(a, b), distance(a, b, false)) << a << " " << b;
  }
}

// Each difference of the two quartiles of a digit, at every place.
TEST(Tlsh, CodesDifferInOneBitOrTwo) {
  const std::string zeros(kTlshHexDigits, '0');
  const uint32_t distances[16] = {0, 1, 2, 6, 1, 2, 3, 7, 2, 3, 4, 8, 6, 7, 8, 12};
  const uint32_t bits[16] = {0, 1, 2, 1, 1, 2, 3, 2, 2, 3, 4, 3, 1, 2, 3, 2};
  for (size_t place = 6; place < kTlshHexDigits; ++place)
    for (size_t value = 0; value < 16; ++value) {
      std::string other = zeros;
      other[place] = "0123456789abcdef"[value];
      ASSERT_EQ(distance(zeros, other), distances[value]) << place;
      ASSERT_EQ(differing_bits(zeros, other), bits[value]) << place;
    }
}

TEST(Tlsh, GreatestDistances) {
  const std::string zeros(kTlshHexDigits, '0');
  const std::string far = "100888" + std::string(64, 'f');  // another checksum, a length of 128, ratios of 8
  EXPECT_EQ(distance(zeros, far), 12u * 128 + 2 * 12 * 7 + 1 + 6 * 128);
  EXPECT_EQ(distance(zeros, far, false), 2u * 12 * 7 + 1 + 6 * 128);
}

TEST(Tlsh, Refuses) {
  const std::string digits(kTlshHexDigits, '0');
  EXPECT_EQ(refusal_detail(digits), "accepted");
  EXPECT_EQ(refusal_detail("T1" + digits), "accepted");
  EXPECT_EQ(refusal_detail(""), "It has 0 hexadecimal digits instead of 70.");
  EXPECT_EQ(refusal_detail("T1"), "It has 0 hexadecimal digits instead of 70.");
  EXPECT_EQ(refusal_detail(digits.substr(1)), "It has 69 hexadecimal digits instead of 70.");
  EXPECT_EQ(refusal_detail("T1" + digits + "0"), "It has 71 hexadecimal digits instead of 70.");
  EXPECT_EQ(refusal_detail(digits + "0000"),
            "It has 74 hexadecimal digits instead of 70, as digests with a checksum of 3 bytes have.");
  EXPECT_EQ(refusal_detail(std::string(134, 'a')),
            "It has 134 hexadecimal digits instead of 70, as digests of 256 buckets have.");
  EXPECT_EQ(refusal_detail("t1" + digits), "Character 1 is no hexadecimal digit.");
  EXPECT_EQ(refusal_detail("T2" + digits), "Character 1 is no hexadecimal digit.");
  EXPECT_EQ(refusal_detail("T1" + digits.substr(1) + "g"), "Character 72 is no hexadecimal digit.");
  EXPECT_EQ(refusal_detail(digits.substr(1) + "\xff"), "Character 70 is no hexadecimal digit.");
  EXPECT_EQ(refusal_detail("TNULL"), "TLSH writes this where a document has no digest.");
}

}  // namespace
}  // namespace neardup::tlsh_test
