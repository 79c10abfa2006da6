// See ctph.h. CtphHasher is one pass: all block sizes that can still be chosen share one search for triggers and have a
// piece hash of their own each. A short document at hand is searched first, and hashed at two block sizes then.
#include "core/signature/ctph.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/kernels/ctph_kernels.h"
#include "core/kernels/kernels.h"

namespace neardup {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint32_t kPieceStart = 0x27;  // 0x28021967 modulo 64
constexpr uint32_t kPieceFactor = 19;   // 0x01000193 modulo 64
constexpr size_t kWindow = 7;
constexpr size_t kScanBytes = 4096;
constexpr size_t kFirstPartBytes = 64;
constexpr size_t kHashedBetweenPolls = size_t{1} << 18;  // bytes
constexpr size_t kTinyBytes = 2048;
constexpr size_t kShortBytes = 65536;  // documents that are searched first and hashed then
// Below this exponent nearly every byte is a candidate.
constexpr uint32_t kScanFrom = 3;

// v of ctph.h at *p; reads the 6 bytes before.
inline uint32_t window_sum(const uint8_t* p) noexcept {
  uint32_t linear = 0;
  uint32_t shifted = 0;
  for (int i = 0; i < static_cast<int>(kWindow); ++i) {
    linear += (8u - static_cast<uint32_t>(i)) * p[-i];
    shifted ^= static_cast<uint32_t>(p[-i]) << 5 * i;
  }
  return linear + shifted;
}

// M open pieces over the same bytes. Only the low 6 bits mean something; upper ones never reach them.
template <int M>
void hash_pieces(uint32_t* piece, const uint8_t* p, size_t n) noexcept {
  uint32_t h[M];
  for (int i = 0; i < M; ++i) h[i] = piece[i];
  for (const uint8_t* const end = p + n; p != end; ++p) {
    const uint32_t c = *p;
    for (int i = 0; i < M; ++i) h[i] = (h[i] * kPieceFactor) ^ c;
  }
  for (int i = 0; i < M; ++i) piece[i] = h[i];
}

void hash_pieces(uint32_t* piece, size_t count, const uint8_t* p, size_t n) noexcept {
  for (; count > 8; count -= 8, piece += 8) hash_pieces<8>(piece, p, n);
  switch (count) {
    case 1:
      return hash_pieces<1>(piece, p, n);
    case 2:
      return hash_pieces<2>(piece, p, n);
    case 3:
      return hash_pieces<3>(piece, p, n);
    case 4:
      return hash_pieces<4>(piece, p, n);
    case 5:
      return hash_pieces<5>(piece, p, n);
    case 6:
      return hash_pieces<6>(piece, p, n);
    case 7:
      return hash_pieces<7>(piece, p, n);
    case 8:
      return hash_pieces<8>(piece, p, n);
    default:
      return;
  }
}

// Triggers of exponents `least` and up among n <= kScanBytes bytes: positions and v + 1, ascending; returns how many.
// The 7 bytes before p are read. Without branches, as triggers of small exponents are many and come at random.
size_t find_triggers(const uint8_t* p, size_t n, uint32_t least, uint32_t* at, uint32_t* value) noexcept {
  const auto ends_piece = [](uint32_t v) { return (v % 3 == 0) & (v != 0); };
  size_t found = 0;
  if (least >= kScanFrom) {
    const uint32_t low = (1u << least) - 1;
    const size_t candidates = kernels().ctph->window_candidates(p, n, low & 0xffff, at);
    for (size_t i = 0; i < candidates; ++i) {
      const uint32_t q = at[i];
      const uint32_t v = window_sum(p + q) + 1;
      at[found] = q;
      value[found] = v;
      found += ends_piece(v) & ((v & low) == 0);
    }
    return found;
  }
  uint32_t sum = 0;
  uint32_t linear = 0;
  uint32_t shifted = 0;
  for (int i = 1; i <= static_cast<int>(kWindow); ++i) {
    sum += p[-i];
    linear += (9u - static_cast<uint32_t>(i)) * p[-i];
    shifted ^= static_cast<uint32_t>(p[-i]) << 5 * (i - 1);
  }
  const uint32_t low = (1u << least) - 1;
  for (size_t q = 0; q < n; ++q) {
    const uint32_t c = p[q];
    const uint32_t oldest = *(p + q - kWindow);
    linear = linear - sum - oldest + 8 * c;
    sum = sum - oldest + c;
    shifted = shifted << 5 ^ c;
    const uint32_t v = linear + shifted + 1;
    at[found] = static_cast<uint32_t>(q);
    value[found] = v;
    found += ends_piece(v) & ((v & low) == 0);
  }
  return found;
}

// The least exponent whose block size cuts `total` bytes into at most 64 blocks.
uint32_t first_exponent(uint64_t total) noexcept {
  uint32_t e = 0;
  while (e < kCtphExponents - 1 && ctph_block_size(e) * kCtphLength < total) ++e;
  return e;
}

std::string to_characters(const uint8_t* values, size_t n) {
  std::string out(n, '\0');
  for (size_t i = 0; i < n; ++i) out[i] = kAlphabet[values[i]];
  return out;
}

}  // namespace

