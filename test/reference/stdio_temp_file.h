// Temporary files on the C library and pread, for tests and benchmarks; can be told to fail at the n-th call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdio.h>
#include <unistd.h>
#include <vector>

#include "core/work/temp_file.h"

namespace neardup::reference {

class StdioTempFiles final : public TempFileFactory {
 public:
  std::unique_ptr<TempFile> create() override {
    step();
    return std::make_unique<File>(*this);
  }

  int64_t calls_left = INT64_MAX;  // then Error{out_of_budget}
  int64_t calls = 0;
  int open = 0;
  int most_open = 0;

 private:
  static constexpr size_t kBuffer = 16 * 1024;

  class File final : public TempFile {
   public:
    explicit File(StdioTempFiles& owner) : owner_(owner), file_(tmpfile()), written_(), block_(kBuffer) {
      owner_.most_open = std::max(owner_.most_open, ++owner_.open);
    }
    ~File() override {
      --owner_.open;
      fclose(file_);
    }
    void append(const void* data, size_t n) override {
      owner_.step();
      if (fwrite(data, 1, n, file_) != n) throw Error(Errc::too_large, "cannot write");
      written_ += n;
      dirty_ = true;
      block_size_ = 0;
    }
    void read(uint64_t offset, void* out, size_t n) override {
      owner_.step();
      if (offset + n > written_) throw Error(Errc::corrupt_data, "read past the end");
      if (dirty_) fflush(file_);
      dirty_ = false;
      char* to = static_cast<char*>(out);
      while (n != 0) {
        if (offset - block_at_ >= block_size_) {
          if (n >= kBuffer) {
            fetch(offset, to, n);
            return;
          }
          block_at_ = offset;
          block_size_ = std::min<uint64_t>(kBuffer, written_ - offset);
          fetch(offset, block_.data(), block_size_);
        }
        const size_t piece = std::min<size_t>(n, block_at_ + block_size_ - offset);
        std::copy_n(block_.data() + (offset - block_at_), piece, to);
        to += piece;
        offset += piece;
        n -= piece;
      }
    }

   private:
    void fetch(uint64_t offset, char* to, size_t n) {
      if (pread(fileno(file_), to, n, static_cast<off_t>(offset)) != static_cast<ssize_t>(n)) {
        throw Error(Errc::corrupt_data, "cannot read");
      }
    }

    StdioTempFiles& owner_;
    FILE* file_;
    uint64_t written_;
    bool dirty_ = false;
    std::vector<char> block_;
    uint64_t block_at_ = 0;
    uint64_t block_size_ = 0;
  };

  void step() {
    ++calls;
    if (calls_left-- <= 0) throw Error(Errc::out_of_budget, "no more calls");
  }
};

}  // namespace neardup::reference
