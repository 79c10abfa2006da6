// SimHash: 64 bits of a weighted set of features, near in Hamming distance where the sets are near in angle (M.
// Charikar, Similarity estimation techniques from rounding algorithms, STOC 2002, section 3; for web pages G. Manku, A.
// Jain, A. Das Sarma, WWW 2007, section 2). The bits reach disk: docs/format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/hash.h"
#include "core/base/stop.h"
#include "core/document/shingle.h"

namespace neardup {

inline constexpr int kSimhashBits = 64;

// The 64 signs of a feature, from its hash (a shingle hash, or element_hash() of a caller's feature): bit set: +, else
// -.
inline constexpr uint64_t kSimhashSeed = 0x5851f42d4c957f2dULL;
constexpr uint64_t simhash_signs(uint64_t hash) noexcept { return mix64(hash ^ kSimhashSeed); }

// Adds up weighted signs; sums are exact (core/exact/weights.h), so no order and no partition of the features changes a
// bit. Plain data, 1 kB: travels between workers as it is.
class SimhashSums {
 public:
  void clear() noexcept { *this = SimhashSums{}; }

  // Error{invalid_argument} unless the weight is from 0 to 2^40; Error{too_large} when the sum of weights passes 2^68.
  // number: for the error's text, which one of a list; 0: of none.
  void add(uint64_t signs, double weight, size_t number = 0);
  void merge(const SimhashSums& other);

  // Bit i is set where the weights of + exceed those of -: a tie gives 0. Nothing where no feature has a weight above
  // 0.
  std::optional<uint64_t> result() const noexcept;

 private:
  // Numbers of 128 bits, as multiples of 2^-60: words of 64 bits, low one first, so that no alignment is asked for.
  struct Wide {
    uint64_t low = 0;
    uint64_t high = 0;
  };
  void grow(Wide by);

  Wide total_;
  Wide plus_[kSimhashBits];  // of the features with the bit set
};

// A simhash of features of weight 1: counts bits of many hashes at once.
class SimhashCounts {
 public:
  void add(const uint64_t* signs, size_t n) noexcept;
  // Adds shingle hashes, which it overwrites.
  void add_shingles(uint64_t* hashes, size_t n) noexcept;
  std::optional<uint64_t> result() noexcept;

 private:
  void flush() noexcept;

  static constexpr int kPlanes = 16;
  uint64_t planes_[kPlanes] = {};  // bit-sliced: plane p holds bit p of 64 counters
  uint32_t pending_ = 0;           // hashes in the planes
  uint64_t total_ = 0;
  uint64_t plus_[kSimhashBits] = {};
};

// The simhash of the k-shingles of a document, each weighing as often as it occurs. Nothing where there is none.
// k 1..64, else Error{invalid_argument}; stop may be null.
std::optional<uint64_t> simhash_document(Unit unit, int64_t k, const uint8_t* text, size_t size, StopCheck* stop);

// Signs of the scalar products of a vector with 64 fixed hyperplanes: the cosine sketch. Two vectors at angle a differ
// in 64 a / pi bits, on average. Nothing for a vector of zeros, which has no direction. Error{invalid_argument} for no
// component, NaN or infinity. The products are added in the order of the components, in double: the same everywhere.
std::optional<uint64_t> simhash_vector(const float* vector, size_t n, StopCheck* stop);

// Component `at` of hyperplane `plane`: odd, -65..65, near normal (the bits set in 64 random ones, twice, less 64, and
// a random sign).
constexpr int hyperplane(uint32_t plane, uint64_t at) noexcept {
  const uint64_t h = mix64(mix64(at ^ kSimhashSeed) + plane * kLengthFactor);
  return 2 * __builtin_popcountll(h) - 64 + ((h * kShingleBase) >> 63 != 0 ? 1 : -1);
}

constexpr int hamming_distance(uint64_t a, uint64_t b) noexcept { return __builtin_popcountll(a ^ b); }

// The greatest distance h in 0..64 with 1 - h / 64 >= threshold, in 0 < threshold <= 1.
constexpr uint32_t most_simhash_distance(double threshold) noexcept {
  uint32_t most = 0;
  while (most < kSimhashBits && 1 - (most + 1) / static_cast<double>(kSimhashBits) >= threshold) ++most;
  return most;
}

// cos(pi distance / 64), correctly rounded from a table: the estimate of the cosine of two sets or vectors. distance
// 0..64.
double simhash_cosine(int distance) noexcept;

// 16 hexadecimal digits, most significant first. Text is read in either case. Error{invalid_text}.
std::string simhash_to_text(uint64_t value);
uint64_t simhash_from_text(std::string_view text);

// 8 bytes, most significant first. Error{corrupt_data}.
uint64_t simhash_from_wire(const uint8_t* bytes, size_t size);

}  // namespace neardup
