// See fingerprint.h.
#include "core/document/fingerprint.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/unicode/utf8_inline.h"

namespace neardup {
namespace {

__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

// x < 2^123 modulo the prime: 2^61 is 1.
constexpr uint64_t reduce(u128 x) noexcept {
  const uint64_t once = (static_cast<uint64_t>(x) & kFingerprintPrime) + static_cast<uint64_t>(x >> 61);
  const uint64_t twice = (once & kFingerprintPrime) + (once >> 61);
  return twice >= kFingerprintPrime ? twice - kFingerprintPrime : twice;
}

constexpr uint64_t multiply(uint64_t a, uint64_t b) noexcept { return reduce(static_cast<u128>(a) * b); }

constexpr uint64_t power(uint64_t base, uint64_t exponent) noexcept {
  uint64_t out = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) out = multiply(out, base);
    base = multiply(base, base);
  }
  return out;
}

// A block's digits meet the powers of the base in four parts of 16 bits with sign, for which every machine has an
// instruction that multiplies and adds eight and more at once; a sum of a block's products, at most 128 * 256 * 2^15,
// fits 32 bits.
constexpr size_t kDigitBlock = 128;
constexpr size_t kPowerParts = 4;

struct BlockPowers {
  alignas(64) int16_t part[kPowerParts][kDigitBlock];
};

constexpr BlockPowers make_block_powers() {
  BlockPowers out{};
  uint64_t p = 1;
  for (size_t i = kDigitBlock; i-- > 0; p = multiply(p, kFingerprintBase)) {
    auto rest = static_cast<int64_t>(p);
    for (size_t part = 0; part < kPowerParts; ++part) {
      const auto low = static_cast<int16_t>(rest & 0xffff);
      out.part[part][i] = low;
      rest = (rest - low) / 65536;
    }
  }
  return out;
}
constexpr BlockPowers kBlockPowers = make_block_powers();
constexpr uint64_t kBaseToBlock = power(kFingerprintBase, kDigitBlock);

// F of the bytes before and those of the block, as digits; a digit 0 adds nothing.
uint64_t append_block(uint64_t f, const int16_t* digits) noexcept {
  int32_t sum[kPowerParts] = {};
  for (size_t part = 0; part < kPowerParts; ++part) {
    int32_t s = 0;
    for (size_t i = 0; i < kDigitBlock; ++i) s += static_cast<int32_t>(digits[i]) * kBlockPowers.part[part][i];
    sum[part] = s;
  }
  const int64_t low = sum[0] + static_cast<int64_t>(sum[1]) * 65536;
  const int64_t high = sum[2] + static_cast<int64_t>(sum[3]) * 65536;
  // Above -2^80; so many times the prime make it positive.
  const i128 block = static_cast<i128>(high) * (int64_t{1} << 32) + low + (static_cast<i128>(kFingerprintPrime) << 20);
  return reduce(static_cast<u128>(f) * kBaseToBlock + static_cast<u128>(block));
}

constexpr size_t kPolledBytes = 1 << 20;  // bytes between two polls

// Powers of the base and of its inverse for the bytes of one symbol.
constexpr std::array<uint64_t, 5> first_powers(uint64_t base) {
  return {1, base, multiply(base, base), multiply(multiply(base, base), base), power(base, 4)};
}
constexpr std::array<uint64_t, 5> kUp = first_powers(kFingerprintBase);
constexpr std::array<uint64_t, 5> kDown = first_powers(power(kFingerprintBase, kFingerprintPrime - 2));
static_assert(multiply(kUp[1], kDown[1]) == 1);

uint64_t fingerprint_of_symbol(const uint8_t* p, unsigned n) noexcept {
  uint64_t f = 0;
  for (unsigned i = 0; i < n; ++i) f = reduce(static_cast<u128>(f) * kFingerprintBase + p[i] + 1);
  return f;
}

void check_fingerprint(int64_t f) {
  if (f < 0 || static_cast<uint64_t>(f) >= kFingerprintPrime)
    throw Error(Errc::invalid_argument, "a fingerprint must be between 0 and 2^61 - 2: " + std::to_string(f), {},
                "Pass what karp_rabin() gave.");
}

}  // namespace

