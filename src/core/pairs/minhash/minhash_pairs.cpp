// MinhashPairs: rows in, equal rows collapsed, candidates compared. See minhash_pairs_impl.h.
#include "core/pairs/minhash/minhash_pairs.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/pairs/minhash/minhash_pairs_impl.h"

namespace neardup {
namespace {

// Components: candidates that wait are settled in batches of this many: what one joins, later ones need not
// compare.
constexpr uint64_t kComponentBatch = 1 << 20;

}  // namespace

MinhashEngine::MinhashEngine(uint32_t num_perm_, uint32_t bits, uint32_t need_, const EngineOptions& options)
    : PairEngine(options),
      swapped(options.swapped),
      num_perm(num_perm_),
      need(need_),
      row_bytes(size_t{num_perm_} * bits / 8),
      banding(num_perm_, bits, need_),
      compare(num_perm_, bits),
      filter(banding),
      rows(row_bytes, memory_share(ws, kEighth) / (row_bytes + key_stage_bytes()) * 5, ws),
      equal_rows(ws) {}

bool MinhashEngine::add(const void* components) {
  if (two_sets && set_aside(components)) return false;
  rows.add(components);
  equal_rows.add(hash_row(components, row_bytes));
  return true;
}

// Where set A is known before set B comes, most rows of a large B need not be kept. Not with star or none: those report
// how many equal rows they leave out, and that must not hang on what memory allows.
void MinhashEngine::start_set_b() {
  PairEngine::start_set_b();
  if (count_a == 0 || !banding.usable() || identical != Identical::all) return;
  if (KeyBits::bytes(banding, count_a) > memory_share(ws, kEighth)) return;
  keys_a = std::make_unique<KeyBits>(banding, count_a, ws);
  key_vector = Array<uint32_t>(ws.ledger, banding.stride());
  RowReader reader(rows, memory_share(ws, kSixteenth), ws);
  for (uint32_t row = 0; row < count_a; ++row) {
    banding.keys(reader.row(row), key_vector.data());
    keys_a->add(key_vector.data());
    ws.poller.spend(row_bytes / 4 + 5 * banding.bands());
  }
}

// True: the row can have no pair. Counts it in any case.
bool MinhashEngine::set_aside(const void* components) {
  if (count_a + rows_b == RowStore::kMaxStoredRows) RowStore::refuse_more();
  const uint32_t row = rows_b++;
  if (keys_a == nullptr) return false;
  ws.poller.spend(row_bytes / 4 + 5 * banding.bands());
  banding.keys(components, key_vector.data());
  if (!keys_a->may_match(key_vector.data())) {
    if (stats.set_aside++ == 0)
      for (uint32_t r = 0; r < row; ++r) keep_number(r, r);
    return true;
  }
  if (stats.set_aside != 0) keep_number(rows.size() - count_a, row);
  return false;
}

// The i-th row of set B that is kept came as its `row`-th.
void MinhashEngine::keep_number(uint32_t i, uint32_t row) {
  if (i == kept_b.size()) resize_polled(&kept_b, std::max<size_t>(1024, 2 * i), i, ws.ledger, ws.poller);
  kept_b[i] = row;
}

// The numbers under which the rows of set B that were kept are reported.
const uint32_t* MinhashEngine::rank_kept(const uint32_t* rank_b) {
  if (stats.set_aside == 0) return rank_b;
  if (rank_b != nullptr)
    for (uint32_t i = 0; i < rows.size() - count_a; ++i) kept_b[i] = rank_b[kept_b[i]];
  return kept_b.data();
}

void MinhashEngine::collapse() {
  RecordSorter suspects(memory_share(ws, kEighth), ws);
  equal_rows.for_each_suspect(count_a, [&](uint32_t leader, uint32_t row) {
    if (!rows.in_memory()) {
      suspects.add({leader / block_rows, row, leader});
      return;
    }
    ws.poller.spend(row_bytes / 4);
    if (std::memcmp(rows.row(leader), rows.row(row), row_bytes) == 0) confirm_equal(leader, row);
  });
  suspects.finish();
  visit_sorted(suspects, [this](uint32_t x, uint32_t y, const std::byte* row_x, const std::byte* row_y) {
    if (std::memcmp(row_x, row_y, row_bytes) == 0) confirm_equal(x, y);
  });
  finish_equal();
}

void MinhashEngine::confirm_equal(uint32_t leader, uint32_t row) {
  if (unite_equal(leader, row)) equal_rows.mark(row);
}

void MinhashEngine::found_near(uint32_t x, uint32_t y, uint32_t matches) {
  found(x, y, matches, two_sets && matches == num_perm);
}

// A candidate that is compared later.
void MinhashEngine::await(uint32_t x, uint32_t y) {
  candidates->add({x / block_rows, y, x});
  if (components() && candidates->size() == kComponentBatch) settle_candidates();
}

// Reads the rows of sorted (block of x, y) -> x records, each pair once: a block of x at a time, y ascending.
template <class OnPair>
void MinhashEngine::visit_sorted(RecordSorter& sorted, OnPair on_pair) {
  if (sorted.size() == 0) return;
  Array<std::byte> block(ws.ledger, block_rows * row_bytes);
  Array<std::byte> other(ws.ledger, row_bytes);
  Array<uint32_t> latest_y(ws.ledger, block_rows);
  uint32_t loaded = UINT32_MAX;
  uint32_t other_row = UINT32_MAX;
  SortRecord r;
  while (sorted.next(&r)) {
    const uint32_t first = r.hi * block_rows;
    if (r.hi != loaded) {
      rows.read(first, std::min(block_rows, rows.size() - first), block.data());
      std::fill(latest_y.data(), latest_y.data() + block_rows, 0);
      loaded = r.hi;
    }
    if (std::exchange(latest_y[r.value - first], r.lo) == r.lo) continue;
    const std::byte* row_y = other.data();
    if (r.lo - first < block_rows) {
      row_y = block.data() + (r.lo - first) * row_bytes;
    } else if (r.lo != other_row) {
      rows.read(r.lo, 1, other.data());
      other_row = r.lo;
    }
    ws.poller.spend(compare_units(row_bytes));
    on_pair(r.value, r.lo, block.data() + (r.value - first) * row_bytes, row_y);
  }
}

// Compares the candidates that wait; inside: not those of which both are in `only`, since they have been.
void MinhashEngine::settle_candidates(bool inside) {
  candidates->finish();
  visit_sorted(*candidates, [this, inside](uint32_t x, uint32_t y, const std::byte* row_x, const std::byte* row_y) {
    if (already_joined(x, y) || (inside && only->has(x) && only->has(y))) return;
    ++stats.compared;
    const uint32_t matches = compare(row_x, row_y);
    if (matches >= need) found_near(x, y, matches);
  });
  candidates = std::make_unique<RecordSorter>(memory_share(ws, kEighth), ws);
}

std::unique_ptr<PairOutput> MinhashEngine::make_output() {
  keys_a.reset();
  auto output = std::make_unique<PairOutput>(identical, num_perm, two_sets, count_a, rank_a, rank_kept(rank_b), ws);
  if (swapped) output->report_swapped();
  return output;
}

void MinhashEngine::find_pairs() {
  block_rows = rows.in_memory() ? 1 : static_cast<uint32_t>(std::max<size_t>(1, memory_share(ws, kEighth) / row_bytes));
  collapse();
  stats.distinct = distinct_rows();
  if (join_offloaded()) return;
  if (!banding.usable()) {
    dense == nullptr ? compare_all() : leave_all();
    return;
  }
  const bool fit = keys_fit(distinct_rows()) && (rows.in_memory() || !components());
  if (!fit || !rows.in_memory()) candidates = std::make_unique<RecordSorter>(memory_share(ws, kEighth), ws);
  fit ? join_in_memory() : join_runs();
  if (candidates != nullptr) settle_candidates();
  candidates.reset();
}

void MinhashEngine::values_with(const uint32_t* of, uint32_t* matches) {
  values_of_rows(rows, of, 2 * compare_units(row_bytes), matches, num_perm,
                 [this](const std::byte* a, const std::byte* b) { return compare(a, b); });
}

MinhashPairs::MinhashPairs(uint32_t num_perm, uint32_t bits, uint32_t need, const EngineOptions& options)
    : PairSearch([&] {
        check_engine_parameters(num_perm, bits, need);
        return std::make_unique<MinhashEngine>(num_perm, bits, need, options);
      }()) {}

bool MinhashPairs::add(const void* components) { return static_cast<MinhashEngine&>(engine()).add(components); }

}  // namespace neardup
