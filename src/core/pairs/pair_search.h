// The interface that every engine that finds pairs of rows has, whatever the signature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>

#include "core/base/stop.h"
#include "core/base/union_find.h"
#include "core/kinds/kind.h"
#include "core/pairs/pair_join.h"
#include "core/work/temp_file.h"

namespace neardup {

// Rows with equal signatures. all: each pair of them is a pair. star: the first of them (least rank) is paired with
// each of the others, and stands for them in pairs with further rows; with two sets only the first of each set is
// paired. none: as star, without the pairs of equal signatures. marked: as star, and those pairs have kEqualRows in
// their value; but where equal signatures are not near each other (digests without part 1) none stands for another.
enum class Identical : uint8_t { all, star, none, marked };
inline constexpr uint32_t kEqualRows = uint32_t{1} << 31;
inline constexpr uint32_t kNotNear = UINT32_MAX;

// The resources that an engine may use. files, stop and offload must outlive it; files may be null: then memory is not
// bounded.
struct EngineOptions {
  size_t memory_limit = SIZE_MAX;  // bytes for everything proportional to rows or pairs
  TempFileFactory* files = nullptr;
  StopCheck* stop = nullptr;
  unsigned threads = 1;  // that search at once, 1..256. Rows and pairs come and go on the caller's thread only.
  Identical identical = Identical::all;
  PairJoin* offload = nullptr;  // asked first to join what fits in memory; may be null
  bool swapped = false;  // MinhashPairs of two sets: pairs are reported, and ordered, as (row of set B, row of set A)
};

struct RowPair {
  uint32_t a;      // smaller row (or rank) number; of set A when there are two sets; of directed pairs the first one
  uint32_t b;      // greater row (or rank) number; of set B when there are two sets; of directed pairs the second one
  uint32_t value;  // how near: what it means is the engine's
};

struct SearchStats {
  uint64_t rows = 0;
  uint64_t set_aside = 0;  // of these, rows of set B whose keys alone showed that they are near no row of set A
  uint64_t distinct = 0, looked = 0, compared = 0, found = 0, spilled_bytes = 0;
  uint64_t looked_up = 0;  // rows that link_anchors() looked up among representatives,
  uint64_t passes = 0;     // and passes over them: one, unless the representatives take more than their memory
  uint64_t left_out = 0;   // rows and, with two sets, pairs of equal signatures that Identical::star or none left out
  size_t peak_bytes = 0;   // own estimate of the memory held at once
  bool brute_force = false;
  bool offloaded = false;  // joined by EngineOptions::offload: looked and compared do not count that
};

// The counts of a part of a search.
struct SearchCounts {
  uint64_t looked = 0;
  uint64_t compared = 0;
  bool brute_force = false;
};

// The pairs of side A, of n_a of n rows, or, cross, of side A and the others.
inline double pair_count(size_t n_a, size_t n, bool cross) noexcept {
  const double a = static_cast<double>(n_a);
  return cross ? a * static_cast<double>(n - n_a) : a * (a - 1) / 2;
}

struct PairEngine;
class AnchorLinks;

// A search by one of the engines, of values of its kind.
class PairSearch {
 public:
  virtual ~PairSearch();
  PairSearch(const PairSearch&) = delete;
  PairSearch& operator=(const PairSearch&) = delete;

  // Appends the next row, copied: at most 2^31 of them, else Error{too_large}. Each engine has an add() of its own
  // kind, too. False: it is known already that the row has no pair.
  virtual bool add_value(const AnyValue& value) = 0;

  // Rows added from now on belong to set B and are numbered from 0 again; only pairs (row of A, row of B) are sought.
  void start_set_b();

  // Finds the pairs, once. rank_a / rank_b (may be null: identity) rename rows before the result is ordered: with one
  // set a pair is reported as (min, max) of its two ranks.
  void run(const uint32_t* rank_a = nullptr, const uint32_t* rank_b = nullptr);

  // The next at most `max` pairs after run(), in ascending (a, b); 0 at the end. Each pair once.
  size_t next(RowPair* out, size_t max);

  // Calls on_pair() for each pair that next() would return.
  template <class OnPair>
  void for_each_next(OnPair on_pair) {
    RowPair pairs[256];
    while (const size_t n = next(pairs, std::size(pairs)))
      for (const RowPair* p = pairs; p < pairs + n; ++p) on_pair(*p);
  }

  // Makes next() begin with the first pair again.
  void rewind();

  // Instead of run(), with one set: unites the rows of pairs, from several threads at once, until the sets are the
  // connected components of all pairs. sets: as many as rows, disjoint before. stats().found counts the pairs that were
  // needed for it.
  void run_components(UnionFind& sets);

  // Instead of run(), with one set and Identical::marked: links the rows by the pairs that are found. An engine may
  // leave pairs out that change nothing.
  virtual void link_anchors(AnchorLinks& links);

  // With one set, also after run_components(): values[i] = the value of rows i and of[i].
  void values_with(const uint32_t* of, uint32_t* values);

  const SearchStats& stats() noexcept;

 protected:
  explicit PairSearch(std::unique_ptr<PairEngine> engine);
  PairEngine& engine() noexcept { return *engine_; }

 private:
  std::unique_ptr<PairEngine> engine_;
};

}  // namespace neardup
