// See leaf.h.
#include "core/lsh/leaf.h"

#include <algorithm>

namespace neardup {
namespace {

constexpr uint64_t field_mask(unsigned bits) noexcept { return bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits); }

constexpr size_t whole_bytes(uint64_t bits) noexcept { return static_cast<size_t>((bits + 7) / 8); }

// Appends fields of up to kMaxBits bits, low bits first. Writes up to 8 bytes at a time: those after the fields are
// zero, and are the spare ones once finish() was called.
class BitWriter {
 public:
  static constexpr unsigned kMaxBits = 56;

  explicit BitWriter(uint8_t* p) noexcept : p_(p) {}

  void put(uint64_t v, unsigned bits) noexcept {
    word_ |= v << used_;
    std::memcpy(p_, &word_, 8);
    used_ += bits;
    p_ += used_ / 8;
    word_ >>= used_ & ~7u;
    used_ &= 7;
  }

  // Ends the fields and adds 8 zero bytes. Returns the end.
  uint8_t* finish() noexcept {
    if (used_ != 0) *p_++ = static_cast<uint8_t>(word_);
    std::memset(p_, 0, 8);
    return p_ + 8;
  }

 private:
  uint8_t* p_;
  uint64_t word_ = 0;  // fewer than 8 bits between two calls
  unsigned used_ = 0;
};

// n fields of `bits` bits from p on, and the spare bytes; returns the end.
template <typename F>
uint8_t* write_fields(uint8_t* p, uint32_t n, unsigned bits, F field) noexcept {
  BitWriter writer(p);
  uint32_t i = 0;
  if (2 * bits <= BitWriter::kMaxBits)  // most often: two at once
    for (; i + 2 <= n; i += 2) writer.put(field(i) | field(i + 1) << bits, 2 * bits);
  for (; i < n; ++i) writer.put(field(i), bits);
  return writer.finish();
}

// The first of n places from `from` on that is not below. No branch depends on the entries.
template <typename Below>
uint32_t first_not_below(uint32_t from, uint32_t n, Below below) noexcept {
  while (n != 0) {
    const uint32_t half = n / 2;
    const bool is_below = below(from + half);
    from = is_below ? from + half + 1 : from;
    n = is_below ? n - half - 1 : half;
  }
  return from;
}

}  // namespace

bool LeafView::open(const void* bytes, size_t size) noexcept {
  if (size < sizeof(LeafHead) + 16 || size > kLeafBytes) return false;
  LeafHead head;
  std::memcpy(&head, bytes, sizeof head);
  if (head.key_bits > kKeyBits || head.block_bits > 32 || head.off_bits > 16 || head.base_key > kMaxKey ||
      head.n > kMaxLeafEntries)
    return false;
  const unsigned tid_bits = head.block_bits + head.off_bits;
  const size_t keys = whole_bytes(uint64_t{head.n} * head.key_bits) + 8;
  const size_t tids = whole_bytes(uint64_t{head.n} * tid_bits) + 8;
  if (sizeof(LeafHead) + keys + tids > size) return false;
  packed_.keys = {static_cast<const uint8_t*>(bytes) + sizeof(LeafHead), field_mask(head.key_bits), head.key_bits};
  packed_.tids = {packed_.keys.bytes + keys, field_mask(tid_bits), tid_bits};
  packed_.base_key = head.base_key;
  packed_.base_block = head.base_block;
  packed_.off_mask = field_mask(head.off_bits);
  packed_.n = head.n;
  packed_.off_bits = head.off_bits;
  return true;
}

size_t LeafView::size() const noexcept {
  const auto keys = static_cast<size_t>(packed_.tids.bytes - packed_.keys.bytes);
  return sizeof(LeafHead) + keys + whole_bytes(uint64_t{packed_.n} * packed_.tids.bits) + 8;
}

uint32_t LeafView::lower_bound(const Entry& e, uint64_t beyond) const noexcept {
  const uint32_t from = lower_bound_key(e.key, beyond);
  if (e.tid == 0) return from;
  // The list of one key may be long.
  return first_not_below(from, packed_.n - from, [&](uint32_t i) { return at(i) < e; });
}

uint32_t LeafView::end_from(uint32_t from, const Entry& end) const noexcept {
  if (end.key < packed_.base_key) return from;
  const uint64_t wanted = end.key - packed_.base_key;
  const uint64_t least_above = end.tid == kMaxTid ? wanted + 1 : wanted;  // keys below it are before the end
  const auto at_key = [this](uint32_t i) { return packed_.keys.at(i); };
  // In doubling steps, then by halves.
  uint32_t to = packed_.n;
  for (uint32_t step = 1; step < to - from; step *= 2) {
    if (!(at_key(from + step - 1) < least_above)) {
      to = from + step - 1;
      break;
    }
    from += step;
  }
  from = first_not_below(from, to - from, [&](uint32_t i) { return at_key(i) < least_above; });
  if (end.tid == kMaxTid) return from;
  return first_not_below(from, packed_.n - from, [&](uint32_t i) { return at(i) < end; });
}

void LeafView::prefetch(const void* bytes, Shape shape, uint64_t base, uint64_t beyond, uint64_t key) noexcept {
  if (shape.n == 0 || key < base || beyond <= base) return;
  const uint32_t i = guess(key - base, beyond - base, shape.n);
  // Uniform keys lie within sqrt(n) / 2 places of the guess two times in three.
  const uint32_t near = shape.n < 1024 ? 12 : 20;
  size_t part = sizeof(LeafHead);
  for (const uint64_t width : {uint64_t{shape.key_bits}, uint64_t{shape.tid_bits}}) {
    const size_t from = part + whole_bytes(uint64_t{i < near ? 0 : i - near} * width);
    const size_t to = part + whole_bytes(uint64_t{i + near} * width);
    if (to >= kLeafBytes) return;
    for (size_t at = from; at < to + 64; at += 64)
      __builtin_prefetch(static_cast<const char*>(bytes) + std::min(at, to));
    part += whole_bytes(uint64_t{shape.n} * width) + 8;
  }
}

