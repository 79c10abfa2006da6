// A set of 64-bit numbers that may be larger than the memory for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/passages/seed_filter.h"
#include "core/work/byte_store.h"
#include "core/work/workspace.h"

namespace neardup {

// Blocks of ascending numbers come in any order; then the set is asked. A block is read where a filter says that a
// number may be in the set: from memory, or from a temporary file where they are many. Memory: memory_limit, and beyond
// it 32 bytes a block.
class WindowSet {
 public:
  static constexpr size_t kMaxBlockNumbers = 4096;

  // Without files all stays in memory. files and stop must outlive it.
  WindowSet(size_t memory_limit, TempFileFactory* files, StopCheck* stop);

  // n: 1 .. kMaxBlockNumbers. Error{invalid_argument} where they do not ascend. A number that blocks which overlap hide
  // is not found.
  void add(const uint64_t* numbers, size_t n);

  void finish();

  bool has(uint64_t number);

  uint64_t size() const noexcept { return store_.size() / sizeof(uint64_t); }
  uint64_t spilled_bytes() const noexcept { return ws_.spilled_bytes; }

 private:
  struct Block {
    uint64_t first;   // number
    uint64_t offset;  // in the store
    uint64_t count;
  };

  // The block that a number is in, if it is in the set: the last one that begins at or below it; null: none.
  const Block* find_block(uint64_t number) const noexcept;

  Workspace ws_;
  ByteStore store_;
  SeedFilter filter_;
  Array<Block> blocks_;
  size_t count_ = 0;
  Array<uint64_t> numbers_;  // of the block that was read last
  const Block* read_ = nullptr;
};

}  // namespace neardup
