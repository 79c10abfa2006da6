// Titles from names of files.
#include "core/intake/title.h"

#include <gtest/gtest.h>

#include "core/unicode/utf8.h"

#include "test/unit/support.h"

namespace neardup::title_test {
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
      {"%E7%BA and more.txt", "%E7%BA and more"},
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
  for (const auto& c : cases) EXPECT_EQ(make_title(c.filename), c.title) << c.filename;
}

TEST(Title, SignsThatBelongToAWordStay) {
  const struct {
    const char* filename;
    const char* title;
  } cases[] = {
      {"C++ primer.pdf", "C++ primer"},
      {"C++_primer.pdf", "C++ primer"},
      {"C%2B%2B+primer.pdf", "C++ primer"},
      {"C%2B%2B%20primer.pdf", "C++ primer"},
      {"Learning+C%2b%2b.pdf", "Learning C++"},
      {"C++11.txt", "C++11"},
      {"Notepad++.txt", "Notepad++"},
      {"A+ student.txt", "A+ student"},
      {"A+_student.txt", "A+ student"},
      {"A+.txt", "A+"},
      {"A+ - Copy.txt", "A+"},
      {"+1.txt", "+1"},
      {"1+1=2.txt", "1+1=2"},
      {"top+10+songs.txt", "top 10 songs"},
      {"Romeo + Juliet.epub", "Romeo + Juliet"},
      {"Romeo_+_Juliet.epub", "Romeo + Juliet"},
      {"How+to+cook+(v2).txt", "How to cook"},
      {"[site]+How+to+cook.txt", "How to cook"},
      {"Hello,+world!+(2021).txt", "Hello, world! (2021)"},
      {"C++(v2).txt", "C++"},
      {"a+b.txt", "a b"},
      {"红+楼+梦.txt", "红 楼 梦"},
      {"C#.txt", "C#"},
      {"C#_in_depth.pdf", "C# in depth"},
      {"R&D.txt", "R&D"},
      {"R%26D+plan.txt", "R&D plan"},
      {"AT&T_report.doc", "AT&T report"},
      {"100%.txt", "100%"},
      {"100%25_cotton.txt", "100% cotton"},
      {"$100.txt", "$100"},
      {"#1 fan.txt", "#1 fan"},
      {".NET.pdf", ".NET"},
      {".NET in action.pdf", ".NET in action"},
      {".NET_in_action.pdf", ".NET in action"},
      {"Learning_.NET.pdf", "Learning .NET"},
      {"...And Justice for All.txt", "...And Justice for All"},
      {"Apple Pie Inc..pdf", "Apple Pie Inc."},
      {"[site].Name of it.srt", "Name of it"},
      {"Name of it.[site].srt", "Name of it"},
      {"._My Book.pdf", "My Book"},
      {".hidden file.txt", "hidden file"},
      {"my file .txt", "my file"},
      {"_draft_.txt", "draft"},
      {"AC-DC live.txt", "AC-DC live"},
  };
  for (const auto& c : cases) EXPECT_EQ(make_title(c.filename), c.title) << c.filename;
}

TEST(Title, NeverEmptyAndValid) {
  test::Random random(7);
  const std::string pieces[] = {"[",    "]",    "(",  ")",   "【", "】", ".",  "_", "-",   " ", "txt",
                                "copy", "副本", "v2", "%20", "%",  "/",  "字", "+", "%2B", "NE"};
  for (int i = 0; i < 20000; ++i) {
    std::string name;
    for (size_t n = 1 + random() % 8; n > 0; --n) name += pieces[random() % std::size(pieces)];
    const std::string title = make_title(name);
    ASSERT_FALSE(title.empty()) << name;
    ASSERT_TRUE(valid_utf8_text(reinterpret_cast<const uint8_t*>(title.data()), title.size())) << name;
  }
}

TEST(Title, TooLong) {
  EXPECT_NO_THROW(make_title(std::string(kMaxFilename, '[')));
  EXPECT_THROW(make_title(std::string(kMaxFilename + 1, 'a')), Error);
}

}  // namespace
}  // namespace neardup::title_test
