// Candidate pairs of records: rows that agree in a key, from sorted hashes, without those of keys that many rows share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/work/spill.h"
#include "core/work/workspace.h"

namespace neardup {

inline constexpr uint32_t kMaxBlockKeys = 64;
inline constexpr uint32_t kMaxBlockRows = 1'000'000;  // the greatest max_block

// Hashes of keys: of bytes (XXH3), and of numbers, where no two numbers have one hash. They reach no disk.
uint64_t block_hash(const void* data, size_t size) noexcept;
uint64_t block_hash(uint64_t number) noexcept;

// files and stop must outlive the object; files may be null: then memory is not bounded.
struct BlockOptions {
  size_t memory_limit = SIZE_MAX;
  TempFileFactory* files = nullptr;
  StopCheck* stop = nullptr;
  uint32_t max_block = 1000;  // 1..kMaxBlockRows
  size_t listed = 5;          // how many of the largest oversized blocks are kept, 40 bytes each
};

// Two rows (of different sets, where there are two) that agree in the keys whose bits are set. With one set a < b.
struct BlockedPair {
  uint32_t a;
  uint32_t b;
  uint64_t keys;
};

// A value that more than max_block rows of one set share, and, of two sets, a row of the other one has, too.
struct OversizedBlock {
  uint32_t key;
  uint64_t hash;
  uint64_t rows_a;
  uint64_t rows_b;  // 0 with one set
};

struct BlockStats {
  uint64_t rows = 0, entries = 0;  // entries: keys that are not empty
  uint64_t blocks = 0;             // used: of two rows that can make a pair, at least
  uint64_t emitted = 0;            // pairs of all blocks, one that agrees in two keys counted twice
  uint64_t oversized = 0;
  uint64_t oversized_pairs = 0;  // that these blocks would have made, saturating
  uint64_t spilled_bytes = 0;
  size_t peak_bytes = 0;
};

// A block is the rows that have one value in one key. Values are told apart by 64-bit hashes: of n distinct values of a
// key two are taken for one with probability n^2 / 2^65, which adds pairs and loses none.
//
// add() rows, run() or count(), then next() until 0. Time: sorts of all entries and all emitted pairs; memory: the
// limit, beyond it temporary files, and 8 bytes * max_block. Not thread-safe. Throws what poller and files throw.
class BlockedPairs {
 public:
  // keys: 1..kMaxBlockKeys, else Error{invalid_argument}, as for max_block.
  BlockedPairs(uint32_t keys, const BlockOptions& options);

  // The next row's hashes, by key; those are read whose bits are set in `present`.
  // At most 2^31 rows a set, else Error{too_large}.
  void add(const uint64_t* hashes, uint64_t present);

  // Rows added from now on belong to set B and are numbered from 0 again.
  void start_set_b();

  // Finds the pairs, once. rank_a / rank_b (may be null: identity) rename rows before the result is ordered.
  void run(const uint32_t* rank_a, const uint32_t* rank_b);
  // Instead: only the oversized blocks.
  void count() { sweep(nullptr, nullptr, false); }

  // The next at most max pairs after run(), in ascending (a, b), each once with all keys; 0 at the end.
  size_t next(BlockedPair* out, size_t max);

  // The largest oversized blocks by the pairs that they would make, largest first; then by key and hash.
  const std::vector<OversizedBlock>& oversized() const noexcept { return oversized_; }

  const BlockStats& stats() noexcept;

 private:
  void sweep(const uint32_t* rank_a, const uint32_t* rank_b, bool emit);
  void sweep_key(uint32_t key, const uint32_t* rank_a, const uint32_t* rank_b, bool emit);
  void emit_block(uint32_t key, const uint32_t* rank_a, const uint32_t* rank_b, size_t na, size_t nb);
  void keep(const OversizedBlock& block);

  BlockOptions options_;
  Workspace ws_;
  bool two_sets_ = false;
  uint64_t rows_ = 0;                                   // of the set that is being added
  std::vector<std::unique_ptr<RecordSorter>> entries_;  // by key: hash, and row with the set in the highest bit
  std::unique_ptr<RecordSorter> pairs_;
  Array<uint32_t> block_a_;
  Array<uint32_t> block_b_;
  std::vector<OversizedBlock> oversized_;  // while sweeping a heap, its smallest in front
  SortRecord ahead_ = {};
  bool has_ahead_ = false;
  BlockStats stats_;
};

}  // namespace neardup
