// A text without some of its characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/stop.h"

namespace neardup {

// Characters first .. end - 1, counted from 1.
struct CharacterRange {
  int64_t first;
  int64_t end;
};

// The text without these ranges, which ascend and do not overlap. Code points are counted as UnitScanner does.
// Error{invalid_argument} for a range that begins before the text or ends behind it. stop (may be null) is polled.
std::string cut_ranges(const uint8_t* text, size_t size, const std::vector<CharacterRange>& ranges,
                       StopCheck* stop = nullptr);

}  // namespace neardup
