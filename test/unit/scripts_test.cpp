// Scripts of code points and how common Han characters and hangul are.
#include "core/intake/scripts.h"

#include <gtest/gtest.h>

namespace neardup::scripts_test {
namespace {

TEST(Scripts, OfCodePoints) {
  EXPECT_EQ(character_script('a'), kLatin);
  EXPECT_EQ(character_script('1'), kCommonScript);
  EXPECT_EQ(character_script(0x300), kInheritedScript);
  EXPECT_EQ(character_script(0x378), kNoScript);  // unassigned
  EXPECT_EQ(character_script(0x430), kCyrillic);
  EXPECT_EQ(character_script(0x1f00), kGreek);
  EXPECT_EQ(character_script(0x3042), kHiragana);
  EXPECT_EQ(character_script(0x30ff), kKatakana);
  EXPECT_EQ(character_script(0x3100), kNoScript);
  EXPECT_EQ(character_script(0x3105), kBopomofo);
  EXPECT_EQ(character_script(0x4e00), kHan);
  EXPECT_EQ(character_script(0x9fff), kHan);
  EXPECT_EQ(character_script(0xa000), character_script(0xa4c6));  // Yi
  EXPECT_EQ(character_script(0xac00), kHangul);
  EXPECT_EQ(character_script(0xd800), kNoScript);
  EXPECT_EQ(character_script(0xe000), kNoScript);
  EXPECT_EQ(character_script(0xffff), kNoScript);
  EXPECT_EQ(character_script(0x1f600), kCommonScript);
  EXPECT_EQ(character_script(0x20000), kHan);
  EXPECT_EQ(character_script(0x10ffff), kNoScript);
  EXPECT_EQ(character_script(0x110000), kNoScript);
  EXPECT_EQ(character_script(0xffffffff), kNoScript);
}

TEST(Scripts, Sizes) {
  EXPECT_EQ(script_size_bits(kCommonScript), 0);
  EXPECT_GT(script_size_bits(kHan), 16);
  EXPECT_NEAR(script_size_bits(kHiragana), 8.6, 0.1);
}

TEST(Scripts, Frequencies) {
  EXPECT_EQ(character_frequency(0x7684), Frequency::frequent);   // 的
  EXPECT_EQ(character_frequency(0x9600), Frequency::level_one);  // 阀
  EXPECT_EQ(character_frequency(0x9fa5), Frequency::rare);
  EXPECT_EQ(character_frequency(0xb2e4), Frequency::frequent);  // 다
  EXPECT_EQ(character_frequency(0xd79d), Frequency::level_one);
  EXPECT_EQ(character_frequency(0xac02), Frequency::rare);
  EXPECT_EQ(character_frequency('a'), Frequency::rare);
  EXPECT_EQ(character_frequency(0x20000), Frequency::rare);
  EXPECT_EQ(character_frequency(0xffffffff), Frequency::rare);
}

}  // namespace
}  // namespace neardup::scripts_test
