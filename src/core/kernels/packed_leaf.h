// Entries of an lsh index, and how a leaf packs them: what the kernels that unpack it know.
#pragma once

#include <cstdint>
#include <cstring>

namespace neardup {

// A stored key has 40 bits; key 0 is the roster, which holds the TID of every indexed row once.
inline constexpr unsigned kKeyBits = 40;
inline constexpr uint64_t kMaxKey = (uint64_t{1} << kKeyBits) - 1;
inline constexpr uint64_t kRosterKey = 0;
// A TID is block << 16 | offset.
inline constexpr unsigned kTidBits = 48;
inline constexpr uint64_t kMaxTid = (uint64_t{1} << kTidBits) - 1;

// Ordered by (key, tid).
struct Entry {
  uint64_t key;
  uint64_t tid;
};
inline bool operator<(const Entry& a, const Entry& b) noexcept {
  return a.key != b.key ? a.key < b.key : a.tid < b.tid;
}
inline bool operator==(const Entry& a, const Entry& b) noexcept { return a.key == b.key && a.tid == b.tid; }
inline bool operator<=(const Entry& a, const Entry& b) noexcept { return !(b < a); }
inline constexpr Entry kLeastEntry{0, 0};
inline constexpr Entry kBeyondEntry{kMaxKey, kMaxTid};  // above every entry: offset 65535 does not occur
// The least entry above e.
inline Entry successor(const Entry& e) noexcept {
  return e.tid == kMaxTid ? Entry{e.key + 1, 0} : Entry{e.key, e.tid + 1};
}

// Fields of `bits` bits, 0..48, one after the other; 8 bytes can be read where any of them begins.
struct PackedFields {
  const uint8_t* bytes = nullptr;
  uint64_t mask = 0;  // `bits` ones
  uint32_t bits = 0;

  uint64_t at(uint32_t i) const noexcept {
    const uint64_t bit = uint64_t{i} * bits;
    uint64_t v;
    std::memcpy(&v, bytes + (bit >> 3), 8);
    return v >> (bit & 7) & mask;
  }
};

// The entries of a leaf as they are stored: keys less base_key; blocks less base_block, then offsets.
struct PackedEntries {
  PackedFields keys;
  PackedFields tids;
  uint64_t base_key = 0;
  uint64_t base_block = 0;
  uint64_t off_mask = 0;  // off_bits ones
  uint32_t n = 0;
  uint32_t off_bits = 0;

  uint64_t key(uint32_t i) const noexcept { return base_key + keys.at(i); }
  uint64_t tid(uint32_t i) const noexcept {
    const uint64_t v = tids.at(i);
    return ((base_block + (v >> off_bits)) << 16 | (v & off_mask)) & kMaxTid;
  }
};

}  // namespace neardup
