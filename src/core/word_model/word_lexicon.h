// The different words of a collection with how often they occur, and numbers for them, in bounded memory.
//
// Words are numbered from 0 as they come. When they outgrow their memory they are written to a file, in order of their
// bytes, and forgotten: an epoch ends, and numbers begin again at 0. A word may then have a number in every epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/work/byte_runs.h"
#include "core/work/spill.h"
#include "core/work/workspace.h"

namespace neardup {

// Use: while full() is false add(), else end_epoch() first; choose(), as often as wanted; begin_maps(), then next_map()
// for each epoch.
class WordLexicon {
 public:
  static constexpr uint32_t kMaxNumbers = 0x7ffffff0;

  // Errors: what the poller and the files throw; Error{too_large} for too many different words where there are no
  // files.
  explicit WordLexicon(Workspace& ws);
  ~WordLexicon();

  // True if another word may be one too many.
  bool full() const noexcept { return full_; }
  // Counts the word and returns its number in this epoch. n: 1 .. kMaxWordBytes; zeros follow the word up to a multiple
  // of 8 bytes. tag: what word_tag() gave for it; the prefetches, with other work between, hide waits for memory.
  uint32_t add(const uint8_t* word, size_t n, uint32_t tag);
  static uint32_t word_tag(const uint8_t* word, size_t n) noexcept;
  void prefetch_slot(uint32_t tag) const noexcept { __builtin_prefetch(&slots_[tag & mask_]); }
  void prefetch_word(uint32_t tag) const noexcept {
    const Slot slot = slots_[tag & mask_];
    if (slot.tag == tag && slot.at != 0) __builtin_prefetch(record(slot.at), 1);
  }
  void end_epoch();

  // The `most` words with the greatest counts, by count, descending, then by bytes: how many there are. Words of an
  // earlier choice are forgotten.
  size_t choose(size_t most);
  std::string_view word(size_t i) const noexcept { return {bytes_.data() + chosen_[i].offset, chosen_[i].length}; }
  uint64_t frequency(size_t i) const noexcept { return chosen_[i].count; }
  // Bytes that the chosen words and the map hold.
  size_t held_bytes() const noexcept {
    return chosen_.size() * sizeof(Chosen) + bytes_.size() + map_.size() * sizeof(uint32_t);
  }

  // Ends choosing, and frees what it needed but the words chosen.
  void begin_maps(const uint32_t* words, size_t n);
  // Maps numbers of the next epoch to i where the number is that of words[i], else n. Until the next call; not beyond
  // the last epoch.
  const uint32_t* next_map();

 private:
  struct Slot {
    uint32_t tag;
    uint32_t at;  // of the record, in 8 bytes; 0: free
  };
  struct Record {  // then the word, with zeros up to a multiple of 8 bytes
    uint64_t count;
    uint32_t number;
    uint32_t length;
    const uint8_t* word() const noexcept { return reinterpret_cast<const uint8_t*>(this + 1); }
  };
  struct Chosen {
    uint64_t count;
    uint64_t offset;
    uint32_t length;
    uint32_t number;
  };
  class Merge;

  Record* record(uint32_t at) const noexcept {
    return reinterpret_cast<Record*>(blocks_[at >> block_shift_] + ((at & block_mask_) << 3));
  }
  std::string_view word_at(uint32_t at) const noexcept {
    const Record* r = record(at);
    return {reinterpret_cast<const char*>(r->word()), r->length};
  }
  uint32_t insert(size_t slot, uint32_t tag, const uint8_t* word, size_t n);
  bool may_grow() const noexcept;
  void grow();
  void look_ahead();
  size_t sort_slots();
  void write_run();
  void free_table();
  void reduce_runs();
  size_t merge_fan_in() const noexcept;
  void add_chosen(std::string_view word, uint64_t count, uint32_t number);
  void order_chosen(size_t most);
  void choose_in_memory(size_t most);
  void choose_from_runs(size_t most);
  void empty_map(size_t numbers);

  Workspace& ws_;
  const size_t budget_;
  bool full_ = false;

  Array<Slot> slots_;  // open addressing, a power of two
  size_t mask_ = 0;
  size_t grow_at_ = 0;
  size_t words_ = 0;  // of this epoch
  std::vector<Array<uint64_t>> storage_;
  std::vector<uint8_t*> blocks_;
  unsigned block_shift_;  // of places in 8 bytes
  uint32_t block_mask_;
  size_t block_ = 0;  // the one that is being filled, and how far
  size_t used_ = 8;

  std::unique_ptr<TempFile> file_;
  std::vector<ByteRun> runs_;
  std::vector<uint32_t> epochs_;  // numbers of each epoch that was written

  Array<Chosen> chosen_;
  size_t chosen_count_ = 0;
  Array<char> bytes_;
  size_t bytes_used_ = 0;

  std::unique_ptr<RecordSorter> pairs_;  // (epoch, number) -> i
  SortRecord pair_{};
  bool has_pair_ = false;
  Array<uint32_t> map_;
  uint32_t vocabulary_ = 0;
  uint32_t epoch_ = 0;
};

}  // namespace neardup