CtphHasher::CtphHasher(uint32_t length) : length_(length) {
  if (length < kCtphLength || length > kMaxCtphLength)
    throw Error(Errc::invalid_argument, "length must be between 64 and 1024: " + std::to_string(length));
  piece_.fill(kPieceStart);
  chars_.resize(size_t{kCtphExponents + 2} * length_);
}

// Leaves out block sizes above the one that part 2 can have at most. Only for length 64.
void CtphHasher::expect_total(uint64_t size) noexcept {
  expected_ = size;
  cap_ = first_exponent(size) + 1;
}

void CtphHasher::update(const void* bytes, size_t size) {
  if (size == 0) return;
  const uint8_t* p = static_cast<const uint8_t*>(bytes);
  // The first windows reach into what came before.
  uint8_t joint[64];
  const size_t head = std::min(size, sizeof joint - kWindow);
  std::memcpy(joint, window_.data(), kWindow);
  std::memcpy(joint + kWindow, p, head);
  process(joint + kWindow, head);
  process(p + head, size - head);
  if (size >= kWindow)
    std::memcpy(window_.data(), p + size - kWindow, kWindow);
  else
    std::memcpy(window_.data(), joint + size, kWindow);
}

// 7 bytes before p are read.
void CtphHasher::process(const uint8_t* p, size_t n) noexcept {
  uint32_t at[kScanBytes];
  uint32_t value[kScanBytes];
  while (n > 0) {
    // Short at first: the least block size is about to grow.
    const size_t step = std::min(n, std::min(kScanBytes, kFirstPartBytes << least_));
    const size_t found = find_triggers(p, step, least_, at, value);
    size_t from = 0;
    for (size_t i = 0; i < found; ++i) {
      const uint32_t e = static_cast<uint32_t>(std::countr_zero(value[i]));
      if (e < least_) continue;
      const size_t to = at[i] + 1;
      advance(p + from, to - from);
      from = to;
      trigger(e, total_ + to);
    }
    advance(p + from, step - from);
    total_ += step;
    p += step;
    n -= step;
  }
}

// Continues all open pieces.
void CtphHasher::advance(const uint8_t* p, size_t n) noexcept {
  if (n == 0) return;
  const uint32_t above = std::min(live_, cap_);
  hash_pieces(piece_.data() + least_, above + 1 - least_, p, n);
  if (split_ > least_ + 1) hash_pieces(rest_.data() + least_ + 1, split_ - least_ - 1, p, n);
}

// The byte before position `seen` ends a piece at `exponent` and all below.
void CtphHasher::trigger(uint32_t exponent, uint64_t seen) noexcept {
  const uint32_t top = std::min(exponent, cap_);
  for (uint32_t e = least_; e <= top; ++e) {
    if (e == live_) piece_[++live_] = piece_[e];
    if (length_ == kCtphLength)
      trigger_plain(e);
    else
      trigger_long(e);
  }
  if (length_ == kCtphLength) {
    // Neither the size nor a lack of triggers can lead back to these.
    const uint64_t total = std::max(seen, expected_);
    while (least_ + 1 < kCtphExponents && ctph_block_size(least_) * kCtphLength < total &&
           count_[least_ + 1] >= kCtphLength / 2)
      ++least_;
  } else {
    while (least_ + 1 < kCtphExponents && count_[least_] > length_) ++least_;
  }
}

