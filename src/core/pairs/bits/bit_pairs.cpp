// See bit_pairs.h.
#include "core/pairs/bits/bit_pairs.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/kernels/kernels.h"
#include "core/pairs/bits/bit_search.h"
#include "core/pairs/equal_rows.h"
#include "core/pairs/pair_engine.h"
#include "core/work/row_store.h"

namespace neardup {
namespace {

struct BitEngine final : PairEngine {
  BitEngine(uint32_t bits_, uint32_t most_, const EngineOptions& options)
      : PairEngine(options),
        bits(bits_),
        most(most_),
        words(code_words(bits_)),
        codes(words * sizeof(uint64_t), memory_share(ws, kEighth) / (words * sizeof(uint64_t)), ws),
        equal(ws) {}

  uint32_t num_rows() const override { return codes.size(); }
  void clear_rows() override { codes.clear(); }
  void find_pairs() override;
  void values_with(const uint32_t* of, uint32_t* distances) override;

  void add(const BitCode& code);
  void unite_equals();
  uint32_t load(uint32_t first, uint32_t end, uint32_t most_rows, uint32_t* next, uint64_t* to, uint32_t* rows);
  void join(const BitEntries& e, bool cross);
  void join_in_memory(uint32_t n);
  void join_blocks(uint32_t block_rows);
  size_t entry_bytes() const noexcept { return words * sizeof(uint64_t) + sizeof(uint32_t); }

  const uint32_t bits;
  const uint32_t most;
  const size_t words;
  RowStore codes;  // by row, those of set B after those of set A
  EqualRows equal;
};

void BitEngine::add(const BitCode& code) {
  uint64_t row[code_words(kMostCodeBits)] = {};
  std::memcpy(row, code.bytes, code_bytes(bits));
  codes.add(row);
  uint64_t hash = 0;
  for (size_t w = 0; w < words; ++w) hash = mix64(hash ^ row[w]);
  equal.add(hash);
}

// Rows with equal codes: one of them takes part in the search.
void BitEngine::unite_equals() {
  const size_t bytes = words * sizeof(uint64_t);
  std::vector<uint64_t> pair(2 * words);
  equal.for_each_suspect(count_a, [&](uint32_t leader, uint32_t row) {
    codes.read(leader, 1, pair.data());
    codes.read(row, 1, pair.data() + words);
    ws.poller.spend(codes.in_memory() ? 100 : 2000);
    if (std::memcmp(pair.data(), pair.data() + words, bytes) == 0 && unite_equal(leader, row)) equal.mark(row);
  });
  finish_equal();
}

// Rows from *next on, below end, that take part in the search, at most most_rows: their codes, and which they are.
// Returns how many; *next is behind the last of them.
uint32_t BitEngine::load(uint32_t first, uint32_t end, uint32_t most_rows, uint32_t* next, uint64_t* to,
                         uint32_t* rows) {
  RowReader reader(codes, memory_share(ws, kSixteenth), ws);
  uint32_t n = 0;
  uint32_t row = first;
  for (; row < end && n < most_rows; ++row) {
    ws.poller.spend(4 + words);
    if (equal.has(row)) continue;
    std::memcpy(to + size_t{n} * words, reader.row(row), words * sizeof(uint64_t));
    rows[n++] = row;
  }
  *next = row;
  return n;
}

// The pairs of side A, or of side A and side B.
void BitEngine::join(const BitEntries& e, bool cross) {
  if (cross ? e.n_a == 0 || e.n_a == e.n : e.n < 2) return;
  count(search_bits(e, cross, most, threads, ws, [this](const Hit* hits, size_t n) { found_at_distance(hits, n); }));
}

void BitEngine::join_in_memory(uint32_t n) {
  Array<uint64_t> to(ws.ledger, n * words);
  Array<uint32_t> rows(ws.ledger, n);
  uint32_t next = 0;
  const uint32_t n_a = load(0, count_a, n, &next, to.data(), rows.data());
  const uint32_t n_b = load(count_a, codes.size(), n - n_a, &next, to.data() + size_t{n_a} * words, rows.data() + n_a);
  if (!components()) codes.clear();
  join({to.data(), rows.data(), words, static_cast<uint32_t>(words * 64), n_a, size_t{n_a} + n_b}, two_sets);
}

// Every two blocks of codes. block_rows: codes of a block.
void BitEngine::join_blocks(uint32_t block_rows) {
  Array<uint64_t> to(ws.ledger, size_t{2} * block_rows * words);
  Array<uint32_t> rows(ws.ledger, size_t{2} * block_rows);
  const uint32_t end = codes.size();
  const uint32_t end_x = two_sets ? count_a : end;
  uint32_t next_x = 0;
  for (uint32_t x = 0; x < end_x; x = next_x) {
    const uint32_t n_x = load(x, end_x, block_rows, &next_x, to.data(), rows.data());
    if (!two_sets) join({to.data(), rows.data(), words, static_cast<uint32_t>(words * 64), n_x, n_x}, false);
    uint32_t next_y = 0;
    for (uint32_t y = two_sets ? count_a : next_x; y < end; y = next_y) {
      const uint32_t n_y = load(y, end, block_rows, &next_y, to.data() + size_t{n_x} * words, rows.data() + n_x);
      join({to.data(), rows.data(), words, static_cast<uint32_t>(words * 64), n_x, size_t{n_x} + n_y}, true);
    }
  }
}

void BitEngine::find_pairs() {
  unite_equals();
  const uint32_t n = codes.size() - equal.count();
  stats.distinct = n;
  const size_t room = memory_share(ws, kHalf) / (entry_bytes() + bit_search_bytes(words, most));
  constexpr size_t kLeastCodesOfBlock = 16;
  if (n <= room)
    join_in_memory(n);
  else
    join_blocks(static_cast<uint32_t>(std::max(kLeastCodesOfBlock, room / 2)));
}

void BitEngine::values_with(const uint32_t* of, uint32_t* distances) {
  values_of_rows(codes, of, 3 + words, distances, 0, [this](const std::byte* a, const std::byte* b) {
    return static_cast<uint32_t>(kernels().count_differing(
        reinterpret_cast<const uint8_t*>(a), reinterpret_cast<const uint8_t*>(b), words * sizeof(uint64_t)));
  });
}

}  // namespace

BitPairs::BitPairs(uint32_t bits, uint32_t most, const EngineOptions& options)
    : PairSearch([&] {
        if (!valid_code_bits(bits))
          throw Error(Errc::invalid_argument, "bit codes must have 64 to 4096 bits: " + std::to_string(bits));
        if (most > bits)
          throw Error(Errc::invalid_argument,
                      "distance must be at most " + std::to_string(bits) + ": " + std::to_string(most));
        return std::make_unique<BitEngine>(bits, most, options);
      }()) {}

void BitPairs::add(const BitCode& code) { static_cast<BitEngine&>(engine()).add(code); }

}  // namespace neardup
