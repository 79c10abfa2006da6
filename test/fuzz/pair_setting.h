// The settings of a search in fuzz targets of engines: memory, threads, ranks and trouble on the way, from the input.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "core/base/union_find.h"
#include "core/pairs/pair_search.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/hash_sets.h"
#include "test/reference/pairs_by_definition.h"
#include "test/reference/signature_sets.h"
#include "test/reference/stdio_temp_file.h"

namespace neardup::fuzz {

struct Setting {
  size_t limit;
  unsigned threads;
  Identical identical;
  size_t step;  // pairs that are asked for at once
  bool two_sets;
  uint32_t split;      // rows of set A, modulo all
  uint32_t rank_seed;  // 0: no ranks
  int64_t stop_after = INT64_MAX;
  int64_t file_calls = INT64_MAX;  // then files fail
};

// 9 bytes. Also chooses the kernels.
inline void read_setting(Input& in, Setting* s) {
  constexpr size_t kLimits[] = {0, 64 << 10, 0, SIZE_MAX};
  const uint8_t limit = in.read<uint8_t>();
  s->limit = limit % 4 == 2 ? size_t{limit} << 10 : kLimits[limit % 4];
  const uint8_t how = in.read<uint8_t>();
  s->threads = how % 4 == 3 ? 2 + how / 128 : 1;
  s->identical = static_cast<Identical>(how >> 2 & 3);
  s->two_sets = (how >> 4 & 1) != 0;
  s->rank_seed = (how >> 5 & 1) != 0 ? 1 + how : 0;
  s->step = 1 + in.read<uint8_t>();
  s->split = in.read<uint16_t>();
  const uint8_t trouble = in.read<uint8_t>();
  const uint16_t calls = in.read<uint16_t>();
  if (trouble % 8 == 6) s->stop_after = calls % 4;  // it is seldom asked
  if (trouble % 8 == 7) s->file_calls = calls % 1024;
  choose_kernels(in.read<uint8_t>());
}

// body(options) may be cut short by the trouble that was asked for, and leaves no files behind.
template <class Body>
void run_search(const Setting& s, Body body) {
  reference::StdioTempFiles files;
  files.calls_left = s.file_calls;
  reference::StopAfter stop(s.stop_after);
  const EngineOptions options{.memory_limit = s.limit,
                              .files = s.limit == SIZE_MAX ? nullptr : &files,
                              .stop = &stop,
                              .threads = s.threads,
                              .identical = s.identical};
  try {
    body(options);
  } catch (const Error& e) {
    DEMAND(e.code() == Errc::cancelled ? stop.asked > s.stop_after
                                       : e.code() == Errc::out_of_budget && files.calls > s.file_calls);
  }
  DEMAND(files.open == 0);
}

using reference::data_or_null;
using reference::drain;

// The ranks of n rows; empty where the setting has none.
inline std::vector<uint32_t> make_ranks(const Setting& s, uint32_t n) {
  if (s.rank_seed == 0) return {};
  std::vector<uint32_t> out(n);
  std::iota(out.begin(), out.end(), s.rank_seed);
  std::shuffle(out.begin(), out.end(), std::mt19937(s.rank_seed));
  return out;
}

// The components that an engine makes of n rows are those of the pairs that is_near(i, j) names, and values_with()
// gives value(i, j). make(options) makes the engine with all its rows.
template <class Make, class IsNear, class Value>
void check_components(const Setting& s, uint32_t n, uint32_t seed, Make make, IsNear is_near, Value value) {
  UnionFind expected(n);
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = 0; j < i; ++j) {
      if (is_near(i, j)) expected.unite(i, j);
    }
  }
  run_search(s, [&](const EngineOptions& options) {
    const std::unique_ptr<PairSearch> engine = make(options);
    UnionFind sets(n);
    engine->run_components(sets);
    reference::Random random(seed);
    std::vector<uint32_t> others(n), values(n);
    for (uint32_t i = 0; i < n; ++i) {
      DEMAND(sets.find(i) == expected.find(i));
      others[i] = static_cast<uint32_t>(random() % n);
    }
    engine->values_with(others.data(), values.data());
    for (uint32_t i = 0; i < n; ++i) DEMAND(values[i] == value(i, others[i]));
  });
}

}  // namespace neardup::fuzz
