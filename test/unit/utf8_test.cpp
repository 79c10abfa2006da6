// UTF-8 against its definition (RFC 3629) and the Unicode table against the one made for the reference.
#include "core/unicode/utf8.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>

#include "test/reference/shingle_reference.h"
#include "test/unit/support.h"

namespace neardup::utf8_test {
namespace {

// The grammar of RFC 3629 section 4 as it stands there.
unsigned length_by_grammar(const uint8_t* p, size_t n) {
  const auto in = [&](size_t i, unsigned low, unsigned high) { return i < n && p[i] >= low && p[i] <= high; };
  const auto tail = [&](size_t i) { return in(i, 0x80, 0xbf); };
  if (in(0, 0x00, 0x7f)) return 1;
  if (in(0, 0xc2, 0xdf) && tail(1)) return 2;
  if (in(0, 0xe0, 0xe0) && in(1, 0xa0, 0xbf) && tail(2)) return 3;
  if (in(0, 0xe1, 0xec) && tail(1) && tail(2)) return 3;
  if (in(0, 0xed, 0xed) && in(1, 0x80, 0x9f) && tail(2)) return 3;
  if (in(0, 0xee, 0xef) && tail(1) && tail(2)) return 3;
  if (in(0, 0xf0, 0xf0) && in(1, 0x90, 0xbf) && tail(2) && tail(3)) return 4;
  if (in(0, 0xf1, 0xf3) && tail(1) && tail(2) && tail(3)) return 4;
  if (in(0, 0xf4, 0xf4) && in(1, 0x80, 0x8f) && tail(2) && tail(3)) return 4;
  return 0;
}

void check_decode(const uint8_t* p, size_t n) {
  unsigned length = 0;
  const uint32_t c = decode_utf8(p, p + n, &length);
  const unsigned expected = length_by_grammar(p, n);
  if (expected == 0) {
    if (c == 0xfffd && length == 1) return;
  } else if (length == expected) {
    uint8_t back[4];
    if (encode_utf8(c, back) == length && std::memcmp(back, p, length) == 0) return;
  }
  ADD_FAILURE() << "bytes " << int{p[0]} << " " << (n > 1 ? int{p[1]} : -1) << " " << (n > 2 ? int{p[2]} : -1) << " "
                << (n > 3 ? int{p[3]} : -1) << ": U+" << std::hex << c << ", length " << length;
}

TEST(Utf8, EveryScalarValueRoundTrips) {
  for (uint32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    uint8_t bytes[4];
    const unsigned n = encode_utf8(c, bytes);
    unsigned length;
    ASSERT_EQ(decode_utf8(bytes, bytes + n, &length), c);
    ASSERT_EQ(length, n);
    ASSERT_EQ(valid_utf8_text(bytes, n), c != 0);
    // Cut short, it is none.
    for (unsigned cut = 1; cut < n; ++cut) {
      ASSERT_EQ(decode_utf8(bytes, bytes + cut, &length), 0xfffdu);
      ASSERT_EQ(length, 1u);
      ASSERT_FALSE(valid_utf8_text(bytes, cut));
    }
  }
}

TEST(Utf8, AllLeadsWithBorderBytes) {
  constexpr uint8_t kBorders[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xe0, 0xf4, 0xff};
  for (unsigned lead = 0; lead < 256; ++lead) {
    const uint8_t one = static_cast<uint8_t>(lead);
    check_decode(&one, 1);
    for (unsigned second = 0; second < 256; ++second) {
      for (const uint8_t third : kBorders) {
        for (const uint8_t fourth : kBorders) {
          const uint8_t bytes[] = {one, static_cast<uint8_t>(second), third, fourth};
          for (size_t n = 2; n <= 4; ++n) check_decode(bytes, n);
        }
      }
    }
  }
}

TEST(Utf8, ValidText) {
  const auto valid = [](std::string_view s) {
    const test::Exact exact(s);
    return valid_utf8_text(exact.data(), exact.size());
  };
  EXPECT_TRUE(valid(""));
  EXPECT_TRUE(valid("plain"));
  EXPECT_TRUE(valid("na\xc3\xafve \xe4\xb8\xad \xf0\x9f\x98\x80"));
  EXPECT_TRUE(valid("\xef\xbf\xbd"));  // a genuine U+FFFD
  EXPECT_FALSE(valid(std::string_view("a\0b", 3)));
  EXPECT_FALSE(valid("\x80"));
  EXPECT_FALSE(valid("\xc0\x80"));          // overlong
  EXPECT_FALSE(valid("\xe0\x80\x80"));      // overlong
  EXPECT_FALSE(valid("\xf0\x80\x80\x80"));  // overlong
  EXPECT_FALSE(valid("\xed\xa0\x80"));      // surrogate
  EXPECT_FALSE(valid("\xf4\x90\x80\x80"));  // beyond U+10FFFF
  EXPECT_FALSE(valid("\xff"));
  EXPECT_FALSE(valid("caf\xe9"));  // Latin-1
  EXPECT_FALSE(valid("ab\xe4\xb8"));
}

TEST(Utf8, ClassesAndFoldsEqualTheReference) {
  for (uint32_t c = 0; c < 0x110000; ++c) {
    const CodePoint got = classify(c);
    const reference::Folded expected = reference::classify(c);
    ASSERT_EQ("-wsm"[static_cast<int>(got.cls)], expected.kind) << std::hex << c;
    if (got.cls == WordClass::none) continue;
    ASSERT_EQ(got.folded, expected.code_point) << std::hex << c;
  }
}

TEST(Utf8, ClassesByHand) {
  for (const uint32_t c : {0x110000u, 0x7fffffffu, 0xffffffffu}) {
    EXPECT_EQ(classify(c).folded, c);
    EXPECT_EQ(classify(c).cls, WordClass::none);
  }
  EXPECT_EQ(classify('A').folded, uint32_t{'a'});
  EXPECT_EQ(classify(0x130).folded, 0x130u);    // folds only by the full and the Turkic rules
  EXPECT_EQ(classify(0x3c2).folded, 0x3c3u);    // final sigma
  EXPECT_EQ(classify(0x1e9e).folded, 0xdfu);    // capital sharp s
  EXPECT_EQ(classify(0x13a0).folded, 0x13a0u);  // Cherokee folds to its capitals
  EXPECT_EQ(classify(0xab70).folded, 0x13a0u);
  EXPECT_EQ(classify('_').cls, WordClass::word);
  EXPECT_EQ(classify('-').cls, WordClass::none);
  EXPECT_EQ(classify(0x4e2d).cls, WordClass::solo);
  EXPECT_EQ(classify(0x301).cls, WordClass::mark);
  EXPECT_EQ(classify(0xd800).cls, WordClass::none);
  EXPECT_EQ(classify(0xfffd).cls, WordClass::none);
}

// Folding twice is folding once, or words could change when they are read again. U+0345 is the one code point that
// changes its class: a mark that folds to the letter iota.
TEST(Utf8, FoldingIsIdempotent) {
  for (uint32_t c = 0; c < 0x110000; ++c) {
    const CodePoint p = classify(c);
    ASSERT_EQ(classify(p.folded).folded, p.folded) << std::hex << c;
    if (c == 0x345) continue;
    ASSERT_EQ(classify(p.folded).cls, p.cls) << std::hex << c;
  }
}

TEST(Utf8, Foldings) {
  const std::vector<Folding>& all = foldings();
  EXPECT_GT(all.size(), 1000u);
  bool micro = false;
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(classify(all[i].from).folded, all[i].folded);
    EXPECT_NE(all[i].from, all[i].folded);
    EXPECT_EQ(classify(all[i].folded).folded, all[i].folded);
    if (i > 0) {
      EXPECT_LT(std::make_pair(all[i - 1].folded, all[i - 1].from), std::make_pair(all[i].folded, all[i].from));
    }
    micro = micro || (all[i].from == 0xb5 && all[i].folded == 0x3bc);
  }
  EXPECT_TRUE(micro);
}

}  // namespace
}  // namespace neardup::utf8_test
