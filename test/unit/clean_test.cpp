// Rules: what each kind takes out, over pieces; the built-in set where RE2 is there.
#include "core/intake/clean.h"

#include <gtest/gtest.h>
#include <string>

#include "text/patterns.h"

#include "test/reference/literal_patterns.h"
#include "test/unit/support.h"

namespace neardup::clean_test {
namespace {

Rule rule(const char* name, RuleKind kind, const std::string& pattern, const std::string& replacement = "") {
  return {name, kind, pattern, replacement, {}};
}

std::string clean_body(const Cleaned& c, const std::string& text) { return c.changed ? c.body : text; }

std::string cleaned(const std::vector<Rule>& rules, const std::string& text) {
  check_rules(rules);
  reference::LiteralPatterns patterns(rules);
  return clean_body(clean_text(rules, patterns, text, nullptr), text);
}

TEST(Clean, Lines) {
  const std::vector<Rule> rules = {rule("ad", RuleKind::line, "AD")};
  EXPECT_EQ(cleaned(rules, ""), "");
  EXPECT_EQ(cleaned(rules, "AD"), "");
  EXPECT_EQ(cleaned(rules, "a\nan AD here, AD\nb"), "a\nb");
  EXPECT_EQ(cleaned(rules, "AD\nAD\n"), "");
  EXPECT_EQ(cleaned(rules, "a\nAD"), "a\n");
  EXPECT_EQ(cleaned(rules, "ad"), "ad");
}

TEST(Clean, Blocks) {
  const std::vector<Rule> rules = {rule("note", RuleKind::block, "^NOTE")};
  EXPECT_EQ(cleaned(rules, "a\nb\n\nNOTE x\ny\n\n\nc"), "a\nb\n\nc");
  EXPECT_EQ(cleaned(rules, "x\nNOTE\ny"), "");
  EXPECT_EQ(cleaned(rules, "NOTE\n \t\nb\n\u3000\nNOTE"), "b\n\u3000\n");
  // A block that is too large stays.
  const std::string large = "NOTE\n" + std::string(kMaxRuleBlock, 'x') + "\nend";
  EXPECT_EQ(cleaned(rules, large), large);
}

// Looked at once a run, not once a line of it.
TEST(Clean, BlocksThatAreTooLarge) {
  struct Counting final : Patterns {
    explicit Counting(const std::vector<Rule>& rules) : inner(rules) {}
    void may_match(std::string_view piece, std::vector<uint8_t>* flags) override { inner.may_match(piece, flags); }
    bool find(size_t i, std::string_view piece, size_t from, std::string_view* groups, int n) override {
      ++finds;
      return inner.find(i, piece, from, groups, n);
    }
    int groups(size_t i) const override { return inner.groups(i); }
    reference::LiteralPatterns inner;
    int finds = 0;
  };
  const std::vector<Rule> rules = {rule("note", RuleKind::block, "^NOTE")};
  std::string run;
  while (run.size() < kMaxRuleBlock * 3 / 2) run += "NOTE\n";
  Counting patterns(rules);
  const std::string text = "NOTE\nx\n\n" + run + "\nNOTE\n\n" + run + "NOTE";
  EXPECT_EQ(clean_text(rules, patterns, text, nullptr).body, run + "\n" + run + "NOTE");
  EXPECT_EQ(patterns.finds, 4);  // and no more: the last run is the end
}

TEST(Clean, Texts) {
  EXPECT_EQ(cleaned({rule("t", RuleKind::text, "ab", "<\\0>\\\\")}, "xabab"), "x<ab>\\<ab>\\");
  EXPECT_EQ(cleaned({rule("t", RuleKind::text, "\n\n", "\n")}, "a\n\nb"), "a\nb");
  const std::vector<Rule> same = {rule("t", RuleKind::text, "a", "a")};
  reference::LiteralPatterns patterns(same);
  EXPECT_TRUE(clean_text(same, patterns, "aaa", nullptr).fired.empty());
}

TEST(Clean, Ends) {
  const std::vector<Rule> rules = {rule("head", RuleKind::head, "^TOP"), rule("tail", RuleKind::tail, "^END")};
  EXPECT_EQ(cleaned(rules, "TOP\n1\n2\n3\n4\n5\nEND\nx"), "1\n2\n3\n4\n5\n");
  EXPECT_EQ(cleaned(rules, "1\n2\n3\nTOP\nEND\n4\n5\n6"), "1\n2\n3\nTOP\nEND\n4\n5\n6");  // neither third
  EXPECT_EQ(cleaned(rules, "a\nTOP\nTOP b\n" + std::string(60, 'x') + "\nEND\nEND\n"), std::string(60, 'x') + "\n");
  EXPECT_EQ(cleaned(rules, "END"), "END");
}

TEST(Clean, LineEnds) {
  if (!has_patterns()) GTEST_SKIP() << "built without RE2";
  const std::vector<Rule> rules = {rule("line", RuleKind::line, "^AD$"), rule("block", RuleKind::block, "NOTE$"),
                                   rule("text", RuleKind::text, "x$", "y"), rule("tail", RuleKind::tail, "^END$")};
  const auto patterns = compile_patterns(rules);
  const std::string text = "one\nAD\n\na NOTE\nof it\n\nbox\nand a good deal more\nof this\n\nEND\nrest\n";
  const Cleaned want = clean_text(rules, *patterns, text, nullptr);
  EXPECT_EQ(want.body, "one\n\nboy\nand a good deal more\nof this\n\n");
  for (const char* end : {"\r\n", "\r"}) {
    std::string other;
    for (const char c : text) c == '\n' ? other += end : other += c;
    const Cleaned c = clean_text(rules, *patterns, other, nullptr);
    EXPECT_EQ(c.body, want.body);
    EXPECT_EQ(c.fired, want.fired);
    EXPECT_EQ(c.kept, want.kept);
  }
  // Without any rule, too.
  const Cleaned c = clean_text({}, *compile_patterns({}), "a\r\nb\rc\n\r\n\r", nullptr);
  EXPECT_TRUE(c.changed);
  EXPECT_EQ(c.body, "a\nb\nc\n\n\n");
  EXPECT_EQ(c.kept, 1);
  EXPECT_TRUE(c.fired.empty());
}

TEST(Clean, OrderAndFired) {
  const std::vector<Rule> rules = {rule("one", RuleKind::text, "a", "b"), rule("two", RuleKind::text, "b", "c"),
                                   rule("three", RuleKind::line, "zz"), rule("four", RuleKind::line, "q")};
  reference::LiteralPatterns patterns(rules);
  const Cleaned c = clean_text(rules, patterns, "aa\nq\nk", nullptr);
  EXPECT_EQ(c.body, "cc\nk");
  EXPECT_EQ(c.fired, (std::vector<uint32_t>{0, 1, 3}));
  EXPECT_DOUBLE_EQ(c.kept, 4 / 6.0);
}

// Texts of many pieces: what is removed does not depend on where they are cut.
TEST(Clean, Pieces) {
  test::Random random(5);
  const std::vector<Rule> rules = {rule("line", RuleKind::line, "^DROP"), rule("block", RuleKind::block, "^NOTE"),
                                   rule("text", RuleKind::text, "foo", "ba")};
  std::string text;
  std::string want;
  for (int paragraph = 0; text.size() < 5 * kCleanPiece; ++paragraph) {
    const bool note = random() % 7 == 0;
    std::string now;
    std::string left;
    for (size_t n = 1 + random() % 20; n > 0; --n) {
      const std::string line = std::string(1 + random() % 90, static_cast<char>('g' + random() % 9));
      now += line + "\n";
      left += line + "\n";
      if (random() % 5 == 0) now += "DROP it\n";
      if (random() % 9 == 0) now += "foo\n", left += "ba\n";
    }
    if (note) now += "NOTE\n";
    text += now + "\n";
    if (!note) want += left + "\n";
  }
  EXPECT_EQ(cleaned(rules, text), want);
  // One line without an end, of characters of three bytes.
  std::string line;
  while (line.size() < 3 * kCleanPiece) line += "\u4e2d";
  EXPECT_EQ(cleaned({rule("t", RuleKind::text, "\u4e2d", "x")}, line), std::string(line.size() / 3, 'x'));
}

TEST(Clean, Limits) {
  EXPECT_THROW(check_rules(std::vector<Rule>(kMaxRules + 1, rule("a", RuleKind::line, "a"))), Error);
  EXPECT_THROW(check_rules({rule("", RuleKind::line, "a")}), Error);
  EXPECT_THROW(check_rules({rule("a", RuleKind::line, "")}), Error);
  EXPECT_THROW(check_rules({rule("a", RuleKind::line, std::string(kMaxPattern + 1, 'a'))}), Error);
  EXPECT_THROW(check_rules({rule("a", RuleKind::text, "a", std::string(kMaxReplacement + 1, 'a'))}), Error);
  EXPECT_THROW(check_rules({rule("a", RuleKind::line, "a", "b")}), Error);
  EXPECT_THROW(parse_rule_kind("lines", "a"), Error);
  EXPECT_NO_THROW(check_rules(default_rules()));
  // A piece that would grow beyond all bounds.
  EXPECT_THROW(cleaned({rule("grow", RuleKind::text, "a", std::string(1000, 'b'))}, std::string(5000, 'a')), Error);
}

std::string by_default(const std::string& text, std::vector<std::string>* fired = nullptr) {
  static const std::vector<Rule> rules = default_rules();
  static const std::unique_ptr<Patterns> patterns = compile_patterns(rules);
  const Cleaned c = clean_text(rules, *patterns, text, nullptr);
  if (fired != nullptr)
    for (const uint32_t i : c.fired) fired->push_back(rules[i].name);
  return clean_body(c, text);
}

TEST(Clean, BuiltInRulesFire) {
  if (!has_patterns()) GTEST_SKIP() << "built without RE2";
  const struct {
    const char* rule;
    const char* text;
    const char* left;
  } cases[] = {
      {"advertisement-en", "One.\nADVERTISEMENT\nTwo.\n", "One.\nTwo.\n"},
      {"advertisement-zh", "一\n【广告】\n二\n", "一\n二\n"},
      {"promotion-zh", "正文。\n扫描下方二维码，关注我们\n完。\n", "正文。\n完。\n"},
      {"cookies-en", "This site uses cookies to improve.\nText.\n", "Text.\n"},
      {"subscribe-en", "Text.\nSubscribe to our newsletter!\n", "Text.\n"},
      {"page-furniture-en", "Facebook | Twitter | LinkedIn\nText.\n", "Text.\n"},
      {"page-furniture-en", "Text.\nRead more: Another story\n", "Text.\n"},
      {"copyright-en", "Text.\nCopyright 2020 Some Press. All rights reserved.\n", "Text.\n"},
      {"copyright-zh", "正文。\n版权所有，未经许可不得转载\n", "正文。\n"},
      {"credits-zh", "正文。\n（责任编辑：张三）\n", "正文。\n"},
      {"site-notice-zh", "正文。\n最新章节请到本站阅读\n", "正文。\n"},
      {"author-note-en", "Text.\n\nAuthor's note: thanks\nfor reading\n\nMore.\n", "Text.\n\nMore.\n"},
      {"author-note-zh", "正文。\n\n作者有话要说：谢谢\n\n又\n", "正文。\n\n又\n"},
      {"chapter-en", "CHAPTER XII. The Storm\nText.\n", "Text.\n"},
      {"chapter-en", "Part two\nText.\n", "Text.\n"},
      {"chapter-zh", "第一百二十回　甄士隐详说太虚情\n正文\n", "正文\n"},
      {"url", "See https://example.org/a?b=1, then go.\n", "See  then go.\n"},
      {"blank-lines", "a\n\n\n \nb", "a\n\nb"},
      {"comments-en", "A long text of many words.\nMore of it.\nAnd so on.\nComments (3)\nfirst!\n",
       "A long text of many words.\nMore of it.\nAnd so on.\n"},
      {"comments-zh", "这是很长的正文，有很多字。\n第二行也是正文。\n网友评论\n好！\n",
       "这是很长的正文，有很多字。\n第二行也是正文。\n"},
  };
  for (const auto& c : cases) {
    std::vector<std::string> fired;
    EXPECT_EQ(by_default(c.text, &fired), c.left) << c.rule;
    EXPECT_EQ(fired, std::vector<std::string>{c.rule}) << c.text;
  }
}

TEST(Clean, BuiltInRulesSpareTexts) {
  if (!has_patterns()) GTEST_SKIP() << "built without RE2";
  for (const char* text :
       {"Part one of the plan was to run.\nChapter and verse.\n",
        "He would share his bread.\nThe comments were kind.\n",
        "I subscribe to the view that it is so, as all who have read the older authors will readily agree with me "
        "here.\n",
        "第一章程规定如下，第二条另有说明。\n", "广告业今年增长。\n",
        "The advertisement ran for years.\nHome is where it is.\n", "a\n\nb\n", "作者有话说不出。\n"})
    EXPECT_EQ(by_default(text), text);
}

TEST(Clean, Re2Patterns) {
  if (!has_patterns()) GTEST_SKIP() << "built without RE2";
  const auto run = [](const std::vector<Rule>& rules, const std::string& text) {
    const auto patterns = compile_patterns(rules);
    return clean_body(clean_text(rules, *patterns, text, nullptr), text);
  };
  EXPECT_EQ(run({rule("swap", RuleKind::text, "(\\w+) (\\w+)", "\\2 \\1")}, "a b\nc d"), "b a\nd c");
  EXPECT_EQ(run({rule("empty", RuleKind::text, "x*", "-")}, "axb"), "-a--b-");
  EXPECT_EQ(run({rule("ends", RuleKind::line, "^$")}, "a\n\nb\n"), "a\nb\n");
  EXPECT_EQ(run({rule("none", RuleKind::line, "a\\s+b")}, "a\nb"), "a\nb");  // never across a line end
  EXPECT_THROW(compile_patterns({rule("bad", RuleKind::line, "(a")}), Error);
  EXPECT_THROW(compile_patterns({rule("look", RuleKind::line, "(?=a)")}), Error);
  EXPECT_THROW(compile_patterns({rule("group", RuleKind::text, "a", "\\1")}), Error);
  EXPECT_THROW(compile_patterns({rule("huge", RuleKind::line, "((a{0,100}){0,100}){0,100}")}), Error);
  EXPECT_THROW(compile_patterns({rule("large", RuleKind::line, "\\pL{1000}")}), Error);
  // Linear in the text, whatever the pattern: this one would take others forever.
  EXPECT_EQ(run({rule("slow", RuleKind::line, "(a+)+$b")}, std::string(100000, 'a')), std::string(100000, 'a'));
}

}  // namespace
}  // namespace neardup::clean_test
