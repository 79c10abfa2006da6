// Grams of ctph digests: whatever score and edit rate say, the promised number of keys is common.
#include "core/lsh/ctph_keys.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "core/signature/ctph_compare.h"

namespace neardup::ctph_keys_test {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

TEST(LshGrams, Rules) {
  // Two parts of 20 characters, 2 edits (0.05) or 6 (0.15): 20 - 6 - 7 * 2 and 20 - 2 - 3 * 6 grams are left, none.
  EXPECT_EQ(gram_rules(0).q, 0u);
  EXPECT_EQ(gram_rules(0.05).q, 7u);
  EXPECT_EQ(gram_rules(0.05).short_length, 21u);
  EXPECT_EQ(gram_rules(0.06).q, 7u);
  EXPECT_EQ(gram_rules(0.07).q, 3u);
  EXPECT_EQ(gram_rules(0.15).q, 3u);
  EXPECT_EQ(gram_rules(0.15).short_length, 21u);
  for (const double bad : {-0.01, 0.1500001, 1.0, std::nan("")}) EXPECT_THROW(gram_rules(bad), Error) << bad;
}

TEST(LshGrams, MostEdits) {
  EXPECT_EQ(most_edits(128, 0.15), 19u);
  EXPECT_EQ(most_edits(128, 0.05), 6u);
  EXPECT_EQ(most_edits(100, 0.07), 7u);
  EXPECT_EQ(most_edits(0, 0.5), 0u);
  EXPECT_EQ(most_edits(10, 1), 10u);
  EXPECT_EQ(most_edits(10, -1), 0u);
  // The very comparison that SQL makes, whatever the rounding.
  for (uint32_t n = 1; n <= 300; ++n)
    for (uint32_t d = 0; d <= n; ++d) EXPECT_EQ(most_edits(n, static_cast<double>(d) / n), d);
}

class Digests {
 public:
  explicit Digests(uint64_t seed) : random_(seed) {}

  size_t below(size_t n) { return random_() % n; }

  // letters: few make repeated grams.
  std::string part(size_t length, size_t letters) {
    std::string s;
    while (s.size() < length) {
      if (!s.empty() && below(12) == 0)
        s.append(std::min(length - s.size(), 1 + below(9)), s.back());  // runs
      else if (s.size() > 8 && below(15) == 0)
        s += s.substr(below(s.size() - 4), 4);  // repeats
      else
        s += kAlphabet[below(letters)];
    }
    s.resize(length);
    return s;
  }

  std::string edited(std::string s, size_t edits, size_t most) {
    for (size_t i = 0; i < edits; ++i) {
      const size_t at = below(s.size() + 1);
      switch (below(3)) {
        case 0:
          if (s.size() < most) s.insert(at, 1, kAlphabet[below(64)]);
          break;
        case 1:
          if (at < s.size()) s.erase(at, 1);
          break;
        default:
          if (at < s.size()) s[at] = kAlphabet[below(64)];
      }
    }
    return s;
  }

  CtphDigest digest(bool is_long) {
    const size_t letters = below(3) == 0 ? 2 + below(4) : 64;
    const size_t most = is_long ? (below(4) == 0 ? 1000 : 200) : 64;
    const size_t n = below(4) == 0 ? below(most + 1) : below(3) == 0 ? below(30) : most - below(10);
    CtphDigest d;
    d.exponent = static_cast<uint32_t>(below(4));
    d.length = is_long ? 1024 : 64;
    d.part1 = part(n, letters);
    d.part2 = part(std::min(below(n + 1), is_long ? most : 32), letters);
    return d;
  }

  // A relative: some edits, perhaps seen at the next block size.
  CtphDigest near(const CtphDigest& d) {
    const size_t most = d.length;
    CtphDigest out = d;
    const size_t share = d.part1.size() / (2 + below(12)) + 1;
    switch (below(4)) {
      case 0:
        out.exponent = d.exponent + 1;
        out.part1 = edited(d.part2, below(share), most);
        out.part2 = part(below(10), 64);
        break;
      case 1:
        if (d.exponent == 0) break;
        out.exponent = d.exponent - 1;
        out.part2 = edited(d.part1, below(share), most);
        out.part1 = part(below(40), 64);
        break;
      case 2:
        out.part1 = edited(d.part1, below(share), most);
        break;
      default:
        out.part1 = edited(d.part1, below(share), most);
        out.part2 = edited(d.part2, below(share), most);
    }
    return out;
  }

