// Repeated passages of many documents: the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/document/text_units.h"
#include "core/passages/passage_walk.h"
#include "core/work/temp_file.h"

namespace neardup {

inline constexpr int64_t kMaxPassageUnits = 100000;
// A row of no group takes no part.
inline constexpr uint32_t kNoGroup = UINT32_MAX;

struct PassageOptions {
  Unit unit = Unit::word;
  int64_t min_units = 50;  // words, characters: 2 .. kMaxPassageUnits; lines, paragraphs: 1 ..
  int64_t at_least = 2;    // 2 or more
  bool keep_first = true;
  size_t memory_limit = size_t{64} << 20;
  TempFileFactory* files = nullptr;
  StopCheck* stop = nullptr;
  unsigned threads = 1;
  uint64_t key = 0;  // drawn at random, unknown to whoever has written the documents
  // Tests let so many searches begin with hashes of so few bits.
  unsigned weak_searches = 0;
  unsigned weak_bits = 61;
};

// Error{invalid_argument} where a number is out of range. name: of the argument, for the message.
void check_window_units(Unit unit, int64_t units, const char* name);
void check_passage_options(const PassageOptions& options);

struct PassageSearchStats {
  uint64_t rows = 0;
  uint64_t bytes = 0;
  uint64_t seeds = 0;
  uint64_t windows = 0;   // that were hashed
  uint64_t repeated = 0;  // of them, those that occur at_least times
  unsigned searches = 0;  // more than 1: hashes of different windows were equal
  size_t peak_bytes = 0;
  uint64_t spilled_bytes = 0;
};

// A window is min_units units in a row of one document. It is repeated where it occurs at_least times in all documents
// of its group, at overlapping places too. Results are exact: equal hashes are verified, and drawn anew where they
// deceive. Memory is bounded by memory_limit but for the numbers of a document (16 bytes a row, 4 for the group), the
// text of the document at hand, and 56 bytes a unit of min_units for each thread. Time: proportional to the text, and
// to the windows that are repeated, not to pairs of them.
class PassageSearch {
 public:
  // Checks the options. files and stop must outlive it.
  explicit PassageSearch(const PassageOptions& options);
  ~PassageSearch();
  PassageSearch(const PassageSearch&) = delete;
  PassageSearch& operator=(const PassageSearch&) = delete;

  // The next row's document, copied. Nothing (size 0) takes no part. UTF-8; ill-formed bytes read as U+FFFD.
  void add(const uint8_t* text, size_t size);

  // Called after the last row. group_of: the group of each row, below kNoGroup, or kNoGroup; null: all are of one. Must
  // stay valid. Errors: those of the poller and of the files; Error{too_large}; Error{unsupported} where hashes deceive
  // again and again, which cannot be by chance.
  void run(const uint32_t* group_of);

  // Up to `most` ranges after run(), at least one unless there are no more, by row, start and end. Or the same of
  // passages. One of the two, until it returns none.
  size_t next(RepeatedRange* out, size_t most);
  size_t next(CommonPassage* out, size_t most);

  // Bytes of all documents, as a CommonPassage names them.
  void read_text(uint64_t byte, void* out, size_t n);

  PassageSearchStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace neardup
