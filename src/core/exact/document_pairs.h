// Pairs of whole documents compared exactly, on several threads: the verification of what signatures found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/stop.h"
#include "core/document/shingle.h"

namespace neardup {

struct DocumentMeasure {
  enum class Kind : uint8_t {
    jaccard,    // of the sets of k-shingles, as jaccard_exact(): 0 of documents without any
    edit_rate,  // 1 - edit_rate(): code points of text (Unit::character) or bytes (Unit::byte)
  };
  Kind kind = Kind::jaccard;
  Unit unit = Unit::word;
  int k = 3;             // of shingles
  double threshold = 1;  // least similarity, above 0
};

struct Document {
  const uint8_t* bytes;
  size_t size;
};

struct DocumentPair {
  uint32_t a;  // among the documents
  uint32_t b;
  double similarity;  // set by compare(): NaN where it is below the threshold
};

// Keeps the shingles of documents from one call to the next.
class DocumentComparer {
 public:
  // threads 1..256. stop may be null.
  DocumentComparer(const DocumentMeasure& measure, unsigned threads, StopCheck* stop)
      : measure_(measure), threads_(threads), stop_(stop) {}

  // Fills in the similarities of n pairs. documents: those of the last call since clear(), and new ones behind them.
  // Each is cut into shingles once. Memory: 8 bytes a shingle of all documents, or what edit_distance() takes, on each
  // thread. Error{cancelled}.
  void compare(const Document* documents, size_t count, DocumentPair* pairs, size_t n);

  size_t held() const noexcept { return held_; }
  void clear() noexcept;

 private:
  DocumentMeasure measure_;
  unsigned threads_;
  StopCheck* stop_;
  std::vector<std::vector<uint64_t>> shingles_;
  size_t held_ = 0;
};

}  // namespace neardup
