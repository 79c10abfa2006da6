// See i_match.h.
#include "core/signature/i_match.h"

#include <algorithm>
#include <cmath>
#include <limits>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/hash.h"
#include "core/base/message_text.h"
#include "core/base/sort_unique.h"
#include "core/document/shingle.h"
#include "core/document/words.h"

namespace neardup {
namespace {

constexpr size_t kFirstTermSlots = 1024;
constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15ULL;

// True if x / 2^64 is below share; at share 1 always.
bool below(uint64_t x, double share) noexcept {
  if (share >= 1) return true;
  return x < static_cast<uint64_t>(std::ldexp(share, 64));
}

Fingerprint hashed(const uint64_t* terms, size_t n, uint64_t seed) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_withSeed(terms, n * sizeof(uint64_t), seed));
  Fingerprint out;
  static_assert(sizeof canonical.digest == sizeof out);
  std::copy_n(canonical.digest, out.size(), out.begin());
  return out;
}

}  // namespace

void check_idf_range(double low, double high) {
  for (const auto& [name, value] : {std::pair{"low", low}, std::pair{"high", high}})
    if (!(value >= 0 && value <= 1))
      throw Error(Errc::invalid_argument, std::string(name) + " must be between 0 and 1: " + number_text(value), {},
                  "low and high bound the normalised idf: 0 of a term in every document, 1 of a term in one.");
  if (low > high)
    throw Error(Errc::invalid_argument,
                "low must not be above high: " + number_text(low) + " and " + number_text(high));
}

void check_variants(int64_t variants) {
  if (variants < 1 || variants > kMaxVariants)
    throw Error(Errc::invalid_argument, "variants must be between 1 and 64: " + std::to_string(variants));
}

void check_share(double share) {
  if (!(share > 0 && share <= 1))
    throw Error(Errc::invalid_argument, "share must be above 0 and at most 1: " + number_text(share), {},
                "share is the part of the lexicon that each variant keeps.");
}

double normalised_idf(double idf, int64_t frequency) noexcept {
  return idf == 0 ? 0 : idf / (idf + std::log(static_cast<double>(frequency)));
}

Lexicon::Lexicon(double low, double high, size_t memory_limit) : low_(low), high_(high), limit_(memory_limit) {
  check_idf_range(low, high);
  table_.assign(kFirstTermSlots, 0);
}

bool Lexicon::contains(uint64_t hash) const noexcept {
  if (hash == 0) return has_zero_;
  const size_t mask = table_.size() - 1;
  for (size_t i = (hash * kMultiplier >> 32) & mask;; i = (i + 1) & mask) {
    if (table_[i] == hash) return true;
    if (table_[i] == 0) return false;
  }
}

bool Lexicon::insert(uint64_t hash) noexcept {
  if (hash == 0) return !std::exchange(has_zero_, true);
  const size_t mask = table_.size() - 1;
  size_t i = (hash * kMultiplier >> 32) & mask;
  for (; table_[i] != 0; i = (i + 1) & mask)
    if (table_[i] == hash) return false;
  table_[i] = hash;
  return true;
}

void Lexicon::grow() {
  const size_t slots = 2 * table_.size();
  // While it grows, the old table is there too.
  if (slots > limit_ / sizeof(uint64_t) / 3 * 2 || slots > size_t{1} << 31)
    throw Error(Errc::out_of_budget,
                "the lexicon has too many terms for the memory allowed: more than " + std::to_string(terms_) + " in " +
                    std::to_string(limit_ / 1024) + " kB",
                {}, "Raise work_mem, or narrow low and high: most terms are in very few documents.");
  std::vector<uint64_t> old(slots, 0);
  old.swap(table_);
  for (const uint64_t hash : old)
    if (hash != 0) insert(hash);
}

void Lexicon::add(std::string_view term, int64_t frequency, double idf, std::string_view shown) {
  ++rows_;
  const auto refuse = [&](const std::string& why, std::string hint = {}) {
    throw Error(Errc::invalid_argument, "term \"" + excerpt(shown) + "\" of the lexicon " + why, {}, std::move(hint));
  };
  if (!is_folded_word(term))
    refuse("is not one folded word", "SELECT shingles(doc, 1) shows words as they are compared.");
  if (frequency < 1) refuse("has a document frequency below 1: " + std::to_string(frequency));
  if (!(idf >= 0 && idf <= std::numeric_limits<double>::max()))
    refuse("has an idf that is below 0 or not finite: " + number_text(idf));
  const double normalised = normalised_idf(idf, frequency);
  if (normalised < low_ || normalised > high_) return;
  if ((terms_ + 1) * 4 > table_.size() * 3) grow();
  if (!insert(word_shingle_hash(term))) refuse("comes twice");
  ++terms_;
}

