// All pairs of MinHash signatures that agree in at least `need` components: exact, within a memory limit.
#pragma once

#include <cstdint>

#include "core/pairs/pair_search.h"

namespace neardup {

// The value of a pair is its number of equal components, need .. num_perm. Of components, rows with equal signatures
// are reported as a star. values_with() reads rows that do not fit in memory once per block of rows `of`.
class MinhashPairs final : public PairSearch {
 public:
  // num_perm 16..4096; bits 8, 16 or 32 (width of a stored component); need 1..num_perm, see min_matches().
  MinhashPairs(uint32_t num_perm, uint32_t bits, uint32_t need, const EngineOptions& options);

  // Appends the next row: num_perm * bits / 8 bytes, native byte order, copied. Rows of empty documents
  // are not added (they are similar to nothing). At most 2^31 rows, else Error{too_large}. False: the row is set aside,
  // it has no pair.
  bool add(const void* components);
  bool add_value(const AnyValue& value) override { return add(value.signature.components); }
  void link_anchors(AnchorLinks& links) override;
};

}  // namespace neardup
