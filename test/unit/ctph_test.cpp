// Digests against those of ssdeep and the obvious version; scores and edit rates against textbook ones; the forms.
#include "core/signature/ctph.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/bits.h"
#include "core/kernels/ctph_kernels.h"
#include "core/kernels/kernels.h"
#include "core/signature/ctph_compare.h"

#include "test/reference/ctph_inputs.h"
#include "test/reference/ctph_reference.h"
#include "test/unit/support.h"

namespace neardup::ctph_test {
namespace {

using test::Random;

std::string shown_digest(const CtphDigest& d) { return ctph_to_text(digest_view(d)); }

std::string digest_text(std::string_view s) {
  const test::Exact exact(s);
  return shown_digest(ctph(exact.data(), exact.size()));
}

// The digest of s in portions of 0 to `most` bytes.
CtphDigest streamed(std::string_view s, uint32_t length, Random& random, size_t most) {
  CtphHasher h(length);
  for (size_t at = 0; at < s.size();) {
    const size_t n = std::min<size_t>(s.size() - at, random() % (most + 1));
    const test::Exact exact(s.substr(at, n));
    h.update(exact.data(), n);
    at += n;
    if (random() % 32 == 0) h.digest();
  }
  return h.digest();
}

reference::Ctph plain(const CtphDigest& d) { return {ctph_block_size(d.exponent), d.part1, d.part2}; }

std::string some_input(Random& random, size_t most) {
  const char* const kind = reference::kCtphInputKinds[random() % std::size(reference::kCtphInputKinds)];
  return reference::ctph_input(kind, random(), random() % 4 == 0 ? random() % 40 : random() % most);
}

std::string some_part(Random& random, size_t most, unsigned letters = 64) {
  static const char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string s;
  const size_t n = random() % 3 == 0 ? most : random() % (most + 1);
  while (s.size() < n) s.append(random() % 10 == 0 ? 1 + random() % 7 : 1, kAlphabet[random() % letters]);
  s.resize(n);
  return s;
}

std::string edited(Random& random, std::string s, size_t most, uint64_t edits) {
  for (; edits > 0; --edits) {
    const size_t at = s.empty() ? 0 : random() % s.size();
    if (random() % 3 == 0 && !s.empty())
      s.erase(at, 1);
    else if (random() % 2 == 0 && !s.empty())
      s[at] = static_cast<char>('A' + random() % 26);
    else if (s.size() < most)
      s.insert(at, 1, static_cast<char>('A' + random() % 26));
  }
  return s;
}

// Two digests, often alike, at equal or neighbouring block sizes. Parts of plain ones may hold runs.
std::pair<CtphDigest, CtphDigest> some_pair(Random& random, uint32_t length) {
  const uint32_t e = static_cast<uint32_t>(random() % 3 == 0 ? random() % 31 : random() % 6);
  const unsigned letters = random() % 4 == 0 ? 3 : 64;
  CtphDigest a{e, length, some_part(random, length, letters), some_part(random, length, letters)};
  CtphDigest b{e, length, edited(random, a.part1, length, random() % (1u << random() % 7)),
               edited(random, a.part2, length, random() % (1u << random() % 7))};
  switch (random() % 5) {
    case 0:
      b.exponent = e == 0 ? 1 : e - 1;
      std::swap(b.part1, b.part2);
      break;
    case 1:
      b.exponent = std::min(e + 1, 30u);
      std::swap(b.part1, b.part2);
      break;
    case 2:
      b.exponent = static_cast<uint32_t>(random() % 31);
      break;
    default:
      break;
  }
  return {a, b};
}

std::string refusal(Errc code, const std::string& text) {
  try {
    const CtphDigest d = ctph_from_text(text);
    ADD_FAILURE() << text << " read as " << shown_digest(d);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << text;
    EXPECT_FALSE(e.hint().empty());
    return e.detail();
  }
  return {};
}

TEST(Ctph, GoldenDigests) {
  const auto lines = test::golden_lines("golden_ctph.tsv");
  ASSERT_GT(lines.size(), 250u);
  test::for_each_kernels([&] {
    Random random(1);
    for (const auto& f : lines) {
      ASSERT_EQ(f.size(), 4u);
      const std::string s = reference::ctph_input(f[0], std::stoull(f[1]), std::stoul(f[2]));
      ASSERT_EQ(digest_text(s), f[3]) << f[0] << " " << f[1] << " " << f[2];
      ASSERT_EQ(shown_digest(streamed(s, 64, random, size_t{2} << random() % 14)), f[3])
          << f[0] << " " << f[1] << " " << f[2];
    }
  });
}

TEST(Ctph, WellKnownDigests) {
  EXPECT_EQ(digest_text(""), "3::");
  EXPECT_EQ(shown_digest(ctph(nullptr, 0)), "3::");
  EXPECT_EQ(digest_text(std::string(1000, '\0')), "3::");
  EXPECT_EQ(digest_text("a"), "3:E:E");
  EXPECT_EQ(digest_text("abc"), "3:uG:uG");
  EXPECT_EQ(digest_text("The quick brown fox jumps over the lazy dog"), "3:FJKKIUKact:FHIGi");
  EXPECT_EQ(digest_text(std::string(10000, 'a')), "3:tjl:X");
}

TEST(Ctph, EqualsTheReference) {
  test::for_each_kernels([] {
    Random random(2);
    for (int i = 0; i < 1500; ++i) {
      const std::string s = some_input(random, i % 20 == 0 ? 60000 : 4000);
      const std::string expected = reference::ctph_text(reference::ctph(s));
      ASSERT_EQ(digest_text(s), expected);
      ASSERT_EQ(shown_digest(streamed(s, 64, random, size_t{1} << random() % 12)), expected);
    }
  });
}

TEST(Ctph, LongEqualsTheReference) {
  test::for_each_kernels([] {
    Random random(3);
    for (int i = 0; i < 600; ++i) {
      const std::string s = some_input(random, i % 20 == 0 ? 100000 : 8000);
      const uint32_t length = static_cast<uint32_t>(i % 3 == 0 ? (i % 2 ? 65 : 1024) : 65 + random() % 960);
      const reference::Ctph expected = reference::ctph_long(s, length);
      const test::Exact exact(s);
      const CtphDigest got = ctph_long(exact.data(), exact.size(), length);
      ASSERT_EQ(plain(got).block_size, expected.block_size);
      ASSERT_EQ(got.part1, expected.part1);
      ASSERT_EQ(got.part2, expected.part2);
      ASSERT_EQ(got.length, length);
      ASSERT_LE(got.part1.size(), length);
      ASSERT_EQ(streamed(s, length, random, size_t{1} << random() % 12), got);
    }
  });
}

// Seven bytes whose window sum ends a piece at every block size: even the largest does not fit, and has to hold all.
TEST(Ctph, LargestBlockSizeHoldsAll) {
  // v + 1 = 3 * 2^30. The upper three bits of each byte and the weighted sum are guessed; the lower five follow.
  Random random(11);
  std::string unit(7, '\0');
  for (bool found = false; !found;) {
    const uint32_t sum = static_cast<uint32_t>(random() % 8926);
    const uint32_t shifted = (3u << 30) - 1 - sum;
    uint32_t upper = 0, linear = 0;
    for (uint32_t i = 0; i < 7; ++i) {
      const uint32_t low = (shifted >> 5 * i & 31) ^ upper;
      upper = static_cast<uint32_t>(random() % 8);
      const uint32_t c = i < 6 ? low | upper << 5 : (low & 3) | (upper << 5 & 255);
      linear += (8 - i) * c;
      unit[6 - i] = static_cast<char>(c);
    }
    found = linear == sum;
  }
  std::string s;
  for (int i = 0; i < 1500; ++i) s += unit;
  for (const bool ends_in_zeros : {false, true}) {
    if (ends_in_zeros) s += std::string(8, '\0');
    EXPECT_EQ(digest_text(s), reference::ctph_text(reference::ctph(s)));
    for (const uint32_t length : {65u, 100u, 1024u}) {
      const CtphDigest got = ctph_long(s.data(), s.size(), length);
      const reference::Ctph expected = reference::ctph_long(s, length);
      EXPECT_EQ(got.exponent, 30u);
      EXPECT_EQ(plain(got).block_size, expected.block_size);
      EXPECT_EQ(got.part1, expected.part1);
      EXPECT_EQ(got.part2, expected.part2);
    }
  }
}

TEST(Ctph, Stops) {
  struct After : StopCheck {
    bool should_stop() noexcept override { return --left < 0; }
    int left = 0;
  } stop;
  const std::string s = reference::ctph_input("random", 1, 2000000);
  const CtphDigest expected = ctph(s.data(), s.size());
  stop.left = 1000;
  EXPECT_EQ(ctph(s.data(), s.size(), &stop), expected);
  EXPECT_EQ(stop.left, 992);
  stop.left = 5;
  EXPECT_THROW(ctph(s.data(), s.size(), &stop), Error);
  stop.left = 5;
  EXPECT_THROW(ctph_long(s.data(), s.size(), 256, &stop), Error);
}

TEST(Ctph, LengthsOutOfRange) {
  for (const int64_t length : {-1, 0, 63, 64, 1025, 1 << 20})
    EXPECT_THROW(ctph_long("abc", 3, length), Error) << length;
  for (const uint32_t length : {0u, 63u, 1025u, ~0u}) EXPECT_THROW(CtphHasher h(length), Error) << length;
}

// A part of a long digest depends on the document and its block size alone.
TEST(Ctph, LongPartsOfOneBlockSizeAgree) {
  Random random(4);
  int seen = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string s = reference::ctph_input("letters", random(), random() % 30000);
    const CtphDigest a = ctph_long(s.data(), s.size(), 65 + static_cast<int64_t>(random() % 960));
    const CtphDigest b = ctph_long(s.data(), s.size(), 65 + static_cast<int64_t>(random() % 960));
    std::string_view x, y;
    if (!common_parts(digest_view(a), digest_view(b), &x, &y)) continue;
    ASSERT_EQ(x, y);
    ASSERT_EQ(ctph_edit_rate(digest_view(a), digest_view(b)), x.empty() ? 1 : 0);
    ++seen;
  }
  EXPECT_GT(seen, 100);
}

TEST(Ctph, ScoreEqualsTheReference) {
  Random random(5);
  int positive = 0;
  for (int i = 0; i < 30000; ++i) {
    const bool is_long = i % 8 == 0;
    const auto [a, b] = some_pair(random, is_long ? 65 + static_cast<uint32_t>(random() % 140) : 64);
    const int expected = reference::ctph_score(plain(a), plain(b));
    ASSERT_EQ(ctph_score(digest_view(a), digest_view(b)), expected) << shown_digest(a) << " " << shown_digest(b);
    ASSERT_EQ(ctph_score(digest_view(b), digest_view(a)), expected) << shown_digest(a) << " " << shown_digest(b);
    positive += expected > 0;
  }
  EXPECT_GT(positive, 5000);
}

// Pairs scored by ssdeep 2.14.1.
TEST(Ctph, WellKnownScores) {
  const auto score = [](const char* a, const char* b) {
    const CtphDigest x = ctph_from_text(a), y = ctph_from_text(b);
    return ctph_score(digest_view(x), digest_view(y));
  };
  EXPECT_EQ(score("3::", "3::"), 100);
  EXPECT_EQ(score("3::", "6::"), 0);
  EXPECT_EQ(score("3:aaaaa:b", "3:aaa:b"), 100);
  EXPECT_EQ(score("3221225472:abcdefgh:abcdefghi", "3221225472:xabcdefgh:abcdefghij"), 96);
  const char* const a = "192:MUPMinqP6+wNQ7Q40L/iB3n2rIBrP0GZKF4jsef+0FVQLSwbLbj41iH8nFVYv980:x0CllivQiFmt";
  const char* const b = "192:JkjRcePWsNVQza3ntZStn5VfsoXMhRD9+xJMinqF6+wNQ7Q40L/i737rPVt:JkjlQyIrx+kll2";
  EXPECT_EQ(score(a, a), 100);
  EXPECT_EQ(score(a, b), 35);
}

TEST(Ctph, ScoresExplained) {
  Random random(13);
  std::map<CtphReason, int> seen;
  for (int i = 0; i < 20000; ++i) {
    auto [a, b] = some_pair(random, i % 10 == 0 ? 65 + static_cast<uint32_t>(random() % 200) : 64);
    if (i % 7 == 0) {
      a.part1.resize(std::min<size_t>(a.part1.size(), random() % 10));
      a.part2.resize(std::min<size_t>(a.part2.size(), 6));
    }
    const CtphScore got = explain_ctph_score(digest_view(a), digest_view(b));
    ASSERT_EQ(got.score, ctph_score(digest_view(a), digest_view(b))) << shown_digest(a) << " " << shown_digest(b);
    reference::Ctph x = plain(a), y = plain(b);
    // True if two parts could share 7 characters.
    const auto room = [](const std::string& p, const std::string& q) {
      return std::min(reference::cut_runs(p).size(), reference::cut_runs(q).size()) >= 7;
    };
    const auto room_as_written = [](const std::string& p, const std::string& q) {
      return std::min(p.size(), q.size()) >= 7;
    };
    const auto some_cut = [](const std::string& p, const std::string& q) {
      return reference::cut_runs(p).size() < p.size() || reference::cut_runs(q).size() < q.size();
    };
    const auto some_common = [&](auto holds) {
      return x.block_size > y.block_size   ? holds(x.part1, y.part2)
             : x.block_size < y.block_size ? holds(x.part2, y.part1)
                                           : holds(x.part1, y.part1) || holds(x.part2, y.part2);
    };
    const bool common = x.block_size <= 2 * y.block_size && y.block_size <= 2 * x.block_size;
    const bool equal = x.block_size == y.block_size && reference::cut_runs(x.part1) == reference::cut_runs(y.part1) &&
                       reference::cut_runs(x.part2) == reference::cut_runs(y.part2);
    const bool long_enough = some_common(room);
    const bool written_long = some_common(room_as_written);
    const bool cut = some_common(some_cut);
    x.block_size *= 16;
    y.block_size *= 16;
    const int uncapped = reference::ctph_score(x, y);
    ASSERT_EQ(got.uncapped, uncapped) << shown_digest(a) << " " << shown_digest(b);
    ASSERT_EQ(got.reason, !common                ? CtphReason::no_common_block_size
                          : equal                ? CtphReason::equal
                          : !written_long        ? CtphReason::too_short
                          : !long_enough         ? CtphReason::too_short_cut
                          : uncapped == 0 && cut ? CtphReason::nothing_shared_cut
                          : uncapped == 0        ? CtphReason::nothing_shared
                          : got.score < uncapped ? CtphReason::capped
                                                 : CtphReason::measured)
        << shown_digest(a) << " " << shown_digest(b);
    ++seen[got.reason];
  }
  const auto reason = [](const char* a, const char* b) {
    return explain_ctph_score(digest_view(ctph_from_text(a)), digest_view(ctph_from_text(b))).reason;
  };
  const std::string run = "3:" + std::string(64, 'A') + ":AAAA";
  ++seen[reason(run.c_str(), "3:abcdefghi:AAAA")];
  EXPECT_EQ(reason(run.c_str(), "3:abcdefghi:AAAA"), CtphReason::too_short_cut);
  EXPECT_EQ(reason("3:abcdef:x", "3:abcdefghi:x"), CtphReason::too_short);
  EXPECT_EQ(reason("3:AAAAAAAAbcdef:x", "3:AAAAAAAAghijk:x"), CtphReason::nothing_shared_cut);
  EXPECT_EQ(reason("3:abcdefgh:x", "3:hgfedcba:x"), CtphReason::nothing_shared);
  EXPECT_EQ(seen.size(), 8u);
}

TEST(Ctph, EditRateEqualsTheReference) {
  Random random(6);
  for (int i = 0; i < 20000; ++i) {
    const bool is_long = i % 10 == 0;
    const auto [a, b] = some_pair(random, is_long ? 65 + static_cast<uint32_t>(random() % 200) : 64);
    const double expected = reference::ctph_edit_rate(plain(a), plain(b));
    ASSERT_EQ(ctph_edit_rate(digest_view(a), digest_view(b)), expected) << shown_digest(a) << " " << shown_digest(b);
    ASSERT_EQ(ctph_edit_rate(digest_view(b), digest_view(a)), expected) << shown_digest(a) << " " << shown_digest(b);
  }
}

TEST(Ctph, Levenshtein) {
  Random random(7);
  for (int i = 0; i < 4000; ++i) {
    const size_t most = i % 20 == 0 ? 1024 : i % 3 == 0 ? 200 : 66;
    const unsigned letters = i % 2 ? 64 : 2;
    const std::string a = some_part(random, most, letters);
    const std::string b = i % 4 == 0 ? some_part(random, most, letters) : edited(random, a, most, random() % 100);
    ASSERT_EQ(levenshtein(a, b), reference::edit_distance(a, b, 1)) << a << " " << b;
  }
}

TEST(Ctph, LevenshteinOneAgainstMany) {
  test::for_each_kernels([] {
    Random random(8);
    for (int i = 0; i < 400; ++i) {
      const size_t num_groups = random() % 6;
      const auto groups = std::make_unique<LevenshteinGroup[]>(num_groups);
      const std::string text = some_part(random, i % 10 == 0 ? 300 : 64, i % 2 ? 64 : 3);
      std::vector<uint32_t> expected;
      for (size_t g = 0; g < num_groups; ++g) {
        for (size_t lane = 0; lane < kLevenshteinLanes; ++lane) {
          expected.push_back(static_cast<uint32_t>(text.size()));
          if (random() % 8 == 0) continue;
          const std::string pattern = random() % 2 ? some_part(random, 64, i % 2 ? 64 : 3)
                                                   : edited(random, text.substr(0, 64), 64, random() % 20);
          for (size_t c = 0; c < pattern.size(); ++c) groups[g].match[ctph_value(pattern[c])][lane] |= uint64_t{1} << c;
          groups[g].rows[lane] = low_bits(static_cast<unsigned>(pattern.size()));
          expected.back() = static_cast<uint32_t>(reference::edit_distance(text, pattern, 1));
        }
      }
      std::vector<uint32_t> got(expected.size());
      const std::vector<uint8_t> values = ctph_values(text, false);
      kernels().ctph->levenshtein64(values.data(), values.size(), groups.get(), num_groups, got.data());
      ASSERT_EQ(got, expected);
    }
  });
}

TEST(Ctph, WindowCandidates) {
  test::for_each_kernels([] {
    Random random(9);
    for (int i = 0; i < 2000; ++i) {
      const size_t n = random() % 300;
      std::string s(n + 6, '\0');
      const uint64_t letters = random() % 3 == 0 ? 256 : 1 + random() % 8;
      for (char& c : s) c = static_cast<char>(random() % letters * (random() % 2 ? 1 : 31));
      const uint32_t mask = (1u << random() % 17) - 1;
      reference::RollingHash rolling;
      std::vector<uint32_t> expected;
      for (size_t p = 0; p < s.size(); ++p)
        if (((rolling.next(static_cast<uint8_t>(s[p])) + 1) & mask) == 0 && p >= 6) expected.push_back(uint32_t(p - 6));
      const test::Exact exact(s);
      std::vector<uint32_t> got(n);
      got.resize(kernels().ctph->window_candidates(exact.data() + 6, n, mask, got.data()));
      ASSERT_EQ(got, expected) << n << " " << mask;
    }
  });
}

TEST(Ctph, TextRoundTrip) {
  Random random(10);
  for (int i = 0; i < 3000; ++i) {
    const uint32_t length = i % 2 ? 64 : 65 + static_cast<uint32_t>(random() % 960);
    const CtphDigest a{static_cast<uint32_t>(random() % 31), length, some_part(random, length),
                       some_part(random, length)};
    const std::string text = shown_digest(a);
    ASSERT_EQ(ctph_from_text(text), a) << text;
    ASSERT_EQ(ctph_from_text(text + ",\"a:name,\""), a) << text;
    ASSERT_EQ(ctph_from_text(text + ","), a) << text;
    std::vector<uint8_t> stored(ctph_size(digest_view(a)));
    write_ctph(digest_view(a), stored.data());
    const CtphView v = view_ctph(stored.data(), stored.size());
    ASSERT_EQ(ctph_to_text(v), text);
    ASSERT_EQ(v.is_long(), length != 64);
  }
}

// libfuzzy, too, has 64 characters once runs are cut.
TEST(Ctph, LongestParts) {
  std::string part;
  for (int i = 0; i < 61; ++i) part += static_cast<char>(i % 2 ? 'a' : 'b');
  EXPECT_EQ(ctph_from_text("3:" + part + std::string(900, 'x') + ":" + part + "xxx").part1.size(), 961u);
  EXPECT_EQ(refusal(Errc::invalid_text, "3:" + part + "yxxxxx:"),
            "Part 1 has 65 characters when runs are cut to three, at most 64 are allowed.");
  EXPECT_EQ(refusal(Errc::invalid_text, "3::" + part + "abab"),
            "Part 2 has 65 characters when runs are cut to three, at most 64 are allowed.");
  EXPECT_EQ(refusal(Errc::invalid_text, "3:" + std::string(1025, 'x') + ":"),
            "Part 1 has 1025 characters, at most 1024 are allowed.");
  EXPECT_EQ(refusal(Errc::invalid_text, "long65:3::" + std::string(66, 'x')),
            "Part 2 has 66 characters, at most 65 are allowed.");
}

TEST(Ctph, BadText) {
  const auto fault = [](const std::string& text) { return refusal(Errc::invalid_text, text); };
  EXPECT_EQ(fault(""), "There is no colon after the block size.");
  EXPECT_EQ(fault("3"), "There is no colon after the block size.");
  EXPECT_EQ(fault("3,:a:b"), "There is no colon after the block size.");
  EXPECT_EQ(fault("3:abc"), "There is no colon after the part 1.");
  EXPECT_EQ(fault("3:abc,:d"), "There is no colon after the part 1.");
  EXPECT_EQ(fault("long256"), "There is no colon after the length.");
  EXPECT_EQ(fault("long:3:a:b"), "The length \"\" is not a number.");
  EXPECT_EQ(fault("long64:3:a:b"), "The length 64 is out of range: that of a long digest is between 65 and 1024.");
  EXPECT_EQ(fault("long1025:3:a:b"), "The length 1025 is out of range: that of a long digest is between 65 and 1024.");
  for (const char* size : {"", " 3", "3 ", "+3", "-3", "03", "3x", "0x3", "3.0", "\xc3\xa9"})
    EXPECT_EQ(fault(std::string(size) + ":a:b"), "The block size \"" + std::string(size) + "\" is not a number.");
  const std::string allowed = ": it must be 3 * 2^i with i = 0..30 (3, 6, 12, 24, .. 3221225472).";
  for (const char* size : {"0", "1", "4", "7", "95", "1610612737"})
    EXPECT_EQ(fault(std::string(size) + ":a:b"), "The block size " + std::string(size) + " is not allowed" + allowed);
  for (const char* size : {"3221225473", "6442450944", "18446744073709551616"})
    EXPECT_EQ(fault(std::string(size) + ":a:b"), "The block size " + std::string(size) + " is out of range" + allowed);
  EXPECT_EQ(fault("3:ab$:c"), "Part 1 has \"$\" at character 3, allowed are A-Z, a-z, 0-9, + and /.");
  EXPECT_EQ(fault("3:a:b:c"), "Part 2 has \":\" at character 2, allowed are A-Z, a-z, 0-9, + and /.");
  EXPECT_EQ(fault("3:a:b\n"), "Part 2 has byte 10 at character 2, allowed are A-Z, a-z, 0-9, + and /.");
  EXPECT_EQ(fault("3:a:\xc3\xa9"), "Part 2 has byte 195 at character 1, allowed are A-Z, a-z, 0-9, + and /.");
  // The message shows the start of a text, cut between characters.
  std::string text(31, 'x');
  text += "\xc3\xa9\xc3\xa9";
  try {
    ctph_from_text(text);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), ("invalid input syntax for type ctph: \"" + std::string(31, 'x') + "..\"").c_str());
  }
}

