// Readers of records: a file gives the same records whether its bytes come at once or in pieces of any size.
#include <gtest/gtest.h>
#include <vector>

#include "cli/records/http.h"
#include "cli/records/records.h"

#include "unit/byte_sources.h"
#include "unit/record_words.h"

namespace neardup::cli::readers_test {
namespace {

using test::kPieceSizes;
using test::Pieces;
using test::read_records;
using test::Words;

// Pieces that a file of a format is made of, by chance: good ones, broken ones, and some that look like an end.
struct Sample {
  Format format;
  const char* head;
  std::vector<const char*> parts;
};

const Sample kSamples[] = {
    {Format::csv,
     "id,text,more\r\n",
     {"1,a b c,x\n", "2,\"q \"\"q\"\" q\",\r\n", "3,\"two\nlines\r\n,\",\"\"\n", "\r\n", "\n", ",,\n",
      "4,no,more,columns\n", "\"", "x\r", "5,\"long text of more bytes than may be in one record of this file\",y\n",
      "6,\"\xff\",z\n", "\"\"\n", "7,last,one"}},
    {Format::tsv, "id\ttext\n", {"1\ta\n", "2\t\"t\tt\"\n", "3\t\r\n", "\r\n", "\"", "4\tlast", "\n"}},
#ifdef NEARDUP_WITH_SIMDJSON
    {Format::jsonl,
     "\xef\xbb\xbf",
     {R"({"text": "a", "id": 1})"
      "\n",
      R"({"body": "b\u00e9\"\\", "x": [1, 2.5e3, {"y": null}]})"
      "\r\n",
      "\n", "  \r\n",
      R"({"text": "broken)"
      "\n",
      R"({"id": 2})"
      "\n",
      R"({"text": "of more bytes than may be in one record of this file"})"
      "\n",
      R"({"text": "two"} {"text": "values"})"
      "\n",
      "{}\n", "\xef\xbb\xbf", R"({"text": "last"})"}},
#endif
#ifdef NEARDUP_WITH_GMIME
    {Format::mbox,
     "before the first\n",
     {"From a@b Mon\nSubject: one\n\ntext\n\n", "From c@d\r\nMessage-ID: <2@x>\r\n\r\nlines\r\n>From here\r\n\r\n",
      "From nobody\n", "\n", "\r\n", ">>From twice\n", "From \n\n",
      "of more bytes than may be in one mail of this file, and more\n",
      "From e@f\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\npart\n--b--\n\n", "From in a line\n"}},
#endif
    {Format::warc,
     "",
     {"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nWARC-Target-URI: <http://a/b>\r\nWARC-Date: "
      "2013-12-04T16:47:32Z\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n",
      "WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: 52\r\n\r\nHTTP/1.1 200 "
      "OK\r\n"
      "Content-Type: text/html\r\n\r\n<p>hallo</p>\r\n\r\n",
      "WARC/1.0\nWARC-Type: request\nContent-Length: 1\n\nx\n\n", "WARC/1.0\r\nContent-Length: x\r\n\r\n\r\n\r\n",
      "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nwrong\r\n\r\n", "\r\n",
      "junk\n", "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/plain\r\nContent-Length: 90\r\n\r\n",
      "WARC/1.0\r\n",
      "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n\r\n\r\n"}},
};

TEST(Readers, ByPiecesAsAtOnce) {
  std::mt19937_64 random(31);
  for (const Sample& sample : kSamples) {
    std::size_t records = 0;
    for (int turn = 0; turn < 150; ++turn) {
      std::string bytes = random() % 8 == 0 ? "" : sample.head;
      for (std::size_t n = random() % 12; n > 0; --n) bytes += sample.parts[random() % sample.parts.size()];
      const auto max_size = static_cast<std::int64_t>(random() % 3 == 0 ? 1 + random() % 60 : 40 + random() % 200);
      MemorySource whole(bytes);
      const Words want = read_records(sample.format, whole, max_size);
      records += want.size() - 1;
      for (const std::size_t most : kPieceSizes) {
        Pieces pieces(bytes, most, random());
        ASSERT_EQ(read_records(sample.format, pieces, max_size), want)
            << "at most " << max_size << ", by " << most << ": " << bytes;
      }
    }
    EXPECT_GT(records, 100u) << format_name(sample.format);
  }
}

// A record of as many bytes as are allowed is one; of one more it is too large, and those around it are as ever.
void expect_largest(Format format, const std::string& before, const std::string& front, const std::string& back,
                    const std::string& after, std::size_t counted) {
  SCOPED_TRACE(format_name(format));
  for (std::size_t over = 0; over < 3; ++over) {
    const std::size_t most = 300, filler = most + over - 1 - counted;
    const std::string bytes = before + front + std::string(filler, 'x') + back + after;
    for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, bytes.size()}) {
      Pieces source(bytes, piece, 5);
      const Words got = read_records(format, source, static_cast<std::int64_t>(most));
      ASSERT_EQ(got.size(), 4u);
      EXPECT_TRUE(got[0].starts_with("record one")) << got[0];
      if (over == 2)
        EXPECT_TRUE(got[1].starts_with("problem")) << got[1];
      else
        EXPECT_NE(got[1].find(std::string(filler, 'x')), std::string::npos) << over;
      EXPECT_TRUE(got[2].starts_with("record three")) << got[2];
    }
  }
}

