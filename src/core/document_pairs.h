// Pairs of whole documents compared exactly, on several threads: the verification of what signatures found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/shingle.h"
#include "core/stop.h"

namespace neardup {

// What makes two documents near.
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
  double similarity;  // set by compare_documents(): NaN where it is below the threshold
};

// Fills in the similarities. Each document is cut into shingles once. Memory: 8 bytes a shingle of all documents, or what
// edit_distance() takes, on each thread. threads 1..256. stop may be null; Error{cancelled}.
void compare_documents(const DocumentMeasure& measure, const std::vector<Document>& documents,
                       std::vector<DocumentPair>* pairs, unsigned threads, StopCheck* stop);

}  // namespace neardup