TEST(Ctph, BadBytes) {
  const CtphDigest d = ctph_from_text("96:abc:de");
  std::vector<uint8_t> good(ctph_size(digest_view(d)));
  write_ctph(digest_view(d), good.data());
  EXPECT_EQ(good, (std::vector<uint8_t>{1, 5, 0, 64, 0, 3, 0, 2, 'a', 'b', 'c', 'd', 'e'}));
  const auto message = [](const std::vector<uint8_t>& bytes) -> std::string {
    const test::Exact exact({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    try {
      view_ctph(exact.data(), exact.size());
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::corrupt_data);
      return e.what();
    }
    return "accepted";
  };
  const auto with = [&good](size_t at, uint8_t value) {
    std::vector<uint8_t> out = good;
    out[at] = value;
    return out;
  };
  EXPECT_EQ(message(good), "accepted");
  EXPECT_EQ(message({}), "invalid ctph digest: 0 bytes are too few");
  EXPECT_EQ(message({1, 5, 0, 64, 0, 0, 0}), "invalid ctph digest: 7 bytes are too few");
  EXPECT_EQ(message(with(0, 2)), "invalid ctph digest: format 2 is not known, this library reads format 1");
  EXPECT_EQ(message(with(1, 31)), "invalid ctph digest: the block size is 3 * 2^31, at most 3 * 2^30");
  EXPECT_EQ(message(with(3, 63)), "invalid ctph digest: length is 63, it must be between 64 and 1024");
  EXPECT_EQ(message(with(2, 4)), "invalid ctph digest: length is 1088, it must be between 64 and 1024");
  EXPECT_EQ(message(with(5, 4)), "invalid ctph digest: 13 bytes, 14 expected");
  EXPECT_EQ(message(with(8, '-')),
            "invalid ctph digest: part 1 has \"-\" at character 1, allowed are A-Z, a-z, 0-9, + and /");
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_NE(message({good.begin(), good.begin() + static_cast<long>(n)}), "accepted");
}

TEST(Ctph, LongAndPlainAreIncomparable) {
  const CtphDigest a = ctph_from_text("3:abcdefgh:a"), b = ctph_from_text("long100:3:abcdefgh:a");
  const CtphDigest c = ctph_from_text("long200:3:abcdefgh:a");
  for (const auto& [x, y] : {std::pair{a, b}, {b, a}}) {
    EXPECT_THROW(ctph_score(digest_view(x), digest_view(y)), Error);
    EXPECT_THROW(ctph_edit_rate(digest_view(x), digest_view(y)), Error);
  }
  EXPECT_EQ(ctph_score(digest_view(b), digest_view(c)), 100);
  EXPECT_EQ(ctph_edit_rate(digest_view(b), digest_view(c)), 0);
  try {
    check_comparable(digest_view(a), digest_view(b));
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::incomparable);
    EXPECT_EQ(e.detail(), "left: ssdeep's, 64 characters; right: long, 100 characters");
  }
}

}  // namespace
}  // namespace neardup::ctph_test
