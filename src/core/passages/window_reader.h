// The units of a document one after another, with the hash of the last ones: as many as a window has.
#pragma once

#include <cstdint>
#include <vector>

#include "core/document/text_units.h"
#include "core/passages/window_hash.h"

namespace neardup {

// Memory: up to 32 bytes a unit of a window.
class WindowReader {
 public:
  // Where a unit stands in its document.
  struct Place {
    uint64_t begin;  // byte
    uint32_t bytes;
    uint32_t character;  // code points before it

    uint64_t end() const noexcept { return begin + bytes; }
  };

  WindowReader(uint32_t units, const WindowHasher& hasher) : units_(units), hasher_(hasher) {}

  // A document begins.
  void start() noexcept { read_ = held_ = 0; }

  // False at the end of the document.
  bool read(UnitScanner* scanner);
  // Up to unit `to`. What is skipped is in no window, and is not hashed.
  void skip(UnitScanner* scanner, uint64_t to);

  // Units read or skipped.
  uint64_t units_read() const noexcept { return read_; }
  // Whether the last units make a window.
  bool has_window() const noexcept { return held_ == units_; }

  // Of the window that the last unit ends.
  const WindowHash& run() const noexcept { return run_; }
  const Place& first() const noexcept { return ring_[read_ % ring_.size()].place; }
  const Place& last() const noexcept { return ring_[(read_ - 1) % ring_.size()].place; }

 private:
  struct Held {
    WindowHash hash;
    Place place;
  };

  const uint32_t units_;
  const WindowHasher& hasher_;
  std::vector<Held> ring_;  // the last units that were read
  uint64_t read_ = 0;
  uint64_t held_ = 0;
  WindowHash run_{};
};

}  // namespace neardup