uint64_t fingerprint(const uint8_t* bytes, size_t size, StopCheck* stop) {
  // The first block is the short one: filled up in front, where a digit 0 costs nothing.
  alignas(64) int16_t digits[kDigitBlock] = {};
  const size_t first = size % kDigitBlock;
  for (size_t i = 0; i < first; ++i) digits[kDigitBlock - first + i] = static_cast<int16_t>(bytes[i] + 1);
  uint64_t f = first == 0 ? 0 : append_block(0, digits);
  for (size_t at = first; at < size;) {
    const size_t end = at + std::min(kPolledBytes, size - at);  // pieces are whole blocks
    for (; at < end; at += kDigitBlock) {
      for (size_t i = 0; i < kDigitBlock; ++i) digits[i] = static_cast<int16_t>(bytes[at + i] + 1);
      f = append_block(f, digits);
    }
    if (stop != nullptr) stop->poll();
  }
  return f;
}

uint64_t fingerprint_concat(int64_t a, int64_t b, int64_t length_b) {
  check_fingerprint(a);
  check_fingerprint(b);
  if (length_b < 0)
    throw Error(Errc::invalid_argument, "length_b must be at least 0: " + std::to_string(length_b), {},
                "It is the length of the second document's UTF-8 in bytes: octet_length(convert_to(b, 'UTF8')).");
  const uint64_t shift = power(kFingerprintBase, static_cast<uint64_t>(length_b));
  return reduce(static_cast<u128>(static_cast<uint64_t>(a)) * shift + static_cast<uint64_t>(b));
}

RollingFingerprints::RollingFingerprints(Unit unit, int64_t window, const uint8_t* text, size_t size, StopCheck* stop)
    : utf8_(unit == Unit::character),
      window_(static_cast<uint64_t>(window)),
      first_(text),
      last_(text),
      end_(text + size),
      stop_(stop) {
  if (unit != Unit::character && unit != Unit::byte)
    throw Error(Errc::invalid_argument, "rolling fingerprints have no unit \"" + std::string(unit_name(unit)) + "\"");
  if (window < 1)
    throw Error(Errc::invalid_argument, "window must be at least 1: " + std::to_string(window), {},
                "It is the number of characters or bytes in a window.");
}

bool RollingFingerprints::start() {
  started_ = true;
  if (static_cast<uint64_t>(end_ - first_) < window_) return false;
  if (utf8_) {
    for (uint64_t n = 0; n < window_; ++n) {
      if (last_ == end_) return false;
      if ((++steps_ & 0x3fff) == 0 && stop_ != nullptr) stop_->poll();
      unsigned length;
      detail::decode_utf8(last_, end_, &length);
      last_ += length;
    }
  } else {
    last_ += window_;
  }
  const auto bytes = static_cast<size_t>(last_ - first_);
  value_ = fingerprint(first_, bytes, stop_);
  power_ = power(kFingerprintBase, bytes);
  return true;
}

// The window moves on by a symbol.
bool RollingFingerprints::roll() {
  if (last_ == end_) return false;
  if ((++steps_ & 0x3fff) == 0 && stop_ != nullptr) stop_->poll();
  unsigned out = 1, in = 1;
  if (utf8_) {
    detail::decode_utf8(first_, end_, &out);
    detail::decode_utf8(last_, end_, &in);
  }
  // The symbol that leaves stands before all other bytes of the window.
  const uint64_t others = multiply(power_, kDown[out]);
  const uint64_t leaving = multiply(fingerprint_of_symbol(first_, out), others);
  const uint64_t kept = value_ >= leaving ? value_ - leaving : value_ + kFingerprintPrime - leaving;
  value_ = reduce(static_cast<u128>(kept) * kUp[in] + fingerprint_of_symbol(last_, in));
  if (in != out) power_ = multiply(others, kUp[in]);
  first_ += out;
  last_ += in;
  return true;
}

size_t RollingFingerprints::next(uint64_t* out, size_t most) {
  size_t n = 0;
  while (n < most) {
    if (!(started_ ? roll() : start())) {
      first_ = last_ = end_;  // a short document has none
      break;
    }
    out[n++] = value_;
  }
  return n;
}

}  // namespace neardup
