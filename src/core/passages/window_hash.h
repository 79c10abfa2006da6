// Hashes of windows: 122 bits, by a key that is drawn for each search.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace neardup {

// Two polynomials modulo 2^61 - 1, with bases and hashes of units by the key. Two different runs of n units agree with
// a probability of about (n / 2^61)^2, whatever they are, for they cannot be chosen by the key. What agrees is compared
// nevertheless: verify_windows.h.
using WindowHash = std::array<uint64_t, 2>;

// Of each of the two numbers.
inline constexpr unsigned kWindowHashBits = 61;

class WindowHasher {
 public:
  // units: of a window, at least 1. bits: how many of each number are kept, all but in tests.
  WindowHasher(uint64_t key, uint32_t units, unsigned bits = kWindowHashBits);

  // A unit to a number of each polynomial.
  WindowHash unit(std::string_view unit_key) const noexcept;
  // What is added to the hashes of a group's windows, so that those of two groups differ.
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

}  // namespace neardup
