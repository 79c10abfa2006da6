// Clusters and bridges, of rows and of streams of pairs, with any memory limit, against their definitions.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "core/pairs/clusters/cluster.h"
#include "core/pairs/digests/ctph_pairs.h"
#include "core/pairs/minhash/minhash_pairs.h"
#include "core/pairs/pair_links.h"
#include "core/pairs/simhash/simhash_pairs.h"

#include "test/fuzz/ctph_rows.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/minhash_rows.h"
#include "test/fuzz/pair_setting.h"
#include "test/fuzz/simhash_rows.h"
#include "test/reference/links_by_definition.h"
#include "test/reference/pairs_reference.h"

using namespace neardup;

namespace {

// ---------------------------------------------------------------- clusters of rows

// The rows of a clusterer's caller: those that are searched, and others that are near nothing.
struct Callers {
  // seed: none alone where its lowest two bits are not 3.
  Callers(uint16_t seed, uint32_t searched) {
    std::mt19937 random(seed);
    const auto alone = [&] {
      while (seed % 4 == 3 && random() % 256 < seed / 512) is_alone.push_back(true);
    };
    for (uint32_t i = 0; i < searched; ++i) {
      alone();
      row_of.push_back(static_cast<uint32_t>(is_alone.size()));
      is_alone.push_back(false);
    }
    alone();
  }
  std::vector<bool> is_alone;
  std::vector<uint32_t> row_of;  // of those that are searched
};

// value(r, i): how near two of the searched rows are, near or not.
template <class Value>
void demand_clusters(const Clusterer& got, const Callers& callers, const LinkedRows& expected, Value value) {
  std::vector<uint32_t> representative(callers.is_alone.size());
  std::iota(representative.begin(), representative.end(), 0u);
  for (uint32_t i = 0; i < callers.row_of.size(); ++i) {
    representative[callers.row_of[i]] = callers.row_of[expected.representative[i]];
  }
  DEMAND(got.representative() == representative);
  DEMAND(got.values().size() == representative.size());
  for (uint32_t i = 0; i < callers.row_of.size(); ++i) {
    const uint32_t r = expected.representative[i];
    if (r != i) DEMAND(got.values()[callers.row_of[i]] == value(r, i));
  }
}

template <class Add>
void add_rows(Clusterer& clusterer, const Callers& callers, Add add) {
  uint32_t next = 0;
  for (const bool alone : callers.is_alone) {
    if (alone) {
      clusterer.add_alone();
    } else {
      add(next++);
    }
  }
}

template <class Value, class Near>
reference::Graph near_graph(uint32_t n, Value value, Near near) {
  reference::Graph out{n, {}};
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = i + 1; j < n; ++j) {
      const uint32_t v = value(i, j);
      if (near(v)) out.pairs.emplace_hint(out.pairs.end(), reference::RowNumbers{i, j}, v);
    }
  }
  return out;
}

LinkedRows by_definition(Linkage linkage, const reference::Graph& g) {
  return linkage == Linkage::anchor ? reference::anchor(g) : reference::connected(g);
}

// make(options): the engine; row(i): the value of a row.
template <class Make, class Row, class Value>
void check_by_pairs(const fuzz::Setting& s, Linkage linkage, const Callers& callers, const reference::Graph& g,
                    Make make, Row row, Value value) {
  const LinkedRows expected = by_definition(linkage, g);
  run_search(s, [&](EngineOptions options) {
    options.identical = Identical::marked;
    Clusterer clusterer(linkage, make(options));
    add_rows(clusterer, callers, [&](uint32_t i) { clusterer.add_value(row(i)); });
    clusterer.run();
    demand_clusters(clusterer, callers, expected, value);
  });
}

void check_minhashes(fuzz::Input& in, const fuzz::Setting& s, Linkage linkage) {
  const uint32_t num_perm = 16 + in.below(150);
  const uint32_t bits = 8u << in.read<uint8_t>() % 3;
  // Mostly high thresholds: those have bands.
  const uint32_t low = in.below(num_perm);
  const uint32_t need = in.read<uint8_t>() % 4 == 0 ? 1 + low : num_perm - low % std::min(num_perm, 48u);
  const uint16_t alone = in.read<uint16_t>();
  const reference::Rows rows = fuzz::read_rows(in, num_perm, bits, 120);
  const Callers callers(alone, rows.size());
  const auto value = [&](uint32_t i, uint32_t j) { return reference::count_matches(rows, i, rows, j); };
  const reference::Graph g = near_graph(rows.size(), value, [&](uint32_t matches) { return matches >= need; });
  check_by_pairs(
      s, linkage, callers, g,
      [&](const EngineOptions& options) { return std::make_unique<MinhashPairs>(num_perm, bits, need, options); },
      [&](uint32_t i) {
        return AnyValue(MinhashView{nullptr, rows.row(i), 0});
      },
      value);
}

void check_simhashes(fuzz::Input& in, const fuzz::Setting& s, Linkage linkage) {
  const uint8_t near = in.read<uint8_t>();
  const uint32_t most = near < 192 ? near % 9 : near % 65;
  const uint16_t alone = in.read<uint16_t>();
  const reference::Values rows = fuzz::read_values(in, 200);
  const Callers callers(alone, static_cast<uint32_t>(rows.size()));
  const auto value = [&](uint32_t i, uint32_t j) { return static_cast<uint32_t>(hamming_distance(rows[i], rows[j])); };
  const reference::Graph g =
      near_graph(static_cast<uint32_t>(rows.size()), value, [&](uint32_t d) { return d <= most; });
  check_by_pairs(
      s, linkage, callers, g,
      [&](const EngineOptions& options) { return std::make_unique<SimhashPairs>(most, options); },
      [&](uint32_t i) { return AnyValue(rows[i]); }, value);
}

