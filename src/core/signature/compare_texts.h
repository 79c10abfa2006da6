// The likeness of two documents, by every measure that the library has, and a sentence that says it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/stop.h"
#include "core/document/text_units.h"
#include "core/exact/shingle_set.h"

namespace neardup {

struct TextComparison {
  Overlap shingles;            // exact, of the sets of k-shingles
  double estimate = 0;         // of the Jaccard similarity by MinHash signatures: 128 components of 32 bits, seed 0
  std::optional<int> hamming;  // of the SimHashes, 0..64; nothing where a document has no shingle
  std::optional<double>
      edit_rate;     // edit distance of characters to the length of both; nothing where that takes too long
  std::string note;  // English, one sentence without a full stop
};

// Two documents in UTF-8. k 1..64, else Error{invalid_argument}; stop may be null. At most some seconds: what takes
// longer is left out of the result (edit_rate).
TextComparison compare_texts(Unit unit, int k, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                             StopCheck* stop);

}  // namespace neardup