void Lexicon::finish() {
  if (rows_ == 0)
    throw Error(Errc::invalid_argument, "the lexicon is empty", {},
                "create_lexicon() fills one; row-level security may hide its rows.");
  if (terms_ == 0)
    throw Error(Errc::invalid_argument,
                "no term of the lexicon has a normalised idf from " + number_text(low_) + " to " + number_text(high_),
                std::to_string(rows_) + " terms are below or above.", "Widen low and high, or count more documents.");
}

std::vector<uint64_t> terms_in(const Lexicon& lexicon, const uint8_t* text, size_t size, StopCheck* stop) {
  std::vector<uint64_t> terms;
  ShingleStream stream(Unit::word, 1, text, size, stop);
  uint64_t batch[ShingleStream::kMaxBatch];
  size_t next_unique = size_t{1} << 16;
  while (const size_t n = stream.next(batch)) {
    for (size_t i = 0; i < n; ++i)
      if (lexicon.contains(batch[i])) terms.push_back(batch[i]);
    if (terms.size() >= next_unique) {
      sort_unique(&terms, stop);
      next_unique = std::max(next_unique, 2 * terms.size());
    }
  }
  sort_unique(&terms, stop);
  return terms;
}

Fingerprint i_match_fingerprint(const std::vector<uint64_t>& terms) { return hashed(terms.data(), terms.size(), 0); }

std::vector<Fingerprint> i_match_fingerprints(const std::vector<uint64_t>& terms, int variants, double share) {
  check_variants(variants);
  check_share(share);
  std::vector<Fingerprint> out;
  if (terms.empty()) return out;
  out.push_back(i_match_fingerprint(terms));
  std::vector<uint64_t> kept;
  for (int v = 1; v <= variants; ++v) {
    const uint64_t salt = mix64(kVariantSalt + static_cast<uint64_t>(v));
    kept.clear();
    std::copy_if(terms.begin(), terms.end(), std::back_inserter(kept),
                 [&](uint64_t t) { return below(mix64(t ^ salt), share); });
    if (!kept.empty()) out.push_back(hashed(kept.data(), kept.size(), static_cast<uint64_t>(v)));
  }
  return out;
}

void TermCounts::grow() {
  const size_t slots = slots_.empty() ? kFirstTermSlots : 2 * slots_.size();
  slots_.assign(slots, 0);
  for (size_t e = 0; e < entries_.size(); ++e) {
    size_t i = entries_[e].hash & (slots - 1);
    while (slots_[i] != 0) i = (i + 1) & (slots - 1);
    slots_[i] = static_cast<uint32_t>(e + 1);
  }
}

void TermCounts::add_document(const uint8_t* text, size_t size, StopCheck* stop) {
  ++documents_;
  Words words(text, size, stop);
  for (std::string_view word; words.next(&word);) {
    if (slots_.size() < 2 * (entries_.size() + 1)) grow();
    const uint64_t hash = element_hash(word.data(), word.size());
    size_t i = hash & (slots_.size() - 1);
    for (; slots_[i] != 0; i = (i + 1) & (slots_.size() - 1)) {
      Entry& e = entries_[slots_[i] - 1];
      if (e.hash != hash || this->word(slots_[i] - 1) != word) continue;
      e.count += e.last_document != documents_;
      e.last_document = documents_;
      break;
    }
    if (slots_[i] != 0) continue;
    if (entries_.size() >= std::numeric_limits<uint32_t>::max() / 2)
      throw Error(Errc::too_large, "a document has too many different words");
    slots_[i] = static_cast<uint32_t>(entries_.size() + 1);
    entries_.push_back({hash, documents_, bytes_.size(), static_cast<uint32_t>(word.size()), 1});
    bytes_ += word;
  }
}

void TermCounts::clear() {
  entries_.clear();
  bytes_.clear();
  std::fill(slots_.begin(), slots_.end(), 0);
  if (full()) {  // one large document made them so
    entries_ = {};
    bytes_ = {};
    slots_ = {};
  }
}

}  // namespace neardup
