// All pairs of MinHash signatures that agree in at least `need` components: exact, within a memory limit.
#pragma once

#include <memory>

#include "core/pairs/pair_search.h"

namespace neardup {

// The value of a pair is its number of equal components, need .. num_perm.
class MinhashPairs final : public PairSearch {
 public:
  // num_perm 16..4096; bits 8, 16 or 32 (width of a stored component); need 1..num_perm, see min_matches().
  MinhashPairs(uint32_t num_perm, uint32_t bits, uint32_t need, const EngineOptions& options);
  ~MinhashPairs() override;
  MinhashPairs(const MinhashPairs&) = delete;
  MinhashPairs& operator=(const MinhashPairs&) = delete;

  // Appends the next row: num_perm * bits / 8 bytes, native byte order, copied. Rows of empty documents
  // are not added (they are similar to nothing). At most 2^31 rows, else Error{too_large}.
  void add(const void* components);

  void start_set_b() override;
  void run(const uint32_t* rank_a = nullptr, const uint32_t* rank_b = nullptr) override;
  size_t next(RowPair* out, size_t max) override;
  // Rows with equal signatures are reported as a star.
  void run_components(UnionFind& sets) override;
  // Rows that do not fit in memory are read once per block of rows `of`.
  void values_with(const uint32_t* of, uint32_t* values) override;
  const SearchStats& stats() noexcept override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace neardup