TEST(Readers, LargestRecord) {
  // CSV counts the newline, of a line that may have as many bytes without it.
  expect_largest(Format::csv, "text\none\n", "", "\n", "three\n", 1);
  expect_largest(Format::csv, "text\none\n", "\"\n", "\"\n", "three\n", 4);
#ifdef NEARDUP_WITH_SIMDJSON
  // The end of a line is none of its bytes.
  expect_largest(Format::jsonl, "{\"text\": \"one\"}\n", "{\"text\": \"", "\"}\n", "{\"text\": \"three\"}\n", 12);
#endif
  const std::string head = "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/plain\r\nContent-Length: ";
  for (std::size_t size = 299; size <= 301; ++size) {
    const std::string bytes = head + "3\r\n\r\none\r\n\r\n" + head + std::to_string(size) + "\r\n\r\n" +
                              std::string(size, 'x') + "\r\n\r\n" + head + "5\r\n\r\nthree\r\n\r\n";
    for (const std::size_t piece : {std::size_t{1}, bytes.size()}) {
      Pieces source(bytes, piece, 5);
      const Words got = read_records(Format::warc, source, 300);
      ASSERT_EQ(got.size(), 4u);
      EXPECT_TRUE(got[1].starts_with(size > 300 ? "problem" : "record xxx")) << got[1];
      EXPECT_TRUE(got[2].starts_with("record three")) << got[2];
    }
  }
}

#ifdef NEARDUP_WITH_GMIME
// Lines of a mailbox are read in pieces of 64 kB: of lines of such lengths nothing gets lost, and none begins a mail.
TEST(Readers, LongLinesOfMailboxes) {
  constexpr std::size_t kPiece = 64 * 1024;
  for (const std::size_t size : {kPiece - 1, kPiece, kPiece + 1, 2 * kPiece, 2 * kPiece + 1}) {
    for (const std::string end : {"\n", "\r\n", "\n\n", ""}) {
      const std::string line = std::string(size - 6, 'y') + "From x";  // so many bytes
      const std::string bytes = "From a\n\n" + line + end + "From b\n\nlast\n";
      Pieces source(bytes, 100000, 5);
      const Words got = read_records(Format::mbox, source, 1 << 20);
      const bool two = end == "\n\n";
      ASSERT_EQ(got.size(), two ? 3u : 2u) << size;
      EXPECT_TRUE(got[0].substr(7).starts_with(line)) << size;
    }
  }
}
#endif

// Lines of a header of WARC: 64 kB, without the end of the line.
TEST(Readers, LongLinesOfWarc) {
  constexpr std::size_t kMost = 64 * 1024;
  for (const std::size_t size : {kMost - 1, kMost, kMost + 1}) {
    const std::string bytes =
        "WARC/1.0\nWARC-Type: conversion\nContent-Type: text/plain\nX: " + std::string(size - 3, 'x') +
        "\nContent-Length: 1\n\ny\n\n";
    MemorySource source(bytes);
    EXPECT_EQ(read_records(Format::warc, source, 1000)[0].substr(0, 6), size > kMost ? "proble" : "record");
  }
}

TEST(Readers, HeadersOfHttp) {
  const auto parse = [](const std::string& lines, std::string& why) {
    return parse_http("HTTP/1.1 200 OK\r\n" + lines + "\r\nbody", 100, why).has_value();
  };
  std::string why, lines;
  for (int i = 0; i < HttpHeader::kMostLines; ++i) lines += "a: b\n";
  EXPECT_TRUE(parse(lines, why));
  EXPECT_FALSE(parse(lines + "a: b\n", why));
  EXPECT_EQ(why, "HTTP: a header of more than 1000 lines or 262144 bytes");
  const std::string long_line(HttpHeader::kMostHttpBytes - 10, 'x');
  EXPECT_TRUE(parse(long_line + "\n0123456789\n", why));
  EXPECT_FALSE(parse(long_line + "\n0123456789a\n", why));
}

TEST(Readers, BodiesOfHttp) {
  std::mt19937_64 random(2);
  std::string why;
  for (int turn = 0; turn < 200; ++turn) {
    std::string body, chunks;
    for (std::size_t n = random() % 5; n > 0; --n) {
      const std::string chunk(1 + random() % 300, static_cast<char>('a' + random() % 26));
      char size[20];
      std::snprintf(size, sizeof size, random() % 2 == 0 ? "%zx\r\n" : "%zX; x=y\r\n", chunk.size());
      chunks += size + chunk + "\r\n";
      body += chunk;
    }
    chunks += "0\r\n\r\n";
    const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    EXPECT_EQ(parse_http(head + chunks, 10000, why)->body, body);
    // One that ends too early is as it was found.
    const std::string cut = chunks.substr(0, random() % (chunks.size() - 4));
    EXPECT_EQ(parse_http(head + cut, 10000, why)->body, cut);
  }
}

}  // namespace
}  // namespace neardup::cli::readers_test
