// See entry_sort.h.
#include "core/lsh/entry_sort.h"

#include <algorithm>
#include <utility>

#include "core/work/spill.h"

namespace neardup {
namespace {

constexpr size_t kNearWords = 1 << 16;  // of which the parts lie close together
constexpr size_t kSmall = 32;           // words that are put in order by insertion
constexpr unsigned kSortDigitBits = 12;
constexpr unsigned kFarDigitBits = 10;  // of parts that lie too far apart for the caches of addresses

// from and to are the same, or apart.
void insertion_sort(const uint64_t* from, uint64_t* to, size_t n) noexcept {
  for (size_t i = 0; i < n; ++i) {
    const uint64_t word = from[i];
    size_t at = i;
    for (; at > 0 && to[at - 1] > word; --at) to[at] = to[at - 1];
    to[at] = word;
  }
}

// Sorts the words of a by their highest bits that differ, and so on. The result is in b when to_b, else in a.
void sort_part(uint64_t* a, uint64_t* b, size_t n, bool to_b, Poller& poller) {
  uint64_t* const result = to_b ? b : a;
  if (n <= kSmall) {
    insertion_sort(a, result, n);
    return;
  }
  uint64_t varying = 0;
  bool sorted = true;
  for_each_polled(n - 1, 1, poller, [&](size_t i) {
    varying |= a[i + 1] ^ a[0];
    sorted &= a[i] <= a[i + 1];
  });
  if (sorted) {
    if (to_b) copy_polled(b, a, n * sizeof *a, poller);
    return;
  }
  const unsigned digit = std::min(bit_width(n), n > kNearWords ? kFarDigitBits : kSortDigitBits);  // best: a word each
  const unsigned shift = bit_width(varying) - std::min(bit_width(varying), digit);
  const uint64_t mask = (uint64_t{1} << digit) - 1;
  uint32_t end[1u << kSortDigitBits];
  std::fill_n(end, mask + 1, 0);
  for_each_polled(n, 1, poller, [&](size_t i) { ++end[a[i] >> shift & mask]; });
  uint32_t most = 0;
  uint32_t before = 0;
  for (size_t d = 0; d <= mask; ++d) {
    most = std::max(most, end[d]);
    before += std::exchange(end[d], before);
  }
  for_each_polled(n, 4, poller, [&](size_t i) { b[end[a[i] >> shift & mask]++] = a[i]; });
  if (shift == 0) {
    if (!to_b) copy_polled(a, b, n * sizeof *a, poller);
  } else if (most <= kSmall && n <= kNearWords) {
    insertion_sort(b, result, n);  // nothing moves beyond its digit
    poller.spend(4 * n);
  } else {
    size_t start = 0;
    for (size_t d = 0; d <= mask; ++d) {
      const size_t size = end[d] - start;
      sort_part(b + start, a + start, size, !to_b, poller);
      start = end[d];
      poller.spend(4 * size);
    }
  }
}

}  // namespace

void sort_words(uint64_t* a, uint64_t* tmp, size_t n, Poller& poller) { sort_part(a, tmp, n, false, poller); }

// A word costs twice 8 bytes; a row its TID and, where the rows have to be put in order, two records and a number.
constexpr size_t kWordBytes = 16;
constexpr size_t kRowBytes = 8 + 2 * sizeof(SortRecord) + 4;

EntryChunk::EntryChunk(size_t budget) : budget_(std::max<size_t>(budget, 64 * 1024)) {}

bool EntryChunk::grow(uint32_t n, Poller& poller) {
  const size_t most_words = std::min<size_t>(budget_ / kWordBytes, UINT32_MAX);
  const size_t most_rows = std::min(budget_ / kRowBytes, kMaxChunkRows);
  const bool fits =
      (nwords_ + n) * kWordBytes + (rows_ + 1) * kRowBytes <= budget_ && nwords_ + n <= most_words && rows_ < most_rows;
  if (!fits && rows_ != 0) return false;
  const auto enlarge = [this, &poller](Array<uint64_t>* array, size_t used, size_t needed, size_t most) {
    if (array->size() >= needed) return;
    const size_t room = std::max(needed, std::min(most, std::max<size_t>(1024, 2 * array->size())));
    resize_polled(array, room, used, ledger_, poller);
  };
  enlarge(&tids_, rows_, rows_ + 1, most_rows);
  enlarge(&words_, nwords_, nwords_ + n, most_words);
  return true;
}

// Numbers the rows by their TIDs.
void EntryChunk::order_rows(Poller& poller) {
  Array<SortRecord> records(ledger_, rows_);
  Array<SortRecord> tmp(ledger_, rows_);
  Array<uint32_t> number(ledger_, rows_);
  for_each_polled(rows_, 4, poller, [&](size_t i) {
    records[i] = {static_cast<uint32_t>(tids_[i] >> 32), static_cast<uint32_t>(tids_[i]), static_cast<uint32_t>(i)};
  });
  const SortRecord* sorted = sort_records(records.data(), tmp.data(), rows_, poller);
  for_each_polled(rows_, 4, poller, [&](size_t i) {
    tids_[i] = sorted[i].key();
    number[sorted[i].value] = static_cast<uint32_t>(i);
  });
  for_each_polled(nwords_, 4, poller, [&](size_t i) {
    words_[i] = (words_[i] & ~(kMaxChunkRows - 1)) | number[words_[i] & (kMaxChunkRows - 1)];
  });
}

void EntryChunk::sort(Poller& poller) {
  taken_ = 0;
  if (!ordered_) order_rows(poller);
  if (scratch_.size() < nwords_) scratch_.renew(ledger_, nwords_);
  sort_words(words_.data(), scratch_.data(), nwords_, poller);
}

size_t EntryChunk::read(Entry* out, size_t most) noexcept {
  if (taken_ < rows_) {
    const size_t n = std::min(most, rows_ - taken_);
    for (size_t i = 0; i < n; ++i) out[i] = {kRosterKey, tids_[taken_ + i]};
    taken_ += n;
    return n;
  }
  const size_t n = std::min(most, nwords_ - (taken_ - rows_));
  const uint64_t* words = words_.data() + (taken_ - rows_);
  for (size_t i = 0; i < n; ++i) out[i] = {words[i] >> kRowBits, tids_[words[i] & (kMaxChunkRows - 1)]};
  taken_ += n;
  return n;
}

void EntryChunk::clear() noexcept {
  rows_ = 0;
  nwords_ = 0;
  taken_ = 0;
  ordered_ = true;
}

namespace {

// Entries whose order is a matter of chance: a branch would be guessed wrong every other time.
bool below(const Entry& a, const Entry& b) noexcept {
  __extension__ using Whole = unsigned __int128;
  return (static_cast<Whole>(a.key) << 64 | a.tid) < (static_cast<Whole>(b.key) << 64 | b.tid);
}

// The rest of two slices that are being merged, and the place of the next entry.
struct TwoSlices {
  const Entry* a;
  const Entry* a_end;
  const Entry* b;
  const Entry* b_end;
  Entry* out;

