// The inside of CtphPairs, shared by ctph_pairs.cpp (rows in, results out), ctph_pairs_join.cpp (the search) and
// ctph_pairs_store.cpp (what both keep).
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/pairs/ctph_pairs.h"
#include "core/pairs/equal_rows.h"
#include "core/kernels/ctph_kernels.h"
#include "core/pairs/pair_output.h"
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
  static constexpr size_t kMaxBytes = kCtphHeaderSize + 2 * kCtphMaxPart;

  explicit CtphStore(Workspace& ws);

  // Returns the number of bytes added.
  size_t add(const CtphView& digest);
  void spill();
  void clear() noexcept;

  uint32_t size() const noexcept { return size_; }
  bool in_memory() const noexcept { return file_ == nullptr; }
  size_t offset_bytes() const noexcept { return offsets_.size() * kOffsets * sizeof(uint64_t); }

  // Digest `row`, valid as long as buffer, of kMaxBytes, and the store.
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

// Bytes of an entry.
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

  const Run& run_of(uint32_t i) const noexcept;
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

struct CtphPairs::Impl {
  Impl(double threshold, const EngineOptions& options);

  void add(const CtphView& digest);
  void search();
  void collapse();
  void confirm_duplicate(uint32_t leader, uint32_t row);
  void sort_parts(RecordSorter& sorted, struct PartCount* counts);
  bool join_offloaded();
  void join();
  void join_files(const CtphEntries& x, const CtphEntries& y, TempFile& file, bool self);
  void load(CtphEntries& out, const CtphEntries& list, TempFile& file, uint32_t first, uint32_t last);
  uint32_t block_end(const CtphEntries& list, uint32_t first) const;
  void join_entries(const CtphEntries& x, const CtphEntries& y, bool self);
  void join_words(const CtphEntries& x, uint32_t first, uint32_t last, const CtphEntries& y, bool self, HitSink& hits);
  void join_long(const CtphEntries& x, uint32_t i, const CtphEntries& y, bool self, HitSink& hits);
  void take(const Hit& hit);
  uint32_t value_of_equal(uint32_t row);
  void values_with(const uint32_t* of, uint32_t* values);
  uint32_t value_of(const CtphView& a, const CtphView& b);

  bool components() const { return sets != nullptr; }
  // Whether one of the rows with equal digests stands for the others only where they are near each other.
  bool must_be_near() const { return components() || identical == Identical::marked; }
  // Whether parts of these lengths can be near at all.
  bool may_match(uint32_t x, uint32_t y) const noexcept { return (x > y ? x - y : y - x) <= most[x + y]; }

  Workspace ws;
  Identical identical;
  PairJoin* offload;
  unsigned threads;
  SearchStats stats;
  std::atomic<uint64_t> looked{0};
  std::atomic<uint64_t> compared{0};
  uint16_t most[2 * kCtphMaxPart + 1];  // by sum of lengths: the greatest distance of a near pair

  CtphStore store;  // those of set B after those of set A
  size_t held = 0;  // bytes, while digests lie in memory: with those of their entries
  bool is_long = false;
  bool two_sets = false;
  uint32_t count_a = 0;
  std::unique_ptr<RecordSorter> hashes;

  const uint32_t* rank_a = nullptr;
  const uint32_t* rank_b = nullptr;
  UnionFind* sets = nullptr;  // where components are sought

  // Rows equal to an earlier one (their leader) take no part in the search.
  EqualRows equal_rows;

  uint8_t buffer1[CtphStore::kMaxBytes];
  uint8_t buffer2[CtphStore::kMaxBytes];

  std::unique_ptr<PairOutput> out;  // not for components
};

}  // namespace neardup
