// See window_reader.h.
#include "core/passages/window_reader.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/hash.h"

namespace neardup {
namespace {

constexpr uint64_t kWindowPrime = (uint64_t{1} << kWindowHashBits) - 1;
// Tell apart what is derived from one key.
constexpr uint64_t kBaseSalt = 0x62617365;
constexpr uint64_t kGroupSalt = 0x67726f7570;

uint64_t reduced(uint64_t x) noexcept {
  x = (x & kWindowPrime) + (x >> kWindowHashBits);
  return x >= kWindowPrime ? x - kWindowPrime : x;
}

uint64_t product(uint64_t a, uint64_t b) noexcept {
  __extension__ using u128 = unsigned __int128;
  const u128 p = static_cast<u128>(a) * b;
  return reduced((static_cast<uint64_t>(p) & kWindowPrime) + static_cast<uint64_t>(p >> kWindowHashBits));
}

uint64_t sum(uint64_t a, uint64_t b) noexcept {
  const uint64_t s = a + b;
  return s >= kWindowPrime ? s - kWindowPrime : s;
}

uint64_t difference(uint64_t a, uint64_t b) noexcept { return a >= b ? a - b : a + kWindowPrime - b; }

WindowHash keyed(uint64_t key, const void* bytes, size_t size) noexcept {
  const XXH128_hash_t h = XXH3_128bits_withSeed(bytes, size, key);
  return {reduced(h.low64), reduced(h.high64)};
}

}  // namespace

WindowHasher::WindowHasher(uint64_t key, uint32_t units, unsigned bits)
    : key_(key), mask_((uint64_t{1} << bits) - 1), power_{1, 1} {
  for (size_t p = 0; p < base_.size(); ++p) {
    // Neither 0 nor 1.
    base_[p] = 2 + mix64(mix64(key ^ kBaseSalt) + p) % (kWindowPrime - 2);
    for (uint32_t i = 0; i < units; ++i) power_[p] = product(power_[p], base_[p]);
  }
}

WindowHash WindowHasher::unit(std::string_view unit_key) const noexcept {
  return keyed(key_, unit_key.data(), unit_key.size());
}

WindowHash WindowHasher::group(uint32_t group) const noexcept {
  return keyed(mix64(key_ ^ kGroupSalt), &group, sizeof group);
}

void WindowHasher::extend(WindowHash* run, const WindowHash& newest) const noexcept {
  for (size_t p = 0; p < run->size(); ++p) (*run)[p] = sum(product((*run)[p], base_[p]), newest[p]);
}

void WindowHasher::slide(WindowHash* run, const WindowHash& oldest, const WindowHash& newest) const noexcept {
  for (size_t p = 0; p < run->size(); ++p)
    (*run)[p] = difference(sum(product((*run)[p], base_[p]), newest[p]), product(oldest[p], power_[p]));
}

WindowHash WindowHasher::finish(const WindowHash& run, const WindowHash& group) const noexcept {
  return {sum(run[0], group[0]) & mask_, sum(run[1], group[1]) & mask_};
}

void WindowReader::skip(UnitScanner* scanner, uint64_t to) {
  TextUnit unused;
  for (; read_ < to; ++read_) scanner->next(&unused);
  held_ = 0;
}

bool WindowReader::read(UnitScanner* scanner) {
  TextUnit unit;
  std::string_view key;
  if (!scanner->next(&unit, &key)) return false;
  if (ring_.empty()) ring_.resize(units_);
  const WindowHash hash = hasher_.unit(key);
  Held& held = ring_[read_ % ring_.size()];
  if (held_ == units_) {
    hasher_.slide(&run_, held.hash, hash);
  } else {
    if (held_ == 0) run_ = {};
    hasher_.extend(&run_, hash);
    ++held_;
  }
  held = {hash, {unit.begin, static_cast<uint32_t>(unit.end - unit.begin), static_cast<uint32_t>(unit.position)}};
  ++read_;
  return true;
}

}  // namespace neardup
