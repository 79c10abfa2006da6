// Karp-Rabin fingerprints against Horner's rule a byte at a time; the laws of concatenation and of sliding; golden
// values.
#include "core/document/fingerprint.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "test/unit/support.h"

namespace neardup::fingerprint_test {
namespace {

using test::Exact;
using test::Random;

uint64_t fingerprint_text(std::string_view text) {
  const Exact exact(text);
  return fingerprint(exact.data(), exact.size());
}

uint64_t by_horner(std::string_view text) {
  __extension__ using u128 = unsigned __int128;
  u128 f = 0;
  for (const char c : text) f = (f * 0x0936e6f6839d61bc + static_cast<unsigned char>(c) + 1) % 0x1fffffffffffffff;
  return static_cast<uint64_t>(f);
}

std::string bytes(Random& random, size_t n, uint64_t kinds = 256) {
  std::string out(n, '\0');
  for (char& c : out) c = static_cast<char>(kinds == 1 ? 0xff : random() % kinds);
  return out;
}

std::vector<uint64_t> rolled(Unit unit, int64_t window, std::string_view text, size_t batch = 100) {
  const Exact exact(text);
  RollingFingerprints rolling(unit, window, exact.data(), exact.size());
  std::vector<uint64_t> out, some(batch);
  while (const size_t n = rolling.next(some.data(), batch))
    out.insert(out.end(), some.begin(), some.begin() + static_cast<long>(n));
  EXPECT_EQ(rolling.next(some.data(), batch), 0u);
  return out;
}

TEST(Fingerprint, IsThePolynomial) {
  Random random(1);
  for (size_t n = 0; n < 700; ++n) {
    const std::string text = bytes(random, n, n % 3 == 0 ? 1 : n % 3 == 1 ? 2 : 256);
    ASSERT_EQ(fingerprint_text(text), by_horner(text)) << n;
  }
  for (const size_t n : {1u << 16, (1u << 20) + 77, 3u << 20}) {
    const std::string text = bytes(random, n);
    ASSERT_EQ(fingerprint_text(text), by_horner(text)) << n;
  }
}

TEST(Fingerprint, Golden) {
  // Frozen: docs and tables hold such numbers.
  EXPECT_EQ(fingerprint_text(""), 0u);
  EXPECT_EQ(fingerprint_text(std::string(1, '\0')), 1u);
  EXPECT_EQ(fingerprint_text("a"), 98u);
  EXPECT_EQ(fingerprint_text("ab"), 505646011780131447u);
  EXPECT_EQ(fingerprint_text("The quick brown fox jumps over the lazy dog"), 377071237432541958u);
}

TEST(Fingerprint, LengthAndLeadingZerosCount) {
  std::map<uint64_t, size_t> seen;
  for (size_t n = 0; n < 1000; ++n) ASSERT_TRUE(seen.emplace(fingerprint_text(std::string(n, '\0')), n).second) << n;
  EXPECT_NE(fingerprint_text(std::string("\0a", 2)), fingerprint_text("a"));
}

TEST(Fingerprint, Concatenation) {
  Random random(2);
  for (int i = 0; i < 500; ++i) {
    const std::string a = bytes(random, random() % 300), b = bytes(random, random() % 300);
    ASSERT_EQ(fingerprint_concat(static_cast<int64_t>(fingerprint_text(a)), static_cast<int64_t>(fingerprint_text(b)),
                                 static_cast<int64_t>(b.size())),
              fingerprint_text(a + b));
  }
  const int64_t greatest = static_cast<int64_t>(kFingerprintPrime) - 1;
  EXPECT_EQ(fingerprint_concat(greatest, greatest, 0), kFingerprintPrime - 2);
  EXPECT_EQ(fingerprint_concat(0, greatest, INT64_MAX), kFingerprintPrime - 1);
  EXPECT_THROW(fingerprint_concat(-1, 0, 0), Error);
  EXPECT_THROW(fingerprint_concat(0, greatest + 1, 0), Error);
  EXPECT_THROW(fingerprint_concat(0, 0, -1), Error);
}

TEST(Fingerprint, WindowsAreThoseOfTheirBytes) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const std::string text =
        i % 2 ? test::well_formed(test::mixed_text(random, random() % 400)) : bytes(random, random() % 400);
    const size_t window = 1 + random() % 60;
    std::vector<uint64_t> expected;
    for (size_t at = 0; at + window <= text.size(); ++at) expected.push_back(by_horner(text.substr(at, window)));
    ASSERT_EQ(rolled(Unit::byte, static_cast<int64_t>(window), text, 1 + random() % 90), expected);
    // Characters: where they begin, by what follows them.
    std::vector<size_t> begins;
    const Exact exact(text);
    for (size_t at = 0; at < text.size();) {
      begins.push_back(at);
      unsigned length;
      decode_utf8(exact.data() + at, exact.data() + exact.size(), &length);
      at += length;
    }
    begins.push_back(text.size());
    expected.clear();
    for (size_t at = 0; at + window < begins.size(); ++at)
      expected.push_back(by_horner(text.substr(begins[at], begins[at + window] - begins[at])));
    ASSERT_EQ(rolled(Unit::character, static_cast<int64_t>(window), text, 1 + random() % 90), expected);
  }
}

TEST(Fingerprint, WindowsOfShortDocumentsAndBadOnes) {
  EXPECT_TRUE(rolled(Unit::byte, 3, "ab").empty());
  EXPECT_TRUE(rolled(Unit::character, 1, "").empty());
  EXPECT_TRUE(rolled(Unit::character, 2, "\xc3\xa9").empty());
  EXPECT_EQ(rolled(Unit::character, INT64_MAX, "abc").size(), 0u);
  EXPECT_EQ(rolled(Unit::byte, 3, "abc"), std::vector<uint64_t>{by_horner("abc")});
  EXPECT_THROW(rolled(Unit::byte, 0, "abc"), Error);
  EXPECT_THROW(rolled(Unit::character, -5, "abc"), Error);
  EXPECT_THROW(rolled(Unit::word, 5, "abc"), Error);
}

struct Never final : StopCheck {
  int polls = 0;
  bool should_stop() noexcept override { return ++polls > 3; }
};

TEST(Fingerprint, CanBeCancelled) {
  const std::string text(8 << 20, 'x');
  const auto* p = reinterpret_cast<const uint8_t*>(text.data());
  Never stop, other;
  EXPECT_THROW(fingerprint(p, text.size(), &stop), Error);
  RollingFingerprints rolling(Unit::character, 10, p, text.size(), &other);
  std::vector<uint64_t> out(text.size());
  EXPECT_THROW(rolling.next(out.data(), out.size()), Error);
}

}  // namespace
}  // namespace neardup::fingerprint_test
