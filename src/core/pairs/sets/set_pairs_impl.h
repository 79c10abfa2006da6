// The inside of SetPairs: set_pairs.cpp (rows in, equal rows, results out), set_pairs_join.cpp (the search, a block of
// indexed sets after the other).
#pragma once

#include <memory>
#include <vector>

#include "core/pairs/equal_rows.h"
#include "core/pairs/pair_engine.h"
#include "core/pairs/sets/set_bound.h"
#include "core/pairs/sets/set_index.h"
#include "core/pairs/sets/set_pairs.h"
#include "core/pairs/sets/set_store.h"

namespace neardup {

// Shares of the memory limit; together at most 15/16 of it are held. Sets in memory, or the sets of a block: with the
// index of a block, with the places of sets and with their order 9/16. Counters of elements: 1/16. Results: 5/16. Equal
// rows, before: 1/4.
inline constexpr size_t kSearchShare = 9;
inline constexpr size_t kSetStoreShare = 5;
inline constexpr size_t kShares = 16;

// The sets that are searched, by size: of a side, or of both. They lie in the store, or in this order in a file.
struct SetList {
  uint32_t n = 0;
  Array<uint32_t> rows;
  Array<uint32_t> sizes;
  std::unique_ptr<TempFile> file;

  size_t bytes() const noexcept { return 2 * sizeof(uint32_t) * n; }
};

// Some sets of a list, one after the other.
struct SetBlock {
  uint32_t first = 0;
  uint32_t n = 0;
  Array<StoredSet> sets;
  Array<int64_t> elements;  // where they do not lie in the store
};

// The memory with which a thread looks up sets in an index.
struct ProbeScratch {
  Ledger* ledger = nullptr;
  Array<RankedElement> ranked;
  Array<uint32_t> seen;  // by indexed set: elements in common so far
  Array<uint32_t> touched;
};

// Where sets are looked up.
struct SetLookup {
  const SetBlock& block;
  const SetIndex& index;
  const ElementOrder& order;
};

struct SetEngine final : PairEngine {
  SetEngine(Measure measure, double bound, const EngineOptions& options);

  // set_pairs.cpp
  void add(const SetView& set);
  uint32_t num_rows() const override { return store.rows(); }
  void clear_rows() override { store.clear(); }
  std::unique_ptr<PairOutput> make_output() override;
  void find_pairs() override;
  void values_with(const uint32_t* of, uint32_t* values) override;
  void collapse();
  uint32_t value(const StoredSet& a, const StoredSet& b);

  // set_pairs_join.cpp
  void join();
  void make_list(uint32_t begin, uint32_t end, ElementOrder* order, SetList* list);
  void join_lists(const SetList& indexed, const SetList& probes, const ElementOrder& order);
  void load(const SetList& list, uint32_t first, uint32_t end, SetBlock* block);
  uint32_t end_of_indexed(const SetList& list, uint32_t first, size_t room) const;
  uint32_t end_of_probes(const SetList& list, uint32_t first, uint32_t end, size_t room) const;
  void probe_all(const SetLookup& lookup, const SetBlock& probes);
  void probe(const SetLookup& lookup, const StoredSet& set, uint32_t place, ProbeScratch& scratch, SearchCounts* counts,
             HitSink& hits) const;
  uint32_t collect(const SetLookup& lookup, const StoredSet& set, uint32_t place, ProbeScratch& scratch,
                   SearchCounts* counts, HitSink& hits) const;
  void verify(const StoredSet& indexed, const StoredSet& set, HitSink& hits) const;
  void add_hits(const Hit* hits, size_t n);
  size_t room() const;

  // True if (a, b) and (b, a) are two pairs.
  bool is_directed() const { return !two_sets && bound.is_directed(); }

  const Measure measure;
  const double threshold;
  SetBound bound;
  SetStore store;  // those of set B after those of set A
  EqualRows equal_rows;
  size_t list_bytes = 0;
};

}  // namespace neardup
