// Bands of a signature: which there are for a threshold, their 32-bit keys, and the filter over key vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/bits.h"
#include "core/kernels/kernels.h"
#include "core/work/workspace.h"

namespace neardup {

// Two signatures with at least `need` equal components have at most D = num_perm - need mismatches; a mismatch
// breaks one of the disjoint bands at most. So of any D+1 bands one agrees, and of all `bands` at least bands - D.
class Banding {
 public:
  static constexpr uint32_t kMaxBands = 64;

  // num_perm 16..4096, bits 8, 16 or 32, need 1..num_perm.
  Banding(uint32_t num_perm, uint32_t bits, uint32_t need) noexcept;

  // False when more than kMaxBands bands would be needed: then there is nothing but comparing.
  bool usable() const noexcept { return probes_ <= kMaxBands; }

  uint32_t bits() const noexcept { return bits_; }                       // of a component
  uint32_t bands() const noexcept { return bands_; }                     // b
  uint32_t probes() const noexcept { return probes_; }                   // D + 1
  uint32_t stride() const noexcept { return stride_; }                   // u32 per key vector: b rounded up to 16
  uint32_t least_hits() const noexcept { return bands_ - probes_ + 1; }  // b - D

  // The key vector of a signature: stride() words. Equal bands have equal keys; the reverse nearly always.
  void keys(const void* components, uint32_t* out) const noexcept;

 private:
  uint32_t bits_;
  uint32_t probes_;
  uint32_t bands_;
  uint32_t stride_;
  uint32_t offsets_[kMaxBands + 1];  // bytes
};

// Hash of a whole row, for finding equal rows: callers verify.
uint64_t hash_row(const void* row, size_t bytes) noexcept;

// Decides by two key vectors whether a pair is worth comparing now.
class KeyFilter {
 public:
  explicit KeyFilter(const Banding& banding) noexcept
      : equal_mask32_(kernels().equal_mask32),
        stride_(banding.stride()),
        least_(banding.least_hits()),
        valid_(~uint64_t{0} >> (64 - banding.bands())) {}

  // Marks a band as done: pairs that agree in it were seen already.
  void mark_done(uint32_t band) noexcept { done_ |= uint64_t{1} << band; }
  void clear_done() noexcept { done_ = 0; }

  bool operator()(const uint32_t* a, const uint32_t* b) const noexcept {
    const uint64_t m = equal_mask32_(a, b, stride_) & valid_;
    return (m & done_) == 0 && count_bits(m) >= least_;
  }

 private:
  uint64_t (*equal_mask32_)(const uint32_t*, const uint32_t*, size_t);
  uint32_t stride_;
  uint32_t least_;
  uint64_t valid_;
  uint64_t done_ = 0;
};

// The keys that the signatures of a set have, band by band, in bits that keys share: it may say yes where the answer
// is no.
class KeyBits {
 public:
  // Bytes that it holds for `rows` signatures: 14 to 28 bits a band and signature for 103 of 128 equal components.
  static size_t bytes(const Banding& banding, uint32_t rows) noexcept;

  KeyBits(const Banding& banding, uint32_t rows, Workspace& ws);

  void add(const uint32_t* keys) noexcept;

  // False: no signature of the set agrees with this one in as many bands as a pair does.
  bool may_match(const uint32_t* keys) const noexcept;

 private:
  // Top bits: the low ones of a key are not better.
  size_t at(uint32_t band, uint32_t key) const noexcept {
    return (size_t{band} << log2_bits_) + (key >> (32 - log2_bits_));
  }

  unsigned log2_bits_;  // of a band
  uint32_t bands_;
  uint32_t least_;
  Array<uint64_t> bits_;
};

// (key << 32 | index) of n key vectors for one band, sorted by key, indexes ascending within a key.
class BandEntries {
 public:
  static constexpr size_t kBytesEach = 16;  // a vector

  BandEntries(size_t most, Ledger& ledger) : entries_(ledger, most), scratch_(ledger, most) {}

  // Fills and sorts. The result is valid until the next call. Polls: a Poller or a HitSink.
  template <class Polls>
  const uint64_t* sort(const uint32_t* keys, uint32_t stride, uint32_t band, uint32_t n, Polls& polls);

  // Fills, and keeps only keys that occur at least twice, equal keys side by side; *kept of them.
  // Cheaper than sort(): the order of the keys is arbitrary.
  template <class Polls>
  const uint64_t* group(const uint32_t* keys, uint32_t stride, uint32_t band, uint32_t n, size_t* kept, Polls& polls);

 private:
  template <class Polls>
  void radix(const uint32_t* keys, uint32_t stride, uint32_t band, uint32_t n, unsigned key_bits, Polls& polls);

  Array<uint64_t> entries_;
  Array<uint64_t> scratch_;
};

// Error{invalid_argument} unless num_perm is 16..4096, bits 8, 16 or 32 and need 1..num_perm.
void check_engine_parameters(uint32_t num_perm, uint32_t bits, uint32_t need);

// All bands by load, least first. load has one figure per band.
void order_bands(const double* load, uint32_t bands, uint8_t* out);

class RowCompare {
 public:
  RowCompare(uint32_t num_perm, uint32_t bits) noexcept : kernels_(kernels()), num_perm_(num_perm), bits_(bits) {}

  uint32_t operator()(const void* a, const void* b) const noexcept {
    switch (bits_) {
      case 8:
        return kernels_.count_equal8(static_cast<const uint8_t*>(a), static_cast<const uint8_t*>(b), num_perm_);
      case 16:
        return kernels_.count_equal16(static_cast<const uint16_t*>(a), static_cast<const uint16_t*>(b), num_perm_);
      default:
        return kernels_.count_equal32(static_cast<const uint32_t*>(a), static_cast<const uint32_t*>(b), num_perm_);
    }
  }

 private:
  const Kernels& kernels_;
  uint32_t num_perm_;
  uint32_t bits_;
};

}  // namespace neardup
