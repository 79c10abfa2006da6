// The seeds of all documents, in their order: in memory while they fit, then in a temporary file. So the windows that
// may be repeated are found without reading the documents again, and most documents have none.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/passages/seeds.h"
#include "core/work/byte_store.h"

namespace neardup {

// Add documents, finish(), then read them, as often as is wanted.
class SeedStore {
 public:
  // memory: bytes that may stay in memory.
  SeedStore(size_t memory, Workspace& ws);

  // A seed of the document at hand; then the document ends.
  void add(const Seed& seed) { put({seed.hash, static_cast<uint32_t>(seed.end)}); }
  void end_document() { put({0, kEndOfDocument}); }
  void finish();

  // Reads from the first document on.
  void rewind();
  // The next seed of the document at hand; false at its end, and the next call begins the next document.
  bool next(Seed* out) {
    if (at_ == held_) load();
    const Stored& s = chunk_[at_++];
    const uint64_t first = first_;
    first_ = s.end;
    if (s.end == kEndOfDocument) return false;
    *out = {s.hash, first, s.end};
    return true;
  }

 private:
  // The windows of a document are in one seed each: a seed begins where the one before it ends.
  struct __attribute__((packed, aligned(4))) Stored {
    uint64_t hash;
    uint32_t end;
  };
  static_assert(sizeof(Stored) == 12);
  static constexpr uint32_t kEndOfDocument = 0;

  void put(const Stored& stored);
  void load();

  ByteStore store_;
  Array<Stored> chunk_;  // that is written or read
  size_t at_ = 0;
  size_t held_ = 0;
  uint64_t next_byte_ = 0;
  uint64_t first_ = 0;
};

}  // namespace neardup
