// All pairs of digests, ssdeep's and longer ones, above any threshold and with any memory limit, against comparing
// everything.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/pairs/digests/ctph_pairs.h"

#include "test/fuzz/ctph_rows.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/pair_setting.h"
#include "test/reference/pairs_by_definition.h"

using namespace neardup;

namespace {

// Enough for digests and entries on disk.
constexpr size_t kMaxRows = 300;
constexpr size_t kMaxSymbols = 14'000;

void add(CtphPairs& engine, const reference::Digests& all, size_t count_a) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == count_a) engine.start_set_b();
    engine.add(digest_view(all[i]));
  }
}

void check_pairs(const fuzz::Setting& s, const reference::Digests& all, const fuzz::DigestValues& values,
                 size_t count_a, double threshold) {
  const std::vector<uint32_t> rank_a = make_ranks(s, static_cast<uint32_t>(count_a));
  const std::vector<uint32_t> rank_b = make_ranks(s, static_cast<uint32_t>(all.size() - count_a));
  const bool marked = s.identical == Identical::marked;
  // Marked are only rows that are near each other.
  const auto equal = [&](uint32_t i, uint32_t j) { return all[i] == all[j] && !(marked && all[i].part1.empty()); };
  const auto expected = reference::pairs_by_definition(
      static_cast<uint32_t>(all.size()), static_cast<uint32_t>(count_a),
      [&](uint32_t i, uint32_t j) -> std::optional<uint32_t> {
        const uint32_t value = values(i, j);
        if (!fuzz::is_near(value, threshold)) return std::nullopt;
        return marked && count_a == all.size() && equal(i, j) ? value | kEqualRows : value;
      },
      equal, s.identical, rank_a, rank_b);
  run_search(s, [&](const EngineOptions& options) {
    CtphPairs engine(threshold, options);
    add(engine, all, count_a);
    engine.run(fuzz::data_or_null(rank_a), fuzz::data_or_null(rank_b));
    DEMAND(fuzz::drain(engine, s.step) == expected);
    DEMAND(engine.stats().rows == all.size());
    DEMAND(engine.stats().found == expected.size());
  });
}

void check_components(const fuzz::Setting& s, const reference::Digests& all, const fuzz::DigestValues& values,
                      double threshold, uint32_t seed) {
  const auto n = static_cast<uint32_t>(all.size());
  const auto make = [&](const EngineOptions& options) {
    auto engine = std::make_unique<CtphPairs>(threshold, options);
    add(*engine, all, n);
    return engine;
  };
  fuzz::check_components(
      s, n, seed, make, [&](uint32_t i, uint32_t j) { return fuzz::is_near(values(i, j), threshold); },
      [&](uint32_t i, uint32_t j) { return values(i, j); });
}

}  // namespace

// 9 bytes: the setting. Then the threshold, what to look for, the length of digests, and rows.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 600) return 0;
  fuzz::Input in(data, size);
  fuzz::Setting s;
  read_setting(in, &s);
  const uint16_t choice = in.read<uint16_t>();
  const uint8_t what = in.read<uint8_t>();
  const uint32_t lengths[] = {64, 64, 64, 65 + in.below(300), 1024};
  const reference::Digests all = fuzz::read_digests(in, lengths[what / 4 % 5], kMaxRows, kMaxSymbols);
  const fuzz::DigestValues values(all);
  const double threshold = fuzz::reached_threshold(choice, values, static_cast<uint32_t>(all.size()));
  if (what % 4 == 0) {
    check_components(s, all, values, threshold, what);
  } else {
    check_pairs(s, all, values, s.two_sets ? s.split % (all.size() + 1) : all.size(), threshold);
  }
  return 0;
}