  // Steps that cannot come to the end of either.
  size_t safe() const noexcept { return static_cast<size_t>(std::min(a_end - a, b_end - b)); }
  void step() noexcept {
    const uintptr_t from_b = below(*b, *a);
    const uintptr_t at_a = reinterpret_cast<uintptr_t>(a);
    const uintptr_t at_b = reinterpret_cast<uintptr_t>(b);
    *out++ = *reinterpret_cast<const Entry*>(at_a ^ ((at_a ^ at_b) & -from_b));
    b += from_b;
    a += 1 - from_b;
  }
  void finish() noexcept {
    while (size_t n = safe())
      for (; n != 0; --n) step();
    std::copy(b, b_end, std::copy(a, a_end, out));
  }
};

// The lower and the upper half at once, since each step waits for the one before.
void merge_two(EntrySlice a, EntrySlice b, Entry* out) noexcept {
  const size_t half_a = a.n / 2;
  const size_t half_b =
      a.n == 0
          ? 0
          : static_cast<size_t>(std::lower_bound(b.entries, b.entries + b.n, a.entries[half_a], below) - b.entries);
  TwoSlices low{a.entries, a.entries + half_a, b.entries, b.entries + half_b, out};
  TwoSlices high{low.a_end, a.entries + a.n, low.b_end, b.entries + b.n, out + half_a + half_b};
  while (size_t n = std::min(low.safe(), high.safe())) {
    for (; n != 0; --n) {
      low.step();
      high.step();
    }
  }
  low.finish();
  high.finish();
}

}  // namespace

const Entry* merge_slices(EntrySlice* slices, uint32_t n, Entry* a, Entry* b) noexcept {
  while (n > 1) {
    Entry* out = a;
    uint32_t merged = 0;
    for (uint32_t i = 0; i + 1 < n; i += 2) {
      const size_t both = slices[i].n + slices[i + 1].n;
      merge_two(slices[i], slices[i + 1], out);
      slices[merged++] = {out, both};
      out += both;
    }
    if (n % 2 != 0) {
      std::copy_n(slices[n - 1].entries, slices[n - 1].n, out);
      slices[merged++] = {out, slices[n - 1].n};
    }
    n = merged;
    std::swap(a, b);
  }
  return slices[0].entries;
}

void RunPacker::begin_run() noexcept {
  begin_sibling();
  leaf_.clear();
  last_ = {};
  begun_ = false;
  disordered_ = false;
}

void RunPacker::begin_sibling() noexcept {
  entries_ = 0;
  rows_ = 0;
  squares_ = 0;
  list_ = 0;
}

// Counts entries that were added.
void RunPacker::tally(const Entry* entries, size_t n) noexcept {
  uint64_t key = last_.key;
  uint64_t list = list_;  // 0 before the first
  uint64_t squares = squares_;
  uint64_t rows = 0;
  for (size_t i = 0; i < n; ++i) {
    // No branch: chance decides if the key comes again.
    list = (list & -static_cast<uint64_t>(entries[i].key == key)) + 1;
    key = entries[i].key;
    squares += 2 * list - 1;  // n^2 - (n-1)^2
    rows += key == kRosterKey;
  }
  list_ = list;
  squares_ = squares;
  rows_ += rows;
  entries_ += n;
}

size_t RunPacker::add(const Entry* entries, size_t n) noexcept {
  constexpr size_t kTalliedAtOnce = 256;
  size_t i = 0;
  while (i < n) {
    if (begun_ && !below(last_, entries[i])) {
      disordered_ |= below(entries[i], last_);
      ++i;
      continue;
    }
    const size_t most = std::min(n, i + kTalliedAtOnce);
    size_t ascending = i + 1;
    while (ascending < most && below(entries[ascending - 1], entries[ascending])) ++ascending;
    const size_t taken = leaf_.add(entries + i, ascending - i);
    tally(entries + i, taken);
    i += taken;
    if (taken != 0) {
      last_ = entries[i - 1];
      begun_ = true;
    }
    if (i < ascending) break;
  }
  return i;
}

EntryMerge::EntryMerge(uint32_t sources) : n_(sources), width_(1), sources_(ledger_, sources) {
  while (width_ < n_) width_ *= 2;
  losers_ = Array<Node>(ledger_, 2 * size_t{width_});
  for (uint32_t s = 0; s < n_; ++s) sources_[s].fed = false;
  hungry_ = 0;
}

bool EntryMerge::feed(uint32_t s, const void* leaf) noexcept {
  Source& source = sources_[s];
  source.fed = true;
  source.ended = leaf == nullptr;
  source.at = 0;
  source.n = 0;
  source.decoded = 0;
  if (leaf != nullptr) {
    if (!source.leaf.open(leaf, kLeafBytes) || source.leaf.count() == 0) return false;
    decode(source);
  }
  hungry_ = kNotHungry;
  if (planted_) {
    replay(head(s), s);
    return true;
  }
  for (uint32_t i = n_; i-- > 0;)
    if (!sources_[i].fed) hungry_ = i;
  if (hungry_ == kNotHungry) plant();
  return true;
}

void EntryMerge::decode(Source& source) noexcept {
  const uint32_t to = std::min(source.decoded + kEntriesDecoded, source.leaf.count());
  source.leaf.decode(source.decoded, to, source.block);
  source.at = 0;
  source.n = to - source.decoded;
  source.decoded = to;
}

EntryMerge::Node EntryMerge::head(uint32_t s) const noexcept {
  if (s >= n_ || sources_[s].ended) return ~Node{0};
  return node(sources_[s].block[sources_[s].at], s);
}

// Plays all matches. Their winners replace the players in the second half of the array, which is not needed later.
void EntryMerge::plant() noexcept {
  Node* const player = losers_.data() + width_;
  for (uint32_t s = 0; s < width_; ++s) player[s] = head(s);
  for (uint32_t matches = width_ / 2; matches > 0; matches /= 2) {
    for (uint32_t i = 0; i < matches; ++i) {
      const Node x = player[2 * i];
      const Node y = player[2 * i + 1];
      losers_[matches + i] = std::max(x, y);
      player[i] = std::min(x, y);
    }
  }
  losers_[0] = player[0];
  planted_ = true;
}

void EntryMerge::replay(Node node, uint32_t s) noexcept {
  Node* const losers = losers_.data();
  for (uint32_t i = (s + width_) / 2; i > 0; i /= 2) {
    const Node other = losers[i];
    const bool lost = other < node;
    losers[i] = lost ? node : other;
    node = lost ? other : node;
  }
  losers[0] = node;
}

size_t EntryMerge::read(Entry* out, size_t most, uint32_t* hungry) noexcept {
  size_t n = 0;
  while (hungry_ == kNotHungry && n < most) {
    const Node winner = losers_[0];
    if (winner == ~Node{0}) break;
    const uint64_t low = static_cast<uint64_t>(winner);
    const uint32_t s = static_cast<uint32_t>(low & 0xffff);
    out[n++] = {static_cast<uint64_t>(winner >> 64), low >> 16};
    Source& source = sources_[s];
    if (++source.at == source.n) {
      if (source.decoded == source.leaf.count()) {
        hungry_ = s;
        break;
      }
      decode(source);
    }
    replay(node(source.block[source.at], s), s);
  }
  *hungry = hungry_;
  return n;
}

}  // namespace neardup
