// See verify_windows.h.
#include "core/passages/verify_windows.h"

#include <algorithm>
#include <optional>

namespace neardup {
namespace {

// What is read of a text at first, and kept in front of a unit to know that it is whole.
constexpr size_t kFirstRead = 4096;
constexpr size_t kWholeCodePoint = 4;
constexpr size_t kUnitCost = 60;  // nanoseconds

// The units of a document from a place on, read in pieces that grow.
class StoredUnits {
 public:
  StoredUnits(Unit unit, ByteStore* texts, Workspace& ws, StopCheck* stop)
      : unit_(unit), texts_(texts), ws_(ws), stop_(stop) {}

  // From the unit that begins at `byte` on; end: of its document.
  void start(uint64_t byte, uint64_t end) {
    next_ = byte;
    wanted_ = kFirstRead;
    if (end == end_ && byte >= begin_ && byte < begin_ + size_) {
      scan();
      return;
    }
    end_ = end;
    read();
  }

  // The next unit: where it begins, and what makes it equal to others; false at the end of the document.
  bool next(uint64_t* byte, std::string_view* key) {
    TextUnit unit;
    for (;;) {
      const bool any = scanner_->next(&unit, key);
      const uint64_t piece_end = begin_ + size_;
      if (any && (piece_end == end_ || from_ + scanner_->consumed() + kWholeCodePoint <= piece_end)) break;
      if (piece_end == end_) return false;
      // The piece may end within a unit: the next one begins behind the last whole unit.
      if (next_ == begin_) wanted_ *= 2;
      read();
    }
    *byte = from_ + unit.begin;
    next_ = from_ + scanner_->consumed();
    return true;
  }

 private:
  void read() {
    begin_ = next_;
    size_ = static_cast<size_t>(std::min<uint64_t>(wanted_, end_ - begin_));
    if (buffer_.size() < size_) {
      buffer_ = Array<uint8_t>();
      buffer_ = Array<uint8_t>(ws_.ledger, std::max(size_, kFirstRead));
    }
    texts_->read(begin_, buffer_.data(), size_);
    scan();
  }

  void scan() {
    from_ = next_;
    const size_t skipped = static_cast<size_t>(from_ - begin_);
    scanner_.emplace(unit_, buffer_.data() + skipped, size_ - skipped, stop_);
  }

  const Unit unit_;
  ByteStore* const texts_;
  Workspace& ws_;
  StopCheck* const stop_;
  uint64_t begin_ = 0;  // of the piece, of size_ bytes
  size_t size_ = 0;
  uint64_t from_ = 0;  // where the scanner began
  uint64_t next_ = 0;  // behind the last unit
  uint64_t end_ = 0;
  size_t wanted_ = 0;
  Array<uint8_t> buffer_;
  std::optional<UnitScanner> scanner_;
};

class WindowVerifier {
 public:
  WindowVerifier(Unit unit, uint32_t units, const DocumentPlaces& places, ByteStore* texts, Workspace& ws,
                 StopCheck* stop)
      : units_(units), places_(places), ws_(ws), here_(unit, texts, ws, stop), there_(unit, texts, ws, stop) {
    begins_.resize(units);
  }

  bool verify(const RepeatedWindow& window) {
    if (compared_ == 0) return start(window);
    if (units_ == 1) return verify_unit(window);
    return window.byte == second(0) && window.previous == second(1) ? compare_unit() : start(window);
  }

 private:
  struct Begins {
    uint64_t of[2];
  };

  // Where the second unit of the last pair of windows begins.
  uint64_t second(size_t side) const noexcept { return begins_[(compared_ - units_ + 1) % units_].of[side]; }

  // A window of one unit begins where the units read next do, or at another place.
  bool verify_unit(const RepeatedWindow& window) {
    Begins begins;
    std::string_view key[2];
    ws_.poller.spend(kUnitCost);
    const bool in_step = here_.next(&begins.of[0], &key[0]) && there_.next(&begins.of[1], &key[1]) &&
                         begins.of[0] == window.byte && begins.of[1] == window.previous;
    return in_step ? key[0] == key[1] : start(window);
  }

  bool start(const RepeatedWindow& window) {
    const uint32_t row = places_.row_at(window.byte);
    const uint32_t previous = places_.row_at(window.previous);
    if (places_.group_of(row) != places_.group_of(previous)) return false;
    here_.start(window.byte, places_.begins[row + 1]);
    there_.start(window.previous, places_.begins[previous + 1]);
    compared_ = 0;
    while (compared_ < units_)
      if (!compare_unit()) return false;
    return true;
  }

  bool compare_unit() {
    ws_.poller.spend(kUnitCost);
    Begins& begins = begins_[compared_ % units_];
    std::string_view key[2];
    if (!here_.next(&begins.of[0], &key[0]) || !there_.next(&begins.of[1], &key[1]) || key[0] != key[1]) return false;
    ++compared_;
    return true;
  }

  const uint32_t units_;
  const DocumentPlaces& places_;
  Workspace& ws_;
  StoredUnits here_;
  StoredUnits there_;
  std::vector<Begins> begins_;  // of the last units that were compared, a ring
  uint64_t compared_ = 0;
};

}  // namespace

uint32_t DocumentPlaces::row_at(uint64_t byte) const noexcept {
  return static_cast<uint32_t>(std::upper_bound(begins, begins + rows, byte) - begins - 1);
}

bool verify_windows(RepeatedWindows* windows, Unit unit, uint32_t units, const DocumentPlaces& places, ByteStore* texts,
                    Workspace& ws, StopCheck* stop) {
  WindowVerifier verifier(unit, units, places, texts, ws, stop);
  uint64_t done = 0;
  for (; const RepeatedWindow* window = windows->peek(); windows->pop()) {
    ws.poller.parts(done++, windows->size());
    if (window->previous != kNoWindow && !verifier.verify(*window)) return false;
  }
  return true;
}

}  // namespace neardup