// Part 2 has 31 pieces and the rest, part 1 63 and the rest; the character of the rest is the one at the latest
// trigger when the window sum at the end is 0.
void CtphHasher::trigger_plain(uint32_t e) noexcept {
  const uint8_t value = piece_[e] & 63;
  uint32_t& count = count_[e];
  if (count == kCtphLength / 2 - 1) {
    rest_[e] = piece_[e];
    split_ = std::max(split_, e + 1);
  }
  if (count >= kCtphLength / 2 - 1) rest_last_[e] = static_cast<uint8_t>(1 + (rest_[e] & 63));
  if (count == kCtphLength - 1) {
    last_[e] = static_cast<uint8_t>(1 + value);
    return;
  }
  chars(e)[count++] = value;
  piece_[e] = kPieceStart;
}

// count is length_ + 1 where the pieces do not fit; the largest block size has to hold all.
void CtphHasher::trigger_long(uint32_t e) noexcept {
  const uint8_t value = piece_[e] & 63;
  uint32_t& count = count_[e];
  if (e + 1 == kCtphExponents && count == length_ - 1) {
    last_[e] = static_cast<uint8_t>(1 + value);
    return;
  }
  if (count >= length_) {
    count = length_ + 1;
    return;
  }
  chars(e)[count++] = value;
  piece_[e] = kPieceStart;
}

CtphDigest CtphHasher::digest() const {
  const bool open = window_sum(window_.data() + kWindow - 1) != 0;
  const bool plain = length_ == kCtphLength;
  uint32_t e;
  if (plain) {
    e = std::max(first_exponent(total_), least_);
    while (e > least_ && count_[e] < kCtphLength / 2) --e;
  } else {
    e = least_;
    while (e + 1 < kCtphExponents && count_[e] + open > length_) ++e;
  }

  CtphDigest out;
  out.exponent = e;
  out.length = length_;
  const auto piece = [this](uint32_t i) { return piece_[std::min(i, live_)]; };
  const auto append = [](std::string& part, uint32_t value) { part += kAlphabet[value & 63]; };
  out.part1 = to_characters(chars(e), count_[e]);
  if (open)
    append(out.part1, piece(e));
  else if (last_[e] != 0)
    append(out.part1, last_[e] - 1u);
  const uint32_t f = e + 1;
  const bool split = plain && count_[f] >= kCtphLength / 2;
  out.part2 = to_characters(chars(f), split ? kCtphLength / 2 - 1 : count_[f]);
  if (open)
    append(out.part2, split ? rest_[f] : piece(f));
  else if (split)
    append(out.part2, rest_last_[f] - 1u);
  else if (last_[f] != 0)
    append(out.part2, last_[f] - 1u);
  return out;
}

namespace {

// Where the pieces of a part end. All but the last, the rest, begin where the one before ends; so does the rest.
struct Cut {
  size_t end[kCtphLength];
  size_t pieces;
  bool has_rest;

