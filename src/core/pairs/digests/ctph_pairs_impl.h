// The inside of CtphPairs: ctph_pairs.cpp (rows in, results out), ctph_pairs_store.cpp (what is kept),
// ctph_pairs_join.cpp (which parts meet), ctph_pairs_words.cpp and ctph_pairs_long.cpp (parts against parts).
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/kernels/ctph_kernels.h"
#include "core/pairs/digests/ctph_pairs.h"
#include "core/pairs/equal_rows.h"
#include "core/pairs/pair_engine.h"
#include "core/work/parallel.h"
#include "core/work/spill.h"
#include "core/work/workspace.h"

namespace neardup {

// Shares of the memory limit; together at most 15/16 of it are held. Digests, and the entries that are joined, in
// memory or in blocks: 1/2. Sorted entries (before, hashes and suspects): 1/8. Results: 5/16. Where digests lie in a
// file, their offsets, 8 bytes a row, come out of the first half.

// Stored digests one after the other: in memory, then all but the last few in a temporary file.
class CtphStore {
 public:
  static constexpr size_t kMaxDigestBytes = kCtphHeaderSize + 2 * kCtphMaxPart;

  explicit CtphStore(Workspace& ws);

  // Returns the number of bytes added.
  size_t add(const CtphView& digest);
  void spill();
  void clear() noexcept;

  uint32_t size() const noexcept { return size_; }
  bool in_memory() const noexcept { return file_ == nullptr; }
  size_t offset_bytes() const noexcept { return offsets_.size() * kOffsets * sizeof(uint64_t); }

  // Digest `row`, valid as long as buffer, of kMaxDigestBytes, and the store.
  CtphView read(uint32_t row, uint8_t* buffer);

 private:
  static constexpr size_t kOffsets = 512;

  Workspace& ws_;
  unsigned chunk_shift_;
  uint32_t size_ = 0;
  size_t used_ = 0;     // bytes of the last chunk
  size_t flushed_ = 0;  // chunks in the file
  std::vector<Array<uint8_t>> chunks_;
  std::vector<Array<uint64_t>> offsets_;  // as if the chunks lay one after the other
  std::unique_ptr<TempFile> file_;        // as they do here, but for the last chunk
};

// Parts of at most so many characters fill a word; longer ones have their bigrams as a set.
inline constexpr size_t kCtphWord = 64;

inline size_t ctph_entry_bytes(size_t length) noexcept {
  return kBagLevels * sizeof(uint64_t) + sizeof(uint16_t) + sizeof(uint32_t) + length +
         (length > kCtphWord ? kBitSetWords * sizeof(uint64_t) + sizeof(uint16_t) : 0);
}

// Parts of one block size, by length.
struct CtphEntries {
  struct Run {
    uint32_t length;
    uint32_t first;  // entry
    uint32_t count;
    uint64_t at;  // symbols of the first entry; in a file, the entry itself: row number, symbols
  };

  // long_entries: those of more than kCtphWord characters.
  void reserve(size_t entries, size_t long_entries, size_t symbol_bytes, Ledger& ledger);
  void add(uint32_t row, const uint8_t* part, size_t length);
  void add_to_runs(size_t length, uint64_t at);

  const Run& run_with(uint32_t i) const noexcept;
  SymbolBag bag(size_t i) const noexcept;
  SymbolBags bags() const noexcept;
  const uint8_t* part(const Run& run, size_t i) const noexcept {
    return symbols.data() + run.at + (i - run.first) * run.length;
  }

  std::vector<Run> runs;
  uint32_t n = 0;
  uint32_t words = 0;  // entries of at most kCtphWord characters, the first ones
  size_t room = 0;
  size_t symbols_used = 0;
  Array<uint64_t> levels;  // kBagLevels columns of `room`
  Array<uint16_t> rest;
  Array<uint32_t> rows;
  Array<uint8_t> symbols;       // 0..63
  Array<uint64_t> bigrams;      // of entries from `words` on: bit 64 a + b is set where b follows a somewhere
  Array<uint16_t> num_bigrams;  // bits set
};

// The distance that near parts may have, by the sum of their lengths.
class CtphBound {
 public:
  // The least similarity, above 0, at most 1.
  explicit CtphBound(double threshold) noexcept;

  // The greatest distance of a near pair.
  uint32_t edits(uint32_t sum) const noexcept { return edits_[sum]; }
  // True if parts of these lengths can be near at all.
  bool may_match(uint32_t x, uint32_t y) const noexcept { return (x > y ? x - y : y - x) <= edits_[x + y]; }
  // Characters, whatever their order, that near parts of these lengths have in common at the least.
  uint32_t common_symbols(uint32_t x, uint32_t y) const noexcept {
    const uint32_t longer = x > y ? x : y;
    return longer - (longer < edits_[x + y] ? longer : edits_[x + y]);
  }
  const uint16_t* by_sum() const noexcept { return edits_; }

 private:
  uint16_t edits_[2 * kCtphMaxPart + 1];
};

// The value of the hits of two rows that a join of parts leaves in its sink.
inline uint32_t ctph_pair_value(uint32_t distance, uint32_t sum) noexcept { return distance << 16 | sum; }

// Entries of y whose symbols are looked at for one subject at once.
inline constexpr uint32_t kCtphPiece = 512;

// Subjects of a task of join_ctph_words(), at the most: the lanes of four groups of patterns.
inline constexpr uint32_t kCtphGroups = 4;
inline constexpr uint32_t kCtphSubjects = kCtphGroups * kLevenshteinLanes;

// Entries first .. last - 1 of x, of at most kCtphWord characters each, against all of y; with self, y being x, against
// those behind them.
SearchCounts join_ctph_words(const CtphBound& bound, const CtphEntries& x, uint32_t first, uint32_t last,
                             const CtphEntries& y, bool self, HitSink& hits);

// The same for entry i of x, of more than kCtphWord characters.
SearchCounts join_ctph_long(const CtphBound& bound, const CtphEntries& x, uint32_t i, const CtphEntries& y, bool self,
                            HitSink& hits);

struct CtphEngine final : PairEngine {
  CtphEngine(double threshold, const EngineOptions& options);

  void add(const CtphView& digest);

  uint32_t num_rows() const override { return store.size(); }
  void clear_rows() override { store.clear(); }
  std::unique_ptr<PairOutput> make_output() override;
  void find_pairs() override;
  void values_with(const uint32_t* of, uint32_t* values) override;

  void collapse();
  void sort_parts(RecordSorter& sorted, struct PartCount* counts);
  bool join_offloaded();
  void join();
  void join_entries(const CtphEntries& x, const CtphEntries& y, bool self);
  void join_files(const CtphEntries& x, const CtphEntries& y, TempFile& file, bool self);
  void load(CtphEntries& out, const CtphEntries& list, TempFile& file, uint32_t first, uint32_t last);
  uint32_t block_end(const CtphEntries& list, uint32_t first) const;
  void add_hit(const Hit& hit);
  uint32_t value_of_equal(uint32_t row);
  uint32_t value(const CtphView& a, const CtphView& b);

  // True if one of the rows with equal digests stands for the others only where they are near each other.
  bool must_be_near() const { return components() || identical == Identical::marked; }

  const CtphBound bound;
  CtphStore store;  // those of set B after those of set A
  EqualRows equal_rows;
  size_t held = 0;  // bytes, while digests lie in memory: with those of their entries
  bool is_long = false;

  uint8_t buffer1[CtphStore::kMaxDigestBytes];
  uint8_t buffer2[CtphStore::kMaxDigestBytes];
};

}  // namespace neardup
