// See sample_pairs.h.
#include "core/suggest/sample_pairs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "core/base/sort_unique.h"

namespace neardup {
namespace {

// A bound is met also where rounding has made a similarity a little less.
constexpr double kTolerance = 1e-9;

bool is_digit(uint8_t c) noexcept { return c >= '0' && c <= '9'; }
// Or a byte of a character beyond ASCII.
bool is_letter(uint8_t c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80; }

// A sign between two digits belongs to the number: 1,000.50, 6-1/4, 12:30, 2026-11-26.
bool is_sign(uint8_t c) noexcept { return c == '.' || c == ',' || c == '/' || c == ':' || c == '-'; }

const uint8_t* end_of_number(const uint8_t* p, const uint8_t* end) noexcept {
  while (p < end && (is_digit(*p) || (is_sign(*p) && p + 1 < end && is_digit(p[1])))) ++p;
  return p;
}

using Numbers = std::vector<std::string_view>;  // different ones, sorted

Numbers find_numbers(const Document& document, StopCheck* stop) {
  const uint8_t* const end = document.bytes + document.size;
  Numbers numbers;
  for (const uint8_t* p = std::find_if(document.bytes, end, is_digit); p < end; p = std::find_if(p, end, is_digit)) {
    const uint8_t* const first = p;
    p = end_of_number(p, end);
    const bool is_part = (first > document.bytes && is_letter(first[-1])) || (p < end && is_letter(*p));
    if (!is_part) numbers.emplace_back(reinterpret_cast<const char*>(first), static_cast<size_t>(p - first));
  }
  sort_unique(&numbers, stop);
  return numbers;
}

bool agree(const Numbers& x, const Numbers& y) {
  Numbers both;
  std::ranges::set_intersection(x, y, std::back_inserter(both));
  return 2 * both.size() >= x.size() + y.size() - both.size();
}

// The numbers of documents, each looked for once.
class NumbersOfDocuments {
 public:
  NumbersOfDocuments(const Document* documents, StopCheck* stop) : documents_(documents), stop_(stop) {}
  bool agree(uint32_t a, uint32_t b) { return neardup::agree(numbers(a), numbers(b)); }

 private:
  const Numbers& numbers(uint32_t document) {
    const auto [at, is_new] = numbers_.try_emplace(document);
    if (is_new) at->second = find_numbers(documents_[document], stop_);
    return at->second;
  }

  const Document* documents_;
  StopCheck* stop_;
  std::unordered_map<uint32_t, Numbers> numbers_;
};

}  // namespace

PairTotals sum_duplicates(const std::vector<SamplePair>& pairs) noexcept {
  PairTotals totals;
  for (const SamplePair& pair : pairs) {
    if (!pair.duplicate) continue;
    ++totals.duplicates;
    totals.weight += pair.weight;
    totals.share += pair.share;
  }
  return totals;
}

size_t drop_copies(Document* documents, std::string_view* ids, size_t n) {
  std::unordered_set<std::string_view> seen;
  size_t kept = 0;
  for (size_t i = 0; i < n; ++i) {
    const Document document = documents[i];
    if (!seen.emplace(reinterpret_cast<const char*>(document.bytes), document.size).second) continue;
    ids[kept] = ids[i];
    documents[kept++] = document;
  }
  return kept;
}

void judge_by_edit_rate(const Document* documents, size_t n, double edit_similarity, unsigned threads, StopCheck* stop,
                        std::vector<SamplePair>* pairs) {
  const DocumentMeasure measure = {.kind = DocumentMeasure::Kind::edit_rate,
                                   .unit = Unit::character,
                                   .threshold = 1 - ((1 - kGenerousSimilarity) / 2 + kTolerance)};
  std::vector<DocumentPair> compared;
  compared.reserve(pairs->size());
  for (const SamplePair& pair : *pairs) compared.push_back({pair.a, pair.b, 0});
  DocumentComparer(measure, threads, stop).compare(documents, n, compared.data(), compared.size());
  NumbersOfDocuments numbers(documents, stop);
  for (size_t i = 0; i < compared.size(); ++i) {
    SamplePair& pair = (*pairs)[i];
    pair.generously = !std::isnan(compared[i].similarity);
    if (!pair.generously || !numbers.agree(pair.a, pair.b)) continue;
    const double similarity = 2 * compared[i].similarity - 1 + 2 * kTolerance;
    pair.duplicate = similarity >= edit_similarity;
    pair.strictly = similarity >= (1 + edit_similarity) / 2;
  }
}

}  // namespace neardup
