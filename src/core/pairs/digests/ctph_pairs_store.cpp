// Where CtphPairs keeps digests, and the parts of one block size that it joins.
#include <algorithm>
#include <bit>

#include "core/pairs/digests/ctph_pairs_impl.h"

namespace neardup {
namespace {

constexpr uint32_t kMaxDigests = uint32_t{1} << 31;
constexpr size_t kChunkBytes = size_t{1} << 20;

uint32_t read16(const uint8_t* p) noexcept { return static_cast<uint32_t>(p[0]) << 8 | p[1]; }

// Views the bytes that write_ctph() wrote.
CtphView view_stored(const uint8_t* p) noexcept {
  const uint32_t n1 = read16(p + 4);
  const uint32_t n2 = read16(p + 6);
  const char* parts = reinterpret_cast<const char*>(p + kCtphHeaderSize);
  return {p[1], read16(p + 2), {parts, n1}, {parts + n1, n2}};
}

}  // namespace

CtphStore::CtphStore(Workspace& ws)
    : ws_(ws),
      chunk_shift_(static_cast<unsigned>(
          std::countr_zero(std::bit_floor(std::clamp<size_t>(ws.limit / 16, 2 * 2048, kChunkBytes))))) {
  static_assert(kMaxDigestBytes < 2 * 2048);
}

size_t CtphStore::add(const CtphView& digest) {
  if (size_ == kMaxDigests) throw Error(Errc::too_large, "more than 2147483648 rows");
  const size_t bytes = ctph_size(digest);
  const size_t chunk = size_t{1} << chunk_shift_;
  if (chunks_.empty() || used_ + bytes > chunk) {
    if (file_ != nullptr && !chunks_.empty()) {
      append_polled(*file_, chunks_[0].data(), chunk, ws_);
      ++flushed_;
    } else {
      chunks_.emplace_back(ws_.ledger, chunk);
      std::memset(chunks_.back().data(), 0, chunk);
    }
    used_ = 0;
  }
  if (size_ % kOffsets == 0) offsets_.emplace_back(ws_.ledger, kOffsets);
  offsets_[size_ / kOffsets][size_ % kOffsets] = (uint64_t{flushed_ + chunks_.size() - 1} << chunk_shift_) + used_;
  write_ctph(digest, chunks_.back().data() + used_);
  used_ += bytes;
  ++size_;
  ws_.poller.spend(bytes);
  return bytes;
}

// The last chunk stays in memory: rows go on being added to it.
void CtphStore::spill() {
  std::unique_ptr<TempFile> file = ws_.files->create();
  for (size_t i = 0; i + 1 < chunks_.size(); ++i)
    append_polled(*file, chunks_[i].data(), size_t{1} << chunk_shift_, ws_);
  flushed_ = chunks_.size() - 1;
  Array<uint8_t> last = std::move(chunks_.back());
  chunks_ = std::vector<Array<uint8_t>>();
  chunks_.push_back(std::move(last));
  file_ = std::move(file);
}

void CtphStore::clear() noexcept {
  chunks_ = std::vector<Array<uint8_t>>();
  offsets_ = std::vector<Array<uint64_t>>();
  file_.reset();
  size_ = 0;
}

CtphView CtphStore::read(uint32_t row, uint8_t* buffer) {
  const uint64_t offset = offsets_[row / kOffsets][row % kOffsets];
  const uint64_t chunk = offset >> chunk_shift_;
  if (chunk >= flushed_) {
    ws_.poller.spend(10);
    return view_stored(chunks_[chunk - flushed_].data() + (offset & ((uint64_t{1} << chunk_shift_) - 1)));
  }
  file_->read(offset, buffer, kCtphHeaderSize);
  file_->read(offset + kCtphHeaderSize, buffer + kCtphHeaderSize, read16(buffer + 4) + read16(buffer + 6));
  ws_.poller.spend(2000);
  return view_stored(buffer);
}

void CtphEntries::reserve(size_t entries, size_t long_entries, size_t symbol_bytes, Ledger& ledger) {
  runs.clear();
  n = 0;
  words = 0;
  symbols_used = 0;
  room = entries;
  levels.renew(ledger, kBagLevels * entries);
  rest.renew(ledger, entries);
  rows.renew(ledger, entries);
  symbols.renew(ledger, symbol_bytes);
  bigrams.renew(ledger, kBitSetWords * long_entries);
  num_bigrams.renew(ledger, long_entries);
}

void CtphEntries::add_to_runs(size_t length, uint64_t at) {
  if (runs.empty() || runs.back().length != length) runs.push_back({static_cast<uint32_t>(length), n, 0, at});
  ++runs.back().count;
}

// part: symbols 0..63, lengths ascending.
void CtphEntries::add(uint32_t row, const uint8_t* part, size_t length) {
  add_to_runs(length, symbols_used);
  uint64_t level[kBagLevels] = {};
  uint16_t left_out = 0;
  for (size_t i = 0; i < length; ++i) {
    uint64_t bit = uint64_t{1} << part[i];
    for (uint64_t& word : level) {
      const uint64_t full = word & bit;
      word |= bit;
      bit = full;
    }
    left_out += bit != 0;
  }
  for (size_t k = 0; k < kBagLevels; ++k) levels[k * room + n] = level[k];
  rest[n] = left_out;
  rows[n] = row;
  std::memcpy(symbols.data() + symbols_used, part, length);
  symbols_used += length;
  if (length <= kCtphWord) {
    ++words;
  } else {
    uint64_t* set = bigrams.data() + kBitSetWords * (n - words);
    std::memset(set, 0, kBitSetWords * sizeof *set);
    for (size_t i = 0; i + 1 < length; ++i) set[part[i]] |= uint64_t{1} << part[i + 1];
    num_bigrams[n - words] = 0;
    for (size_t a = 0; a < kBitSetWords; ++a) num_bigrams[n - words] += static_cast<uint16_t>(std::popcount(set[a]));
  }
  ++n;
}

const CtphEntries::Run& CtphEntries::run_with(uint32_t i) const noexcept {
  return *(std::upper_bound(runs.begin(), runs.end(), i, [](uint32_t entry, const Run& r) { return entry < r.first; }) -
           1);
}

SymbolBag CtphEntries::bag(size_t i) const noexcept {
  SymbolBag out;
  for (size_t k = 0; k < kBagLevels; ++k) out.level[k] = levels[k * room + i];
  out.rest = rest[i];
  return out;
}

SymbolBags CtphEntries::bags() const noexcept {
  SymbolBags out;
  for (size_t k = 0; k < kBagLevels; ++k) out.level[k] = levels.data() + k * room;
  out.rest = rest.data();
  return out;
}

}  // namespace neardup
