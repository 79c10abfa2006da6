// Edit distances against the textbook's table, for every form of the kernels; bounds; rates; limits.
#include "core/exact/edit_distance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "test/reference/edit_reference.h"
#include "test/unit/support.h"

namespace neardup::edit_distance_test {
namespace {

using test::Exact;
using test::Random;

constexpr uint64_t kNone = UINT64_MAX;

uint64_t distance(Unit unit, std::string_view a, std::string_view b, uint64_t max_distance = UINT64_MAX,
                  const EditOptions& options = {}, EditStats* stats = nullptr) {
  const Exact x(a), y(b);
  return edit_distance(unit, x.data(), x.size(), y.data(), y.size(), max_distance, options, stats).value_or(kNone);
}

// Every form of the kernels, both ways round, with bounds around the distance and far from it.
void check(Unit unit, std::string_view a, std::string_view b) {
  const auto symbols = unit == Unit::byte ? reference::byte_symbols : reference::code_point_symbols;
  const uint64_t d = reference::edit_distance(symbols(a), symbols(b));
  test::for_each_kernels([&] {
    SCOPED_TRACE(std::to_string(a.size()) + " and " + std::to_string(b.size()) + " bytes, " + std::to_string(d));
    ASSERT_EQ(distance(unit, a, b), d);
    ASSERT_EQ(distance(unit, b, a, UINT64_MAX, {.memory_limit = 0}), d);
    ASSERT_EQ(distance(unit, a, b, d), d);
    ASSERT_EQ(distance(unit, b, a, d, {.memory_limit = 0}), d);
    ASSERT_EQ(distance(unit, a, b, d + 1), d);
    ASSERT_EQ(distance(unit, a, b, d + d / 20), d);
    ASSERT_EQ(distance(unit, a, b, 3 * d + 7), d);
    if (d > 0) {
      ASSERT_EQ(distance(unit, a, b, d - 1), kNone);
      ASSERT_EQ(distance(unit, b, a, d - 1), kNone);
      ASSERT_EQ(distance(unit, a, b, d / 2), kNone);
      ASSERT_EQ(distance(unit, a, b, 0), kNone);
    }
  });
}

// An alphabet of n symbols; 0: all of Unicode.
uint32_t symbol(Random& random, uint32_t n) {
  if (n != 0) return 'a' + static_cast<uint32_t>(random() % n);
  static constexpr uint32_t kEnds[] = {0x80, 0x800, 0x10000, 0x110000};
  const uint32_t c = static_cast<uint32_t>(random() % kEnds[random() % 4]);
  return c >= 0xd800 && c < 0xe000 ? c - 0x800 : c;
}

std::string text(Random& random, size_t length, uint32_t alphabet) {
  std::string out;
  for (size_t i = 0; i < length; ++i) test::append_utf8(&out, symbol(random, alphabet));
  return out;
}

// About a share of `rate` of the symbols changed, left out, or followed by another; now and then a whole stretch.
std::string edited(Random& random, const std::string& from, double rate, uint32_t alphabet) {
  std::string out;
  const uint64_t below = static_cast<uint64_t>(rate * 1e9);
  size_t skip = 0;
  for (const uint32_t c : reference::code_point_symbols(from)) {
    if (skip > 0) {
      --skip;
    } else if (random() % 1'000'000'000 >= below) {
      test::append_utf8(&out, c);
    } else {
      switch (random() % 16) {
        case 0:
          skip = random() % 100;
          break;
        case 1:
          out += text(random, random() % 100, alphabet);
          break;
        default: {
          const uint64_t how = random() % 3;
          if (how != 0) test::append_utf8(&out, symbol(random, alphabet));
          if (how == 2) test::append_utf8(&out, c);
        }
      }
    }
  }
  return out;
}

TEST(EditDistance, SmallFacts) {
  const auto d = [](std::string_view a, std::string_view b) { return distance(Unit::character, a, b); };
  EXPECT_EQ(d("", ""), 0u);
  EXPECT_EQ(d("", "abc"), 3u);
  EXPECT_EQ(d("kitten", "sitting"), 3u);
  EXPECT_EQ(d("intention", "execution"), 5u);
  EXPECT_EQ(d("ab", "ba"), 2u);
  EXPECT_EQ(d("\xc3\xa9t\xc3\xa9", "ete"), 2u);
  EXPECT_EQ(distance(Unit::byte, "\xc3\xa9t\xc3\xa9", "ete"), 4u);
  // Code points that share bytes: the common front and back end between code points.
  EXPECT_EQ(d("\xe4\xb8\xad", "\xe4\xb8\x80"), 1u);
  EXPECT_EQ(d("\xe4\xb8\xad", "\xe5\xb8\xad"), 1u);
  EXPECT_EQ(d("\xc3\xa9", "\xc2\xa9"), 1u);
  EXPECT_EQ(d("a\xc3\xa9", "a"), 1u);
  EXPECT_EQ(distance(Unit::byte, std::string("\0\xff", 2), std::string("\xff\0", 2)), 2u);
}

TEST(EditDistance, EveryPairOfShortStrings) {
  std::vector<std::string> all = {""};
  for (size_t i = 0; all[i].size() < 5; ++i) {
    all.push_back(all[i] + "a");
    all.push_back(all[i] + "b");
  }
  for (const std::string& a : all) {
    for (const std::string& b : all) {
      const uint64_t d = reference::edit_distance(reference::byte_symbols(a), reference::byte_symbols(b));
      for (uint64_t most = 0; most <= 6; ++most) {
        ASSERT_EQ(distance(Unit::byte, a, b, most), d <= most ? d : kNone) << a << " " << b << " " << most;
      }
    }
  }
}

TEST(EditDistance, RandomTexts) {
  Random random(1);
  for (const uint32_t alphabet : {1u, 2u, 4u, 26u, 0u}) {
    for (int i = 0; i < 60; ++i) {
      const std::string a = text(random, random() % 1200, alphabet);
      const std::string b = text(random, random() % 1200, alphabet);
      check(Unit::character, a, b);
      check(Unit::byte, a, b);
    }
  }
}

TEST(EditDistance, EditedTexts) {
  Random random(2);
  for (const uint32_t alphabet : {1u, 2u, 4u, 26u, 0u}) {
    for (const double rate : {0.002, 0.01, 0.05, 0.2, 0.6}) {
      for (int i = 0; i < 7; ++i) {
        const std::string a = text(random, random() % 1600, alphabet);
        const std::string b = edited(random, a, rate, alphabet);
        check(Unit::character, a, b);
        check(Unit::byte, a, b);
      }
    }
  }
}

// Several stripes and several words of columns: all of the band's edges.
TEST(EditDistance, LongTexts) {
  Random random(3);
  for (const uint32_t alphabet : {2u, 26u, 0u}) {
    for (const double rate : {0.01, 0.04, 0.15}) {
      const std::string a = text(random, 3000 + random() % 1500, alphabet);
      check(Unit::character, a, edited(random, a, rate, alphabet));
      // A stretch is missing at the front, in the middle, at the end.
      const std::string tail = text(random, 1500, alphabet);
      const std::string middle = text(random, 700, alphabet);
      check(Unit::character, middle + a, edited(random, a, rate / 4, alphabet));
      check(Unit::character, a + middle + tail, edited(random, a, rate / 4, alphabet) + tail);
      check(Unit::character, a + middle, edited(random, a, rate / 4, alphabet));
    }
  }
}

// Lengths around blocks, stripes, words of columns and calls of the kernel, the first and last symbols unequal.
TEST(EditDistance, Borders) {
  Random random(4);
  std::vector<size_t> lengths;
  for (const size_t border : {0u, 64u, 128u, 192u, 256u, 448u, 512u, 576u, 1024u, 4096u}) {
    for (const size_t n : {border - 1, border, border + 1}) {
      if (n < 5000) lengths.push_back(n);
    }
  }
  for (const size_t n : lengths) {
    for (const size_t m : lengths) {
      if (n * m > 600'000 && (n + m) % 3 != 0) continue;
      const std::string a = "x" + text(random, n, 3) + "y", b = "p" + text(random, m, 3) + "q";
      const std::string_view x(a.data() + (n == 0), std::max<size_t>(n, 1));
      const std::string_view y(b.data() + (m == 0), std::max<size_t>(m, 1));
      const uint64_t d = reference::edit_distance(reference::byte_symbols(x), reference::byte_symbols(y));
      test::for_each_kernels([&] {
        ASSERT_EQ(distance(Unit::byte, x, y), d) << n << " " << m;
        ASSERT_EQ(distance(Unit::byte, x, y, d), d) << n << " " << m;
        if (d > 0) {
          ASSERT_EQ(distance(Unit::byte, x, y, d - 1), kNone) << n << " " << m;
        }
      });
    }
  }
}

// Every bound, around every place where the search changes its means.
TEST(EditDistance, EveryBound) {
  Random random(5);
  for (const double rate : {0.02, 0.1, 1.0}) {
    const std::string a = text(random, 1100, 4);
    const std::string b = rate == 1.0 ? text(random, 900, 4) : edited(random, a, rate, 4);
    const uint64_t d = reference::edit_distance(reference::byte_symbols(a), reference::byte_symbols(b));
    test::for_each_kernels([&] {
      for (uint64_t most = 0; most <= 1200; ++most) {
        ASSERT_EQ(distance(Unit::byte, a, b, most), d <= most ? d : kNone) << most;
      }
    });
  }
}

// Columns of UTF-8 that are decoded again for each stripe, because they would not fit.
TEST(EditDistance, LittleMemory) {
  Random random(14);
  for (const double rate : {0.03, 0.2, 1.0}) {
    const std::string a = text(random, 9500, 0);
    const std::string b = rate == 1.0 ? text(random, 9000, 0) : edited(random, a, rate, 0);
    const uint64_t d = reference::edit_distance(reference::code_point_symbols(a), reference::code_point_symbols(b));
    test::for_each_kernels([&] {
      EditStats little, much;
      EXPECT_EQ(distance(Unit::character, a, b, UINT64_MAX, {.memory_limit = 0}, &little), d);
      EXPECT_EQ(distance(Unit::character, a, b, UINT64_MAX, {}, &much), d);
      EXPECT_GE(much.peak_bytes, little.peak_bytes + 4 * 9000);
      EXPECT_EQ(distance(Unit::character, a, b, d - 1, {.memory_limit = 0}), kNone);
    });
  }
}

TEST(EditDistance, CommonFrontAndBack) {
  Random random(6);
  for (const uint32_t alphabet : {4u, 0u}) {
    const std::string front = text(random, 70000, alphabet), back = text(random, 70000, alphabet);
    for (const size_t n : {0u, 1u, 5u, 100u, 700u}) {
      const std::string a = text(random, n, alphabet), b = text(random, 1 + n / 2, alphabet);
      const auto symbols = alphabet == 0 ? reference::code_point_symbols : reference::byte_symbols;
      const uint64_t d = reference::edit_distance(symbols(a), symbols(b));
      EXPECT_EQ(distance(Unit::character, front + a + back, front + b + back), d);
      EXPECT_EQ(distance(Unit::character, front + a, front + b), d);
      EXPECT_EQ(distance(Unit::character, a + back, b + back), d);
    }
    EXPECT_EQ(distance(Unit::character, front, front), 0u);
    EXPECT_EQ(distance(Unit::byte, front, front, 0), 0u);
    EXPECT_EQ(distance(Unit::byte, front, front + "a", 0), kNone);
  }
  // Overlap: the back may not take again what the front has.
  EXPECT_EQ(distance(Unit::byte, std::string(5000, 'a'), std::string(3000, 'a')), 2000u);
  EXPECT_EQ(distance(Unit::character, "abab", "ab"), 2u);
}

TEST(EditDistance, Laws) {
  Random random(7);
  for (int i = 0; i < 40; ++i) {
    const std::string a = text(random, random() % 800, 4), b = edited(random, a, 0.3, 4), c = edited(random, b, 0.3, 4);
    const uint64_t ab = distance(Unit::byte, a, b), bc = distance(Unit::byte, b, c), ac = distance(Unit::byte, a, c);
    EXPECT_LE(ac, ab + bc);
    EXPECT_GE(ac + bc, ab);
    EXPECT_EQ(distance(Unit::byte, std::string(a.rbegin(), a.rend()), std::string(b.rbegin(), b.rend())), ab);
    EXPECT_GE(ab, a.size() > b.size() ? a.size() - b.size() : b.size() - a.size());
    EXPECT_LE(ab, std::max(a.size(), b.size()));
  }
}

// Ill-formed text gives some answer and reads nothing outside.
TEST(EditDistance, AnyBytes) {
  Random random(8);
  for (int i = 0; i < 400; ++i) {
    std::string a, b;
    for (size_t n = random() % 700; n > 0; --n) a += "a\x80\xbf\xc3\xe4\xf0\xff"[random() % 7];
    for (size_t n = random() % 700; n > 0; --n) b += "a\x80\xbf\xc3\xe4\xf0\xff"[random() % 7];
    test::for_each_kernels([&] {
      distance(Unit::character, a, b);
      distance(Unit::character, a, b, random() % 300);
      EXPECT_EQ(distance(Unit::character, a, a), 0u);
    });
  }
}

TEST(EditDistance, WordsAreNoUnit) { EXPECT_THROW(distance(Unit::word, "a", "b"), Error); }

// The kernel itself, called as no search does: any number of blocks and columns, any state before.
TEST(EditDistance, KernelsAgree) {
  Random random(9);
  std::vector<uint64_t> masks(8 * 40);
  for (uint64_t& m : masks) m = random() & random();
  std::vector<uint16_t> columns(kMaxEditColumns + 2 * kEditMargin);
  for (uint16_t& c : columns) c = static_cast<uint16_t>(8 * (random() % 40));
  for (size_t n = 1; n <= kMaxEditColumns; n += n < 140 ? 1 : n < 4000 ? 331 : 1) {
    for (unsigned blocks = 1; blocks <= kEditBlocks; ++blocks) {
      const size_t words = (n + 63) / 64;
      std::vector<uint64_t> down_p(8), down_n(8), p(words), q(words);
      for (unsigned i = 0; i < 8; ++i) {
        down_p[i] = random();
        down_n[i] = random() & ~down_p[i];
      }
      for (size_t i = 0; i < words; ++i) {
        p[i] = random();
        q[i] = random() & ~p[i];
      }
      std::vector<std::vector<uint64_t>> results;
      test::for_each_kernels([&] {
        auto a = down_p, b = down_n, c = p, d = q;
        kernels().edit_stripe(masks.data(), columns.data() + kEditMargin, n, blocks, a.data(), b.data(), c.data(),
                              d.data());
        std::vector<uint64_t> all;
        for (unsigned i = 8 - blocks; i < 8; ++i) all.push_back(a[i]), all.push_back(b[i]);
        const uint64_t inside = n % 64 == 0 ? ~uint64_t{0} : ~(~uint64_t{0} >> n % 64);
        c.back() &= inside;
        d.back() &= inside;
        all.insert(all.end(), c.begin(), c.end());
        all.insert(all.end(), d.begin(), d.end());
        results.push_back(all);
      });
      for (const auto& r : results) ASSERT_EQ(r, results[0]) << n << " columns, " << blocks << " blocks";
    }
  }
}

// ---------------------------------------------------------------- rates

TEST(EditRate, MaxEditsIsDecidedOnTheQuotient) {
  EXPECT_EQ(max_edits(0, 0.5), 0u);
  EXPECT_EQ(max_edits(20, 0.05), 1u);
  EXPECT_EQ(max_edits(20, 0), 0u);
  EXPECT_EQ(max_edits(20, 1), 20u);
  Random random(10);
  const auto right = [](uint64_t total, double rate) {
    const uint64_t d = max_edits(total, rate);
    const double n = static_cast<double>(total);
    ASSERT_LE(static_cast<double>(d) / n, rate) << total;
    if (d < total) {
      ASSERT_GT(static_cast<double>(d + 1) / n, rate) << total;
    }
  };
  for (uint64_t total = 1; total <= 300; ++total) {
    for (uint64_t d = 0; d <= total; ++d) {
      const double q = static_cast<double>(d) / static_cast<double>(total);
      ASSERT_EQ(max_edits(total, q), d);
      right(total, q);
      right(total, std::nextafter(q, 1.0));
      if (d > 0) {
        ASSERT_EQ(max_edits(total, std::nextafter(q, 0.0)), d - 1);
      }
    }
  }
  for (int i = 0; i < 200000; ++i) {
    const uint64_t total = 1 + random() % (uint64_t{1} << (1 + random() % 31));
    right(total, static_cast<double>(random() >> 11) * 0x1p-53);
    const uint64_t d = random() % (total + 1);
    const double q = static_cast<double>(d) / static_cast<double>(total);
    ASSERT_EQ(max_edits(total, q), d);
    if (d > 0) {
      ASSERT_EQ(max_edits(total, std::nextafter(q, 0.0)), d - 1);
    }
  }
  for (const double wrong : {-0.01, 1.01, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(max_edits(10, wrong), Error);
    EXPECT_THROW(edit_rate(Unit::byte, nullptr, 0, nullptr, 0, wrong), Error);
  }
}

TEST(EditRate, OneDivision) {
  Random random(11);
  const auto rate = [](std::string_view a, std::string_view b, double most) {
    const Exact x(a), y(b);
    return edit_rate(Unit::character, x.data(), x.size(), y.data(), y.size(), most);
  };
  EXPECT_EQ(rate("", "", 0), 0.0);
  EXPECT_EQ(rate("", "ab", 1), 1.0);
  EXPECT_EQ(rate("", "ab", 0.99), std::nullopt);
  EXPECT_EQ(rate("abc", "abc", 0), 0.0);
  for (int i = 0; i < 60; ++i) {
    const uint32_t alphabet = i % 2 == 0 ? 4 : 0;
    const std::string common = text(random, random() % 50, alphabet);
    const std::string a = common + text(random, random() % 300, alphabet) + common;
    const std::string b = edited(random, a, 0.1, alphabet);
    const auto x = reference::code_point_symbols(a), y = reference::code_point_symbols(b);
    if (x.empty() && y.empty()) continue;
    const double r = static_cast<double>(reference::edit_distance(x, y)) / static_cast<double>(x.size() + y.size());
    EXPECT_EQ(rate(a, b, 1), r);
    EXPECT_EQ(rate(a, b, r), r);
    EXPECT_EQ(rate(a, b, std::nextafter(r, 1.0)), r);
    if (r > 0) {
      EXPECT_EQ(rate(a, b, std::nextafter(r, 0.0)), std::nullopt);
    }
  }
}

TEST(EditRate, WithinCells) {
  Random random(12);
  const auto within = [](std::string_view a, std::string_view b, uint64_t cells) {
    const Exact x(a), y(b);
    return edit_rate_within(Unit::character, x.data(), x.size(), y.data(), y.size(), cells);
  };
  EXPECT_EQ(within("", "", 0), 0.0);
  EXPECT_EQ(within("", "ab", 0), 1.0) << "nothing to search";
  EXPECT_EQ(within("abc", "abc", 0), 0.0);
  EXPECT_EQ(within("щука", "щуки", 4), 0.125);
  EXPECT_EQ(within("щука", "щуки", 3), std::nullopt);
  for (int i = 0; i < 60; ++i) {
    const uint32_t alphabet = i % 2 == 0 ? 4 : 0;
    const std::string a = text(random, random() % 600, alphabet), b = edited(random, a, 0.1, alphabet);
    const auto x = reference::code_point_symbols(a), y = reference::code_point_symbols(b);
    if (x.empty() || y.empty()) continue;
    const uint64_t d = reference::edit_distance(x, y), cells = d * std::min(x.size(), y.size());
    const double r = static_cast<double>(d) / static_cast<double>(x.size() + y.size());
    for (const auto& [p, q] : {std::pair{a, b}, {b, a}}) {
      EXPECT_EQ(within(p, q, cells), r);
      EXPECT_EQ(within(p, q, x.size() * y.size()), r);
      EXPECT_EQ(within(p, q, UINT64_MAX), r);
      if (d > 0) {
        EXPECT_EQ(within(p, q, cells - 1), std::nullopt);
      }
    }
  }
}

// ---------------------------------------------------------------- real documents

// The fields of the lines of a gzipped file in PostgreSQL's COPY format.
std::vector<std::vector<std::string>> copied_lines(const std::string& path) {
  std::vector<std::vector<std::string>> out;
  std::string all;
  FILE* const pipe = popen(("gzip -dc '" + path + "'").c_str(), "r");
  char buffer[65536];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) all.append(buffer, n);
  pclose(pipe);
  std::vector<std::string> fields(1);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == '\t') {
      fields.emplace_back();
    } else if (all[i] == '\n') {
      out.push_back(std::move(fields));
      fields.assign(1, "");
    } else if (all[i] == '\\' && all[i + 1] != 'N') {
      static constexpr std::string_view kCodes = "nrtbfv", kMeanings = "\n\r\t\b\f\v";
      const size_t at = kCodes.find(all[++i]);
      fields.back() += at == kCodes.npos ? all[i] : kMeanings[at];
    } else {
      fields.back() += all[i];
    }
  }
  return out;
}

// NEARDUP_DATA names a folder of sets with docs.tsv.gz (id, .., text) and pairs.tsv.gz (id, id, distance or \N where
// the rate is above 0.06, rate, ..), made by another program.
TEST(EditDistance, RealDocuments) {
  const char* const full = std::getenv("NEARDUP_FULL");
  size_t stride = full != nullptr && std::string_view(full) == "1" ? 1 : 8;
#ifdef __SANITIZE_ADDRESS__
  stride *= 8;  // these take twenty times as long
#endif
  const char* const folder = std::getenv("NEARDUP_DATA");
  if (folder == nullptr) GTEST_SKIP() << "NEARDUP_DATA is not set";
  size_t checked = 0, above = 0;
  for (const char* set :
       {"code_plagiarism/", "code_submissions/", "code_versions/", "ja_aozora/", "law_versions/", "news_reuters/",
        "sms/", "text_articles/articles_2500", "zh_classic_editions/", "zh_headlines/", "zh_tang_editions/"}) {
    const std::string base = std::string(folder) + "/" + set;
    const bool in_folder = base.back() == '/';
    const std::string docs = base + (in_folder ? "docs.tsv.gz" : ".tsv.gz");
    if (!std::ifstream(docs).is_open()) continue;
    std::map<std::string, std::string> texts;
    for (const auto& fields : copied_lines(docs)) texts[fields[0]] = fields.back();
    size_t of_set = 0, above_of_set = 0;
    const auto pairs = copied_lines(base + (in_folder ? "pairs.tsv.gz" : "_pairs.tsv.gz"));
    test::for_each_kernels([&] {
      const std::string_view form = kernels().name;
      if (form == "avx2" || form == "neon") return;  // which take the plain form
      of_set = above_of_set = 0;
      for (size_t i = 0; i < pairs.size(); i += stride) {
        const auto& pair = pairs[i];
        const std::string& a = texts.at(pair[0]);
        const std::string& b = texts.at(pair[1]);
        const auto* const p = reinterpret_cast<const uint8_t*>(a.data());
        const auto* const q = reinterpret_cast<const uint8_t*>(b.data());
        if (pair[2] == "\\N") {
          ++above_of_set;
          EXPECT_EQ(edit_rate(Unit::character, p, a.size(), q, b.size(), 0.06), std::nullopt) << set << pair[0];
          continue;
        }
        ++of_set;
        const uint64_t d = std::stoull(pair[2]);
        EXPECT_EQ(distance(Unit::character, a, b), d) << set << " " << pair[0] << " " << pair[1];
        EXPECT_EQ(distance(Unit::character, a, b, d + d / 20), d);
        if (d > 0) {
          EXPECT_EQ(distance(Unit::character, a, b, d - 1), kNone);
        }
        const auto rate = edit_rate(Unit::character, p, a.size(), q, b.size(), 0.11);
        ASSERT_TRUE(rate.has_value());
        EXPECT_NEAR(*rate, std::stod(pair[3]), 6e-9);
      }
    });
    std::printf("%-28s %6zu distances, %6zu above the bound\n", set, of_set, above_of_set);
    checked += of_set;
    above += above_of_set;
  }
  std::printf("%-28s %6zu distances, %6zu above the bound\n", "all", checked, above);
}

// ---------------------------------------------------------------- limits

// Between polls the time of this thread counts, not that of others.
struct CountingStop : StopCheck {
  bool should_stop() noexcept override {
    const std::clock_t now = std::clock();
    if (polls++ > 0) longest = std::max(longest, now - last);
    last = now;
    return polls > allowed;
  }
  int polls = 0;
  int allowed = 1'000'000;
  std::clock_t last = 0;
  std::clock_t longest = 0;
};

TEST(EditDistance, CanBeCancelled) {
  Random random(12);
  const std::string a = text(random, 40000, 26), b = text(random, 40000, 26), c = edited(random, a, 0.001, 26);
  const std::string wide = text(random, 20000, 0), wide2 = text(random, 20000, 0);
  const std::string big(64 << 20, 'a');
  const std::string big_a = big + "a" + big, big_b = big + "b" + big;
  test::for_each_kernels([&] {
    int polls_needed = 0;
    double longest = 0;
    const auto measure = [&](Unit unit, const std::string& x, const std::string& y) {
      CountingStop stop;
      const auto* p = reinterpret_cast<const uint8_t*>(x.data());
      const auto* q = reinterpret_cast<const uint8_t*>(y.data());
      edit_distance(unit, p, x.size(), q, y.size(), UINT64_MAX, {.stop = &stop});
      longest = std::max(longest, 1e3 * static_cast<double>(stop.longest) / CLOCKS_PER_SEC);
      polls_needed = stop.polls;
    };
    measure(Unit::character, wide, wide2);
    measure(Unit::byte, a + b, c + b);
    measure(Unit::character, big_a, big_b);
    measure(Unit::byte, a, b);
    EXPECT_GT(polls_needed, 10);
    std::printf("%s: polled at most %.1f ms apart\n", kernels().name, longest);
    for (int polls = 0; polls < polls_needed && polls < 40; polls += 7) {
      CountingStop soon;
      soon.allowed = polls;
      try {
        distance(Unit::byte, a, b, UINT64_MAX, {.stop = &soon});
        if (polls < 10) ADD_FAILURE() << "was not cancelled";
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::cancelled);
      }
    }
  });
}

