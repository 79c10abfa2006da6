// Grams of ctph digests as an lsh index stores them: keys of a digest, and what to look up for a least score or a
// greatest edit rate.
//
// Score: not 0 only where both parts of a common block size share a run of 7 characters after runs are cut, or where
// all is equal. So a digest has a key for each such run, and one for its whole.
//
// Edit rate: two strings at Levenshtein distance d share at least max(|a|, |b|) - q + 1 - q d grams of q characters,
// counted as often as they occur in both (Ukkonen, "Approximate string-matching with q-grams and maximal matches",
// TCS 92, 1992; Jokinen, Ukkonen, MFCS 1991). Numbering the occurrences of a gram makes sets of the bags. Parts so
// short that the number could be 0 have a key in common instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/signature/ctph.h"

namespace neardup {

inline constexpr double kMaxMaxRate = 0.15;
inline constexpr double kDefaultMaxRate = 0.15;

// Parts above this length are not cut into grams (a row has 1600 keys at most) and have a key in common.
inline constexpr uint32_t kMaxGramLength = 390;

// The rules of an index. Plain data.
struct GramRules {
  double max_rate;        // greatest edit rate served; 0: none
  uint32_t q;             // grams for the edit rate: 7 or 3; 0: none
  uint32_t short_length;  // parts below it share a key, parts 1 one and parts 2 another
};

// 7-grams, which the score uses anyway, up to 0.06; above that 3-grams. max_rate 0..0.15, else Error{invalid_argument}.
GramRules gram_rules(double max_rate);

// Index keys: 64-bit hashes, without order, perhaps repeated.
std::vector<uint64_t> gram_keys(const GramRules& rules, const CtphView& digest);

// The keys to look up for a query. A qualifying row has at least `hits` of the keys, counted as often as a row has one.
struct GramProbes {
  bool served = false;   // else all rows have to be read
  bool nothing = false;  // no digest qualifies
  uint32_t hits = 1;
  std::vector<uint64_t> keys;  // each once
};
// Rows with ctph_score() >= score.
GramProbes score_probes(const CtphView& query, double score);
// Rows with ctph_edit_rate() <= rate.
GramProbes rate_probes(const GramRules& rules, const CtphView& query, double rate);

// Greatest distance d at which ctph_edit_rate() of parts with these lengths together is not above the rate.
uint32_t most_edits(uint32_t lengths, double rate) noexcept;

}  // namespace neardup
