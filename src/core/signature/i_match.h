// I-Match: one hash of the words of a document that tell documents apart, by how many documents of a collection hold
// them.
//
// Sources: Chowdhury, Frieder, Grossman, McCabe, "Collection Statistics for Fast Duplicate Document Detection", ACM
// TOIS 20(2), 2002; Kolcz, Chowdhury, Alspector, "Improved Robustness of Signature-Based Near-Replica Detection via
// Lexicon Randomization", KDD 2004. What is hashed, and how, is ours and frozen:
//   hash of a term t    x(t) = that of its shingle of one word (shingle.h, Unit::word, k 1)
//   fingerprint of S    XXH3, 128 bits, seed 0, of the x(t), t in S, ascending, each in 8 bytes, least first
//   of variant v >= 1   the same with seed v over the t in S with mix64(x(t) ^ mix64(kVariantSalt + v)) below share *
//   2^64
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/stop.h"

namespace neardup {

inline constexpr int kMaxVariants = 64;
inline constexpr uint64_t kVariantSalt = 0x692d6d61746368ULL;

// As a uuid holds it: most significant byte first.
using Fingerprint = std::array<uint8_t, 16>;

// Error{invalid_argument} unless 0 <= low <= high <= 1.
void check_idf_range(double low, double high);
// Error{invalid_argument} unless 1 <= variants <= 64.
void check_variants(int64_t variants);
// Error{invalid_argument} unless 0 < share <= 1.
void check_share(double share);

// Inverse document frequency over its greatest value in the same collection, ln(N) = idf + ln(frequency): 0 for a term
// of every document, 1 for one of a single document. frequency >= 1; idf >= 0 and finite.
double normalised_idf(double idf, int64_t frequency) noexcept;

// The terms of a lexicon that take part in fingerprints: a set of 64-bit hashes. 16 bytes a term on average.
class Lexicon {
 public:
  // Terms are taken where low <= normalised idf <= high. memory_limit: bytes of the set. Error{invalid_argument}.
  Lexicon(double low, double high, size_t memory_limit);

  // Adds a row. Error{invalid_argument} for a term that is not one folded word or comes twice, a frequency below 1, an
  // idf that is below 0 or no number; Error{out_of_budget} beyond the memory limit. shown: the term in messages.
  void add(std::string_view term, int64_t frequency, double idf, std::string_view shown);
  void add(std::string_view term, int64_t frequency, double idf) { add(term, frequency, idf, term); }

  // Called after the last row. Error{invalid_argument} where there was none, or none whose idf is in the range.
  void finish();

  bool contains(uint64_t hash) const noexcept;
  uint64_t rows() const noexcept { return rows_; }
  uint64_t terms() const noexcept { return terms_; }
  size_t memory() const noexcept { return table_.size() * sizeof(uint64_t); }

 private:
  bool insert(uint64_t hash) noexcept;  // false where it is in
  void grow();

  double low_;
  double high_;
  size_t limit_;
  uint64_t rows_ = 0;
  uint64_t terms_ = 0;
  bool has_zero_ = false;        // 0 marks free slots
  std::vector<uint64_t> table_;  // open addressing, a power of two, at most 3/4 full
};

// The hashes of the distinct words of the document that are in the lexicon, ascending. Memory: those of the lexicon's
// size at most, twice. stop may be null.
std::vector<uint64_t> terms_in(const Lexicon& lexicon, const uint8_t* text, size_t size, StopCheck* stop);

// The fingerprint of ascending hashes, at least one.
Fingerprint i_match_fingerprint(const std::vector<uint64_t>& terms);

// The fingerprint of all terms, then those of the variants 1..variants that leave any term. Empty for no terms.
std::vector<Fingerprint> i_match_fingerprints(const std::vector<uint64_t>& terms, int variants, double share);

// Counts the documents of a collection that hold each word. Memory is bounded by handing over partial counts: a word
// may be handed over several times, and its counts add up.
class TermCounts {
 public:
  // memory_limit: bytes, beyond which counts are handed over between two documents. One document's different words are
  // always kept together.
  explicit TermCounts(size_t memory_limit) : limit_(memory_limit) {}

  // Each word counts once, however often it occurs. stop may be null. Error{too_large} above 2^31 different words.
  void add_document(const uint8_t* text, size_t size, StopCheck* stop);

  bool full() const noexcept { return memory() > limit_; }
  uint64_t documents() const noexcept { return documents_; }
  size_t memory() const noexcept {
    return entries_.capacity() * sizeof(Entry) + slots_.capacity() * sizeof(uint32_t) + bytes_.capacity();
  }

  // The words counted since the last clear(): i below size().
  size_t size() const noexcept { return entries_.size(); }
  std::string_view word(size_t i) const noexcept { return {bytes_.data() + entries_[i].offset, entries_[i].length}; }
  int64_t count(size_t i) const noexcept { return entries_[i].count; }
  // Forgets the words, not how many documents there were.
  void clear();

 private:
  struct Entry {
    uint64_t hash;
    uint64_t last_document;
    uint64_t offset;
    uint32_t length;
    int64_t count;
  };
  void grow();

  size_t limit_;
  uint64_t documents_ = 0;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // open addressing: number of an entry + 1, or 0; at most half full
  std::string bytes_;
};

}  // namespace neardup
