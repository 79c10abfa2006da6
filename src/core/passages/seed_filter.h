// The hashes that came at least so many times, and some more: a table of small counters that several hashes share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/hash.h"
#include "core/work/workspace.h"

namespace neardup {

// Add hashes, finish(), then ask. One thread adds; any may ask.
class SeedFilter {
 public:
  // memory: bytes of the table, where there are many hashes.
  SeedFilter(size_t memory, Workspace& ws);

  void add(uint64_t hash);
  void finish();

  // True where the hash was added `times` times or more. Where it was not: seldom true, and more often above 3 times.
  bool reaches(uint64_t hash, uint64_t times) const noexcept {
    const uint64_t slot = hash_slot(hash);
    return (table_[slot / kPerWord] >> (slot % kPerWord * kCounterBits) & kMostCounted) >=
           std::min(times, kMostCounted);
  }

 private:
  static constexpr uint64_t kCounterBits = 2;
  static constexpr uint64_t kMostCounted = (uint64_t{1} << kCounterBits) - 1;
  static constexpr uint64_t kPerWord = 64 / kCounterBits;

  // Chosen hashes are small ones: they are mixed.
  uint64_t hash_slot(uint64_t hash) const noexcept {
    __extension__ using u128 = unsigned __int128;
    return static_cast<uint64_t>(static_cast<u128>(mix64(hash)) * slots_ >> 64);
  }
  void count(uint64_t hash) noexcept {
    const uint64_t slot = hash_slot(hash);
    uint64_t& word = table_[slot / kPerWord];
    const unsigned shift = static_cast<unsigned>(slot % kPerWord * kCounterBits);
    if ((word >> shift & kMostCounted) < kMostCounted) word += uint64_t{1} << shift;
  }
  void make_table(size_t words);

  Workspace& ws_;
  const size_t memory_;
  const size_t most_few_;
  Array<uint64_t> few_;  // the hashes while there are few
  size_t few_count_ = 0;
  Array<uint64_t> table_;
  uint64_t slots_ = 0;
};

}  // namespace neardup
