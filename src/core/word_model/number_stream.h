// Numbers of the places of a word model, one after the other: in memory while they fit, else in a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/work/workspace.h"

namespace neardup {

class NumberStream {
 public:
  explicit NumberStream(Workspace& ws)
      : ws_(ws),
        most_(memory_share(ws, kHalf) / sizeof(uint32_t)),
        block_(std::clamp<size_t>(ws.limit / 32 / sizeof(uint32_t), 512, 65536)) {}

  void push(uint32_t v) {
    if (used_ == room_) make_room();
    blocks_.back()[used_++] = v;
  }

  uint64_t size() const noexcept { return written_ + (blocks_.empty() ? 0 : (blocks_.size() - 1) * block_ + used_); }
  size_t held_bytes() const noexcept { return blocks_.size() * block_ * sizeof(uint32_t); }
  bool in_file() const noexcept { return file_ != nullptr; }

  // Numbers in memory go to the file.
  void spill() {
    if (file_ == nullptr) file_ = ws_.files->create();
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const size_t n = i + 1 == blocks_.size() ? used_ : block_;
      append_polled(*file_, blocks_[i].data(), n * sizeof(uint32_t), ws_);
      written_ += n;
    }
    if (blocks_.size() > 1) blocks_.resize(1);
    used_ = 0;
  }

  // The next numbers in order, until the next call; 0 after the last. They are read once.
  size_t read(const uint32_t** numbers) {
    if (file_ != nullptr && !blocks_.empty()) {
      if (used_ > 0) spill();
      room_ = 0;
      const size_t n = static_cast<size_t>(std::min<uint64_t>(block_, written_ - read_));
      read_polled(*file_, read_ * sizeof(uint32_t), blocks_[0].data(), n * sizeof(uint32_t), ws_.poller);
      read_ += n;
      *numbers = blocks_[0].data();
      return n;
    }
    if (read_ > 0) blocks_[static_cast<size_t>(read_ - 1)] = Array<uint32_t>();
    if (read_ == blocks_.size()) return 0;
    *numbers = blocks_[static_cast<size_t>(read_)].data();
    return ++read_ == blocks_.size() ? used_ : block_;
  }

 private:
  void make_room() {
    if (ws_.files != nullptr && !blocks_.empty() && (file_ != nullptr || (blocks_.size() + 1) * block_ > most_)) {
      spill();
    } else {
      blocks_.emplace_back(ws_.ledger, block_);
      used_ = 0;
    }
    room_ = block_;
  }

  Workspace& ws_;
  const size_t most_;
  const size_t block_;
  std::vector<Array<uint32_t>> blocks_;
  size_t used_ = 0;  // of the last block
  size_t room_ = 0;
  std::unique_ptr<TempFile> file_;
  uint64_t written_ = 0;
  uint64_t read_ = 0;  // numbers of the file, or blocks
};

}  // namespace neardup
