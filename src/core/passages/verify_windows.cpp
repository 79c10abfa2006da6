// See verify_windows.h.
#include "core/passages/verify_windows.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace neardup {
namespace {

// The bytes that are read of a text at first, and kept in front of a unit to know that it is whole.
constexpr size_t kFirstRead = 4096;
constexpr size_t kWholeCodePoint = 4;
constexpr size_t kVerifyUnitCost = 60;  // nanoseconds
constexpr size_t kHoldCost = 5;         // nanoseconds

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

  // The byte behind those that the units so far were read of.
  uint64_t consumed() const noexcept { return next_; }

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
    if (buffer_.size() < size_) buffer_.renew(ws_.ledger, std::max(size_, kFirstRead));
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

// The equal bytes of two documents, from a place in each on. They are read in pieces, as far as is asked.
class EqualBytes {
 public:
  EqualBytes(ByteStore* texts, Workspace& ws) : texts_(texts), ws_(ws) {}

  // Begins at a and b; the documents end at a_end and b_end.
  void start(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end) {
    places_[0] = {a, a_end};
    places_[1] = {b, b_end};
    differ_ = false;
  }

  // True if the bytes before `to`, of the first document, are equal, or all bytes of both documents are.
  bool reach(uint64_t to) {
    while (places_[0].at < to && !differ_) {
      if (places_[0].left() == 0 && places_[1].left() == 0) return true;
      compare_piece();
    }
    return places_[0].at >= to;
  }

 private:
  struct Place {
    uint64_t at;
    uint64_t end;
    uint64_t left() const noexcept { return end - at; }
  };

  void compare_piece() {
    const auto n = static_cast<size_t>(std::min({uint64_t{kComparedPiece}, places_[0].left(), places_[1].left()}));
    for (size_t side = 0; side < 2; ++side) {
      if (pieces_[side].size() == 0) pieces_[side] = Array<uint8_t>(ws_.ledger, kComparedPiece);
      texts_->read(places_[side].at, pieces_[side].data(), n);
    }
    const uint8_t* const a = pieces_[0].data();
    const uint8_t* const b = pieces_[1].data();
    const size_t equal = std::memcmp(a, b, n) == 0 ? n : static_cast<size_t>(std::mismatch(a, a + n, b).first - a);
    ws_.poller.spend(n / 4);
    differ_ = equal < n || n == 0;
    for (Place& place : places_) place.at += equal;
  }

  static constexpr size_t kComparedPiece = 2048;  // bytes

  ByteStore* const texts_;
  Workspace& ws_;
  Array<uint8_t> pieces_[2];
  Place places_[2] = {};
  bool differ_ = true;
};

// Windows are equal where their bytes are; only those that end beyond equal bytes are compared unit by unit.
class WindowVerifier {
 public:
  WindowVerifier(Unit unit, uint32_t units, const DocumentPlaces& places, ByteStore* texts, Workspace& ws,
                 StopCheck* stop)
      : units_(units),
        places_(places),
        ws_(ws),
        bytes_(texts, ws),
        here_(unit, texts, ws, stop),
        there_(unit, texts, ws, stop) {
    begins_.resize(units);
    held_.resize(units);
  }

  // Windows in ascending order. False: it, or one before it, is not equal to the one that it names.
  bool verify(const RepeatedWindow& window) {
    if (held_count_ > 0) {
      if (hold(window)) return true;
      if (!finish()) return false;
    }
    if (!continues(window) || compared_ >= std::max(kUnitsInARow * units_, kLeastInARow)) return start(window);
    return units_ == 1 ? verify_unit(window) : compare_unit();
  }

  bool finish() {
    if (held_count_ == 0) return true;
    const uint64_t n = std::min<uint64_t>(held_count_, units_);
    const uint64_t first = held_count_ - n;
    const bool proven = ends_in_equal_bytes(held_at(held_count_ - 1).byte);
    held_count_ = 0;
    for (uint64_t i = first; i < first + n && !proven; ++i) {
      const bool in_step = i > first && units_ > 1 && continues(held_at(i));
      if (!(in_step ? compare_unit() : start_units(held_at(i)))) return false;
    }
    return true;
  }

