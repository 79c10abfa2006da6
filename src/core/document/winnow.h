// Winnowing: few fingerprints of a document, at least one of every run of so many units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/document/shingle.h"
#include "core/document/text_units.h"

namespace neardup {

inline constexpr int kMinWinnowWindow = 1;
inline constexpr int kMaxWinnowWindow = 10000;

// A chosen shingle.
struct WinnowFingerprint {
  uint64_t hash;    // as ShingleStream gives it
  size_t position;  // code points before its first unit; bytes for Unit::byte
};

// Schleimer, Wilkerson, Aiken, "Winnowing: local algorithms for document fingerprinting", SIGMOD 2003:
// robust winnowing. Of every window of `window` shingles in a row, the least hash (without sign) is chosen: the one
// that the window before has chosen, where it is still there and none is less, else the rightmost. A document with
// fewer shingles than that is one window. So:
//   - two documents that share a run of at least k + window - 1 units share a hash,
//   - a document with a unit has a fingerprint,
//   - of a long document without repeats about 2 / (window + 1) of the shingles are chosen.
// Memory: 24 bytes for each shingle of a window. Time: some 15 ns a byte, whatever the window.
class WinnowStream {
 public:
  // text must stay valid. k 1..64 and window 1..10000, else Error{invalid_argument}. stop (may be null) is polled every
  // 16 K code points.
  WinnowStream(Unit unit, int64_t k, int64_t window, const uint8_t* text, size_t size, StopCheck* stop = nullptr);

  // The next fingerprint, in order of position; false at the end.
  bool next(WinnowFingerprint* out);

 private:
  struct Candidate {
    uint64_t hash;
    uint64_t shingle;  // number of the shingle
    size_t position;
  };
  bool read(Candidate* out);
  Candidate& at(uint64_t i) noexcept { return queue_[i & mask_]; }

  const uint64_t window_;
  UnitScanner units_;
  ShingleHashes shingles_;
  uint64_t count_ = 0;  // shingles read
  bool finished_ = false;
  // Shingles that are less than all that follow them, hashes ascending: front_ .. back_ - 1 of a ring.
  std::vector<Candidate> queue_;
  uint64_t mask_ = 0;
  uint64_t front_ = 0;
  uint64_t back_ = 0;
  bool has_chosen_ = false;
  Candidate chosen_{};
};

// Fingerprints that are left out.
class IgnoredHashes {
 public:
  IgnoredHashes() = default;
  // In any order, with repeats; quickest where they ascend. stop (may be null) is polled while they are sorted.
  IgnoredHashes(const int64_t* hashes, size_t n, StopCheck* stop);

  bool contains(uint64_t hash) const noexcept;

 private:
  std::vector<int64_t> sorted_;
};

// The distinct hashes of a document's fingerprints as signed numbers, ascending, without those to ignore. Other
// arguments and errors as WinnowStream.
std::vector<int64_t> winnow_hashes(Unit unit, int64_t k, int64_t window, const uint8_t* text, size_t size,
                                   const IgnoredHashes& ignore, StopCheck* stop = nullptr);

}  // namespace neardup
