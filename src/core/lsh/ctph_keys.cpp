// See ctph_keys.h.
#include "core/lsh/ctph_keys.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "core/base/hash.h"
#include "core/base/message_text.h"
#include "core/base/sort_unique.h"

namespace neardup {
namespace {

constexpr uint32_t kScoreGram = 7;
constexpr double kLongGramRate = 0.06;  // up to which 7-grams find all

// The thing that a key stands for; grams have their q.
enum KeyKind : uint64_t { kWhole = 1, kShort1 = 2, kGrams3 = 3, kLong = 4, kShort2 = 5, kGrams7 = 7 };

constexpr uint64_t key_tag(uint64_t kind, uint32_t exponent) noexcept {
  return kSeed0 + (kind << 8 | exponent) * kLengthFactor;
}
constexpr uint64_t plain_key(uint64_t kind, uint32_t exponent) noexcept { return mix64(key_tag(kind, exponent)); }

// The keys of all grams, numbered by occurrence; those of the first occurrences alone unless `numbered`.
void add_grams(const std::vector<uint8_t>& part, uint32_t q, uint32_t exponent, bool numbered,
               std::vector<uint64_t>* keys) {
  const std::vector<uint64_t> grams = sorted_grams(part, q);
  const uint64_t tag = key_tag(q, exponent);
  uint64_t occurrence = 0;
  for (size_t i = 0; i < grams.size(); ++i) {
    occurrence = i > 0 && grams[i] == grams[i - 1] ? occurrence + 1 : 0;
    if (occurrence != 0 && !numbered) continue;
    keys->push_back(mum(grams[i] ^ tag, kSeed1 + occurrence * kLengthFactor));
  }
}

uint64_t whole_key(uint32_t exponent, const std::vector<uint8_t>& part1, const std::vector<uint8_t>& part2) {
  uint64_t h = key_tag(kWhole, exponent) + part1.size();
  for (const uint8_t v : part1) h = mum(h ^ v, kSeed1);
  h += part2.size();
  for (const uint8_t v : part2) h = mum(h ^ v, kSeed1);
  return mix64(h);
}

// The number of common grams that the lemma promises; 0 where it promises none.
uint32_t promised(uint32_t q, uint32_t longer, uint32_t edits) noexcept {
  const uint32_t lost = q * edits + q - 1;
  return longer > lost ? longer - lost : 0;
}

// The least number of keys that a qualifying part has in common with one of n characters, 1..kMaxGramLength.
uint32_t promised_hits(const GramRules& rules, uint32_t n, double rate) noexcept {
  if (n < rules.short_length) return 1;
  uint32_t least = promised(rules.q, n, most_edits(2 * n, rate));  // shorter rows: fewer edits, the same grams
  for (uint32_t row = n + 1; row <= kCtphMaxPart && row - n <= most_edits(row + n, rate); ++row) {
    if (row > kMaxGramLength) return 1;
    least = std::min(least, promised(rules.q, row, most_edits(row + n, rate)));
  }
  return std::max(least, 1u);
}

}  // namespace

uint32_t most_edits(uint32_t lengths, double rate) noexcept {
  if (!(rate >= 0) || lengths == 0) return 0;
  if (rate >= 1) return lengths;
  const auto reaches = [&](uint32_t d) { return static_cast<double>(d) / static_cast<double>(lengths) <= rate; };
  auto d = static_cast<uint32_t>(rate * lengths);
  while (d > 0 && !reaches(d)) --d;
  while (d < lengths && reaches(d + 1)) ++d;
  return d;
}

GramRules gram_rules(double max_rate) {
  if (!(max_rate >= 0 && max_rate <= kMaxMaxRate))
    throw Error(Errc::invalid_argument, "max_rate must be from 0 to 0.15: " + number_text(max_rate));
  GramRules rules{max_rate, 0, 0};
  if (max_rate == 0) return rules;
  rules.q = max_rate <= kLongGramRate ? kGrams7 : kGrams3;
  // The lemma's number for two parts of this length; of a longer and a shorter one it is no smaller.
  for (uint32_t n = kMaxGramLength; n > 0; --n) {
    if (promised(rules.q, n, most_edits(2 * n, max_rate)) > 0) continue;
    rules.short_length = n + 1;
    break;
  }
  return rules;
}

std::vector<uint64_t> gram_keys(const GramRules& rules, const CtphView& digest) {
  std::vector<uint64_t> keys;
  const std::string_view parts[] = {digest.part1, digest.part2};
  const std::vector<uint8_t> cut[] = {ctph_values(digest.part1, true), ctph_values(digest.part2, true)};
  keys.push_back(whole_key(digest.exponent, cut[0], cut[1]));
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t exponent = digest.exponent + i;
    const size_t n = parts[i].size();
    if (n > kMaxGramLength) keys.push_back(plain_key(kLong, exponent));
    if (cut[i].size() <= kMaxGramLength) add_grams(cut[i], kScoreGram, exponent, false, &keys);
    if (rules.q == 0 || n == 0 || n > kMaxGramLength) continue;
    add_grams(ctph_values(parts[i], false), rules.q, exponent, true, &keys);
    if (n < rules.short_length) keys.push_back(plain_key(i == 0 ? kShort1 : kShort2, exponent));
  }
  return keys;
}

GramProbes score_probes(const CtphView& query, double score) {
  GramProbes out;
  if (!(score > 0)) {
    // NaN is above all numbers.
    out.served = out.nothing = std::isnan(score);
    return out;
  }
  out.served = true;
  if (score > 100) {
    out.nothing = true;
    return out;
  }
  const std::vector<uint8_t> cut[] = {ctph_values(query.part1, true), ctph_values(query.part2, true)};
  out.keys.push_back(whole_key(query.exponent, cut[0], cut[1]));
  for (uint32_t i = 0; i < 2; ++i) {
    if (cut[i].size() > kMaxGramLength) {
      out.served = false;
      return out;
    }
    if (cut[i].size() < kScoreGram) continue;
    add_grams(cut[i], kScoreGram, query.exponent + i, false, &out.keys);
    out.keys.push_back(plain_key(kLong, query.exponent + i));
  }
  sort_unique(&out.keys, nullptr);
  return out;
}

GramProbes rate_probes(const GramRules& rules, const CtphView& query, double rate) {
  GramProbes out;
  if (rate < 0) {
    out.served = out.nothing = true;
    return out;
  }
  // NaN is above all rates.
  if (!(rate <= rules.max_rate) || rules.q == 0) return out;
  out.served = out.nothing = true;
  out.hits = kMaxGramLength;
  const std::string_view parts[] = {query.part1, query.part2};
  for (uint32_t i = 0; i < 2; ++i) {
    const auto n = static_cast<uint32_t>(parts[i].size());
    if (n == 0) continue;  // the rate of an empty part is 1
    if (n > kMaxGramLength) {
      out.served = out.nothing = false;
      out.keys.clear();
      return out;
    }
    out.nothing = false;
    const uint32_t exponent = query.exponent + i;
    add_grams(ctph_values(parts[i], false), rules.q, exponent, true, &out.keys);
    // Part 2 is often short, and compared with no other part 2.
    if (n < rules.short_length) {
      out.keys.push_back(plain_key(kShort1, exponent));
      if (i == 0) out.keys.push_back(plain_key(kShort2, exponent));
    }
    if (n > kMaxGramLength / 2) out.keys.push_back(plain_key(kLong, exponent));
    out.hits = std::min(out.hits, promised_hits(rules, n, rate));
  }
  sort_unique(&out.keys, nullptr);
  return out;
}

}  // namespace neardup
