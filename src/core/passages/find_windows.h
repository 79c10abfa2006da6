// The windows of a document that may be repeated: those whose seed is chosen often enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/stop.h"
#include "core/document/text_units.h"
#include "core/passages/seed_filter.h"
#include "core/passages/seeds.h"
#include "core/passages/window_hash.h"

namespace neardup {

struct WindowRecord {
  WindowHash hash;
  uint64_t byte;  // of its first unit, counted over all documents
  uint32_t row;
  uint32_t character;  // code points before its first unit
};

// What the windows of a search have in common.
struct WindowShape {
  Unit unit;
  uint32_t units;
  uint64_t at_least;
};

struct PlacedDocument {
  const uint8_t* text;
  size_t size;
  uint64_t begin;  // byte of all documents
  uint32_t row;
  uint32_t group;
};

// Reads the document twice: its seeds, and then the units of windows to be hashed.
class WindowFinder {
 public:
  WindowFinder(const WindowShape& shape, const WindowHasher& hasher, const SeedFilter& filter)
      : shape_(shape), hasher_(hasher), filter_(filter) {}

  // Calls take(record) for each window, in order. stop (may be null) is polled. Memory: up to 32 bytes a unit of a
  // window.
  template <class Take>
  void find(const PlacedDocument& document, StopCheck* stop, Take take) {
    if (document.size < shape_.units) return;
    SeedStream seeds(shape_.unit, shape_.units, document.text, document.size, stop);
    UnitScanner units(shape_.unit, document.text, document.size, stop);
    const WindowHash group = hasher_.group(document.group);
    read_ = held_ = 0;
    for (Seed seed; seeds.next(&seed);) {
      if (!filter_.reaches(seed.hash, shape_.at_least)) continue;
      if (seed.first > read_) skip(&units, seed.first);
      for (uint64_t window = seed.first; window < seed.end; ++window) {
        while (read_ < window + shape_.units) read_unit(&units);
        const HeldUnit& first = held(window);
        take(WindowRecord{hasher_.finish(run_, group), document.begin + first.byte, document.row, first.character});
      }
    }
  }

 private:
  struct HeldUnit {
    WindowHash hash;
    uint64_t byte;
    uint32_t character;
  };

  HeldUnit& held(uint64_t unit) noexcept { return ring_[unit % ring_.size()]; }
  void skip(UnitScanner* units, uint64_t to);
  void read_unit(UnitScanner* units);

  const WindowShape shape_;
  const WindowHasher& hasher_;
  const SeedFilter& filter_;
  // The last units that were read, at most those of a window, and the hash of them.
  std::vector<HeldUnit> ring_;
  uint64_t read_ = 0;
  uint64_t held_ = 0;
  WindowHash run_{};
};

}  // namespace neardup
