// Bands of a signature: which there are for a threshold, their 32-bit keys, and sorting by them.
#include "core/pairs/banding.h"

#include <algorithm>
#include <bit>
#include <string>

#include "core/base/hash.h"
#include "core/work/parallel.h"

namespace neardup {
namespace {

// Spare bands beyond D + 1 make the filter selective (docs/algorithms.md); those that fill vector registers anyway cost
// nothing. Measured at 100,000 rows of 128: 103 matches 0.24 s with 32 bands, 0.30 with 40; 96 matches 0.56 s with
// 33 bands, 0.43 with 40, 0.45 with 48.
constexpr uint32_t kLeastBands = 32;
constexpr uint32_t kSpareBands = 6;

uint32_t band_key(const unsigned char* p, uint32_t n) noexcept {
  uint64_t h = kSeed0;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t v;
    std::memcpy(&v, p, 8);
    h = mum(h ^ v, kSeed1);
  }
  if (n != 0) {
    uint64_t v = 0;
    std::memcpy(&v, p, n);
    h = mum(h ^ v, kSeed1);
  }
  return static_cast<uint32_t>(h ^ h >> 32);
}

}  // namespace

Banding::Banding(uint32_t num_perm, uint32_t bits, uint32_t need) noexcept : bits_(bits), probes_(num_perm - need + 1) {
  bands_ = std::min({std::max(kLeastBands, probes_ + kSpareBands), num_perm, kMaxBands});
  stride_ = (bands_ + 15) / 16 * 16;
  for (uint32_t j = 0; j <= bands_; ++j) offsets_[j] = j * num_perm / bands_ * (bits / 8);
}

void Banding::keys(const void* components, uint32_t* out) const noexcept {
  const unsigned char* p = static_cast<const unsigned char*>(components);
  for (uint32_t j = 0; j < bands_; ++j) out[j] = band_key(p + offsets_[j], offsets_[j + 1] - offsets_[j]);
  std::fill(out + bands_, out + stride_, 0u);
}

namespace {

// Bits of a band, as a power of two: so many that a stranger to all signatures meets a third of the hits of a pair at
// the most, in the mean.
unsigned log2_bits_for(const Banding& banding, uint32_t rows) noexcept {
  const auto width = static_cast<unsigned>(std::bit_width(uint64_t{3} * banding.bands() * rows / banding.least_hits()));
  return std::clamp(width, 6u, 32u);
}

}  // namespace

size_t KeyBits::bytes(const Banding& banding, uint32_t rows) noexcept {
  return (size_t{banding.bands()} << log2_bits_for(banding, rows)) / 8;
}

KeyBits::KeyBits(const Banding& banding, uint32_t rows, Workspace& ws)
    : log2_bits_(log2_bits_for(banding, rows)),
      bands_(banding.bands()),
      least_(banding.least_hits()),
      bits_(ws.ledger, bytes(banding, rows) / sizeof(uint64_t)) {
  zero_polled(&bits_, ws.poller);
}

void KeyBits::add(const uint32_t* keys) noexcept {
  for (uint32_t band = 0; band < bands_; ++band) {
    const size_t bit = at(band, keys[band]);
    bits_[bit / 64] |= uint64_t{1} << bit % 64;
  }
}

bool KeyBits::may_match(const uint32_t* keys) const noexcept {
  // No early end: the misses of all bands overlap.
  uint32_t hits = 0;
  for (uint32_t band = 0; band < bands_; ++band) {
    const size_t bit = at(band, keys[band]);
    hits += bits_[bit / 64] >> bit % 64 & 1;
  }
  return hits >= least_;
}

uint64_t hash_row(const void* row, size_t bytes) noexcept {
  const unsigned char* p = static_cast<const unsigned char*>(row);
  uint64_t h[4] = {kSeed0, kSeed1, kLengthFactor, kShingleBase};
  for (; bytes >= 32; bytes -= 32, p += 32) {
    for (unsigned lane = 0; lane < 4; ++lane) h[lane] = mum(h[lane] ^ load_le64(p + 8 * lane), kSeed1);
  }
  for (unsigned lane = 0; bytes != 0; ++lane) {
    const unsigned n = static_cast<unsigned>(std::min<size_t>(bytes, 8));
    h[lane] = mum(h[lane] ^ load_le_partial(p, n), kSeed1);
    p += n;
    bytes -= n;
  }
  return mix64(mix64(mix64(mix64(h[0]) ^ h[1]) ^ h[2]) ^ h[3]);
}

