// See minhash.h.
#include "core/signature/minhash.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "core/base/hash.h"
#include "core/kernels/kernels.h"

namespace neardup {
namespace {

constexpr uint32_t kLateRound = 1u << 31;  // set in values of rounds 1 and up
constexpr unsigned kRoundShift = 18;
constexpr uint32_t kFractionMask = (1u << kRoundShift) - 1;
constexpr uint32_t kMaxValue = 0xfffffffeu;
constexpr size_t kBufferFactor = 64;  // P(a bin is empty after 64 L distinct shingles) <= L e^-64
constexpr size_t kRecentSlots = 4096;
constexpr size_t kMaxWaitingHashes = 8192;
// A set that leaves bins empty for so long is small: repeats in the buffer then cost more than finding them.
constexpr uint32_t kRoundsBeforeUnique = 8;

inline uint32_t hash_bin(uint64_t h, uint32_t num_perm) noexcept {
  return static_cast<uint32_t>((static_cast<uint64_t>(static_cast<uint32_t>(h)) * num_perm) >> 32);
}

inline uint32_t late_value(uint64_t h, uint32_t round) noexcept {
  return std::min(kLateRound | round << kRoundShift | static_cast<uint32_t>(h >> 46), kMaxValue);
}

inline uint32_t fill_round(uint32_t v) noexcept { return v < kLateRound ? 0 : (v & ~kLateRound) >> kRoundShift; }

// Y of the 16-bit form: round and fraction on one scale of 44 bits.
inline uint64_t scaled(uint32_t v, uint32_t num_perm) noexcept {
  if (v < kLateRound) return v;
  const uint64_t r = fill_round(v);
  const uint64_t f = static_cast<uint64_t>(v & kFractionMask) << 13;
  return r < num_perm ? (r << 31) + f : num_perm * ((1ULL << 31) + f);
}

}  // namespace

void check_num_perm(int64_t num_perm) {
  if (num_perm < kMinNumPerm || num_perm > kMaxNumPerm)
    throw Error(Errc::invalid_argument, "num_perm must be between 16 and 4096: " + std::to_string(num_perm));
}

void check_bits(int64_t bits) {
  if (bits != 8 && bits != 16 && bits != 32)
    throw Error(Errc::invalid_argument, "bits must be 8, 16 or 32: " + std::to_string(bits));
}

IncrementalSketch::IncrementalSketch(uint32_t num_perm, uint64_t seed, uint32_t* components)
    : num_perm_(num_perm),
      seed_mix_(sketch_seed(seed)),
      components_(components),
      top_round_(0),
      held_(num_perm + 2, 0) {
  for (uint32_t b = 0; b < num_perm_; ++b) {
    const uint32_t r =
        components_[b] == kEmptyComponent32 ? num_perm_ + 1 : std::min(fill_round(components_[b]), num_perm_);
    ++held_[r];
    top_round_ = std::max(top_round_, r);
  }
}

void IncrementalSketch::replace(uint32_t bin, uint32_t value) noexcept {
  const uint32_t old = components_[bin];
  --held_[old == kEmptyComponent32 ? num_perm_ + 1 : std::min(fill_round(old), num_perm_)];
  ++held_[std::min(fill_round(value), num_perm_)];
  components_[bin] = value;
  while (held_[top_round_] == 0) --top_round_;
}

void IncrementalSketch::add(uint64_t x) noexcept {
  const uint64_t h0 = mix64(x ^ seed_mix_);
  const uint32_t b0 = hash_bin(h0, num_perm_);
  const uint32_t v0 = static_cast<uint32_t>(h0 >> 33);
  if (v0 < components_[b0]) replace(b0, v0);
  for (uint32_t r = 1; r <= top_round_ && r < num_perm_; ++r) {
    const uint64_t h = mix64(h0 ^ mix64(r));
    const uint32_t b = hash_bin(h, num_perm_);
    const uint32_t v = late_value(h, r);
    if (v < components_[b]) replace(b, v);
  }
  if (top_round_ < num_perm_) return;
  for (uint32_t b = 0; b < num_perm_; ++b) {
    const uint32_t old = components_[b];
    if (old != kEmptyComponent32 && fill_round(old) < num_perm_) continue;
    const uint32_t v = late_value(mix64(h0 ^ mix64(num_perm_ + 1 + b)), num_perm_);
    if (v < old) replace(b, v);
  }
}

DocumentSketch::DocumentSketch(uint32_t num_perm, uint64_t seed)
    : num_perm_(num_perm), seed_(seed), seed_mix_(sketch_seed(seed)), components_(num_perm, kEmptyComponent32) {
  check_num_perm(num_perm);
}

void DocumentSketch::add(const uint64_t* x, size_t n) {
  if (n == 0) return;
  any_ = true;
  if (overflow_ == nullptr) {
    kernels().sketch_round0(x, n, seed_mix_, num_perm_, components_.data());
    if (full_) return;
    full_ = std::find(components_.begin(), components_.end(), kEmptyComponent32) == components_.end();
    if (full_) {
      buffer_ = {};
      return;
    }
    if (buffer_.size() + n <= kBufferFactor * num_perm_) {
      buffer_.insert(buffer_.end(), x, x + n);
      return;
    }
    complete_buffered();
    overflow_ = std::make_unique<IncrementalSketch>(num_perm_, seed_, components_.data());
    recent_.assign(kRecentSlots, 0);
    buffer_ = {};
  }
  // Round 0 of this batch may have been done above; repeating it changes nothing. A slot of 0 can hide only the
  // element 0, which is therefore always taken.
  for (size_t i = 0; i < n; ++i) {
    uint64_t& slot = recent_[mix64(x[i]) & (kRecentSlots - 1)];
    if (slot == x[i] && x[i] != 0) continue;
    slot = x[i];
    waiting_.push_back(x[i]);
  }
  if (waiting_.size() >= kMaxWaitingHashes) drain();
}

// Adds to overflow_ what waits and is not there yet: hashes that share a slot of recent_ wait again and again. More
// different ones than distinct_ may hold were chosen to leave a bin empty: those that it lacks are added again, which
// changes nothing.
void DocumentSketch::drain() {
  std::sort(waiting_.begin(), waiting_.end());
  waiting_.erase(std::unique(waiting_.begin(), waiting_.end()), waiting_.end());
  std::vector<uint64_t> fresh;
  std::set_difference(waiting_.begin(), waiting_.end(), distinct_.begin(), distinct_.end(), std::back_inserter(fresh));
  waiting_.clear();
  for (const uint64_t x : fresh) overflow_->add(x);
  if (overflow_->is_settled()) {
    full_ = true;
    overflow_ = nullptr;
    recent_ = waiting_ = distinct_ = {};
  } else if (distinct_.size() + fresh.size() <= kBufferFactor * num_perm_) {
    const auto before = static_cast<ptrdiff_t>(distinct_.size());
    distinct_.insert(distinct_.end(), fresh.begin(), fresh.end());
    std::inplace_merge(distinct_.begin(), distinct_.begin() + before, distinct_.end());
  }
}

// Rounds 1 and up over the buffered hashes, until no bin is empty.
void DocumentSketch::complete_buffered() {
  size_t empty = static_cast<size_t>(std::count(components_.begin(), components_.end(), kEmptyComponent32));
  for (uint64_t& x : buffer_) x = mix64(x ^ seed_mix_);
  for (uint32_t r = 1; empty > 0 && r < num_perm_; ++r) {
    if (r == kRoundsBeforeUnique) {
      std::sort(buffer_.begin(), buffer_.end());
      buffer_.erase(std::unique(buffer_.begin(), buffer_.end()), buffer_.end());
    }
    const uint64_t round_mix = mix64(r);
    for (const uint64_t h0 : buffer_) {
      const uint64_t h = mix64(h0 ^ round_mix);
      uint32_t& c = components_[hash_bin(h, num_perm_)];
      const uint32_t v = late_value(h, r);
      if (v < c) {
        empty -= c == kEmptyComponent32;
        c = v;
      }
    }
  }
  if (empty == 0) return;
  for (uint32_t b = 0; b < num_perm_; ++b) {
    if (components_[b] != kEmptyComponent32) continue;
    const uint64_t bin_mix = mix64(num_perm_ + 1 + b);
    uint32_t least = kMaxValue;
    for (const uint64_t h0 : buffer_) least = std::min(least, late_value(mix64(h0 ^ bin_mix), num_perm_));
    components_[b] = least;
  }
}

bool DocumentSketch::finish(uint32_t* components) {
  if (overflow_ != nullptr)
    drain();
  else if (any_ && !full_)
    complete_buffered();
  buffer_ = {};
  std::copy(components_.begin(), components_.end(), components);
  return any_;
}

uint16_t component16(uint32_t v, uint32_t num_perm) noexcept {
  if (v == kEmptyComponent32) return 65535;
  const uint64_t y = scaled(v, num_perm);
  if (y == 0) return 0;
  const unsigned msb = 63u - static_cast<unsigned>(__builtin_clzll(y));
  const uint64_t after = y ^ (1ULL << msb);
  return static_cast<uint16_t>(1024 * msb + (msb >= 10 ? after >> (msb - 10) : after << (10 - msb)));
}

uint8_t component8(uint32_t v) noexcept { return static_cast<uint8_t>((v * 0x9E3779B1u) >> 24); }

double estimate_jaccard(uint32_t matches, uint32_t num_perm, uint32_t bits) noexcept {
  const double share = static_cast<double>(matches) / num_perm;
  if (bits != 8) return share;
  constexpr double chance = 1.0 / 256.0;
  return std::max(0.0, (share - chance) / (1.0 - chance));
}

uint32_t min_matches(double threshold, bool strict, uint32_t num_perm, uint32_t bits) noexcept {
  uint32_t low = 0;
  uint32_t high = num_perm + 1;
  while (low < high) {
    const uint32_t mid = (low + high) / 2;
    const double e = estimate_jaccard(mid, num_perm, bits);
    if (strict ? e > threshold : e >= threshold)
      high = mid;
    else
      low = mid + 1;
  }
  return low;
}

double estimate_set_size(const void* components, uint32_t num_perm, uint32_t bits) noexcept {
  constexpr double unit = 1.0 / 2147483648.0;  // 2^-31
  double sum = 0;
  uint32_t early = 0;
  for (uint32_t b = 0; b < num_perm; ++b) {
    double y;
    if (bits == 32) {
      const uint32_t v = static_cast<const uint32_t*>(components)[b];
      if (v == kEmptyComponent32) return 0;
      const uint32_t r = fill_round(v);
      y = r == 0 ? v * unit : r + (v & kFractionMask) / 262144.0;
    } else {
      const uint16_t code = static_cast<const uint16_t*>(components)[b];
      if (code == 65535) return 0;
      // The middle of the values that share the code.
      y = std::ldexp((1024 + (code & 1023)) + 0.5, (code >> 10) - 10) * unit;
    }
    early += y < num_perm;
    sum += std::min(y, static_cast<double>(num_perm));
  }
  return early < 2 ? early : num_perm * (early - 1.0) / sum;
}

double estimate_containment(const void* a, const void* b, uint32_t num_perm, uint32_t bits) noexcept {
  const auto ratio = [num_perm](const auto* x, const auto* y) {
    uint32_t equal = 0;
    uint32_t at_most = 0;
    for (uint32_t i = 0; i < num_perm; ++i) {
      equal += x[i] == y[i];
      at_most += x[i] <= y[i];
    }
    return at_most == 0 ? 0.0 : static_cast<double>(equal) / at_most;
  };
  return bits == 32 ? ratio(static_cast<const uint32_t*>(a), static_cast<const uint32_t*>(b))
                    : ratio(static_cast<const uint16_t*>(a), static_cast<const uint16_t*>(b));
}

uint32_t count_matches(const void* a, const void* b, uint32_t num_perm, uint32_t bits) noexcept {
  const Kernels& k = kernels();
  switch (bits) {
    case 32:
      return k.count_equal32(static_cast<const uint32_t*>(a), static_cast<const uint32_t*>(b), num_perm);
    case 16:
      return k.count_equal16(static_cast<const uint16_t*>(a), static_cast<const uint16_t*>(b), num_perm);
    default:
      return k.count_equal8(static_cast<const uint8_t*>(a), static_cast<const uint8_t*>(b), num_perm);
  }
}

}  // namespace neardup
