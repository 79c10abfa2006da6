// See compare_texts.h.
#include "core/signature/compare_texts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/exact/edit_distance.h"
#include "core/signature/minhash.h"
#include "core/signature/sign.h"
#include "core/signature/simhash.h"

namespace neardup {
namespace {

// The limit of edit_rate_within(): a few seconds. Documented, and part of what an immutable function answers.
constexpr uint64_t kMaxCells = 50'000'000'000;

// From this similarity on documents are called near copies.
constexpr double kNearSimilarity = 0.8;

// The signature that is estimated by.
constexpr int64_t kNumPerm = 128;
constexpr int64_t kComparedBits = 32;

// A percentage for people; 100 of the whole only.
double percent(double share) { return share < 1 ? std::min(99.0, std::round(100 * share)) : 100; }

template <typename... Values>
std::string sentence(const char* format, Values... values) {
  char text[256];
  snprintf(text, sizeof text, format, values...);
  return text;
}

std::string overlap_note(const Overlap& o, bool equal, Unit unit, int k) {
  const char* what = units_in_words(unit);
  if (o.a == 0 && o.b == 0) return sentence("neither text has %s, so nothing is similar to them", what);
  if (o.a == 0 || o.b == 0)
    return sentence("%s has no %s, so nothing is similar to it", o.a == 0 ? "the first text" : "the second text", what);
  if (equal) return "the texts are equal";
  const double jaccard = o.jaccard();
  if (jaccard == 1) return sentence("the same shingles of %d %s: copies but for what shingling leaves out", k, what);
  if (jaccard >= kNearSimilarity)
    return sentence("near copies: %.0f %% of their shingles are shared", percent(jaccard));
  const double of_shorter = static_cast<double>(o.shared) / static_cast<double>(std::min(o.a, o.b));
  if (of_shorter >= kNearSimilarity)
    return sentence("one holds most of the other: %.0f %% of the shorter one's shingles", percent(of_shorter));
  if (o.shared > 0) return "some passages are shared; below the usual threshold of 0.8";
  return sentence("no shingle of %d %s is shared", k, what);
}

// The estimate of the Jaccard similarity of two sets of shingle hashes; 0 where one is empty.
double estimated(Unit unit, int k, const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, StopCheck* stop) {
  const MinhashParams params = document_params(unit, k, kNumPerm, kComparedBits, 0);
  uint32_t of_a[kNumPerm];
  uint32_t of_b[kNumPerm];
  const bool any_a = sign_set(params, a.data(), a.size(), stop, of_a);
  const bool any_b = sign_set(params, b.data(), b.size(), stop, of_b);
  return any_a && any_b ? estimate_jaccard(count_matches(of_a, of_b, kNumPerm, kComparedBits), kNumPerm, kComparedBits)
                        : 0;
}

}  // namespace

TextComparison compare_texts(Unit unit, int k, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                             StopCheck* stop) {
  TextComparison out;
  SimhashCounts counts_a;
  SimhashCounts counts_b;
  const auto shingles_a = distinct_shingles(unit, k, a, a_size, stop,
                                            [&](uint64_t* hashes, size_t n) { counts_a.add_shingles(hashes, n); });
  const auto shingles_b = distinct_shingles(unit, k, b, b_size, stop,
                                            [&](uint64_t* hashes, size_t n) { counts_b.add_shingles(hashes, n); });
  out.shingles = overlap(shingles_a, shingles_b);
  out.estimate = estimated(unit, k, shingles_a, shingles_b, stop);
  const std::optional<uint64_t> simhash_a = counts_a.result();
  const std::optional<uint64_t> simhash_b = counts_b.result();
  if (simhash_a && simhash_b) out.hamming = hamming_distance(*simhash_a, *simhash_b);
  EditOptions options;
  options.stop = stop;
  out.edit_rate = edit_rate_within(Unit::character, a, a_size, b, b_size, kMaxCells, options);
  out.note = overlap_note(out.shingles, a_size == b_size && std::equal(a, a + a_size, b), unit, k);
  return out;
}

}  // namespace neardup
