// Bit codes, and their Hamming distance.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/kinds/kinds_impl.h"
#include "core/kinds/query_bytes.h"

namespace neardup {
namespace {

constexpr size_t kLengthBytes = sizeof(uint32_t);

struct Code : UsualKind {
  // Bytes of a code that are stored.
  static size_t bytes_of_length(uint32_t bits) noexcept { return valid_code_bits(bits) ? code_bytes(bits) : 0; }

  static BitCode checked_code(uint32_t bits, const uint8_t* bytes, size_t size) {
    if (size != bytes_of_length(bits))
      refuse_bytes("a bit code of " + std::to_string(bits) + " bits has not " + std::to_string(size) + " bytes");
    if (size != 0 && bits % 8 != 0 && (bytes[size - 1] & (0xff >> bits % 8)) != 0)
      refuse_bytes("the bits behind a bit code are not 0");
    return {size == 0 ? nullptr : bytes, bits};
  }

  static void check_has_length(size_t size) {
    if (size < kLengthBytes) refuse_bytes(std::to_string(size) + " bytes are too few for a bit code");
  }

  static AnyValue view(const uint8_t* bytes, size_t size) {
    check_has_length(size);
    uint32_t bits;
    std::memcpy(&bits, bytes, kLengthBytes);
    return checked_code(bits, bytes + kLengthBytes, size - kLengthBytes);
  }

  static size_t stored_size(const AnyValue& v) noexcept { return kLengthBytes + bytes_of_length(v.code.bits); }

  static void store(const AnyValue& v, uint8_t* out) noexcept {
    std::memcpy(out, &v.code.bits, kLengthBytes);
    if (const size_t n = bytes_of_length(v.code.bits); n != 0) std::memcpy(out + kLengthBytes, v.code.bytes, n);
  }

  static std::string to_text(const AnyValue& v) {
    const BitCode& code = v.code;
    if (code.bytes == nullptr) return '[' + std::to_string(code.bits) + ']';
    std::string out(code.bits, '0');
    for (uint32_t i = 0; i < code.bits; ++i)
      if ((code.bytes[i / 8] >> (7 - i % 8) & 1) != 0) out[i] = '1';
    return out;
  }

  // bytes: room for kMostCodeBytes, 0.
  static BitCode code_from_text(std::string_view text, uint8_t* bytes, const char** why) {
    *why = "A bit code reads 0101.., 64 to 4096 bits.";
    BitCode code;
    if (!text.empty() && text.front() == '[' && text.back() == ']') {
      const auto r = std::from_chars(text.data() + 1, text.data() + text.size() - 1, code.bits);
      if (r.ec == std::errc() && r.ptr == text.data() + text.size() - 1 && !valid_code_bits(code.bits)) *why = nullptr;
      return code;
    }
    if (text.size() > kMostCodeBits || !valid_code_bits(static_cast<uint32_t>(text.size()))) return code;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '0' && text[i] != '1') return code;
      if (text[i] == '1') bytes[i / 8] |= static_cast<uint8_t>(0x80 >> i % 8);
    }
    *why = nullptr;
    return {bytes, static_cast<uint32_t>(text.size())};
  }

  static std::vector<uint8_t> from_text(std::string_view text, const char** why) {
    uint8_t bytes[kMostCodeBytes] = {};
    const BitCode code = code_from_text(text, bytes, why);
    return *why == nullptr ? stored_form<Code>(code) : std::vector<uint8_t>();
  }

  static std::vector<uint8_t> to_wire(const AnyValue& v) {
    std::vector<uint8_t> out = stored_form<Code>(v);
    store_big_endian(v.code.bits, out.data());
    return out;
  }

  static std::vector<uint8_t> from_wire(const uint8_t* bytes, size_t size) {
    check_has_length(size);
    return stored_form<Code>(checked_code(load_big_endian<uint32_t>(bytes), bytes + kLengthBytes, size - kLengthBytes));
  }

  static bool comparable(const AnyValue& x, const AnyValue& y) noexcept {
    return x.code.bits == y.code.bits && valid_code_bits(x.code.bits);
  }

  static std::string describe(const AnyValue& v) { return std::to_string(v.code.bits) + " bits"; }
};

double hamming(const AnyValue& x, const AnyValue& y) { return bit_distance(x.code, y.code); }

// The distance half way between the strictest bound and none. Nearness depends on the length: 31 of 256 bits are near.
constexpr double kUsualNearBits = 64;
double closeness(double bound) noexcept { return bound < 0 ? kBeyondReach : 1 / (1 + bound / kUsualNearBits); }

double engine_bound(double bound, uint32_t bits) noexcept { return std::max(0.0, 1 - std::floor(bound) / bits); }

}  // namespace

constinit const KindInfo kBitsKind = kind_info<Code>("bit");

constinit const MeasureInfo kBitHamming = {.measure = Measure::bit_hamming,
                                           .kind = Kind::bits,
                                           .name = "bit_hamming",
                                           .function = "bit_hamming",
                                           .is_similarity = false,
                                           .mirrored = Measure::bit_hamming,
                                           .range = {"distance", "from 0 to 4096", 0, kMostCodeBits, false},
                                           .closeness = closeness,
                                           .usual_closeness = kUsualCloseness,
                                           .value = hamming,
                                           .engine_bound = engine_bound};

}  // namespace neardup
