// See scripts.h.
#include "core/intake/scripts.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace neardup {
namespace {

constexpr uint32_t kFirstHan = 0x4e00;
constexpr uint32_t kAfterHan = 0xa000;
constexpr uint32_t kFirstHangul = 0xac00;
constexpr uint32_t kAfterAlphabets = 0x3100;  // the alphabets, by a table of their own

Script search(uint32_t c) noexcept {
  const uint32_t* const after = std::upper_bound(std::begin(kScriptRuns), std::end(kScriptRuns), c << 8 | 0xff);
  return static_cast<Script>(after[-1] & 0xff);
}

const std::array<uint8_t, kAfterAlphabets>& few() noexcept {
  static const std::array<uint8_t, kAfterAlphabets> table = [] {
    std::array<uint8_t, kAfterAlphabets> t;
    for (uint32_t c = 0; c < kAfterAlphabets; ++c) t[c] = search(c);
    return t;
  }();
  return table;
}

bool has(const uint64_t* bitmap, uint32_t i) noexcept { return (bitmap[i / 64] >> i % 64 & 1) != 0; }

template <size_t N>
Frequency frequency_in(const uint64_t (&frequent)[N], const uint64_t (&level_one)[N], uint32_t i) noexcept {
  if (i >= N * 64) return Frequency::rare;
  if (has(frequent, i)) return Frequency::frequent;
  return has(level_one, i) ? Frequency::level_one : Frequency::rare;
}

}  // namespace

Script character_script(uint32_t c) noexcept {
  if (c < kAfterAlphabets) return static_cast<Script>(few()[c]);
  if (c >= kFirstHan && c < kAfterHan) return kHan;
  return c < 0x110000 ? search(c) : kNoScript;
}

double script_size_bits(Script script) noexcept { return kScriptSize[script] / 10.0; }

Frequency character_frequency(uint32_t c) noexcept {
  if (c >= kFirstHangul) return frequency_in(kFrequentHangul, kLevelOneHangul, c - kFirstHangul);
  if (c >= kFirstHan) return frequency_in(kFrequentHan, kLevelOneHan, c - kFirstHan);
  return Frequency::rare;
}

}  // namespace neardup
