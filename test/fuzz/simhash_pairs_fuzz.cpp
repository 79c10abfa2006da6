// All pairs of simhashes, by any distance and with any memory limit, against comparing everything.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/pairs/simhash/simhash_pairs.h"

#include "test/fuzz/fuzz.h"
#include "test/fuzz/pair_setting.h"
#include "test/fuzz/simhash_rows.h"
#include "test/reference/pairs_by_definition.h"

using namespace neardup;

namespace {

// Enough for several blocks of rows on disk, and for searches within a search.
constexpr size_t kMaxRows = 1500;
// More pairs take too long: then there are only so many rows.
constexpr size_t kMaxPairs = 50'000;
constexpr size_t kFewRows = 250;

uint32_t distance(uint64_t a, uint64_t b) { return static_cast<uint32_t>(hamming_distance(a, b)); }

size_t count_near(const reference::Values& all, uint32_t most) {
  size_t n = 0;
  for (size_t i = 0; i < all.size() && n <= kMaxPairs; ++i) {
    for (size_t j = 0; j < i; ++j) n += distance(all[i], all[j]) <= most;
  }
  return n;
}

void add(SimhashPairs& engine, const reference::Values& all, size_t count_a) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == count_a) engine.start_set_b();
    engine.add(all[i]);
  }
}

uint64_t left_out_by_definition(const reference::Values& all, size_t count_a, Identical identical) {
  if (identical == Identical::all) return 0;
  const auto border = all.begin() + static_cast<std::ptrdiff_t>(count_a);
  const std::set<uint64_t> a(all.begin(), border), b(border, all.end());
  if (b.empty()) return identical == Identical::none ? all.size() - a.size() : 0;
  if (a.empty()) return 0;
  uint64_t both = 0;
  for (const uint64_t v : a) both += b.count(v);
  return all.size() - a.size() - b.size() + (identical == Identical::none ? both : 0);
}

void check_pairs(const fuzz::Setting& s, const reference::Values& all, size_t count_a, uint32_t most) {
  const std::vector<uint32_t> rank_a = make_ranks(s, static_cast<uint32_t>(count_a));
  const std::vector<uint32_t> rank_b = make_ranks(s, static_cast<uint32_t>(all.size() - count_a));
  const uint32_t mark = s.identical == Identical::marked && count_a == all.size() ? kEqualRows : 0;
  const auto expected = reference::pairs_by_definition(
      static_cast<uint32_t>(all.size()), static_cast<uint32_t>(count_a),
      [&](uint32_t i, uint32_t j) -> std::optional<uint32_t> {
        const uint32_t d = distance(all[i], all[j]);
        if (d > most) return std::nullopt;
        return d == 0 ? mark : d;
      },
      [&](uint32_t i, uint32_t j) { return all[i] == all[j]; }, s.identical, rank_a, rank_b);
  run_search(s, [&](const EngineOptions& options) {
    SimhashPairs engine(most, options);
    add(engine, all, count_a);
    engine.run(fuzz::data_or_null(rank_a), fuzz::data_or_null(rank_b));
    DEMAND(fuzz::drain(engine, s.step) == expected);
    DEMAND(engine.stats().rows == all.size());
    DEMAND(engine.stats().found == expected.size());
    DEMAND(engine.stats().left_out == left_out_by_definition(all, count_a, s.identical));
    if (s.limit != SIZE_MAX) DEMAND(engine.stats().peak_bytes <= std::max<size_t>(s.limit, 64 << 10));
  });
}

void check_components(const fuzz::Setting& s, const reference::Values& all, uint32_t most, uint32_t seed) {
  const auto n = static_cast<uint32_t>(all.size());
  const auto make = [&](const EngineOptions& options) {
    auto engine = std::make_unique<SimhashPairs>(most, options);
    add(*engine, all, n);
    return engine;
  };
  fuzz::check_components(
      s, n, seed, make, [&](uint32_t i, uint32_t j) { return distance(all[i], all[j]) <= most; },
      [&](uint32_t i, uint32_t j) { return distance(all[i], all[j]); });
}

}  // namespace

// 9 bytes: the setting. Then the distance, what to look for, and rows.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1000) return 0;
  fuzz::Input in(data, size);
  fuzz::Setting s;
  read_setting(in, &s);
  const uint8_t near = in.read<uint8_t>();
  // Mostly small ones: those are searched by blocks.
  const uint32_t most = near < 128 ? near % 9 : near % 65;
  const uint8_t what = in.read<uint8_t>();
  reference::Values all = fuzz::read_values(in, kMaxRows);
  if (count_near(all, most) > kMaxPairs) all.resize(kFewRows);
  if (what % 4 == 0) {
    check_components(s, all, most, what);
  } else {
    check_pairs(s, all, s.two_sets ? s.split % (all.size() + 1) : all.size(), most);
  }
  return 0;
}
