// The price of texts: what people write is cheaper than what wrong readings give.
#include "core/intake/text_bits.h"

#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "core/intake/letter_frequencies.h"

namespace neardup::text_bits_test {
namespace {

double bits(std::string_view text) {
  TextBits b;
  b.add_utf8(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  return b.bits();
}

TEST(TextBits, TextIsCheaperThanItsWrongReadings) {
  EXPECT_EQ(bits(""), 0);
  EXPECT_LT(bits("Привет, как дела"), bits("оПХБЕР, ЙЮЙ ДЕКЮ"));    // KOI8 read as WIN1251
  EXPECT_LT(bits("Zażółć gęślą jaźń"), bits("Za¿ó³æ gê¶l± ja¼ñ"));  // LATIN2 read as LATIN1
  EXPECT_LT(bits("привіт, їжак"), bits("прив╕т, ╖жак"));            // KOI8U read as KOI8R
  EXPECT_LT(bits("Plain words."), bits("倀氀愀椀渀 眀漀爀搀猀⸀"));  // the wrong order
  EXPECT_LT(bits("中文的文字"), bits("笢恅腔恅趼"));
  EXPECT_LT(bits("ប្រទេសកម្ពុជា"), bits("\u9417\ud217\u9a17\u9117\uc117\u9f17\u8017\u9817\ud217\u9617\ubb17\u8717\ub617"));
  EXPECT_LT(bits("ALL CAPITALS ARE FINE"), bits("aLL cAPITALS aRE fINE"));
}

TEST(TextBits, ControlsOfOneKindAreDearOnce) {
  const double first = bits("a\x01") - bits("a");
  const double second = bits("a\x01z\x01") - bits("a\x01z");
  EXPECT_GT(first, second);
  EXPECT_GT(bits("a\x01z\x02") - bits("a\x01z"), second);
}

TEST(TextBits, BrokenBytesAndUnassignedCodePoints) {
  TextBits broken;
  broken.add_broken(1, 2);
  const double once = broken.bits();
  broken.add_broken(0, 1);
  EXPECT_GT(broken.bits(), once);
  broken.add_broken(0, 0);
  TextBits unassigned;
  unassigned.add(0x378);
  TextBits beyond;
  beyond.add(0xffffffff);
  EXPECT_EQ(unassigned.bits(), beyond.bits());
  EXPECT_GT(unassigned.bits(), bits("中"));
}

TEST(TextBits, FrequenciesAreWhole) {
  for (const LetterFrequencies& language : kLetterFrequencies) {
    ASSERT_EQ(language.letters.size(), language.bits.size());
    for (size_t i = 0; i < language.letters.size(); ++i) {
      EXPECT_LT(language.letters[i], 0x3100);
      EXPECT_EQ(language.letters.find(language.letters[i]), i);
      EXPECT_GE(language.letter_bits(i), 2.5);
      EXPECT_LE(language.letter_bits(i), 15);
    }
  }
}

}  // namespace
}  // namespace neardup::text_bits_test
