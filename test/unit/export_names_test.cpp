// Names of the files that `neardup export` makes: safe, and each given once a folder.
#include <ctime>
#include <gtest/gtest.h>
#include <string>

#include "cli/export/export.h"

namespace neardup::cli::export_names_test {
namespace {

TEST(ExportNames, AreUniqueWhateverTheCase) {
  FileNames names;
  EXPECT_EQ(names.add("a/x.txt", true), "KEEP - x.txt");
  EXPECT_EQ(names.add("b/x (2).txt", false), "x (2).txt");
  EXPECT_EQ(names.add("c/x.txt", false), "x.txt");
  EXPECT_EQ(names.add("d/X.TXT", false), "X (3).TXT");
  EXPECT_EQ(names.add("e/x.txt/", false), "x (4).txt");
  EXPECT_EQ(names.add("x (2).txt", false), "x (2) (2).txt");
  EXPECT_EQ(names.add("x (5).txt", false), "x (5).txt");
  EXPECT_EQ(names.add("x.txt", false), "x (6).txt");
  EXPECT_EQ(names.add("x", false), "x");
  EXPECT_EQ(names.add("keep - x.txt", false), "_keep - x.txt");
}

TEST(ExportNames, AreSafe) {
  FileNames names;
  EXPECT_EQ(names.add("a:\"\\\x01\x7f\u0085\u00e9\u061c\u200f\u2028\u2069z. . ", false), "a______\u00e9____z. _");
  EXPECT_EQ(names.add("\xff\u00e9", false), "___");
  EXPECT_EQ(names.add("-x", false), "_-x");
  EXPECT_EQ(names.add("/", false), "_");
}

// Where the file system takes é.txt for É.txt: the numbers go on for each of the names.
TEST(ExportNames, Again) {
  FileNames names;
  EXPECT_EQ(names.add("a/\u00c9.txt", true), "KEEP - \u00c9.txt");
  EXPECT_EQ(names.add("b/\u00c9.txt", false), "\u00c9.txt");
  EXPECT_EQ(names.add("c/\u00e9.txt", false), "\u00e9.txt");
  EXPECT_EQ(names.again(), "\u00e9 (2).txt");
  EXPECT_EQ(names.again(), "\u00e9 (3).txt");
  EXPECT_EQ(names.size(), 5u);
  EXPECT_EQ(names.add("d/\u00c9.txt", false), "\u00c9 (2).txt");
  EXPECT_EQ(names.add("e/\u00e9.TXT", false), "\u00e9 (4).TXT");
}

// A long name is cut between two characters.
TEST(ExportNames, LongNames) {
  const auto several = [](int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += "\u00e9";
    return out;
  };
  for (const std::string front : {"", "a"}) {
    FileNames names;
    EXPECT_EQ(names.add("x/" + front + several(120) + ".txt", false),
              front + several(front.empty() ? 98 : 97) + ".txt");
  }
}

TEST(ExportNames, ManyOfOneName) {
  FileNames names;
  std::string last;
  const std::clock_t start = std::clock();
  for (int i = 0; i < 100000; ++i) last = names.add(std::to_string(i) + "/index.html", false);
  EXPECT_EQ(last, "index (100000).html");
  EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace neardup::cli::export_names_test
