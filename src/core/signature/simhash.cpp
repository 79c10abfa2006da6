// See simhash.h.
#include "core/signature/simhash.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/message_text.h"
#include "core/exact/weights.h"

namespace neardup {
namespace {

__extension__ using u128 = unsigned __int128;

constexpr size_t kVectorStep = 1024;

u128 joined(uint64_t low, uint64_t high) noexcept { return static_cast<u128>(high) << 64 | low; }

// One carry-save step: a + b + c = 2 * carry + sum, in 64 lanes.
inline void carry_save(uint64_t a, uint64_t b, uint64_t c, uint64_t* carry, uint64_t* sum) noexcept {
  const uint64_t u = a ^ b;
  *carry = (a & b) | (u & c);
  *sum = u ^ c;
}

// cos(pi h / 64), h = 0..32.
constexpr double kCosine[33] = {
    1.000000000000000000, 0.998795456205172400, 0.995184726672196900, 0.989176509964781000, 0.980785280403230400,
    0.970031253194544000, 0.956940335732208800, 0.941544065183020800, 0.923879532511286700, 0.903989293123443300,
    0.881921264348355000, 0.857728610000272100, 0.831469612302545200, 0.803207531480644900, 0.773010453362737000,
    0.740951125354959100, 0.707106781186547600, 0.671558954847018400, 0.634393284163645500, 0.595699304492433400,
    0.555570233019602200, 0.514102744193221800, 0.471396736825997640, 0.427555093430282100, 0.382683432365089800,
    0.336889853392220050, 0.290284677254462400, 0.242980179903263900, 0.195090322016128280, 0.146730474455361750,
    0.098017140329560600, 0.049067674327418015, 0.000000000000000000};

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void SimhashSums::grow(Wide by) {
  const u128 sum = joined(total_.low, total_.high) + joined(by.low, by.high);
  if (sum < joined(by.low, by.high)) throw Error(Errc::too_large, "the sum of weights is above 2^68");
  total_ = {static_cast<uint64_t>(sum), static_cast<uint64_t>(sum >> 64)};
}

void SimhashSums::add(uint64_t signs, double weight, size_t number) {
  const u128 units = weight_units(weight, number);
  if (units == 0) return;
  const Wide by{static_cast<uint64_t>(units), static_cast<uint64_t>(units >> 64)};
  grow(by);
  for (int i = 0; i < kSimhashBits; ++i) {
    const uint64_t mask = -(signs >> i & 1);
    const uint64_t low = by.low & mask;
    plus_[i].low += low;
    plus_[i].high += (by.high & mask) + (plus_[i].low < low ? 1 : 0);  // not above total_
  }
}

void SimhashSums::merge(const SimhashSums& other) {
  grow(other.total_);
  for (int i = 0; i < kSimhashBits; ++i) {
    plus_[i].low += other.plus_[i].low;
    plus_[i].high += other.plus_[i].high + (plus_[i].low < other.plus_[i].low ? 1 : 0);
  }
}

std::optional<uint64_t> SimhashSums::result() const noexcept {
  const u128 total = joined(total_.low, total_.high);
  if (total == 0) return std::nullopt;
  uint64_t bits = 0;
  for (int i = 0; i < kSimhashBits; ++i) {
    const u128 plus = joined(plus_[i].low, plus_[i].high);
    if (plus > total - plus) bits |= uint64_t{1} << i;
  }
  return bits;
}

void SimhashCounts::flush() noexcept {
  for (int i = 0; i < kSimhashBits; ++i) {
    uint64_t n = 0;
    for (int p = 0; p < kPlanes; ++p) n |= (planes_[p] >> i & 1) << p;
    plus_[i] += n;
  }
  for (uint64_t& plane : planes_) plane = 0;
  pending_ = 0;
}

// Carry-save adders take eight hashes into planes 0 to 2 and one carry into plane 3 (R. Harley's and D. Seal's
// counting, H. Warren, Hacker's Delight, 5-2, in 64 lanes).
void SimhashCounts::add(const uint64_t* signs, size_t n) noexcept {
  total_ += n;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    if (pending_ + 8 >= 1U << kPlanes) flush();
    const uint64_t* h = signs + i;
    uint64_t twos_a, twos_b, fours_a, fours_b, carry;
    carry_save(planes_[0], h[0], h[1], &twos_a, &planes_[0]);
    carry_save(planes_[0], h[2], h[3], &twos_b, &planes_[0]);
    carry_save(planes_[1], twos_a, twos_b, &fours_a, &planes_[1]);
    carry_save(planes_[0], h[4], h[5], &twos_a, &planes_[0]);
    carry_save(planes_[0], h[6], h[7], &twos_b, &planes_[0]);
    carry_save(planes_[1], twos_a, twos_b, &fours_b, &planes_[1]);
    carry_save(planes_[2], fours_a, fours_b, &carry, &planes_[2]);
    for (int p = 3; p < kPlanes && carry != 0; ++p) {
      const uint64_t both = planes_[p] & carry;
      planes_[p] ^= carry;
      carry = both;
    }
    pending_ += 8;
  }
  for (; i < n; ++i) {
    if (pending_ + 1 >= 1U << kPlanes) flush();
    uint64_t carry = signs[i];
    for (int p = 0; p < kPlanes && carry != 0; ++p) {
      const uint64_t both = planes_[p] & carry;
      planes_[p] ^= carry;
      carry = both;
    }
    ++pending_;
  }
}

void SimhashCounts::add_shingles(uint64_t* hashes, size_t n) noexcept {
  for (size_t i = 0; i < n; ++i) hashes[i] = simhash_signs(hashes[i]);
  add(hashes, n);
}

std::optional<uint64_t> SimhashCounts::result() noexcept {
  if (total_ == 0) return std::nullopt;
  flush();
  uint64_t bits = 0;
  for (int i = 0; i < kSimhashBits; ++i)
    if (plus_[i] > total_ - plus_[i]) bits |= uint64_t{1} << i;
  return bits;
}

std::optional<uint64_t> simhash_document(Unit unit, int64_t k, const uint8_t* text, size_t size, StopCheck* stop) {
  check_k(k);
  ShingleStream stream(unit, static_cast<int>(k), text, size, stop);
  SimhashCounts counts;
  uint64_t batch[ShingleStream::kMaxBatch];
  while (const size_t n = stream.next(batch)) counts.add_shingles(batch, n);
  return counts.result();
}

std::optional<uint64_t> simhash_vector(const float* vector, size_t n, StopCheck* stop) {
  if (n == 0) throw Error(Errc::invalid_argument, "the vector has no component");
  // A product is exact in double, so that a fused multiply-add gives the same sum.
  double sums[kSimhashBits] = {};
  bool any = false;
  for (size_t at = 0; at < n; ++at) {
    if (!std::isfinite(vector[at]))
      throw Error(Errc::invalid_argument, "component " + std::to_string(at + 1) + " of the vector is " +
                                              (std::isnan(vector[at]) ? "NaN" : "infinite"));
    if (stop != nullptr && at % kVectorStep == 0) stop->poll();
    if (vector[at] == 0) continue;
    any = true;
    const double x = vector[at];
    for (uint32_t plane = 0; plane < kSimhashBits; ++plane) sums[plane] += x * hyperplane(plane, at);
  }
  if (!any) return std::nullopt;
  uint64_t bits = 0;
  for (int i = 0; i < kSimhashBits; ++i)
    if (sums[i] > 0) bits |= uint64_t{1} << i;
  return bits;
}

double simhash_cosine(int distance) noexcept { return distance <= 32 ? kCosine[distance] : -kCosine[64 - distance]; }

std::string simhash_to_text(uint64_t value) {
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

uint64_t simhash_from_wire(const uint8_t* bytes, size_t size) {
  const auto is_hex = [](uint8_t c) { return hex_digit(static_cast<char>(c)) >= 0; };
  if (size == 2 * sizeof(uint64_t) && std::all_of(bytes, bytes + size, is_hex))
    throw Error(Errc::corrupt_data, std::string("invalid simhash: ") + kTextForm, {}, kTextFormHint);
  if (size != sizeof(uint64_t))
    throw Error(Errc::corrupt_data, "invalid simhash: " + std::to_string(size) + " bytes, 8 expected");
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value = value << 8 | bytes[i];
  return value;
}

uint64_t simhash_from_text(std::string_view text) {
  uint64_t value = 0;
  bool good = text.size() == 16;
  for (const char c : text) {
    const int digit = hex_digit(c);
    good = good && digit >= 0;
    value = value << 4 | static_cast<uint64_t>(digit & 15);
  }
  if (!good)
    throw Error(Errc::invalid_text, "invalid input syntax for type simhash: \"" + excerpt(text) + "\"", {},
                "It is 16 hexadecimal digits. To sign a document, use to_simhash(document).");
  return value;
}

}  // namespace neardup
