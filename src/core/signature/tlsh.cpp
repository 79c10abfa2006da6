// Reads and compares TLSH digests; see tlsh.h. The weights are those of the reference implementation (tlsh_impl.cpp,
// lsh_bin_totalDiff; tlsh_util.cpp, mod_diff and h_distance).
#include "core/signature/tlsh.h"

#include <algorithm>
#include <bit>
#include <string>

#include "core/base/error.h"
#include "core/base/message_text.h"

namespace neardup {
namespace {

constexpr unsigned kLengthCircle = 256;  // lengths and ratios are compared around a circle
constexpr unsigned kRatios = 16;
constexpr uint32_t kStepWeight = 12;  // of a step of the length, or of a ratio, beyond the first
constexpr uint64_t kLowBits = 0x5555555555555555;
constexpr size_t kDigitsOfWord = 16;
constexpr size_t kHeaderDigits = 6;

constexpr uint8_t kNoDigit = 0x80;  // no value has this bit

constexpr std::array<uint8_t, 256> kHexValues = [] {
  std::array<uint8_t, 256> out{};
  out.fill(kNoDigit);
  for (uint8_t v = 0; v < 16; ++v) {
    out[static_cast<size_t>("0123456789ABCDEF"[v])] = v;
    out[static_cast<size_t>("0123456789abcdef"[v])] = v;
  }
  return out;
}();

uint8_t hex_value(char c) noexcept { return kHexValues[static_cast<uint8_t>(c)]; }

// The digest without its version.
std::string_view hex_digits(std::string_view text) noexcept { return text.starts_with("T1") ? text.substr(2) : text; }

// Says what is wrong with the text. TLSH can be compiled for other numbers of buckets and sizes of checksums: such
// digests are named by their length.
std::string describe_fault(std::string_view text) {
  if (text == "TNULL") return "TLSH writes this where a document has no digest.";
  const std::string_view digits = hex_digits(text);
  for (size_t i = 0; i < digits.size(); ++i)
    if (hex_value(digits[i]) == kNoDigit)
      return "Character " + std::to_string(text.size() - digits.size() + i + 1) + " is no hexadecimal digit.";
  std::string fault = "It has " + std::to_string(digits.size()) + " hexadecimal digits instead of 70";
  if (digits.size() == 74 || digits.size() == 138) fault += ", as digests with a checksum of 3 bytes have";
  if (digits.size() == 134) fault += ", as digests of 256 buckets have";
  return fault + ".";
}

[[noreturn]] void refuse(std::string_view text) {
  throw Error(Errc::invalid_text, "invalid TLSH digest: \"" + excerpt(text) + "\"", describe_fault(text),
              "A digest is 70 hexadecimal digits, after T1 or alone: that of 128 buckets with a checksum of 1 byte.");
}

uint32_t around(unsigned a, unsigned b, unsigned circle) noexcept {
  const unsigned apart = a > b ? a - b : b - a;
  return std::min(apart, circle - apart);
}

uint32_t ratio_distance(unsigned a, unsigned b) noexcept {
  const uint32_t apart = around(a, b, kRatios);
  return apart <= 1 ? apart : (apart - 1) * kStepWeight;
}

uint32_t length_distance(unsigned a, unsigned b) noexcept {
  const uint32_t apart = around(a, b, kLengthCircle);
  return apart <= 1 ? apart : apart * kStepWeight;
}

uint32_t ones(uint64_t bits) noexcept { return static_cast<uint32_t>(std::popcount(bits)); }

// Quartiles 0, 1, 2, 3 apart count 0, 1, 2, 6.
uint32_t quartile_distance(uint64_t a, uint64_t b) noexcept {
  const uint64_t low = (a ^ b) & kLowBits;
  const uint64_t high = ((a ^ b) >> 1) & kLowBits;
  const uint64_t three = low & high & ~(a ^ (a >> 1));  // 0 and 3: both bits differ, and those of a are equal
  return ones(low) + 2 * ones(high & ~low) + 5 * ones(three);
}

}  // namespace

TlshDigest tlsh_of_text(std::string_view text) {
  const std::string_view digits = hex_digits(text);
  if (digits.size() != kTlshHexDigits) refuse(text);
  std::array<uint8_t, kTlshHexDigits> values;
  uint8_t seen = 0;
  for (size_t i = 0; i < kTlshHexDigits; ++i) seen |= values[i] = hex_value(digits[i]);
  if ((seen & kNoDigit) != 0) refuse(text);
  TlshDigest out{};
  // The digits of the header's bytes are written in reverse order.
  out.checksum = static_cast<uint8_t>(values[1] << 4 | values[0]);
  out.length = static_cast<uint8_t>(values[3] << 4 | values[2]);
  out.q1_ratio = values[4];
  out.q2_ratio = values[5];
  for (size_t i = kHeaderDigits; i < kTlshHexDigits; ++i) {
    uint64_t& word = out.quartiles[(i - kHeaderDigits) / kDigitsOfWord];
    word = word << 4 | values[i];
  }
  return out;
}

uint32_t tlsh_distance(const TlshDigest& a, const TlshDigest& b, bool with_length) noexcept {
  uint32_t distance = with_length ? length_distance(a.length, b.length) : 0;
  distance += ratio_distance(a.q1_ratio, b.q1_ratio) + ratio_distance(a.q2_ratio, b.q2_ratio);
  distance += a.checksum != b.checksum;
  for (size_t i = 0; i < a.quartiles.size(); ++i) distance += quartile_distance(a.quartiles[i], b.quartiles[i]);
  return distance;
}

void write_tlsh_code(const TlshDigest& digest, uint8_t* out) noexcept {
  for (const uint64_t word : digest.quartiles) {
    const uint64_t gray = word ^ ((word >> 1) & kLowBits);
    for (int shift = 56; shift >= 0; shift -= 8) *out++ = static_cast<uint8_t>(gray >> shift);
  }
}

}  // namespace neardup