uint32_t LeafView::lower_bound_key(uint64_t key_from, uint64_t beyond) const noexcept {
  if (key_from <= packed_.base_key) return 0;
  const uint64_t wanted = key_from - packed_.base_key;
  if (packed_.n == 0 || wanted > packed_.keys.mask) return packed_.n;
  const auto at_key = [this](uint32_t i) { return packed_.keys.at(i); };
  // Keys are hashes: most are where their value says. From there outward in doubling steps, then by halves: few cache
  // lines where keys are uniform, and logarithmic where they are not.
  uint64_t span;
  if (beyond > packed_.base_key) {
    span = std::min(beyond - packed_.base_key, packed_.keys.mask);
  } else {
    span = at_key(packed_.n - 1);
    if (wanted > span) return packed_.n;
  }
  const uint32_t near = guess(wanted, span, packed_.n);
  uint32_t from = 0;
  uint32_t to = packed_.n;  // the answer is in [from, to]
  if (at_key(near) < wanted) {
    from = near + 1;
    for (uint32_t step = 8; from + step < to; step *= 2) {
      if (!(at_key(from + step) < wanted)) {
        to = from + step;
        break;
      }
      from += step + 1;
    }
  } else {
    to = near;
    for (uint32_t step = 8; step < to - from; step *= 2) {
      if (at_key(to - step) < wanted) {
        from = to - step + 1;
        break;
      }
      to -= step;
    }
  }
  return first_not_below(from, to - from, [&](uint32_t i) { return at_key(i) < wanted; });
}

void LeafPacker::clear() noexcept {
  n_ = 0;
  room_ = 0;
  least_key_ = 0;
  key_mask_ = 0;
  least_block_ = ~uint64_t{0};
  most_block_ = 0;
  block_mask_ = 0;
  off_mask_ = 0;
}

size_t LeafPacker::add(const Entry* entries, size_t n) noexcept {
  for (size_t i = 0; i < n; ++i) {
    // As far as the fields stay as wide as they are: nearly always to the end.
    Entry* const to = entries_ + n_;
    const size_t start = i;
    const size_t most = std::min(n, i + (room_ - n_));
    const uint64_t least_key = least_key_;
    const uint64_t key_mask = key_mask_;
    const uint64_t least_block = least_block_;
    const uint64_t block_mask = block_mask_;
    const uint64_t off_mask = off_mask_;
    uint64_t most_block = most_block_;
    for (; i < most; ++i) {
      const Entry e = entries[i];
      const uint64_t block = e.tid >> 16;
      // A key below the first, which only a damaged leaf has, is far away by this, too.
      if (e.key - least_key > key_mask || block - least_block > block_mask || (e.tid & 0xffff) > off_mask) break;
      to[i - start] = e;
      most_block = std::max(most_block, block);
    }
    n_ += static_cast<uint32_t>(i - start);
    most_block_ = most_block;
    if (i == n) break;
    if (!add_wider(entries[i])) return i;
  }
  return n;
}

bool LeafPacker::add_wider(const Entry& e) noexcept {
  if (e.key < least_key_) return false;  // of a damaged leaf
  const uint64_t least = std::min(least_block_, e.tid >> 16);
  const uint64_t most = std::max(most_block_, e.tid >> 16);
  const uint64_t first_key = n_ == 0 ? e.key : least_key_;
  const unsigned key_bits = bit_width(e.key - first_key);
  const unsigned block_bits = bit_width(most - least);
  const unsigned off_bits = bit_width(off_mask_ | (e.tid & 0xffff));
  const unsigned bits = key_bits + block_bits + off_bits;
  const uint32_t room = bits == 0 ? kMaxLeafEntries : std::min(kLeafDataBits / bits, kMaxLeafEntries);
  if (n_ >= room) return false;
  entries_[n_++] = e;
  room_ = room;
  least_key_ = first_key;
  key_mask_ = field_mask(key_bits);
  least_block_ = least;
  most_block_ = most;
  block_mask_ = field_mask(block_bits);
  off_mask_ = field_mask(off_bits);
  return true;
}

uint32_t LeafPacker::write(void* out) noexcept {
  LeafHead head{};
  head.n = static_cast<uint16_t>(n_);
  head.base_key = least_key_;
  head.base_block = n_ == 0 ? 0 : static_cast<uint32_t>(least_block_);
  head.key_bits = static_cast<uint8_t>(bit_width(key_mask_));
  head.block_bits = n_ == 0 ? 0 : static_cast<uint8_t>(bit_width(most_block_ - least_block_));
  head.off_bits = static_cast<uint8_t>(bit_width(off_mask_));
  uint8_t* p = static_cast<uint8_t*>(out);
  std::memcpy(p, &head, sizeof head);
  p += sizeof head;
  const Entry* entries = entries_;
  p = write_fields(p, n_, head.key_bits, [&](uint32_t i) { return entries[i].key - head.base_key; });
  p = write_fields(p, n_, head.block_bits + head.off_bits, [&](uint32_t i) {
    const uint64_t tid = entries[i].tid;
    return ((tid >> 16) - head.base_block) << head.off_bits | (tid & 0xffff);
  });
  clear();
  return static_cast<uint32_t>(p - static_cast<uint8_t*>(out));
}

}  // namespace neardup
