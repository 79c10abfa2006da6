// CtphPairs: digests in, equal ones collapsed, pairs out in order. The search is in ctph_pairs_join.cpp.
#include "core/pairs/ctph_pairs.h"

#include "core/pairs/banding.h"
#include "core/signature/ctph_compare.h"
#include "core/pairs/ctph_pairs_impl.h"
#include "core/base/message_text.h"

namespace neardup {
namespace {

bool equal(const CtphView& a, const CtphView& b) noexcept {
  return a.exponent == b.exponent && a.length == b.length && a.part1 == b.part1 && a.part2 == b.part2;
}

}  // namespace

CtphPairs::Impl::Impl(double threshold, const EngineOptions& options)
    : ws(options.memory_limit, options.files, options.stop),
      identical(options.identical),
      offload(options.offload),
      threads(std::clamp(options.threads, 1u, 256u)),
      store(ws),
      hashes(std::make_unique<RecordSorter>(memory_share(ws, kEighth), ws)) {
  // The similarity falls with the distance and rises with the sum, both as rounded.
  uint32_t d = 0;
  most[0] = 0;
  for (uint32_t sum = 1; sum <= 2 * kCtphMaxPart; ++sum) {
    while (d < sum && ctph_similarity((d + 1) << 16 | sum) >= threshold) ++d;
    most[sum] = static_cast<uint16_t>(d);
  }
}

void CtphPairs::Impl::add(const CtphView& digest) {
  if (store.size() == 0) {
    is_long = digest.is_long();
  } else {
    CtphView first;
    first.length = is_long ? kMaxCtphLength : kCtphLength;
    if (!comparable(first, digest)) {
      uint8_t stored[CtphStore::kMaxBytes];
      check_comparable(store.read(0, stored), digest);
    }
  }
  const uint32_t row = store.size();
  uint8_t stored[CtphStore::kMaxBytes];
  write_ctph(digest, stored);
  const uint64_t h = hash_row(stored, ctph_size(digest));
  held += store.add(digest) + sizeof(uint64_t) + ctph_entry_bytes(digest.part1.size()) +
          ctph_entry_bytes(digest.part2.size());
  hashes->add({static_cast<uint32_t>(h >> 32), static_cast<uint32_t>(h), row});
  if (store.in_memory() && held > memory_share(ws, kHalf)) store.spill();
}

// ---------------------------------------------------------------- equal rows

// Rows equal to an earlier row of the same set, found by hash and verified. A row that the memory limit keeps from its
// leader stays in the search: that costs time, nothing else.
void CtphPairs::Impl::collapse() {
  hashes->finish();
  equal_rows.start(store.size(), ws.ledger);
  RecordSorter suspects(memory_share(ws, kEighth), ws);
  for_each_suspect(*hashes, count_a, ws.poller,
                   [&](uint32_t leader, uint32_t row) { suspects.add({leader, row, 0}); });
  hashes.reset();
  suspects.finish();
  SortRecord r;
  uint32_t first = UINT32_MAX;
  CtphView of_first;
  while (suspects.next(&r)) {
    if (r.hi != first) of_first = store.read(r.hi, buffer1);
    first = r.hi;
    // Where part 1 is empty the two are not near, and only what they are both near can join them.
    if (must_be_near() && of_first.part1.empty()) continue;
    if (equal(of_first, store.read(r.lo, buffer2))) confirm_duplicate(r.hi, r.lo);
  }
  if (out != nullptr) out->finish_equal();
}

void CtphPairs::Impl::confirm_duplicate(uint32_t leader, uint32_t row) {
  if (components()) {
    sets->unite(leader, row);
  } else if (!out->add_equal(leader, row)) {
    return;
  }
  equal_rows.mark(row);
}

uint32_t CtphPairs::Impl::value_of_equal(uint32_t row) {
  const size_t n = store.read(row, buffer1).part1.size();
  return n == 0 ? kNotNear : static_cast<uint32_t>(2 * n);
}

// ---------------------------------------------------------------- the whole

void CtphPairs::Impl::take(const Hit& hit) {
  const uint32_t x = std::min(hit.x, hit.y);
  const uint32_t y = std::max(hit.x, hit.y);
  ++stats.found;
  if (components()) {
    sets->unite(x, y);
    return;
  }
  // Only then it matters whether the rows of two sets are equal.
  const bool same = two_sets && identical == Identical::none && hit.value >> 16 == 0 &&
                    equal(store.read(x, buffer1), store.read(y, buffer2));
  out->add(x, y, hit.value, same);
}

void CtphPairs::Impl::search() {
  stats.rows = store.size();
  if (!two_sets) count_a = store.size();
  if (!components()) {
    out = std::make_unique<PairOutput>(identical, 0, two_sets, count_a, rank_a, rank_b, ws);
    out->set_identical_value([this](uint32_t row) { return value_of_equal(row); });
  }
  if (count_a != 0 && (!two_sets || count_a != store.size())) {
    collapse();
    hashes.reset();
    stats.distinct = store.size() - equal_rows.count();
    if (join_offloaded()) {
      stats.offloaded = true;
    } else {
      join();
    }
  }
  if (!components()) {
    out->finish();
    stats.found = out->found();
    stats.left_out = out->left_out();
  }
}

uint32_t CtphPairs::Impl::value_of(const CtphView& a, const CtphView& b) {
  std::string_view x;
  std::string_view y;
  if (!common_parts(a, b, &x, &y)) return 0;
  ws.poller.spend(200 + x.size() * y.size() / 16);
  return levenshtein(x, y) << 16 | static_cast<uint32_t>(x.size() + y.size());
}

void CtphPairs::Impl::values_with(const uint32_t* of, uint32_t* values) {
  const uint32_t n = store.size();
  if (store.in_memory()) {
    for (uint32_t i = 0; i < n; ++i) values[i] = value_of(store.read(i, buffer1), store.read(of[i], buffer2));
    return;
  }
  RecordSorter pairs(memory_share(ws, kEighth), ws);
  for (uint32_t i = 0; i < n; ++i) pairs.add({of[i], i, 0});
  pairs.finish();
  SortRecord r;
  uint32_t other = UINT32_MAX;
  CtphView of_other;
  while (pairs.next(&r)) {
    if (r.hi != other) of_other = store.read(r.hi, buffer1);
    other = r.hi;
    values[r.lo] = value_of(of_other, store.read(r.lo, buffer2));
  }
}

CtphPairs::CtphPairs(double threshold, const EngineOptions& options) {
  if (!(threshold > 0 && threshold <= 1))
    throw Error(Errc::invalid_argument,
                "threshold is " + number_text(threshold) + ", it must be above 0 and at most 1");
  impl_ = std::make_unique<Impl>(threshold, options);
}

CtphPairs::~CtphPairs() = default;

void CtphPairs::add(const CtphView& digest) { impl_->add(digest); }

void CtphPairs::start_set_b() {
  impl_->two_sets = true;
  impl_->count_a = impl_->store.size();
}

void CtphPairs::run(const uint32_t* rank_a, const uint32_t* rank_b) {
  impl_->rank_a = rank_a;
  impl_->rank_b = rank_b;
  impl_->search();
  impl_->store.clear();
}

size_t CtphPairs::next(RowPair* out, size_t max) { return impl_->out == nullptr ? 0 : impl_->out->next(out, max); }

void CtphPairs::run_components(UnionFind& sets) {
  impl_->sets = &sets;
  impl_->search();
}

void CtphPairs::values_with(const uint32_t* of, uint32_t* values) { impl_->values_with(of, values); }

const SearchStats& CtphPairs::stats() noexcept {
  impl_->stats.looked = impl_->looked.load(std::memory_order_relaxed);
  impl_->stats.compared = impl_->compared.load(std::memory_order_relaxed);
  impl_->stats.spilled_bytes = impl_->ws.spilled_bytes;
  impl_->stats.peak_bytes = impl_->ws.ledger.peak();
  return impl_->stats;
}

}  // namespace neardup
