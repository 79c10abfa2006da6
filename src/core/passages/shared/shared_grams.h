// The inside of shared_passages.h: the runs of so many units that two documents share, by comparing, not by hashes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/hash.h"
#include "core/document/shingle.h"
#include "core/work/workspace.h"

namespace neardup {

// A vector of numbers without the pauses of one that grows or is cleared: polls while it does.
template <class T>
class Numbers {
 public:
  explicit Numbers(Workspace& ws) : ws_(&ws) {}

  size_t size() const noexcept { return size_; }
  T& operator[](size_t i) noexcept { return data_[i]; }
  const T& operator[](size_t i) const noexcept { return data_[i]; }
  const T& back() const noexcept { return data_[size_ - 1]; }

  void add(const T& value) {
    if (size_ == data_.size()) grow();
    data_[size_++] = value;
  }
  void drop_last() noexcept { --size_; }
  // n elements of `value`; what was there is gone.
  void fill(size_t n, const T& value) {
    data_ = Array<T>();
    data_ = Array<T>(ws_->ledger, n);
    size_ = n;
    for (size_t i = 0; i < n;) {
      for (const size_t piece = std::min(n, i + kFilledPiece); i < piece; ++i) data_[i] = value;
      ws_->poller.spend(kFilledPiece / 2);
    }
  }

 private:
  static constexpr size_t kFilledPiece = 16384;

  void grow() {
    Array<T> larger(ws_->ledger, std::max<size_t>(64, data_.size() + data_.size() / 2));
    copy_polled(larger.data(), data_.data(), size_ * sizeof(T), ws_->poller);
    data_ = std::move(larger);
  }

  Workspace* ws_;
  Array<T> data_;
  size_t size_ = 0;
};

// Different keys to the numbers 1, 2, ... in order of arrival. 0 is no number.
class Names {
 public:
  explicit Names(Workspace& ws) : ws_(&ws), slots_(ws) { slots_.fill(64, Slot{0, 0}); }

  uint32_t count() const noexcept { return count_; }
  uint32_t find(uint64_t key) const noexcept { return slots_[place(key)].name; }
  uint32_t add(uint64_t key) {
    size_t i = place(key);
    if (slots_[i].name != 0) return slots_[i].name;
    if (2 * (size_t{count_} + 1) > slots_.size()) {
      grow();
      i = place(key);
    }
    slots_[i] = {key, ++count_};
    return count_;
  }

 private:
  struct Slot {
    uint64_t key;
    uint32_t name;
  };
  size_t place(uint64_t key) const noexcept {
    const size_t mask = slots_.size() - 1;
    size_t i = mix64(key) & mask;
    while (slots_[i].name != 0 && slots_[i].key != key) i = (i + 1) & mask;
    return i;
  }
  void grow();

  Workspace* ws_;
  Numbers<Slot> slots_;
  uint32_t count_ = 0;
};

// The units of two documents by number: equal ones have the same, and one that the other document lacks has 0.
class SharedUnits {
 public:
  // The texts must stay valid. Error{too_large} for one of 2^32 bytes and more.
  SharedUnits(Unit unit, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size, Workspace& ws,
              StopCheck* stop)
      : SharedUnits(unit, a, a_size, {{reinterpret_cast<const char*>(b), b_size}}, ws, stop) {}

  // b is several texts, one behind the other, with a 0 between each two: no run goes from one to the next.
  SharedUnits(Unit unit, const uint8_t* a, size_t a_size, const std::vector<std::string_view>& b, Workspace& ws,
              StopCheck* stop);

  Numbers<uint32_t> a;
  Numbers<uint32_t> b;
  Numbers<uint32_t> a_begin;  // bytes before the unit
  Numbers<uint32_t> a_end;
  Numbers<uint32_t> b_begin;

 private:
  uint32_t word(std::string_view key, bool add);

  Workspace* ws_;
  // Words: their bytes one behind the other, and for each number where it begins. Chains of words with the same hash.
  Numbers<char> bytes_;
  Numbers<uint64_t> word_begin_;
  Numbers<uint32_t> next_;
  Names hashes_;
  Numbers<uint32_t> chains_;
};

// Makes numbers of units numbers of runs: afterwards a[i] and b[i] are equal and above 0 just where the runs of
// `length` units from a[i] and b[i] on are equal, and 0 where the other document has no such run. By doubling (Karp,
// Miller, Rosenberg, "Rapid identification of repeated patterns in strings, trees and arrays", STOC 1972). length at
// least 1.
void name_shared_runs(size_t length, Numbers<uint32_t>* a, Numbers<uint32_t>* b, Workspace& ws);

}  // namespace neardup
