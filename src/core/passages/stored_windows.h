// Windows by the numbers that a database keeps of them: what stood in many documents is recognised in one that comes
// later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/document/text_units.h"
#include "core/passages/passage_search.h"
#include "core/passages/window_reader.h"
#include "core/passages/window_set.h"

namespace neardup {

// The parameters of a window's number. The key is drawn at random, and unknown to whoever writes the documents.
struct StoredShape {
  Unit unit;
  uint32_t units;
  uint64_t key;
};

// The windows of a text, each with its number. Numbers reach disk: they may not change. Equal windows of one group have
// equal numbers. Two different ones have, with a probability of about 2^-61.
class NumberedWindows {
 public:
  explicit NumberedWindows(const StoredShape& shape);
  NumberedWindows(const NumberedWindows&) = delete;
  NumberedWindows& operator=(const NumberedWindows&) = delete;

  // group: a number of those within which windows count. stop (may be null) is polled.
  void start(uint64_t group, const uint8_t* text, size_t size, StopCheck* stop);

  // The next window: bytes begin .. end - 1. False at the end.
  struct Window {
    uint64_t number;
    uint64_t begin;
    uint64_t end;
  };
  bool next(Window* out);

 private:
  const StoredShape shape_;
  const WindowHasher hasher_;
  WindowReader reader_;
  uint64_t group_ = 0;
  std::optional<UnitScanner> scanner_;
};

// The windows that stand in so many documents of a search that has run, each once. It takes the search's passages.
class FrequentWindows {
 public:
  // group_of: as PassageSearch::run() had it. groups: the number of each group; both null: all documents are of group
  // 0. All must outlive it.
  FrequentWindows(PassageSearch* search, const StoredShape& shape, uint64_t documents, const uint32_t* group_of,
                  const uint64_t* groups, StopCheck* stop);

  // Up to `most` numbers, at least one unless there are no more.
  size_t next(uint64_t* out, size_t most);

 private:
  bool enter_passage();

  PassageSearch* const search_;
  const uint64_t documents_;
  const uint32_t* const group_of_;
  const uint64_t* const groups_;
  StopCheck* const stop_;
  NumberedWindows windows_;
  std::vector<uint8_t> text_;
  bool within_ = false;  // a passage
};

// Cuts the windows of a set out of documents.
class WindowCutter {
 public:
  WindowCutter(const StoredShape& shape, WindowSet* set, StopCheck* stop) : set_(set), stop_(stop), windows_(shape) {}

  // The text without every unit of its windows that are in the set, and without what stands between the units of a
  // window: cut_ranges() of the ranges that PassageSearch finds with keep_first false.
  std::string cut(uint64_t group, const uint8_t* text, size_t size);

 private:
  WindowSet* const set_;
  StopCheck* const stop_;
  NumberedWindows windows_;
};

}  // namespace neardup
