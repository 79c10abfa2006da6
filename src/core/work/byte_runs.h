// Numbers and bytes one after the other in a stretch of a temporary file, written and read through a buffer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/work/workspace.h"

namespace neardup {

// A stretch of a file that holds several.
struct ByteRun {
  uint64_t begin;
  uint64_t end;
};

// Bytes of a reader's buffer where several runs are merged, and how many runs that are.
inline constexpr size_t kLeastRunBuffer = 2048;
inline constexpr size_t kMaxRunBuffer = 256 * 1024;
inline constexpr size_t kMaxOpenRuns = 256;

// Appends to a file. What is written is in the file after finish().
class RunWriter {
 public:
  // written: bytes that the file has already.
  RunWriter(TempFile& file, uint64_t written, size_t buffer_bytes, Workspace& ws)
      : file_(file), ws_(ws), run_{written, written}, buffer_(ws.ledger, std::max<size_t>(buffer_bytes, 64)) {}

  // LEB128.
  void put(uint64_t v) {
    if (buffer_.size() - n_ < 10) flush();
    for (; v >= 0x80; v >>= 7) buffer_[n_++] = static_cast<uint8_t>(v | 0x80);
    buffer_[n_++] = static_cast<uint8_t>(v);
  }

  void put_bytes(const uint8_t* bytes, size_t n) {
    while (n > 0) {
      if (n_ == buffer_.size()) flush();
      const size_t piece = std::min(n, buffer_.size() - n_);
      std::memcpy(buffer_.data() + n_, bytes, piece);
      n_ += piece;
      bytes += piece;
      n -= piece;
    }
  }

  ByteRun finish() {
    flush();
    return run_;
  }

 private:
  void flush() {
    append_polled(file_, buffer_.data(), n_, ws_);
    run_.end += n_;
    n_ = 0;
  }

  TempFile& file_;
  Workspace& ws_;
  ByteRun run_;
  Array<uint8_t> buffer_;
  size_t n_ = 0;
};

// Reads what a RunWriter wrote. Error{corrupt_data} where the stretch ends too early.
class ByteRunReader {
 public:
  ByteRunReader(TempFile& file, ByteRun run, size_t buffer_bytes, Workspace& ws)
      : file_(&file),
        poller_(&ws.poller),
        next_(run.begin),
        end_(run.end),
        buffer_(ws.ledger, std::max<size_t>(buffer_bytes, 64)) {}

  bool at_end() const noexcept { return at_ == n_ && next_ == end_; }

  uint64_t read() {
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at_ == n_) refill();
      const uint8_t b = buffer_[at_++];
      v |= static_cast<uint64_t>(b & 0x7f) << (shift & 63);
      if (b < 0x80) return v;
    }
  }

  void read_bytes(uint8_t* out, size_t n) {
    while (n > 0) {
      if (at_ == n_) refill();
      const size_t piece = std::min(n, n_ - at_);
      std::memcpy(out, buffer_.data() + at_, piece);
      at_ += piece;
      out += piece;
      n -= piece;
    }
  }

 private:
  void refill() {
    if (next_ == end_) throw Error(Errc::corrupt_data, "a temporary file ends too early");
    n_ = static_cast<size_t>(std::min<uint64_t>(buffer_.size(), end_ - next_));
    at_ = 0;
    read_polled(*file_, next_, buffer_.data(), n_, *poller_);
    next_ += n_;
    poller_->spend(4 * n_);
  }

  TempFile* file_;
  Poller* poller_;
  uint64_t next_;
  uint64_t end_;
  Array<uint8_t> buffer_;
  size_t at_ = 0;
  size_t n_ = 0;
};

}  // namespace neardup
