// Things that engines share: accounts of the memory they hold, uninitialised arrays that count themselves, amortised
// polls.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "core/base/stop.h"
#include "core/work/temp_file.h"

namespace neardup {

// Turns a virtual poll per step into one or two per millisecond. Units are nanoseconds, estimated.
class Poller {
 public:
  explicit Poller(StopCheck* stop) : stop_(stop) {}

  // Throws Error{cancelled} when it is time to stop. Call it at least every few milliseconds of work.
  void spend(size_t units) {
    if (units < left_) {
      left_ -= units;
      return;
    }
    left_ = kPeriod;
    check();
  }

  void steps(uint64_t done, uint64_t total) noexcept {
    if (stop_ != nullptr) stop_->steps(done, total);
  }
  void parts(uint64_t done, uint64_t total) noexcept {
    if (stop_ != nullptr) stop_->parts(done, total);
  }

  void check() {
    if (stop_ != nullptr) stop_->poll();
  }

 private:
  static constexpr size_t kPeriod = 500'000;
  StopCheck* stop_;
  size_t left_ = kPeriod;
};

// Bytes held now and at most. Any thread may hold and release.
class Ledger {
 public:
  void hold(size_t bytes) noexcept {
    const size_t held = held_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    size_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < held && !peak_.compare_exchange_weak(peak, held, std::memory_order_relaxed)) {
    }
  }
  void release(size_t bytes) noexcept { held_.fetch_sub(bytes, std::memory_order_relaxed); }
  size_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

 private:
  std::atomic<size_t> held_{0};
  std::atomic<size_t> peak_{0};
};

// The smallest memory limit that is honoured.
inline constexpr size_t kLeastMemory = 64 * 1024;

// One engine's limits and accounts. limit is SIZE_MAX where there are no temporary files to turn to.
struct Workspace {
  Workspace(size_t memory_limit, TempFileFactory* temp_files, StopCheck* stop)
      : limit(temp_files == nullptr ? SIZE_MAX : std::max(memory_limit, kLeastMemory)),
        files(temp_files),
        stop(stop),
        poller(stop) {}

  size_t limit;
  TempFileFactory* files;
  StopCheck* stop;
  Poller poller;
  Ledger ledger;
  uint64_t spilled_bytes = 0;
};

inline constexpr size_t kHalf = 2;
inline constexpr size_t kQuarter = 4;
inline constexpr size_t kEighth = 8;
inline constexpr size_t kSixteenth = 16;
inline size_t memory_share(const Workspace& ws, size_t part) {
  return ws.limit == SIZE_MAX ? SIZE_MAX : ws.limit / part;
}

// n uninitialised elements on a cache line boundary, counted in a ledger that outlives them.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  Array(Ledger& ledger, size_t n)
      : ledger_(&ledger), n_(n), data_(static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64}))) {
    ledger_->hold(n * sizeof(T));
  }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Array() {
    if (data_ == nullptr) return;
    ::operator delete (data_, std::align_val_t{64});
    ledger_->release(n_ * sizeof(T));
  }
  void swap(Array& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(n_, other.n_);
    std::swap(data_, other.data_);
  }

  size_t size() const noexcept { return n_; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T& operator[](size_t i) noexcept { return data_[i]; }
  const T& operator[](size_t i) const noexcept { return data_[i]; }

  // Frees the elements before it allocates n others.
  void renew(Ledger& ledger, size_t n) {
    *this = {};
    *this = Array(ledger, n);
  }

 private:
  Ledger* ledger_ = nullptr;
  size_t n_ = 0;
  T* data_ = nullptr;
};

// Copies and file transfers are cut into pieces of this many bytes with a poll between them.
inline constexpr size_t kTransferBytes = 256 * 1024;

// Calls on_piece(done, size) for each piece of n bytes.
template <class OnPiece>
void for_each_piece(size_t n, OnPiece on_piece) {
  for (size_t done = 0; done < n; done += kTransferBytes) on_piece(done, std::min(kTransferBytes, n - done));
}

// memcpy that can be cancelled.
inline void copy_polled(void* to, const void* from, size_t n, Poller& poller) {
  for_each_piece(n, [&](size_t done, size_t size) {
    std::memcpy(static_cast<char*>(to) + done, static_cast<const char*>(from) + done, size);
    poller.spend(size / 4);
  });
}

// Makes it an array of n elements, of which the first `used` are those that it had.
template <class T>
void resize_polled(Array<T>* array, size_t n, size_t used, Ledger& ledger, Poller& poller) {
  Array<T> resized(ledger, n);
  copy_polled(resized.data(), array->data(), used * sizeof(T), poller);
  array->swap(resized);
}

// memset to 0 that can be cancelled.
template <class T>
void zero_polled(Array<T>* array, Poller& poller) {
  for_each_piece(array->size() * sizeof(T), [&](size_t done, size_t size) {
    std::memset(reinterpret_cast<char*>(array->data()) + done, 0, size);
    poller.spend(size / 8);
  });
}

// Appends n bytes, cut into pieces, and counts them as spilled.
inline void append_polled(TempFile& file, const void* data, size_t n, Workspace& ws) {
  for_each_piece(n, [&](size_t done, size_t size) {
    file.append(static_cast<const char*>(data) + done, size);
    ws.spilled_bytes += size;
    ws.poller.spend(size);
  });
}

inline void read_polled(TempFile& file, uint64_t offset, void* out, size_t n, Poller& poller) {
  for_each_piece(n, [&](size_t done, size_t size) {
    file.read(offset + done, static_cast<char*>(out) + done, size);
    poller.spend(size + 500);
  });
}

// Calls on_element(i) for each of n elements, and spends `units` for each, many at a time. Polls: a Poller or a
// HitSink.
template <class Polls, class OnElement>
void for_each_polled(size_t n, size_t units, Polls& polls, OnElement on_element) {
  constexpr size_t kElementsBetweenPolls = 1 << 16;
  for (size_t from = 0; from < n; from += kElementsBetweenPolls) {
    const size_t to = std::min(n, from + kElementsBetweenPolls);
    for (size_t i = from; i < to; ++i) on_element(i);
    polls.spend(units * (to - from));
  }
}

}  // namespace neardup
