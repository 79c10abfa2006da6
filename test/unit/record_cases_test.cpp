// The meaning of files of each format: a row a case.
#include <gtest/gtest.h>

#include "cli/input/format.h"

#include "unit/byte_sources.h"
#include "unit/record_words.h"

namespace neardup::cli::record_cases_test {
namespace {

using test::read_records;
using test::Words;

struct Case {
  const char* what;
  Format format;
  std::string bytes;
  Words records;  // without the end
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    MemorySource source(c.bytes);
    Words want = c.records;
    want.emplace_back("end");
    EXPECT_EQ(read_records(c.format, source, 1000), want) << c.what;
  }
}

// The words of a record that has an id and nothing else but its text.
std::string record(const std::string& body, const std::string& id, int size, const std::string& attributes = "") {
  return "record " + body + ", charset , id " + id + ", identity " + id + ", at none, " + attributes + ", size " +
         std::to_string(size) + ", attachments 0";
}

std::string problem(SkipReason reason, const std::string& detail, int size) {
  return "problem " + std::to_string(static_cast<int>(reason)) + ": " + detail + ", size " + std::to_string(size);
}

TEST(RecordCases, Csv) {
  check({
      {"LF", Format::csv, "id,text\n1,a\n2,b\n", {record("a", "1", 4), record("b", "2", 4)}},
      {"CR LF", Format::csv, "id,text\r\n1,a\r\n", {record("a", "1", 5)}},
      {"no end of the last line", Format::csv, "id,text\n1,a", {record("a", "1", 3)}},
      {"a mark", Format::csv, "\xef\xbb\xbftext\na\n", {record("a", "", 2)}},
      {"quotes", Format::csv, "text\n\"a \"\"b\"\" , c\"\n", {record("a \"b\" , c", "", 14)}},
      {"line ends in quotes", Format::csv, "text\n\"a\r\nb\n\"\r\n", {record("a\r\nb\n", "", 9)}},
      {"quotes within", Format::csv, "text\na\"b,c\"d\n", {record("ab,cd", "", 8)}},
      {"NULL and nothing",
       Format::csv,
       "id,text,x,y\n1,a,,\"\"\n2,,b,c\n3,\"\",b,c\n",
       {record("a", "1", 8, R"({"x":null,"y":""})"), problem(SkipReason::no_text, "text is NULL", 7),
        record("", "3", 9, R"({"x":"b","y":"c"})")}},
      {"the best name",
       Format::csv,
       "content,body,text\n1,2,3\n",
       {record("3", "", 6, R"({"content":"1","body":"2"})")}},
      {"empty lines of one column",
       Format::csv,
       "text\n\n\"\"\n",
       {problem(SkipReason::no_text, "text is NULL", 1), record("", "", 3)}},
      {"empty lines of several", Format::csv, "id,text\n\n1,a\n", {record("a", "1", 5)}},
      {"tabs", Format::tsv, "id\ttext\n1\ta,b\n", {record("a,b", "1", 6)}},
      {"too few", Format::csv, "id,text\n1\n", {problem(SkipReason::bad_record, "1 fields, but 2 columns", 2)}},
      {"NUL", Format::csv, std::string("text\na\0b\n", 9), {problem(SkipReason::has_nul, "", 4)}},
      {"no UTF-8", Format::csv, "text\na\xff\n", {problem(SkipReason::not_utf8, "", 3)}},
  });
}

#ifdef NEARDUP_WITH_SIMDJSON
TEST(RecordCases, JsonLines) {
  check({
      {"LF", Format::jsonl, "{\"id\": 1, \"text\": \"a\"}\n", {record("a", "1", 23)}},
      {"CR LF, empty lines", Format::jsonl, "\r\n{\"text\": \"a\"}\r\n \t\n", {record("a", "", 15)}},
      {"a mark", Format::jsonl, "\xef\xbb\xbf{\"text\": \"a\"}", {record("a", "", 16)}},
      {"escapes", Format::jsonl, R"({"text": "\u00e9\ud83d\ude00\n"})", {record("\u00e9\U0001f600\n", "", 32)}},
      {"numbers",
       Format::jsonl,
       R"({"text": 1.50, "id": "x", "n": -0.5e+3})",
       {record("1.50", "x", 39, R"({"n":-0.5e+3})")}},
      {"true", Format::jsonl, R"({"text": true})", {record("true", "", 14)}},
      {"null", Format::jsonl, R"({"text": null})", {problem(SkipReason::no_text, "text is null", 14)}},
      {"nested",
       Format::jsonl,
       R"({"text": ["a"]})",
       {problem(SkipReason::bad_record, "text is an array or an object", 15)}},
      {"the best name",
       Format::jsonl,
       R"({"content": "1", "text": "3", "body": "2"})",
       {record("3", "", 42, R"({"content":"1","body":"2"})")}},
      {"an id that is none", Format::jsonl, R"({"text": "a", "id": null})", {record("a", "", 25, R"({"id":null})")}},
  });
}
#endif

TEST(RecordCases, Warc) {
  const auto warc = [](const std::string& type, const std::string& media, const std::string& block, const char* end) {
    return std::string("WARC/1.0") + end + "WARC-Type: " + type + end + "Content-Type: " + media + end +
           "WARC-Target-URI: <u>" + end + "Content-Length: " + std::to_string(block.size()) + end + end + block + end +
           end;
  };
  const auto words = [](const std::string& body, const std::string& type, const std::string& media, int size) {
    return "record " + body + ", charset , id u, identity u , at none, {\"warc_type\":\"" + type +
           "\",\"content_type\":\"" + media + "\"}, size " + std::to_string(size) + ", attachments 0";
  };
  for (const char* end : {"\r\n", "\n"}) {
    check({
        {"a text",
         Format::warc,
         warc("conversion", "text/plain", "a", end),
         {words("a", "conversion", "text/plain", 1)}},
        {"a resource",
         Format::warc,
         warc("resource", "text/plain", "a", end),
         {words("a", "resource", "text/plain", 1)}},
        {"a response",
         Format::warc,
         warc("response", "application/http", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\na", end),
         {words("a", "response", "text/plain", 46)}},
        {"a request",
         Format::warc,
         warc("request", "application/http", "GET / HTTP/1.1\r\n\r\n", end),
         {"other, size 18"}},
        {"an image", Format::warc, warc("resource", "image/png", "a", end), {"other, size 1"}},
        {"upper case",
         Format::warc,
         warc("CONVERSION", "Text/Plain", "a", end),
         {words("a", "conversion", "Text/Plain", 1)}},
        {"nothing",
         Format::warc,
         warc("conversion", "text/plain", "", end),
         {words("", "conversion", "text/plain", 0)}},
    });
  }
}

#ifdef NEARDUP_WITH_GMIME
TEST(RecordCases, Mailboxes) {
  for (const std::string end : {"\n", "\r\n"}) {
    const auto lines = [&](const std::vector<std::string>& all) {
      std::string text;
      for (const std::string& line : all) text += line + end;
      return text;
    };
    const std::string one = lines({"", "a", ""}), quoted = lines({"", ">From here", ">>From there", "> From", ""});
    const std::string bytes = "From x" + end + one + "From y" + end + quoted + "From z" + end + lines({"", "last"});
    MemorySource source(bytes);
    const Words got = read_records(Format::mbox, source, 1000);
    ASSERT_EQ(got.size(), 4u);
    EXPECT_EQ(got[2].find("record last\n"), 0u) << got[2];
    EXPECT_EQ(got[0].find("record a\n"), 0u) << got[0];
    EXPECT_EQ(got[1].find("record From here\n>From there\n> From\n"), 0u) << got[1];
    EXPECT_NE(got[0].find(", size " + std::to_string(one.size()) + ","), std::string::npos) << got[0];
  }
}
#endif

}  // namespace
}  // namespace neardup::cli::record_cases_test
