// Sorting for the runs of an lsh index: chunks of rows in memory, the merge of chunks written as leaves, and that of
// entries that lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/lsh/leaf.h"
#include "core/work/workspace.h"

namespace neardup {

// Sorts a ascending. tmp: n words of scratch. n < 2^32. Cost some 10 ns a word, where the words are hashes.
void sort_words(uint64_t* a, uint64_t* tmp, size_t n, Poller& poller);

// Rows with their keys for as long as memory lasts; then their entries in order, those of the roster first.
// Rows may come in any order of TIDs; it costs least when they ascend. Not thread-safe.
class EntryChunk {
 public:
  // budget: bytes for all of it, sorting included; at least 64 kB are used.
  explicit EntryChunk(size_t budget);

  // Adds a row; 40-bit keys in any order. False, and nothing is added, when there is no room.
  bool add(uint64_t tid, const uint64_t* keys, uint32_t n) noexcept {
    if (rows_ == tids_.size() || words_.size() - nwords_ < n) return false;
    ordered_ &= rows_ == 0 || tids_[rows_ - 1] < tid;
    const uint64_t row = rows_++;
    tids_[row] = tid;
    uint64_t* to = words_.data() + nwords_;
    for (uint32_t i = 0; i < n; ++i) to[i] = keys[i] << kRowBits | row;
    nwords_ += n;
    return true;
  }

  // Makes room for a row of n keys. False when the budget is used up by the rows that it has: sort(), read() all of
  // them, clear(). Throws bad_alloc, and what the poller throws.
  bool grow(uint32_t n, Poller& poller);

  size_t rows() const noexcept { return rows_; }

  // Ends adding. Throws what the poller throws, and bad_alloc.
  void sort(Poller& poller);

  // The next entries in order, after sort(); 0 at the end. An entry that was added twice comes twice.
  size_t read(Entry* out, size_t most) noexcept;

  // Forgets the rows, keeps the memory.
  void clear() noexcept;

  size_t peak_bytes() const noexcept { return ledger_.peak(); }

 private:
  // A word is key << kRowBits | number of the row in the chunk.
  static constexpr unsigned kRowBits = 64 - kKeyBits;
  static constexpr size_t kMaxChunkRows = size_t{1} << kRowBits;

  void order_rows(Poller& poller);

  size_t budget_;
  Ledger ledger_;
  Array<uint64_t> tids_;
  Array<uint64_t> words_;
  Array<uint64_t> scratch_;
  size_t rows_ = 0;
  size_t nwords_ = 0;
  size_t taken_ = 0;
  bool ordered_ = true;
};

// n entries in ascending order, of the caller.
struct EntrySlice {
  const Entry* entries;
  size_t n;
};

// Merges n > 0 slices. a, b: room for all entries each; the slices lie in neither, and their array is used up. Returns
// where the result is: in a, in b, or where a single slice was. Entries that are equal all come. Cost 2 ns an entry for
// each doubling of n.
const Entry* merge_slices(EntrySlice* slices, uint32_t n, Entry* a, Entry* b) noexcept;

struct EntryCounts {
  uint64_t entries;
  uint64_t rows;    // roster entries
  uint64_t sum_sq;  // over the other keys: the squared number of entries
};

// Packs ascending entries into leaves, leaves out those that repeat the one before, and counts. Entries below the one
// before, which only a damaged source has, are left out and reported. Plain data, 128 kB.
class RunPacker {
 public:
  RunPacker() noexcept { begin_run(); }

  // Forgets all. Needed before use, too, where no constructor ran.
  void begin_run() noexcept;
  // The next entry continues the run before, but starts to count anew. The leaf is empty.
  void begin_sibling() noexcept;

  // The next entry continues a run whose last key, which is not the roster's, has so many entries already.
  void resume(uint64_t key, uint64_t list) noexcept {
    last_ = {key, 0};
    begun_ = true;
    list_ = list;
  }

  // Takes entries from the front; fewer than n when the leaf is full: write() it and go on with the rest.
  size_t add(const Entry* entries, size_t n) noexcept;
  // Takes all of them; write_leaf() is called whenever the leaf is full, and write()s it.
  template <typename WriteLeaf>
  void add_all(const Entry* entries, size_t n, WriteLeaf write_leaf) {
    for (size_t taken; (taken = add(entries, n)) != n; entries += taken, n -= taken) write_leaf();
  }

  bool empty() const noexcept { return leaf_.count() == 0; }
  const Entry& first() const noexcept { return leaf_.first(); }
  const Entry& last() const noexcept { return last_; }
  uint32_t write(void* out) noexcept { return leaf_.write(out); }
  bool disordered() const noexcept { return disordered_; }

  EntryCounts counts() const noexcept { return {entries_, rows_, squares_ - rows_ * rows_}; }

 private:
  void tally(const Entry* entries, size_t n) noexcept;

  uint64_t entries_;
  uint64_t rows_;
  uint64_t squares_;  // modulo 2^64, with the roster
  uint64_t list_;     // entries of the last key
  Entry last_;        // the last one, if begun_
  bool begun_;
  bool disordered_;
  LeafPacker leaf_;
};

// Merges runs of leaves. The caller reads the leaves: read() stops at a source without entries, and goes on when that
// source was given its next leaf.
class EntryMerge {
 public:
  static constexpr uint32_t kMaxSources = 256;
  static constexpr uint32_t kNotHungry = ~uint32_t{0};
  // The memory that it holds for a source, the leaves aside.
  static constexpr size_t kBytesPerSource = 1200;

  // sources: 1..kMaxSources. Throws bad_alloc.
  explicit EntryMerge(uint32_t sources);

  // The next leaf of a source: kLeafBytes that stay until the source is hungry again; nullptr: it has ended.
  // False when the bytes are no leaf, or an empty one.
  bool feed(uint32_t source, const void* leaf) noexcept;

  // The next entries in order. *hungry: the source that has to be fed before any more, or kNotHungry. At the end of all
  // sources 0 and kNotHungry.
  size_t read(Entry* out, size_t most, uint32_t* hungry) noexcept;

 private:
  // key << 64 | TID << 16 | source: nodes are compared, and equal entries ordered, in one go.
  __extension__ using Node = unsigned __int128;
  static constexpr uint32_t kEntriesDecoded = 64;

  struct Source {
    LeafView leaf;
    uint32_t decoded;  // entries of the leaf that went into the block
    uint32_t at;
    uint32_t n;
    bool fed;
    bool ended;
    Entry block[kEntriesDecoded];
  };
  static_assert(sizeof(Source) + 2 * sizeof(Node) <= kBytesPerSource);

  static Node node(const Entry& e, uint32_t source) noexcept {
    return static_cast<Node>(e.key) << 64 | (e.tid << 16 | source);
  }
  Node head(uint32_t source) const noexcept;
  void decode(Source& source) noexcept;
  void plant() noexcept;
  void replay(Node node, uint32_t source) noexcept;

  Ledger ledger_;
  uint32_t n_;
  uint32_t width_;  // n_ rounded up to a power of 2
  uint32_t hungry_ = kNotHungry;
  bool planted_ = false;
  Array<Source> sources_;
  Array<Node> losers_;  // [0]: the winner; [i]: the loser of the match of 2i and 2i + 1
};

}  // namespace neardup
