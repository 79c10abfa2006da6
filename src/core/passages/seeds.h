// Plain winnowing: of the shingles of each window the rightmost least one, a function of the window alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/document/shingle.h"

namespace neardup {

// Windows of `units` units in a row that choose the same shingle. Equal windows choose equal shingles at equal places
// of theirs: a window that stands at n places makes its shingle be chosen at n places.
struct Seed {
  uint64_t hash;   // of the shingle
  uint64_t first;  // windows first .. end - 1, by the number of their first unit, from 0
  uint64_t end;
};

// Schleimer, Wilkerson, Aiken, "Winnowing: local algorithms for document fingerprinting", SIGMOD 2003, section 3.2. The
// robust form of winnow.h keeps earlier choices: there, equal windows may choose differently. Shingles have half as
// many units as windows, at most 64: long enough to be rare, and some 4 / units of them are chosen.
class SeedStream {
 public:
  // text must stay valid; units at least 1. stop (may be null) is polled. Memory: up to 16 bytes a unit of a window.
  SeedStream(Unit unit, uint32_t units, const uint8_t* text, size_t size, StopCheck* stop);

  // The next seed in order; false at the end. Each window is in one seed.
  bool next(Seed* out);

 private:
  struct Candidate {
    uint64_t hash;
    uint64_t shingle;
  };

  bool read(Candidate* out);
  void push(const Candidate& c);
  Candidate& at(size_t i) noexcept { return queue_[i & (queue_.size() - 1)]; }

  const uint64_t width_;  // shingles of a window
  ShingleHashes shingles_;
  uint64_t count_ = 0;
  // Ascending by hash, a ring: candidates of the windows that end at or behind the last shingle read.
  std::vector<Candidate> queue_;
  size_t front_ = 0;
  size_t back_ = 0;
  Seed seed_{0, 0, 0};
  uint64_t chosen_ = 0;  // shingle of seed_, if it has a window
};

}  // namespace neardup