  // ends: triggers as ctph_short() packs them. most: characters. open: the window sum at the end is not 0.
  void make(const std::vector<uint32_t>& ends, uint32_t e, size_t most, bool open, size_t size) noexcept {
    size_t triggers = 0;
    size_t latest = 0;
    for (const uint32_t packed : ends) {
      const bool ends_piece = (packed & 31) >= e;
      const size_t to = (packed >> 5) + 1;
      end[std::min(triggers, most - 1)] = to;
      latest = ends_piece ? to : latest;
      triggers += ends_piece;
    }
    pieces = std::min(triggers, most - 1);
    has_rest = open || triggers > pieces;
    // A rest that is not open has its character by the latest trigger.
    if (has_rest) end[pieces] = open ? size : latest;
    pieces += has_rest;
  }
};

// Both parts byte by byte, without branches: pieces of a few bytes cost more to set up than to hash.
void hash_tiny(const uint8_t* p, size_t size, const Cut& cut1, const Cut& cut2, char* part1, char* part2) noexcept {
  uint8_t last[kTinyBytes];  // bit 0: the last byte of a piece of part 1, bit 1: of part 2
  uint8_t hash1[kTinyBytes];
  uint8_t hash2[kTinyBytes];
  std::memset(last, 0, size);
  for (size_t i = 0; i + cut1.has_rest < cut1.pieces; ++i) last[cut1.end[i] - 1] |= 1;
  for (size_t i = 0; i + cut2.has_rest < cut2.pieces; ++i) last[cut2.end[i] - 1] |= 2;
  uint32_t h1 = kPieceStart;
  uint32_t h2 = kPieceStart;
  for (size_t q = 0; q < size; ++q) {
    h1 = (h1 * kPieceFactor) ^ p[q];
    h2 = (h2 * kPieceFactor) ^ p[q];
    hash1[q] = static_cast<uint8_t>(h1);
    hash2[q] = static_cast<uint8_t>(h2);
    h1 = last[q] & 1 ? kPieceStart : h1;
    h2 = last[q] & 2 ? kPieceStart : h2;
  }
  for (size_t i = 0; i < cut1.pieces; ++i) part1[i] = kAlphabet[hash1[cut1.end[i] - 1] & 63];
  for (size_t i = 0; i < cut2.pieces; ++i) part2[i] = kAlphabet[hash2[cut2.end[i] - 1] & 63];
  // A rest without bytes.
  if (cut1.has_rest && last[cut1.end[cut1.pieces - 1] - 1] & 1) part1[cut1.pieces - 1] = kAlphabet[kPieceStart];
  if (cut2.has_rest && last[cut2.end[cut2.pieces - 1] - 1] & 2) part2[cut2.pieces - 1] = kAlphabet[kPieceStart];
}

// Pieces of one document, hashed four at a time: a hash alone waits for its multiplications.
class PieceHasher {
 public:
  explicit PieceHasher(const uint8_t* document) noexcept : document_(document) {}

  void add(const Cut& cut, char* part) noexcept {
    // The rest, perhaps the longest, goes first.
    for (size_t i = cut.pieces; i-- > 0;) pieces_[count_++] = {i == 0 ? 0 : cut.end[i - 1], cut.end[i], part + i};
  }

  void run() noexcept {
    const uint8_t* at[4];
    size_t left[4];
    uint32_t h[4];
    char* out[4];
    size_t lanes = 0;
    size_t next = 0;
    for (;;) {
      for (; lanes < 4 && next < count_; ++next, ++lanes) {
        at[lanes] = document_ + pieces_[next].from;
        left[lanes] = pieces_[next].to - pieces_[next].from;
        h[lanes] = kPieceStart;
        out[lanes] = pieces_[next].out;
      }
      if (lanes == 0) return;
      const size_t n = *std::min_element(left, left + lanes);
      switch (lanes) {
        case 4:
          step<4>(at, h, n);
          break;
        case 3:
          step<3>(at, h, n);
          break;
        case 2:
          step<2>(at, h, n);
          break;
        default:
          step<1>(at, h, n);
      }
      size_t kept = 0;
      for (size_t i = 0; i < lanes; ++i) {
        if (left[i] == n) {
          *out[i] = kAlphabet[h[i] & 63];
          continue;
        }
        at[kept] = at[i] + n;
        left[kept] = left[i] - n;
        h[kept] = h[i];
        out[kept] = out[i];
        ++kept;
      }
      lanes = kept;
    }
  }

 private:
  struct Piece {
    size_t from;
    size_t to;
    char* out;
  };

  template <int M>
  static void step(const uint8_t* const* at, uint32_t* hashes, size_t n) noexcept {
    uint32_t h[M];
    for (int i = 0; i < M; ++i) h[i] = hashes[i];
    for (size_t q = 0; q < n; ++q)
      for (int i = 0; i < M; ++i) h[i] = (h[i] * kPieceFactor) ^ at[i][q];
    for (int i = 0; i < M; ++i) hashes[i] = h[i];
  }

