// CtphPairs: digests in, equal ones collapsed, pairs out in order. See ctph_pairs_impl.h.
#include "core/pairs/digests/ctph_pairs.h"

#include "core/base/message_text.h"
#include "core/pairs/banding.h"
#include "core/pairs/digests/ctph_pairs_impl.h"
#include "core/signature/ctph_compare.h"

namespace neardup {
namespace {

bool equal(const CtphView& a, const CtphView& b) noexcept {
  return a.exponent == b.exponent && a.length == b.length && a.part1 == b.part1 && a.part2 == b.part2;
}

}  // namespace

CtphBound::CtphBound(double threshold) noexcept {
  // The similarity falls with the distance and rises with the sum, both as rounded.
  uint32_t d = 0;
  edits_[0] = 0;
  for (uint32_t sum = 1; sum <= 2 * kCtphMaxPart; ++sum) {
    while (d < sum && ctph_similarity(ctph_pair_value(d + 1, sum)) >= threshold) ++d;
    edits_[sum] = static_cast<uint16_t>(d);
  }
}

CtphEngine::CtphEngine(double threshold, const EngineOptions& options)
    : PairEngine(options), bound(threshold), store(ws), equal_rows(ws) {}

void CtphEngine::add(const CtphView& digest) {
  if (store.size() == 0) {
    is_long = digest.is_long();
  } else {
    CtphView first;
    first.length = is_long ? kMaxCtphLength : kCtphLength;
    if (!comparable(first, digest)) {
      uint8_t stored[CtphStore::kMaxDigestBytes];
      check_comparable(store.read(0, stored), digest);
    }
  }
  uint8_t stored[CtphStore::kMaxDigestBytes];
  write_ctph(digest, stored);
  held += store.add(digest) + sizeof(uint64_t) + ctph_entry_bytes(digest.part1.size()) +
          ctph_entry_bytes(digest.part2.size());
  equal_rows.add(hash_row(stored, ctph_size(digest)));
  if (store.in_memory() && held > memory_share(ws, kHalf)) store.spill();
}

void CtphEngine::collapse() {
  RecordSorter suspects(memory_share(ws, kEighth), ws);
  equal_rows.for_each_suspect(count_a, [&](uint32_t leader, uint32_t row) { suspects.add({leader, row, 0}); });
  CtphView first;
  visit_groups(suspects, [&](uint32_t leader, uint32_t row, bool is_first) {
    if (is_first) first = store.read(leader, buffer1);
    // Where part 1 is empty the two are not near, and only what they are both near can join them.
    if (must_be_near() && first.part1.empty()) return;
    if (equal(first, store.read(row, buffer2)) && unite_equal(leader, row)) equal_rows.mark(row);
  });
  finish_equal();
}

uint32_t CtphEngine::value_of_equal(uint32_t row) {
  const size_t n = store.read(row, buffer1).part1.size();
  return n == 0 ? kNotNear : static_cast<uint32_t>(2 * n);
}

void CtphEngine::add_hit(const Hit& hit) {
  const uint32_t x = std::min(hit.x, hit.y);
  const uint32_t y = std::max(hit.x, hit.y);
  // Only then it matters whether the rows of two sets are equal.
  const bool same = !components() && two_sets && identical == Identical::none && hit.value >> 16 == 0 &&
                    equal(store.read(x, buffer1), store.read(y, buffer2));
  found(x, y, hit.value, same);
}

std::unique_ptr<PairOutput> CtphEngine::make_output() {
  auto output = PairEngine::make_output();
  output->set_identical_value([this](uint32_t row) { return value_of_equal(row); });
  return output;
}

void CtphEngine::find_pairs() {
  collapse();
  stats.distinct = store.size() - equal_rows.count();
  if (!join_offloaded()) join();
}

uint32_t CtphEngine::value(const CtphView& a, const CtphView& b) {
  std::string_view x;
  std::string_view y;
  if (!common_parts(a, b, &x, &y)) return 0;
  ws.poller.spend(200 + x.size() * y.size() / 16);
  return ctph_pair_value(levenshtein(x, y), static_cast<uint32_t>(x.size() + y.size()));
}

void CtphEngine::values_with(const uint32_t* of, uint32_t* values) {
  const uint32_t n = store.size();
  if (store.in_memory()) {
    for (uint32_t i = 0; i < n; ++i) values[i] = value(store.read(i, buffer1), store.read(of[i], buffer2));
    return;
  }
  RecordSorter pairs(memory_share(ws, kEighth), ws);
  for (uint32_t i = 0; i < n; ++i) pairs.add({of[i], i, 0});
  CtphView digest;
  visit_groups(pairs, [&](uint32_t other, uint32_t row, bool is_first) {
    if (is_first) digest = store.read(other, buffer1);
    values[row] = value(digest, store.read(row, buffer2));
  });
}

CtphPairs::CtphPairs(double threshold, const EngineOptions& options)
    : PairSearch([&] {
        if (!(threshold > 0 && threshold <= 1))
          throw Error(Errc::invalid_argument,
                      "threshold is " + number_text(threshold) + ", it must be above 0 and at most 1");
        return std::make_unique<CtphEngine>(threshold, options);
      }()) {}

void CtphPairs::add(const CtphView& digest) { static_cast<CtphEngine&>(engine()).add(digest); }

}  // namespace neardup
