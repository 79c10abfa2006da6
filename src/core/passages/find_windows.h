// The windows of a document that may be repeated, with their hashes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/stop.h"
#include "core/document/text_units.h"
#include "core/passages/window_reader.h"

namespace neardup {

struct WindowRecord {
  WindowHash hash;
  uint64_t byte;  // of its first unit, counted over all documents
  uint32_t row;
  uint32_t character;  // code points before its first unit
};

struct WindowShape {
  Unit unit;
  uint32_t units;
  uint64_t at_least;
};

// Windows first .. end - 1 of a document, by the number of their first unit, from 0.
struct WindowRun {
  uint64_t first;
  uint64_t end;
};

struct PlacedDocument {
  const uint8_t* text;
  size_t size;
  uint64_t begin;  // byte of all documents
  uint32_t row;
  uint32_t group;
  size_t first_run = 0;
  size_t end_run = 0;
};

class WindowFinder {
 public:
  WindowFinder(const WindowShape& shape, const WindowHasher& hasher)
      : shape_(shape), hasher_(hasher), reader_(shape.units, hasher) {}

  // Calls take(record) for each window of the runs, in order. next_run(run): the next one, ascending; false behind the
  // last. stop (may be null) is polled.
  template <class NextRun, class Take>
  void find(const PlacedDocument& document, NextRun next_run, StopCheck* stop, Take take) {
    UnitScanner units(shape_.unit, document.text, document.size, stop);
    const WindowHash group = hasher_.group(document.group);
    reader_.start();
    for (WindowRun run; next_run(&run);) {
      if (run.first > reader_.units_read()) reader_.skip(&units, run.first);
      for (uint64_t window = run.first; window < run.end; ++window) {
        while (reader_.units_read() < window + shape_.units && reader_.read(&units)) {
        }
        const WindowReader::Place& first = reader_.first();
        take(WindowRecord{hasher_.finish(reader_.run(), group), document.begin + first.begin, document.row,
                          first.character});
      }
    }
  }

 private:
  const WindowShape shape_;
  const WindowHasher& hasher_;
  WindowReader reader_;
};

}  // namespace neardup
