// Counts how often the words of a vocabulary stand near each other, for the rows of information that follow, in bounded
// memory.
//
// Words come as ids, in order of their places. A chunk of places that fits in memory is put in order of its words, so
// that all neighbours of a word can be counted one word after the other; where there are more chunks, each is written
// as a run of rows, in order of words and features, and runs are added up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/word_model/word_information.h"
#include "core/word_model/word_row.h"
#include "core/work/byte_runs.h"
#include "core/work/workspace.h"

namespace neardup {

// A place as a number: that of a word, or kNoWord; and whether a window ends before it.
inline constexpr uint32_t kBeginsWindow = 0x80000000;
inline constexpr uint32_t kNoWord = 0x7fffffff;

struct WordPairOptions {
  uint32_t words = 0;     // of the vocabulary: ids are below
  uint32_t contexts = 0;  // the first so many make features
  int window = 3;
  bool by_position = true;
  uint32_t discount = 0;  // taken off each count of a pair: thousandths, below kDiscountUnits
  bool wide = false;      // counts of a pair may reach 2^32
};

// Counters of the features of one word: dense, with two levels of bits that tell which are not 0.
template <class Count>
class FeatureCounts {
 public:
  FeatureCounts() = default;
  FeatureCounts(size_t features, Workspace& ws);

  void add(size_t feature, Count n) noexcept {
    counts_[feature] += n;
    bits_[feature >> 6] |= uint64_t{1} << (feature & 63);
    top_[feature >> 12] |= uint64_t{1} << (feature >> 6 & 63);
  }

  // f(feature, count) in order of features; all counts are 0 then.
  template <class F>
  void drain(Poller& poller, F f);

  static size_t bytes(size_t features) noexcept {
    return (features + 4096) * sizeof(Count) + features / 8 + features / 512 + 128;
  }

 private:
  Array<Count> counts_;
  Array<uint64_t> bits_;
  Array<uint64_t> top_;
};

// Use: add() until all places are in; finish(); next_row() until false.
class WordPairs {
 public:
  // most_places: at least as many as expected() will be. held: bytes of the limit that others need meanwhile.
  WordPairs(const WordPairOptions& options, uint64_t most_places, size_t held, Workspace& ws);
  ~WordPairs();

  // Most places that n words or gaps, with so many beginnings of windows among them, can become.
  static uint64_t expected(uint64_t n, uint64_t begins, int window) noexcept {
    return n + (begins + 4) * static_cast<uint64_t>(window) + 2;
  }
  // The places that fit in a chunk.
  size_t chunk_places() const noexcept { return ids_.size(); }

  // n places; map: from their numbers to ids, or to options.words.
  void add(const uint32_t* places, size_t n, const uint32_t* map);
  void finish();

  // See WordCounts; only the text of the error differs.
  bool next_row(WordRow* row);

  uint32_t features() const noexcept { return contexts_ * relations_; }
  uint64_t pairs() const noexcept;

 private:
  struct Source;

  void sort_chunk(size_t owned_end);
  void count_margins(size_t owned_end);
  void begin_chunk();
  void write_chunk(size_t owned_end);
  template <class Count>
  uint64_t gather(uint32_t word, FeatureCounts<Count>* counts);
  template <class Counter>
  void write_rows(RunWriter* out, Counter count);
  template <class Count>
  uint64_t add_runs(uint32_t word, std::vector<Source>* sources, FeatureCounts<Count>* counts);
  template <class Count>
  void weigh(uint32_t word, uint64_t most, FeatureCounts<Count>* counts, WordRow* row);
  std::vector<Source> open_runs(size_t first, size_t n, size_t budget);
  void reduce_runs();
  void prepare_information();
  double count_log(uint64_t count) const noexcept;
  size_t run_buffer() const noexcept;
  // Nanoseconds to look for counts of a word that has none.
  size_t top_cost() const noexcept { return features() / 4096; }

  Workspace& ws_;
  const uint32_t words_;
  const uint32_t contexts_;
  const uint32_t window_;
  const bool by_position_;
  const uint32_t discount_;
  const bool wide_;
  const uint32_t relations_;  // 2 * window, or 1
  size_t budget_;             // for chunks, then for reading runs

  // Calls f with those counters that are in use, by wide_.
  template <class F>
  void with_counts(F f) {
    if (wide_)
      f(&wide_counts_);
    else
      f(&narrow_counts_);
  }
  FeatureCounts<uint32_t> narrow_counts_;
  FeatureCounts<uint64_t> wide_counts_;

  Array<uint64_t> margins_;  // |w,r,*|: r of w at w * relations_ + i; |*,r,w| is that of -r
  // The chunk: window_ places before, its own, window_ behind; options.words stands where no word is.
  Array<uint32_t> ids_;
  size_t n_ = 0;
  uint32_t gap_ = 0;  // how many places without a word are the last ones
  bool finished_ = false;
  Array<uint32_t> places_;  // of word 0, of word 1, ..
  Array<uint32_t> ends_;    // where those of a word end

  std::unique_ptr<TempFile> file_;
  std::vector<ByteRun> runs_;
  std::vector<Source> sources_;

  static constexpr size_t kLogs = 4096;
  std::vector<double> logs_;       // of small numbers
  std::vector<double> pair_logs_;  // of small numbers, with the discount taken off
  Array<double> context_logs_;     // of |*,r,w'|, by feature; none where that is too much memory
  std::array<uint64_t, 2 * kMaxWordWindow> totals_{};
  Array<uint32_t> row_features_;
  Array<uint16_t> row_values_;
  uint32_t row_ = 0;
};

}  // namespace neardup