TEST(EditDistance, MemoryIsCountedAndLimited) {
  Random random(13);
  const std::string a = text(random, 300'000, 26), b = text(random, 300'000, 26), c = edited(random, a, 0.003, 26);
  EditStats stats;
  distance(Unit::byte, a, c, UINT64_MAX, {}, &stats);
  EXPECT_LE(stats.peak_bytes, 200'000u);
  EXPECT_EQ(distance(Unit::byte, a, b, 100'000, {}, &stats), kNone);
  EXPECT_GT(stats.peak_bytes, 40'000u);
  EXPECT_LE(stats.peak_bytes, 150'000u);
  EXPECT_EQ(distance(Unit::byte, a, b, 100'000, {.memory_limit = 1 << 20}), kNone);
  try {
    distance(Unit::byte, a, b, UINT64_MAX - 1, {.memory_limit = 0});
    FAIL() << "took more than 64 KB";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::out_of_budget);
  }
  // The bound grows no further than the memory allows.
  const std::string e = text(random, 120'000, 2), f = edited(random, e, 0.8, 2);
  const uint64_t d = distance(Unit::byte, e, f, UINT64_MAX, {}, &stats);
  EXPECT_EQ(distance(Unit::byte, e, f + f, UINT64_MAX, {.memory_limit = 0}, &stats), distance(Unit::byte, e, f + f));
  EXPECT_EQ(distance(Unit::byte, e, f, UINT64_MAX, {.memory_limit = 0}, &stats), d);
  // Few differences need little whatever the texts' size.
  EXPECT_EQ(distance(Unit::byte, a, c, UINT64_MAX, {.memory_limit = 0}), distance(Unit::byte, a, c));
}

}  // namespace
}  // namespace neardup::edit_distance_test
