// See cut.h.
#include "core/passages/cut.h"

#include "core/document/text_units.h"
#include "core/unicode/utf8.h"

namespace neardup {
namespace {

constexpr uint32_t kSkippedPerPoll = 1 << 14;

[[noreturn]] void refuse(const CharacterRange& range, size_t characters) {
  throw Error(Errc::invalid_argument,
              "range [" + std::to_string(range.first) + "," + std::to_string(range.end) +
                  ") is outside the text, which has " + std::to_string(characters) + " characters",
              "Characters are counted from 1, and a range does not include its upper bound.",
              "Ranges of repeated_passages() hold for the text that was searched: was it changed since?");
}

// Bytes of up to n code points from p on; *n becomes what is missing.
const uint8_t* skip(const uint8_t* p, const uint8_t* end, int64_t* n, StopCheck* stop) {
  for (uint32_t steps = 1; *n > 0 && p < end; --*n, ++steps) {
    if (steps % kSkippedPerPoll == 0 && stop != nullptr) stop->poll();
    unsigned length;
    decode_utf8(p, end, &length);
    p += length;
  }
  return p;
}

}  // namespace

std::string cut_ranges(const uint8_t* text, size_t size, const std::vector<CharacterRange>& ranges, StopCheck* stop) {
  std::string out;
  const uint8_t* p = text;
  const uint8_t* const end = text + size;
  int64_t character = 1;
  for (const CharacterRange& range : ranges) {
    if (range.first < 1) refuse(range, count_code_points(text, size, stop));
    int64_t before = range.first - character;
    int64_t within = range.end - range.first;
    const uint8_t* const first = skip(p, end, &before, stop);
    out.append(reinterpret_cast<const char*>(p), static_cast<size_t>(first - p));
    p = skip(first, end, &within, stop);
    if (before > 0 || within > 0) refuse(range, count_code_points(text, size, stop));
    character = range.end;
  }
  out.append(reinterpret_cast<const char*>(p), static_cast<size_t>(end - p));
  return out;
}

}  // namespace neardup
