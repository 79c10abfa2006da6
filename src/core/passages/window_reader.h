// The units of a document one after another, with the hash of the last ones, as many as a window has. A hash has 122
// bits, by a key that is drawn for each search.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/document/text_units.h"

namespace neardup {

// Two polynomials modulo 2^61 - 1, with bases and hashes of units by the key. Two different runs of n units agree with
// a probability of about (n / 2^61)^2, whatever they are, for they cannot be chosen by the key. What agrees is compared
// nevertheless: verify_windows.h.
using WindowHash = std::array<uint64_t, 2>;

// The bits of each of the two numbers.
inline constexpr unsigned kWindowHashBits = 61;

class WindowHasher {
 public:
  // units: of a window, at least 1. bits: how many of each number are kept, all but in tests.
  WindowHasher(uint64_t key, uint32_t units, unsigned bits = kWindowHashBits);

  // A unit to a number of each polynomial.
  WindowHash unit(std::string_view unit_key) const noexcept;
  // A number added to the hashes of a group's windows, so that those of two groups differ.
  WindowHash group(uint32_t group) const noexcept;

  // The hash of a run with one more unit; `oldest` leaves a run of a whole window.
  void extend(WindowHash* run, const WindowHash& newest) const noexcept;
  void slide(WindowHash* run, const WindowHash& oldest, const WindowHash& newest) const noexcept;
  WindowHash finish(const WindowHash& run, const WindowHash& group) const noexcept;

 private:
  uint64_t key_;
  uint64_t mask_;
  WindowHash base_;
  WindowHash power_;  // base to the units of a window
};

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

  void start() noexcept { read_ = held_ = 0; }

  bool read(UnitScanner* scanner);
  // Skips up to unit `to`. Skipped units are in no window, and are not hashed.
  void skip(UnitScanner* scanner, uint64_t to);

  uint64_t units_read() const noexcept { return read_; }
  bool has_window() const noexcept { return held_ == units_; }

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
