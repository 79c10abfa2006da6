// Names of encodings.
#include "core/intake/encoding.h"

#include <gtest/gtest.h>

namespace neardup::encoding_test {
namespace {

TEST(Encoding, Names) {
  EXPECT_EQ(find_encoding("utf-8").form, UnicodeForm::utf8);
  EXPECT_EQ(find_encoding("UTF_16LE").form, UnicodeForm::utf16le);
  EXPECT_EQ(find_encoding("utf16").kind, EncodingKind::utf16);
  EXPECT_EQ(find_encoding("UTF-32").kind, EncodingKind::utf32);
  EXPECT_STREQ(find_encoding("GB2312").name, "GB18030");
  EXPECT_STREQ(find_encoding("Big5-HKSCS").name, "BIG5");
  EXPECT_STREQ(find_encoding("cp936").name, "GBK");
  for (const char* name : {"HZ", "hz-gb-2312", "ISO-2022-JP", "TCVN", "viqr", "VPS", "utf-7"})
    EXPECT_EQ(find_encoding(name).kind, EncodingKind::refused) << name;
  EXPECT_EQ(find_encoding("koi8-r").kind, EncodingKind::unknown);  // PostgreSQL's own
  EXPECT_EQ(find_encoding("").kind, EncodingKind::unknown);
}

}  // namespace
}  // namespace neardup::encoding_test