 private:
  struct Begins {
    uint64_t of[2];
  };

  // After so many units it is worth looking at bytes again: times those of a window, and at least.
  static constexpr uint64_t kUnitsInARow = 3;
  static constexpr uint64_t kLeastInARow = 32;

  // ---- by bytes

  bool start(const RepeatedWindow& window) {
    const uint32_t row = places_.row_at(window.byte);
    const uint32_t previous = places_.row_at(window.previous);
    if (places_.group(row) != places_.group(previous)) return false;
    row_end_ = places_.begins[row + 1];
    offset_ = window.byte - window.previous;
    compared_ = 0;
    bytes_.start(window.byte, row_end_, window.previous, places_.begins[previous + 1]);
    return hold(window) || start_units(window);
  }

  // False where the window does not begin in equal bytes. Else it is proven later: one that ends before another one
  // begins is proven with that one.
  bool hold(const RepeatedWindow& window) {
    ws_.poller.spend(kHoldCost);
    if (window.byte - window.previous != offset_ || window.byte >= row_end_) return false;
    if (!bytes_.reach(window.byte + kWholeCodePoint)) return false;
    held_[held_count_++ % units_] = window;
    return true;
  }
  const RepeatedWindow& held_at(uint64_t i) const noexcept { return held_[i % units_]; }

  bool ends_in_equal_bytes(uint64_t byte) {
    here_.start(byte, row_end_);
    uint64_t unused;
    std::string_view key;
    for (uint32_t i = 0; i < units_; ++i) {
      ws_.poller.spend(kVerifyUnitCost);
      if (!here_.next(&unused, &key) || !bytes_.reach(here_.consumed() + kWholeCodePoint)) return false;
    }
    return true;
  }

  // ---- unit by unit

  // Where the second unit of the last pair of windows begins.
  uint64_t second(size_t side) const noexcept { return begins_[(compared_ - units_ + 1) % units_].of[side]; }

  // True if both windows begin one unit behind those that were compared last.
  bool continues(const RepeatedWindow& window) const noexcept {
    return compared_ != 0 && (units_ == 1 || (window.byte == second(0) && window.previous == second(1)));
  }

  // A window of one unit begins where the units read next do, or at another place.
  bool verify_unit(const RepeatedWindow& window) {
    Begins begins;
    std::string_view key[2];
    ws_.poller.spend(kVerifyUnitCost);
    const bool in_step = here_.next(&begins.of[0], &key[0]) && there_.next(&begins.of[1], &key[1]) &&
                         begins.of[0] == window.byte && begins.of[1] == window.previous;
    if (!in_step) return start(window);
    ++compared_;
    return key[0] == key[1];
  }

  bool start_units(const RepeatedWindow& window) {
    here_.start(window.byte, row_end_);
    there_.start(window.previous, places_.begins[places_.row_at(window.previous) + 1]);
    compared_ = 0;
    while (compared_ < units_)
      if (!compare_unit()) return false;
    return true;
  }

  bool compare_unit() {
    ws_.poller.spend(kVerifyUnitCost);
    Begins& begins = begins_[compared_ % units_];
    std::string_view key[2];
    if (!here_.next(&begins.of[0], &key[0]) || !there_.next(&begins.of[1], &key[1]) || key[0] != key[1]) return false;
    ++compared_;
    return true;
  }

  const uint32_t units_;
  const DocumentPlaces& places_;
  Workspace& ws_;
  EqualBytes bytes_;
  StoredUnits here_;
  StoredUnits there_;
  std::vector<Begins> begins_;  // of the last units that were compared, a ring
  uint64_t compared_ = 0;       // units in a row
  // Windows of one document, each as far behind the one that it names, that begin in equal bytes.
  uint64_t offset_ = 0;
  uint64_t row_end_ = 0;
  std::vector<RepeatedWindow> held_;  // the last ones, a ring
  uint64_t held_count_ = 0;
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
  return verifier.finish();
}

}  // namespace neardup
