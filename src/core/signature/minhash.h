// MinHash signatures by Fast Similarity Sketching: building, merging, comparing. Format 1, see docs/format.md.
//
// Source: Dahlgaard, Knudsen, Thorup, "Fast Similarity Sketching", FOCS 2017; the value layout is ours.
//   h0(x) = mix64(x ^ sketch_seed(seed)),  h_r(x) = mix64(h0(x) ^ mix64(r)) for r >= 1,  bin(h) = (u32(h) * L) >> 32
//   round 0        v = h >> 33
//   round 1..L-1   v = 2^31 | r << 18 | h >> 46
//   round L        every bin b still empty: v = min over x of (2^31 | L << 18 | h_{L+1+b}(x) >> 46)
// A component is the least v of its bin; the rounds stop after the first that leaves no bin empty. A stored value
// of round r is below all values of later rounds, so the sketch of a union is the component-wise minimum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/error.h"

namespace neardup {

inline constexpr uint32_t kMinNumPerm = 16;
inline constexpr uint32_t kMaxNumPerm = 4096;
inline constexpr uint32_t kEmptyComponent32 = 0xffffffffu;  // only in the signature of the empty set

// Error{invalid_argument} unless 16 <= num_perm <= 4096, bits is 8, 16 or 32.
void check_num_perm(int64_t num_perm);
void check_bits(int64_t bits);

// A sketch in progress that is complete after every insertion: for sets that come one element at a time, in any
// order, with repeats, and for unions of such sketches. Plain data; the caller owns components[num_perm].
class IncrementalSketch {
 public:
  // components: num_perm values, all kEmptyComponent32 for the empty set or those of a complete sketch.
  // O(num_perm) each.
  IncrementalSketch(uint32_t num_perm, uint64_t seed, uint32_t* components);

  // x: shingle hash or the caller's own 64-bit element, mixed here. O(rounds still in use).
  void add(uint64_t x) noexcept;

  // No component comes from a later round than 0, and none will.
  bool is_settled() const noexcept { return top_round_ == 0; }

 private:
  void replace(uint32_t bin, uint32_t value) noexcept;

  uint32_t num_perm_;
  uint64_t seed_mix_;
  uint32_t* components_;
  uint32_t top_round_;          // highest round that a component comes from; num_perm_ + 1 when empty
  std::vector<uint16_t> held_;  // components per round, num_perm_ + 2 entries
};

// The sketch of one document, fed in batches. While a bin is empty in round 0, at most 64 * num_perm hashes are kept,
// 8192 more and one batch. A hash goes through the later rounds once, however often and in whatever order it comes.
class DocumentSketch {
 public:
  // num_perm 16..4096, any seed.
  DocumentSketch(uint32_t num_perm, uint64_t seed);

  void add(const uint64_t* x, size_t n);

  // Completes the sketch, and copies its num_perm components. False where nothing was added.
  bool finish(uint32_t* components);

 private:
  void complete_buffered();
  void drain();

  uint32_t num_perm_;
  uint64_t seed_;
  uint64_t seed_mix_;
  bool any_ = false;
  bool full_ = false;  // no bin is empty in round 0
  std::vector<uint32_t> components_;
  std::vector<uint64_t> buffer_;
  std::unique_ptr<IncrementalSketch> overflow_;  // repetitive text: 64 * num_perm hashes left a bin empty
  std::vector<uint64_t> recent_;                 // direct-mapped cache of hashes already in waiting_ or overflow_
  std::vector<uint64_t> waiting_;                // hashes for overflow_
  std::vector<uint64_t> distinct_;               // hashes in overflow_, ascending
};

// The 16-bit form of a 32-bit component: 1024 * msb(Y) + the 10 bits after the leading one, Y = 2^31 * round +
// fraction. Monotone, so minima commute with it; kEmptyComponent32 becomes 65535.
uint16_t component16(uint32_t v, uint32_t num_perm) noexcept;

// The 8-bit form: (v * 0x9E3779B1 mod 2^32) >> 24. Not monotone: no union, set_size or containment.
uint8_t component8(uint32_t v) noexcept;

// Jaccard similarity estimated from `matches` of num_perm equal components; bits 8 is corrected for chance
// agreement (C = 1/256): max(0, (m/L - C) / (1 - C)). In [0, 1], monotone in matches.
double estimate_jaccard(uint32_t matches, uint32_t num_perm, uint32_t bits) noexcept;

// The least m in 0..num_perm whose estimate is >= threshold (> threshold when strict), num_perm + 1 when there is
// none. Decided by estimate_jaccard() itself, so that it agrees with SQL to the last bit.
uint32_t min_matches(double threshold, bool strict, uint32_t num_perm, uint32_t bits) noexcept;

// Number of elements of the sketched set, estimated as L (E - 1) / sum min(y, L), y = round + fraction of a component,
// E = components of rounds below L. bits 16 or 32; components in their native width. 0 for the empty signature.
double estimate_set_size(const void* components, uint32_t num_perm, uint32_t bits) noexcept;

// Share of a's elements that are in b: #(a_i = b_i) / #(a_i <= b_i), 0 for 0/0. bits 16 or 32.
double estimate_containment(const void* a, const void* b, uint32_t num_perm, uint32_t bits) noexcept;

// Equal components of two rows of num_perm values of `bits` bits.
uint32_t count_matches(const void* a, const void* b, uint32_t num_perm, uint32_t bits) noexcept;

}  // namespace neardup
