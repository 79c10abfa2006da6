// Entries of an lsh index and the leaf that holds them in sorted order: fixed-width fields, widths chosen per leaf.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/kernels/kernels.h"
#include "core/kernels/packed_leaf.h"

namespace neardup {

// A leaf, from byte 24: this head, n keys of key_bits less base_key, 8 spare bytes, n TIDs of block_bits + off_bits
// (block less base_block, then offset), 8 spare bytes.
struct LeafHead {
  uint16_t n;
  uint8_t key_bits;    // 0..40
  uint8_t block_bits;  // 0..32
  uint8_t off_bits;    // 0..16
  uint8_t pad[3];
  uint64_t base_key;
  uint32_t base_block;
  uint32_t reserved;
};
static_assert(sizeof(LeafHead) == 24);
inline constexpr uint32_t kLeafBytes = 8176 - 24;  // what a leaf image takes, at most
inline constexpr uint32_t kLeafDataBits =
    8 * (kLeafBytes - sizeof(LeafHead) - 16 - 2);  // for n * (key + block + off bits)

// Entries differ, so n of them need log2(n) bits each: a leaf holds fewer than 5000.
inline constexpr uint32_t kMaxLeafEntries = 8192;

inline unsigned bit_width(uint64_t v) noexcept { return static_cast<unsigned>(std::bit_width(v)); }

// A checked leaf; points into the caller's bytes. Every access below n is inside the leaf whatever the bytes hold.
class LeafView {
 public:
  // False unless the head is possible and its fields lie within `size` bytes (of kLeafBytes at most).
  bool open(const void* bytes, size_t size) noexcept;

  uint32_t count() const noexcept { return packed_.n; }
  uint64_t key(uint32_t i) const noexcept { return packed_.key(i); }
  uint64_t tid(uint32_t i) const noexcept { return packed_.tid(i); }
  Entry at(uint32_t i) const noexcept { return {key(i), tid(i)}; }
  bool one_key() const noexcept { return packed_.keys.bits == 0; }

  // First index whose entry is not below e: count() when there is none. beyond: a key near which the keys of the leaf
  // end, if known; it makes the search shorter, and no answer wrong.
  uint32_t lower_bound(const Entry& e, uint64_t beyond = 0) const noexcept;
  // First index whose key is not below `key`.
  uint32_t lower_bound_key(uint64_t key, uint64_t beyond = 0) const noexcept;

  // The first index at or after `from` whose entry is not below `end`; with kMaxTid, which no row has, that after all
  // of the key. Fast where it is near.
  uint32_t end_from(uint32_t from, const Entry& end) const noexcept;

  // The place of a leaf's fields: enough to ask for its cache lines without looking at it.
  struct Shape {
    uint16_t n;
    uint8_t key_bits;
    uint8_t tid_bits;
  };
  // The size that LeafPacker::write() returned for these fields: an opened leaf may lie in more bytes.
  size_t size() const noexcept;
  Shape shape() const noexcept {
    return {static_cast<uint16_t>(packed_.n), static_cast<uint8_t>(packed_.keys.bits),
            static_cast<uint8_t>(packed_.tids.bits)};
  }
  // Asks for the cache lines that lower_bound() of a key and the entries found will read, if the leaf has this shape
  // and its keys lie between base and beyond. Nothing outside the first kLeafBytes is touched.
  static void prefetch(const void* bytes, Shape shape, uint64_t base, uint64_t beyond, uint64_t key) noexcept;

  void decode(uint32_t from, uint32_t to, Entry* out) const noexcept {
    kernels().unpack_entries(packed_, from, to, out);
  }
  void decode_tids(uint32_t from, uint32_t to, uint64_t* out) const noexcept {
    kernels().unpack_tids(packed_, from, to, out);
  }

 private:
  // Guesses the place of the key `wanted` among n keys from 0 to about `span`.
  static uint32_t guess(uint64_t wanted, uint64_t span, uint32_t n) noexcept {
    const double share = static_cast<double>(wanted) / (static_cast<double>(span) + 1);
    return share < 1 ? static_cast<uint32_t>(share * n) : n - 1;
  }

  PackedEntries packed_;
};

// Packs ascending entries into one leaf after the other. Plain data, 128 kB.
class LeafPacker {
 public:
  LeafPacker() noexcept { clear(); }

  // Adds an entry above the last one; false, and nothing changes, when the leaf is full.
  bool add(const Entry& e) noexcept { return add(&e, 1) == 1; }

  // Adds ascending entries above the last one, until the leaf is full. Returns how many.
  size_t add(const Entry* entries, size_t n) noexcept;

  uint32_t count() const noexcept { return n_; }
  const Entry& first() const noexcept { return entries_[0]; }
  const Entry& last() const noexcept { return entries_[n_ - 1]; }

  // Writes the leaf, at most kLeafBytes, and forgets its entries. Returns the bytes used; bytes after them are
  // untouched.
  uint32_t write(void* out) noexcept;

  void clear() noexcept;

 private:
  bool add_wider(const Entry& e) noexcept;

  uint32_t n_;
  uint32_t room_;       // entries that fit while the fields are as wide as they are
  uint64_t least_key_;  // of the first entry; 0 before it
  uint64_t key_mask_;   // the greatest distance from least_key_ that fits into its field
  uint64_t least_block_;
  uint64_t most_block_;
  uint64_t block_mask_;  // the greatest distance from least_block_ that fits into its field
  uint64_t off_mask_;
  Entry entries_[kMaxLeafEntries];
};

}  // namespace neardup
