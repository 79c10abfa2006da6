// Documents to k-shingles: as a stream of 64-bit hashes (what signatures are made of) or as text (what people read).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/document/text_units.h"

namespace neardup {

inline constexpr int kMinK = 1;
inline constexpr int kMaxK = 64;

// Error{invalid_argument} unless 1 <= k <= 64.
void check_k(int64_t k);

// The hashes of all k-shingles of a document, in order and with repeats, in batches. A document of 1..k-1 units has
// one shingle, all of it; an empty one has none. Constant memory whatever the document's size.
//   unit hash h: word: of its folded UTF-8 bytes; character: code_point_hash; byte: byte_hash (hash.h); line,
//   paragraph and code: element_hash of the normalised text or token
//   shingle hash x = (sum h_i * kShingleBase^(k-1-i) mod 2^64) ^ k, ordered; finalised only by the sketch.
class ShingleStream {
 public:
  static constexpr size_t kInputBlock = 4096;               // bytes of input looked at in one step
  static constexpr size_t kMaxBatch = kInputBlock + kMaxK;  // hashes that one next() may give

  // text must stay valid. k 1..64, else Error{invalid_argument}. Ill-formed UTF-8 reads as U+FFFD.
  // stop (may be null) is polled every 64 KB of text.
  ShingleStream(Unit unit, int64_t k, const uint8_t* text, size_t size, StopCheck* stop = nullptr);
  ~ShingleStream();
  ShingleStream(const ShingleStream&) = delete;
  ShingleStream& operator=(const ShingleStream&) = delete;

  // Writes the next 1..kMaxBatch hashes to out and returns how many; 0 at the end.
  size_t next(uint64_t* out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The hashes of a ShingleStream one by one.
class ShingleHashes {
 public:
  ShingleHashes(Unit unit, int64_t k, const uint8_t* text, size_t size, StopCheck* stop)
      : stream_(unit, k, text, size, stop), batch_(new uint64_t[ShingleStream::kMaxBatch]) {}

  // False at the end.
  bool next(uint64_t* hash) {
    if (at_ == size_) {
      at_ = 0;
      size_ = stream_.next(batch_.get());
      if (size_ == 0) return false;
    }
    *hash = batch_[at_++];
    return true;
  }

 private:
  ShingleStream stream_;
  std::unique_ptr<uint64_t[]> batch_;
  size_t size_ = 0;
  size_t at_ = 0;
};

// Hash of one element of a caller's text set: XXH3 (64 bits, seed 0) of its bytes.
uint64_t element_hash(const void* bytes, size_t size) noexcept;

// The shingles of a ShingleStream as text: words folded and joined by one space, tokens of code likewise; characters as
// they stand; lines and paragraphs normalised and joined by a line feed.
class ShingleText {
 public:
  // unit not byte; text must stay valid; stop (may be null) is polled every 16 K code points.
  ShingleText(Unit unit, int k, const uint8_t* text, size_t size, StopCheck* stop = nullptr);

  // False at the end.
  bool next(std::string* shingle);

 private:
  const Unit unit_;
  const size_t k_;
  UnitScanner scanner_;
  std::deque<std::string> window_;
  bool emitted_ = false;
};

}  // namespace neardup
