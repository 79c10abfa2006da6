// Out-of-line forms of utf8_inline.h.
#include <algorithm>

#include "core/base/hash.h"
#include "core/base/stop.h"
#include "core/unicode/utf8_inline.h"

namespace neardup {
namespace {

constexpr uint32_t kCodePoints = 0x110000;

std::vector<Folding> all_foldings() {
  std::vector<Folding> all;
  for (uint32_t c = 0; c < kCodePoints; ++c) {
    const uint32_t folded = detail::classify(c).folded;
    if (folded != c) all.push_back({folded, c});
  }
  std::stable_sort(all.begin(), all.end(), [](const Folding& a, const Folding& b) { return a.folded < b.folded; });
  return all;
}

}  // namespace

const std::vector<Folding>& foldings() {
  static const std::vector<Folding> all = all_foldings();
  return all;
}

CodePoint classify(uint32_t c) noexcept { return detail::classify(c); }

uint32_t decode_utf8(const uint8_t* p, const uint8_t* end, unsigned* length) noexcept {
  return detail::decode_utf8(p, end, length);
}

unsigned encode_utf8(uint32_t c, uint8_t* out) noexcept { return detail::encode_utf8(c, out); }

bool valid_utf8_text(const uint8_t* text, size_t n) noexcept {
  const uint8_t* end = text + n;
  while (text < end) {
    unsigned length;
    // A genuine U+FFFD is three bytes long.
    if (*text == 0 || (detail::decode_utf8(text, end, &length) == 0xfffd && length == 1)) return false;
    text += length;
  }
  return true;
}

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