 private:
  std::mt19937_64 random_;
};

uint32_t common(const GramProbes& probes, const std::vector<uint64_t>& keys) {
  std::vector<uint64_t> row = keys;
  std::sort(row.begin(), row.end());
  row.erase(std::unique(row.begin(), row.end()), row.end());
  uint32_t n = 0;
  for (const uint64_t key : probes.keys) n += std::binary_search(row.begin(), row.end(), key);
  return n;
}

void expect_found(const CtphDigest& a, const CtphDigest& b, int* scored, int* rated) {
  const CtphView x = digest_view(a), y = digest_view(b);
  const int score = ctph_score(x, y);
  const double rate = ctph_edit_rate(x, y);
  for (const double max_rate : {0.0, 0.03, 0.06, 0.1, 0.15}) {
    const GramRules rules = gram_rules(max_rate);
    const std::vector<uint64_t> keys = gram_keys(rules, x);
    EXPECT_LE(keys.size(), 1600u);
    if (score > 0) {
      const GramProbes probes = score_probes(y, score);
      if (probes.served) {
        EXPECT_FALSE(probes.nothing);
        EXPECT_GE(common(probes, keys), probes.hits) << ctph_to_text(x) << "\n" << ctph_to_text(y);
        ++*scored;
      }
    }
    // At the very rate, the tightest bound that it is within, and at the greatest.
    for (const double bound : {rate, max_rate}) {
      if (rate > bound || bound > max_rate || max_rate == 0) continue;
      const GramProbes probes = rate_probes(rules, y, bound);
      if (!probes.served) continue;
      EXPECT_FALSE(probes.nothing);
      EXPECT_GE(probes.hits, 1u);
      EXPECT_LE(probes.hits, probes.keys.size());
      EXPECT_GE(common(probes, keys), probes.hits) << ctph_to_text(x) << "\n"
                                                   << ctph_to_text(y) << "\nrate " << rate << ", bound " << bound;
      ++*rated;
    }
  }
}

TEST(LshGrams, EveryNearDigestIsFound) {
  for (const bool is_long : {false, true}) {
    Digests digests(is_long ? 3 : 2);
    int scored = 0;
    int rated = 0;
    for (int round = 0; round < (is_long ? 1500 : 12000); ++round) {
      const CtphDigest a = digests.digest(is_long);
      const CtphDigest b = digests.near(a);
      expect_found(a, b, &scored, &rated);
      expect_found(b, a, &scored, &rated);
    }
    EXPECT_GT(scored, is_long ? 2000 : 20000);
    EXPECT_GT(rated, is_long ? 2000 : 20000);
  }
}

// Parts of all pairs of short lengths, where the lemma promises nothing.
TEST(LshGrams, ShortParts) {
  Digests digests(5);
  int scored = 0;
  int rated = 0;
  for (size_t n = 0; n <= 40; ++n) {
    for (int round = 0; round < 40; ++round) {
      CtphDigest a{3, 64, digests.part(n, 3), digests.part(n / 2, 3)};
      CtphDigest b = a;
      b.part1 = digests.edited(a.part1, 1 + digests.below(1 + n / 4), 64);
      expect_found(a, b, &scored, &rated);
      expect_found(b, a, &scored, &rated);
    }
  }
  EXPECT_GT(rated, 5000);
}

TEST(LshGrams, Bounds) {
  const CtphDigest d{3, 64, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefgh", "abcdefghijklm"};
  const CtphDigest empty{0, 64, "", ""};
  const GramRules rules = gram_rules(0.1);
  EXPECT_FALSE(score_probes(digest_view(d), 0).served);
  EXPECT_FALSE(score_probes(digest_view(d), -5).served);
  EXPECT_TRUE(score_probes(digest_view(d), 100.5).nothing);
  EXPECT_TRUE(score_probes(digest_view(d), std::nan("")).nothing);
  EXPECT_TRUE(score_probes(digest_view(d), 0.5).served);
  EXPECT_TRUE(rate_probes(rules, digest_view(d), 0.1).served);
  EXPECT_FALSE(rate_probes(rules, digest_view(d), 0.1000001).served);
  EXPECT_FALSE(rate_probes(rules, digest_view(d), std::nan("")).served);
  EXPECT_TRUE(rate_probes(rules, digest_view(d), -0.1).nothing);
  EXPECT_TRUE(rate_probes(rules, digest_view(d), 0).served);
  EXPECT_FALSE(rate_probes(gram_rules(0), digest_view(d), 0).served);
  // The rate of empty parts is 1; their score with themselves is 100.
  EXPECT_TRUE(rate_probes(rules, digest_view(empty), 0.1).nothing);
  const GramProbes probes = score_probes(digest_view(empty), 100);
  EXPECT_EQ(common(probes, gram_keys(rules, digest_view(empty))), 1u);
  EXPECT_EQ(common(probes, gram_keys(rules, digest_view(d))), 0u);
}

}  // namespace
}  // namespace neardup::ctph_keys_test
