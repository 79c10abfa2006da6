// See code_points.h.
#include "core/unicode/code_points.h"

#include "core/base/hash.h"
#include "core/base/stop.h"
#include "core/unicode/utf8_inline.h"

namespace neardup {

size_t count_code_points(const uint8_t* text, size_t bytes, StopCheck* stop) {
  const uint8_t* p = text;
  const uint8_t* const end = text + bytes;
  size_t n = 0;
  uint32_t steps = 0;
  while (p < end) {
    if ((++steps & 0x3fff) == 0 && stop != nullptr) stop->poll();
    if (end - p >= 8 && (load_le64(p) & 0x8080808080808080ULL) == 0) {
      p += 8;
      n += 8;
      continue;
    }
    unsigned length;
    detail::decode_utf8(p, end, &length);
    p += length;
    ++n;
  }
  return n;
}

}  // namespace neardup
