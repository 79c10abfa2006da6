// SetPairs: sets in, equal ones collapsed, pairs out in order. See set_pairs_impl.h.
#include "core/pairs/sets/set_pairs.h"

#include <cstring>

#include "core/base/error.h"
#include "core/exact/int_set.h"
#include "core/pairs/banding.h"
#include "core/pairs/sets/set_pairs_impl.h"

namespace neardup {
namespace {

// Values of pairs leave one bit free.
constexpr size_t kMaxSetElements = kEqualRows - 1;

bool equal(const StoredSet& a, const StoredSet& b) noexcept {
  return a.size == b.size && std::memcmp(a.elements, b.elements, a.size * sizeof(int64_t)) == 0;
}

}  // namespace

SetEngine::SetEngine(Measure measure_, double threshold_, const EngineOptions& options)
    : PairEngine(options),
      measure(measure_),
      threshold(threshold_),
      bound(measure_, threshold_, false),
      store(ws.limit == SIZE_MAX ? SIZE_MAX : ws.limit / kShares * kSetStoreShare, ws),
      equal_rows(ws) {}

void SetEngine::add(const SetView& set) {
  if (set.n == 0) throw Error(Errc::invalid_argument, "an empty set is near nothing");
  if (set.n > kMaxSetElements) throw Error(Errc::too_large, "a set of more than 2147483647 elements");
  store.add(set);
  equal_rows.add(hash_row(set.bytes, set.n * sizeof(int64_t)));
}

// Sets that are not near their like are left alone.
void SetEngine::collapse() {
  RecordSorter suspects(memory_share(ws, kEighth), ws);
  equal_rows.for_each_suspect(count_a, [&](uint32_t leader, uint32_t row) { suspects.add({leader, row, 0}); });
  Array<int64_t> leaders_elements;
  Array<int64_t> rows_elements;
  StoredSet first{};
  visit_groups(suspects, [&](uint32_t leader, uint32_t row, bool is_first) {
    if (is_first) first = store.read(leader, &leaders_elements);
    if (!bound.is_near_itself(store.set_size(row))) return;
    ws.poller.spend(first.size / 2);
    if (equal(first, store.read(row, &rows_elements)) && unite_equal(leader, row)) equal_rows.mark(row);
  });
  finish_equal();
}

std::unique_ptr<PairOutput> SetEngine::make_output() {
  auto output = PairEngine::make_output();
  output->set_identical_value([this](uint32_t row) { return store.set_size(row); });
  if (is_directed()) output->report_directed();
  return output;
}

void SetEngine::find_pairs() {
  collapse();
  stats.distinct = store.rows() - equal_rows.count();
  join();
}

uint32_t SetEngine::value(const StoredSet& a, const StoredSet& b) {
  ws.poller.spend(2 * (size_t{a.size} + b.size));
  return static_cast<uint32_t>(common_elements(a.elements, a.size, b.elements, b.size));
}

void SetEngine::values_with(const uint32_t* of, uint32_t* values) {
  const uint32_t n = store.rows();
  RecordSorter pairs(memory_share(ws, kEighth), ws);
  for (uint32_t i = 0; i < n; ++i) pairs.add({of[i], i, 0});
  Array<int64_t> others_elements;
  Array<int64_t> rows_elements;
  StoredSet set{};
  visit_groups(pairs, [&](uint32_t other, uint32_t row, bool is_first) {
    if (is_first) set = store.read(other, &others_elements);
    values[row] = value(set, store.read(row, &rows_elements));
  });
}

SetPairs::SetPairs(Measure measure, double bound, const EngineOptions& options)
    : PairSearch(std::make_unique<SetEngine>(measure, bound, options)) {}

void SetPairs::add(const SetView& set) { static_cast<SetEngine&>(engine()).add(set); }

}  // namespace neardup