template <class Polls>
void BandEntries::radix(const uint32_t* keys, uint32_t stride, uint32_t band, uint32_t n, unsigned key_bits,
                        Polls& polls) {
  constexpr unsigned kMaxDigitBits = 11;
  constexpr unsigned kMaxPasses = 3;
  const unsigned passes = (key_bits + kMaxDigitBits - 1) / kMaxDigitBits;
  const unsigned digit_bits = (key_bits + passes - 1) / passes;
  const uint32_t digit_mask = (1u << digit_bits) - 1;
  uint32_t counts[kMaxPasses][1 << kMaxDigitBits] = {};

  for_each_polled(n, 8, polls, [&, entries = entries_.data()](size_t i) {
    const uint32_t key = keys[i * stride + band];
    entries[i] = static_cast<uint64_t>(key) << 32 | i;
    for (unsigned p = 0; p < passes; ++p) ++counts[p][key >> (p * digit_bits) & digit_mask];
  });
  for (unsigned p = 0; p < passes; ++p) {
    uint32_t* count = counts[p];
    uint32_t before = 0;
    for (uint32_t d = 0; d <= digit_mask; ++d) before += std::exchange(count[d], before);
    const unsigned shift = 32 + p * digit_bits;
    for_each_polled(n, 4, polls, [&, from = entries_.data(), to = scratch_.data()](size_t i) {
      to[count[from[i] >> shift & digit_mask]++] = from[i];
    });
    entries_.swap(scratch_);
  }
}

template <class Polls>
const uint64_t* BandEntries::sort(const uint32_t* keys, uint32_t stride, uint32_t band, uint32_t n, Polls& polls) {
  radix(keys, stride, band, n, 32, polls);
  return entries_.data();
}

template <class Polls>
const uint64_t* BandEntries::group(const uint32_t* keys, uint32_t stride, uint32_t band, uint32_t n, size_t* kept,
                                   Polls& polls) {
  // Two bits more than needed to tell n keys apart leave few neighbours that differ only in the bits above.
  const unsigned key_bits = std::clamp<unsigned>(static_cast<unsigned>(std::bit_width(n)) + 2, 11, 32);
  radix(keys, stride, band, n, key_bits, polls);
  const uint32_t low_mask = static_cast<uint32_t>(~uint32_t{0} >> (32 - key_bits));
  uint64_t* entries = entries_.data();
  const auto key = [entries](size_t i) { return static_cast<uint32_t>(entries[i] >> 32); };
  size_t out = 0;
  for (size_t first = 0; first < n;) {
    size_t last = first + 1;
    bool mixed = false;
    while (last < n && ((key(last) ^ key(first)) & low_mask) == 0) {
      mixed |= key(last) != key(first);
      ++last;
    }
    polls.spend(2 * (last - first));
    if (mixed)
      std::sort(entries + first, entries + last, [&polls](uint64_t a, uint64_t b) {
        polls.spend(2);
        return a < b;
      });
    while (first < last) {
      size_t end = first + 1;
      while (end < last && key(end) == key(first)) ++end;
      if (end - first > 1) {
        std::copy(entries + first, entries + end, entries + out);
        out += end - first;
      }
      first = end;
    }
  }
  *kept = out;
  return entries;
}

template const uint64_t* BandEntries::sort(const uint32_t*, uint32_t, uint32_t, uint32_t, Poller&);
template const uint64_t* BandEntries::sort(const uint32_t*, uint32_t, uint32_t, uint32_t, HitSink&);
template const uint64_t* BandEntries::group(const uint32_t*, uint32_t, uint32_t, uint32_t, size_t*, Poller&);
template const uint64_t* BandEntries::group(const uint32_t*, uint32_t, uint32_t, uint32_t, size_t*, HitSink&);

void check_engine_parameters(uint32_t num_perm, uint32_t bits, uint32_t need) {
  const auto refuse = [](const char* what, uint32_t value, const std::string& range) {
    throw Error(Errc::invalid_argument, std::string(what) + " must be " + range + ", not " + std::to_string(value));
  };
  if (num_perm < 16 || num_perm > 4096) refuse("number of components", num_perm, "between 16 and 4096");
  if (bits != 8 && bits != 16 && bits != 32) refuse("bits per component", bits, "8, 16 or 32");
  if (need < 1 || need > num_perm) refuse("least number of matches", need, "between 1 and " + std::to_string(num_perm));
}

void order_bands(const double* load, uint32_t bands, uint8_t* out) {
  for (uint32_t j = 0; j < bands; ++j) out[j] = static_cast<uint8_t>(j);
  std::stable_sort(out, out + bands, [load](uint8_t x, uint8_t y) { return load[x] < load[y]; });
}

}  // namespace neardup
