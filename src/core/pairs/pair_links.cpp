// See pair_links.h.
#include "core/pairs/pair_links.h"

#include <algorithm>
#include <numeric>

#include "core/work/workspace.h"

namespace neardup {

LinkedRows::LinkedRows(uint32_t rows) : representative(rows), value(rows, kNotNear) {
  std::iota(representative.begin(), representative.end(), 0u);
}

// When a row's turn comes, it is known whether an earlier one has taken it.
bool AnchorLinks::add(const RowPair& p) {
  if (p.a > p.b) return false;
  if (rows_.representative[p.b] != p.b) return false;
  if (rows_.representative[p.a] == p.a) {
    rows_.representative[p.b] = p.a;
    rows_.value[p.b] = p.value & ~kEqualRows;
    return true;
  }
  if ((p.value & kEqualRows) == 0) return false;
  rows_.representative[p.b] = rows_.representative[p.a];
  rows_.value[p.b] = rows_.value[p.a];
  return true;
}

void AnchorLinks::join(uint32_t b, uint32_t a, uint32_t value) noexcept {
  if (rows_.representative[b] < a) return;
  rows_.representative[b] = a;
  rows_.value[b] = value;
}

bool AnchorLinks::wants(const RowPair& p) const noexcept {
  if (p.a > p.b || rows_.representative[p.b] != p.b) return false;
  return rows_.representative[p.a] == p.a || (p.value & kEqualRows) != 0;
}

bool ComponentLinks::wants(const RowPair& p) noexcept {
  return rows_.representative[p.b] == p.b || !sets_.same(p.a, p.b);
}

bool ComponentLinks::add(const RowPair& p) {
  sets_.unite(p.a, p.b);
  if (rows_.representative[p.b] != p.b) return false;
  rows_.representative[p.b] = p.a;
  rows_.value[p.b] = p.value;
  return true;
}

// A row that is near the first of its component has met it first.
const LinkedRows& ComponentLinks::finish() {
  for (uint32_t i = 0; i < rows_.representative.size(); ++i) {
    const uint32_t first = sets_.find(i);
    if (rows_.representative[i] != first) rows_.value[i] = kNotNear;
    rows_.representative[i] = first;
  }
  return rows_;
}

BridgeFinder::BridgeFinder(uint32_t rows) : rows_(rows), first_(rows), second_(rows), equals_(rows) {}

bool BridgeFinder::add(const RowPair& p) {
  if ((p.value & kEqualRows) != 0) {
    if (equals_[p.a]++ != 0) return false;
    twins_.push_back({p.a, p.b, p.value & ~kEqualRows});
    return true;
  }
  UnionFind* forest = !first_.same(p.a, p.b) ? &first_ : !second_.same(p.a, p.b) ? &second_ : nullptr;
  if (forest == nullptr) return false;
  forest->unite(p.a, p.b);
  pairs_.push_back(p);
  return true;
}

bool BridgeFinder::wants(const RowPair& p) noexcept { return !first_.same(p.a, p.b) || !second_.same(p.a, p.b); }

namespace {

// The pairs of each row, one behind the other.
struct PairsOfRows {
  PairsOfRows(const std::vector<RowPair>& pairs, uint32_t rows, Poller& poller)
      : begin(size_t{rows} + 1), ends(2 * pairs.size()) {
    for (const RowPair& p : pairs) {
      ++begin[p.a];
      ++begin[p.b];
    }
    std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), size_t{0});
    std::vector<size_t> at(begin.begin(), begin.end() - 1);
    for (uint32_t i = 0; i < pairs.size(); ++i) {
      ends[at[pairs[i].a]++] = i;
      ends[at[pairs[i].b]++] = i;
      poller.spend(10);
    }
  }
  bool none(uint32_t row) const noexcept { return begin[row] == begin[size_t{row} + 1]; }

  std::vector<size_t> begin;   // by row, and one behind
  std::vector<uint32_t> ends;  // numbers of pairs
};

// Depth first: low[r] is the least number that the rows below r reach by a pair other than the one that led to them.
// on_bridge(pair) for each pair without which its rows were in two components.
template <class OnBridge>
void find_bridges(const std::vector<RowPair>& pairs, const PairsOfRows& ends, uint32_t rows, Poller& poller,
                  OnBridge on_bridge) {
  struct Step {
    uint32_t row;
    uint32_t by;  // the pair that led here
    size_t next;
  };
  constexpr uint32_t kNoPair = UINT32_MAX;
  std::vector<uint32_t> number(rows);  // 0: not met
  std::vector<uint32_t> low(rows);
  std::vector<Step> path;
  uint32_t met = 0;
  for (uint32_t root = 0; root < rows; ++root) {
    poller.spend(2);
    if (number[root] != 0 || ends.none(root)) continue;
    number[root] = low[root] = ++met;
    path.push_back({root, kNoPair, ends.begin[root]});
    while (!path.empty()) {
      poller.spend(20);
      Step& step = path.back();
      if (step.next < ends.begin[size_t{step.row} + 1]) {
        const uint32_t i = ends.ends[step.next++];
        if (i == step.by) continue;
        const uint32_t to = pairs[i].a == step.row ? pairs[i].b : pairs[i].a;
        if (number[to] != 0) {
          low[step.row] = std::min(low[step.row], number[to]);
        } else {
          number[to] = low[to] = ++met;
          path.push_back({to, i, ends.begin[to]});
        }
        continue;
      }
      const Step done = step;
      path.pop_back();
      if (path.empty()) continue;
      const uint32_t above = path.back().row;
      low[above] = std::min(low[above], low[done.row]);
      if (low[done.row] > number[above]) on_bridge(pairs[done.by]);
    }
  }
}

}  // namespace

std::vector<RowPair> BridgeFinder::finish(StopCheck* stop) {
  Poller poller(stop);
  const PairsOfRows ends(pairs_, rows_, poller);
  std::vector<RowPair> bridges;
  find_bridges(pairs_, ends, rows_, poller, [&](const RowPair& p) {
    // Rows with the same signature have the same pairs: theirs part nothing.
    if (equals_[p.a] == 0 && equals_[p.b] == 0) bridges.push_back(p);
  });
  for (const RowPair& p : twins_)
    if (equals_[p.a] == 1 && ends.none(p.a)) bridges.push_back(p);
  std::sort(bridges.begin(), bridges.end(), [&](const RowPair& x, const RowPair& y) {
    poller.spend(5);
    return x.a != y.a ? x.a < y.a : x.b < y.b;
  });
  return bridges;
}

}  // namespace neardup