void check_digests(fuzz::Input& in, const fuzz::Setting& s, Linkage linkage) {
  const uint16_t choice = in.read<uint16_t>();
  const uint16_t alone = in.read<uint16_t>();
  const uint32_t length = in.read<uint8_t>() % 4 == 0 ? 200 : 64;
  const reference::Digests rows = fuzz::read_digests(in, length, 150, 8'000);
  const Callers callers(alone, static_cast<uint32_t>(rows.size()));
  const fuzz::DigestValues value(rows);
  const double threshold = fuzz::reached_threshold(choice, value, static_cast<uint32_t>(rows.size()));
  const reference::Graph g =
      near_graph(static_cast<uint32_t>(rows.size()), value, [&](uint32_t v) { return fuzz::is_near(v, threshold); });
  check_by_pairs(
      s, linkage, callers, g,
      [&](const EngineOptions& options) { return std::make_unique<CtphPairs>(threshold, options); },
      [&](uint32_t i) { return AnyValue(digest_view(rows[i])); }, value);
}

// ---------------------------------------------------------------- streams of pairs

using Stream = std::vector<RowPair>;

void demand_bridges(uint32_t rows, Stream stream, const reference::Graph& whole, uint32_t seed) {
  std::shuffle(stream.begin(), stream.end(), std::mt19937(seed));
  BridgeFinder finder(rows);
  std::vector<reference::RowNumbers> refused;
  for (const RowPair& p : stream) {
    if (!finder.add(p)) refused.emplace_back(p.a, p.b);
  }
  std::vector<reference::RowNumbers> found;
  for (const RowPair& p : finder.finish(nullptr)) {
    found.emplace_back(p.a, p.b);
    DEMAND(p.value == whole.value(p.a, p.b));
    DEMAND(std::find(refused.begin(), refused.end(), found.back()) == refused.end());
  }
  DEMAND(found == reference::bridges(whole));
}

void demand_anchor(uint32_t rows, const Stream& stream, const reference::Graph& whole) {
  AnchorLinks links(rows);
  std::vector<uint32_t> joined(rows);
  for (const RowPair& p : stream) joined[p.b] += links.add(p);
  const LinkedRows expected = reference::anchor(whole);
  DEMAND(links.rows().representative == expected.representative);
  DEMAND(links.rows().value == expected.value);
  for (uint32_t i = 0; i < rows; ++i) DEMAND(joined[i] == (expected.representative[i] != i));
}

// A byte for each row: the group of equal rows that it is of, often a new one. Then two for each pair of groups.
void check_streams(fuzz::Input& in, uint32_t seed) {
  constexpr uint32_t kMaxRows = 40;
  constexpr size_t kMaxPairs = 100;
  std::vector<std::vector<uint32_t>> groups;
  const uint32_t rows = in.below(kMaxRows);
  for (uint32_t i = 0; i < rows; ++i) {
    const uint8_t to = in.read<uint8_t>();
    if (to < groups.size() && to % 2 == 1) {
      groups[to].push_back(i);
    } else {
      groups.push_back({i});
    }
  }
  reference::Graph whole{rows, {}};
  std::map<reference::RowNumbers, uint32_t> marked;
  uint32_t value = 0;  // another for each pair
  for (const auto& members : groups) {
    for (size_t i = 0; i < members.size(); ++i) {
      for (size_t j = i + 1; j < members.size(); ++j) whole.pairs[{members[i], members[j]}] = 7;
      if (i > 0) marked[{members[0], members[i]}] = 7 | kEqualRows;
    }
  }
  while (!in.empty() && whole.pairs.size() < kMaxPairs && groups.size() > 1) {
    const size_t x = in.read<uint8_t>() % groups.size(), y = in.read<uint8_t>() % groups.size();
    if (x == y || marked.count(std::minmax(groups[x][0], groups[y][0])) != 0) continue;
    ++value;
    marked[std::minmax(groups[x][0], groups[y][0])] = 100 + value;
    for (const uint32_t a : groups[x]) {
      for (const uint32_t b : groups[y]) whole.pairs[std::minmax(a, b)] = 100 + value;
    }
  }
  const auto pair_stream = [](const std::map<reference::RowNumbers, uint32_t>& pairs) {
    Stream out;
    for (const auto& [p, v] : pairs) out.push_back({p.first, p.second, v});
    return out;
  };
  const Stream all = pair_stream(whole.pairs), some = pair_stream(marked);
  demand_anchor(rows, all, whole);
  demand_anchor(rows, some, whole);
  demand_bridges(rows, all, whole, seed);
  demand_bridges(rows, some, whole, seed);
  ComponentLinks links(rows);
  for (const RowPair& p : all) links.add(p);
  const LinkedRows expected = reference::connected(whole);
  const LinkedRows& found = links.finish();
  DEMAND(found.representative == expected.representative);
  DEMAND(found.value == expected.value);
}

}  // namespace

// A byte: what. 9 bytes: the setting.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1500) return 0;
  fuzz::Input in(data, size);
  const uint8_t what = in.read<uint8_t>();
  fuzz::Setting s;
  read_setting(in, &s);
  const Linkage linkage = what / 8 % 2 == 0 ? Linkage::anchor : Linkage::connected;
  switch (what % 8) {
    case 0:
    case 1:
      check_minhashes(in, s, linkage);
      break;
    case 2:
      check_minhashes(in, s, linkage);
      break;
    case 3:
    case 4:
      check_simhashes(in, s, linkage);
      break;
    case 5:
    case 6:
      check_digests(in, s, linkage);
      break;
    default:
      check_streams(in, what);
  }
  return 0;
}
