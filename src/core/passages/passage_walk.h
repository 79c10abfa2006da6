// From repeated windows to ranges of documents, and to the passages that stand at their first places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/passages/window_counts.h"
#include "core/unicode/utf8.h"

namespace neardup {

// Positions are code points of the document before it.
struct RepeatedRange {
  uint32_t row;
  uint32_t start;
  uint32_t length;
  uint32_t occurrences;  // of its rarest window
  uint32_t first_row;    // where its first window occurs first
  uint32_t first_start;
};

struct CommonPassage {
  uint32_t row;  // where it stands first
  uint32_t start;
  uint32_t length;
  uint32_t documents;
  uint32_t occurrences;
  uint64_t byte;  // of all documents
  uint64_t bytes;
};

// The unit before the one at hand, in the text of its document, which begins at `begin` of all documents.
struct LastUnit {
  const uint8_t* text;
  uint64_t begin;
  TextUnit unit;

  // Code points of the document before its end; the same in bytes of all documents. Counted only where it is needed.
  uint32_t end() const {
    return static_cast<uint32_t>(unit.position + count_code_points(text + unit.begin, unit.end - unit.begin));
  }
  uint64_t end_byte() const noexcept { return begin + unit.end; }
};

// Walks over the units of one document. Windows of consecutive units make a run, and a run a range: it has all units of
// its windows. With keep_first, the units of all windows that occur here first are left out, which may cut a range to
// pieces; a piece that lies within another one is left out too.
class RangeWalk {
 public:
  RangeWalk(uint32_t units, bool keep_first, std::vector<RepeatedRange>* out)
      : units_(units), keep_first_(keep_first), out_(out) {}

  void start(uint32_t row) {
    row_ = row;
    runs_ = kept_until_ = run_end_ = 0;
    recent_.clear();
    pieces_.clear();
  }

  // Unit u, the next one, begins at character `position`. window: that begins with it, or null.
  void unit(uint64_t u, uint32_t position, const LastUnit& last, const RepeatedWindow* window);

  void finish(const LastUnit& last) {
    if (!pieces_.empty()) put(pieces_.front(), last);
  }

  // True if what was walked over may still become a range, or cut one.
  bool is_open(uint64_t u) const noexcept { return u < run_end_; }

 private:
  struct Recent {
    uint64_t unit;
    uint64_t run;
    uint32_t occurrences;
    uint32_t first_row;
    uint32_t first_character;
  };
  struct Piece {
    uint64_t run;
    uint64_t run_end;
    uint32_t start;
    uint32_t occurrences;
    uint32_t first_row;
    uint32_t first_start;
  };

  void add_window(uint64_t u, const RepeatedWindow& window);
  void open(uint32_t position);
  void put(const Piece& piece, const LastUnit& last);

  const uint32_t units_;
  const bool keep_first_;
  std::vector<RepeatedRange>* const out_;
  uint32_t row_ = 0;
  uint64_t runs_ = 0;
  uint64_t last_window_ = 0;  // unit of the last window, if there was one
  uint64_t run_end_ = 0;      // of the last run, in units
  uint64_t kept_until_ = 0;
  std::deque<Recent> recent_;  // windows that reach to the unit at hand
  std::deque<Piece> pieces_;   // that are open, by their start; each of another run
};

// The walk for passages: windows that occur here first and follow each other with equal numbers of occurrences and of
// documents make one.
class PassageWalk {
 public:
  PassageWalk(uint32_t units, std::vector<CommonPassage>* out) : units_(units), out_(out) {}

  void start(uint32_t row) {
    row_ = row;
    open_.clear();
  }

  void unit(uint64_t u, uint32_t position, const LastUnit& last, const RepeatedWindow* window);
  void finish(const LastUnit& last) {
    if (!open_.empty()) put(last);
  }
  bool is_open() const noexcept { return !open_.empty(); }

 private:
  struct Open {
    uint64_t last_window;
    CommonPassage passage;
  };

  void put(const LastUnit& last);

  const uint32_t units_;
  std::vector<CommonPassage>* const out_;
  uint32_t row_ = 0;
  std::deque<Open> open_;
};

}  // namespace neardup
