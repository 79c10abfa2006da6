// Titles from names of files.
#include "core/title.h"

#include <gtest/gtest.h>

#include "core/utf8.h"
#include "test/unit/support.h"

namespace neardup {
namespace {

TEST(Title, Examples) {
  const struct {
    const char* filename;
    const char* title;
  } cases[] = {
      {"", ""},
      {"report.txt", "report"},
      {"/srv/texts/The_Old-Man.and+the_Sea.txt.gz", "The Old Man and the Sea"},
      {"C:\\My Documents\\A letter.docx", "A letter"},
      {"folder/", "folder"},
      {"War%20and%20Peace.epub", "War and Peace"},
      {"100% sure.txt", "100% sure"},
      {"%E7%BA%A2%E6%A5%BC%E6%A2%A6.html", "红楼梦"},
      {"[www.site.example]红楼梦_【校对版】(完结).txt", "红楼梦"},
      {"水浒传（全本）_副本.txt", "水浒传"},
      {"notes - Copy (2).md", "notes"},
      {"notes(1).md", "notes"},
      {"budget (2021).csv", "budget (2021)"},
      {"Essay (v2) final.txt", "Essay final"},
      {"Jean-Paul at home.txt", "Jean-Paul at home"},
      {"Author - Title.txt", "Author Title"},
      {"release-2.18.3.md", "release 2.18.3"},
      {".bashrc", "bashrc"},
      {"[all of it].txt", "[all of it]"},
      {"(1).txt", "(1)"},
      {"___", "___"},
      {"a　 b.txt", "a b"},
      {"/", "/"},
  };
  for (const auto& c : cases) EXPECT_EQ(title_of(c.filename), c.title) << c.filename;
}

TEST(Title, NeverEmptyAndValid) {
  test::Random random(7);
  const std::string pieces[] = {"[", "]",   "(",    ")",    "【", "】",  ".", "_", "-",
                                " ", "txt", "copy", "副本", "v2", "%20", "%", "/", "字"};
  for (int i = 0; i < 20000; ++i) {
    std::string name;
    for (size_t n = 1 + random() % 8; n > 0; --n) name += pieces[random() % std::size(pieces)];
    const std::string title = title_of(name);
    ASSERT_FALSE(title.empty()) << name;
    ASSERT_TRUE(valid_utf8_text(reinterpret_cast<const uint8_t*>(title.data()), title.size())) << name;
  }
}

TEST(Title, TooLong) {
  EXPECT_NO_THROW(title_of(std::string(kMaxFilename, '[')));
  EXPECT_THROW(title_of(std::string(kMaxFilename + 1, 'a')), Error);
}

}  // namespace
}  // namespace neardup