  const uint8_t* document_;
  size_t count_ = 0;
  Piece pieces_[kCtphLength + kCtphLength / 2];
};

// A document of at most kShortBytes: its triggers tell the block size, and only two are hashed then.
CtphDigest ctph_short(const uint8_t* p, size_t size) {
  const uint32_t first = first_exponent(size);
  // Rarely the block size is halved more than twice; then the search starts again.
  uint32_t least = first >= 2 ? first - 2 : 0;
  std::vector<uint32_t> ends;  // position << 5 | exponent
  uint8_t joint[64] = {};
  const size_t head = std::min(size, sizeof joint - kWindow);
  std::memcpy(joint + kWindow, p, head);
  uint32_t at[kScanBytes];
  uint32_t value[kScanBytes];
  CtphDigest out;
  for (;; least = 0) {
    uint32_t count[kCtphExponents + 1] = {};
    ends.clear();
    for (size_t from = 0; from < size;) {
      const size_t step = from == 0 ? head : std::min(kScanBytes, size - from);
      const size_t found = find_triggers(from == 0 ? joint + kWindow : p + from, step, least, at, value);
      const size_t before = ends.size();
      ends.resize(before + found);
      for (size_t i = 0; i < found; ++i) {
        const uint32_t e = static_cast<uint32_t>(std::countr_zero(value[i]));
        ends[before + i] = static_cast<uint32_t>(from + at[i]) << 5 | e;
        ++count[e];
      }
      from += step;
    }
    for (uint32_t e = kCtphExponents - 1; e > 0; --e) count[e - 1] += count[e];
    out.exponent = first;
    while (out.exponent > least && count[out.exponent] < kCtphLength / 2) --out.exponent;
    if (least == 0 || count[out.exponent] >= kCtphLength / 2) break;
  }

  uint8_t latest[kWindow] = {};
  const size_t tail = std::min(size, kWindow);
  std::memcpy(latest + kWindow - tail, p + size - tail, tail);
  const bool open = window_sum(latest + kWindow - 1) != 0;

  Cut cut1;
  Cut cut2;
  cut1.make(ends, out.exponent, kCtphLength, open, size);
  cut2.make(ends, out.exponent + 1, kCtphLength / 2, open, size);
  out.part1.resize(cut1.pieces);
  out.part2.resize(cut2.pieces);
  if (size <= kTinyBytes) {
    hash_tiny(p, size, cut1, cut2, out.part1.data(), out.part2.data());
    return out;
  }
  PieceHasher hasher(p);
  hasher.add(cut1, out.part1.data());
  hasher.add(cut2, out.part2.data());
  hasher.run();
  return out;
}

void feed(const uint8_t* p, size_t size, StopCheck* stop, CtphHasher* hasher) {
  for (size_t from = 0; from < size; from += kHashedBetweenPolls) {
    if (stop != nullptr) stop->poll();
    hasher->update(p + from, std::min(kHashedBetweenPolls, size - from));
  }
}

}  // namespace

CtphDigest ctph(const void* bytes, size_t size, StopCheck* stop) {
  if (size == 0) return {};
  if (size <= kShortBytes) return ctph_short(static_cast<const uint8_t*>(bytes), size);
  CtphHasher hasher;
  hasher.expect_total(size);
  feed(static_cast<const uint8_t*>(bytes), size, stop, &hasher);
  return hasher.digest();
}

CtphDigest ctph_long(const void* bytes, size_t size, int64_t length, StopCheck* stop) {
  if (length <= kCtphLength || length > kMaxCtphLength)
    throw Error(Errc::invalid_argument, "length must be between 65 and 1024: " + std::to_string(length), {},
                "A digest of 64 characters is ssdeep's: to_ctph(...).");
  CtphHasher hasher(static_cast<uint32_t>(length));
  feed(static_cast<const uint8_t*>(bytes), size, stop, &hasher);
  return hasher.digest();
}

}  // namespace neardup
