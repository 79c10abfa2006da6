// See shared_passages.h: runs of min_units units that both documents have narrow them down to what is shared; a suffix
// automaton of that part of b then tells the longest matches.
#include "core/passages/shared/shared_passages.h"

#include <algorithm>
#include <string>

#include "core/passages/shared/shared_grams.h"
#include "core/unicode/utf8.h"

namespace neardup {
namespace {

size_t checked_least(int64_t min_units) {
  if (min_units < 1)
    throw Error(Errc::invalid_argument, "min_units must be at least 1: " + std::to_string(min_units), {},
                "It is the number of words or characters in a row that make a passage.");
  return static_cast<size_t>(min_units);
}

// Units begin .. end - 1.
struct Run {
  uint32_t begin;
  uint32_t end;
};

// The units that are in a shared run of `least`, as longest runs. named: as name_shared_runs() leaves it.
Numbers<Run> shared_runs(const Numbers<uint32_t>& named, size_t least, Workspace& ws) {
  Numbers<Run> out(ws);
  Run run{0, 0};
  for (size_t i = 0; i < named.size(); ++i) {
    ws.poller.spend(1);
    if (named[i] == 0) continue;
    const auto begin = static_cast<uint32_t>(i);
    const auto end = static_cast<uint32_t>(i + least);
    if (begin > run.end || run.end == 0) {
      if (run.end != 0) out.add(run);
      run = {begin, end};
    } else {
      run.end = end;
    }
  }
  if (run.end != 0) out.add(run);
  return out;
}

Numbers<uint32_t> copy(const Numbers<uint32_t>& from, Workspace& ws) {
  Numbers<uint32_t> out(ws);
  for (size_t i = 0; i < from.size(); ++i) {
    out.add(from[i]);
    ws.poller.spend(1);
  }
  return out;
}

// Ignored units of a become units that b lacks. Returns how many there are.
size_t leave_out(const Numbers<uint8_t>& ignored, Numbers<uint32_t>* a, Workspace& ws) {
  size_t n = 0;
  for (size_t i = 0; i < ignored.size(); ++i) {
    ws.poller.spend(1);
    if (ignored[i] == 0) continue;
    (*a)[i] = 0;
    ++n;
  }
  return n;
}

// All runs of a sequence, as an automaton (Blumer and others, "The smallest automaton recognizing the subwords of a
// text", 1985), built symbol by symbol. At most two states and three edges a symbol.
class RunAutomaton {
 public:
  static constexpr uint32_t kRoot = 0;
  static constexpr uint32_t kNoState = UINT32_MAX;

  explicit RunAutomaton(Workspace& ws) : ws_(ws), states_(ws), edges_(ws), slots_(ws) {
    slots_.fill(64, kNoState);
    states_.add({0, kNoState, 0, kNoState});
  }

  void append(uint32_t symbol) {
    const uint32_t length = states_[last_].length + 1;
    const uint32_t now = add_state({length, kNoState, length, kNoState});
    uint32_t p = last_;
    last_ = now;
    uint32_t edge = kNoState;
    for (; p != kNoState && (edge = find_edge(p, symbol)) == kNoState; p = states_[p].link) add_edge(p, symbol, now);
    if (p == kNoState) {
      states_[now].link = kRoot;
      return;
    }
    const uint32_t q = edges_[edge].to;
    if (states_[p].length + 1 == states_[q].length) {
      states_[now].link = q;
      return;
    }
    const uint32_t half = add_state({states_[p].length + 1, states_[q].link, states_[q].first_end, kNoState});
    for (uint32_t e = states_[q].edges; e != kNoState; e = edges_[e].next)
      add_edge(half, edges_[e].symbol, edges_[e].to);
    for (; p != kNoState && (edge = find_edge(p, symbol)) != kNoState && edges_[edge].to == q; p = states_[p].link) {
      edges_[edge].to = half;
    }
    states_[q].link = half;
    states_[now].link = half;
  }

  // The state behind `symbol`, or kNoState.
  uint32_t next(uint32_t state, uint32_t symbol) {
    const uint32_t e = find_edge(state, symbol);
    return e == kNoState ? kNoState : edges_[e].to;
  }
  uint32_t link(uint32_t state) const { return states_[state].link; }
  uint32_t length(uint32_t state) const { return states_[state].length; }
  // Symbols up to the end of the first place where the state's runs stand.
  uint32_t first_end(uint32_t state) const { return states_[state].first_end; }

 private:
  struct State {
    uint32_t length;  // of its longest run
    uint32_t link;    // the state of the longest suffix that stands in more places
    uint32_t first_end;
    uint32_t edges;  // the first of a list
  };
  struct Edge {
    uint32_t state;
    uint32_t symbol;
    uint32_t to;
    uint32_t next;
  };

  uint32_t add_state(const State& s) {
    states_.add(s);
    return static_cast<uint32_t>(states_.size() - 1);
  }
  size_t place(uint32_t state, uint32_t symbol) const noexcept {
    return mix64(uint64_t{state} << 32 | symbol) & (slots_.size() - 1);
  }
  uint32_t find_edge(uint32_t state, uint32_t symbol) {
    ws_.poller.spend(40);
    for (size_t i = place(state, symbol);; i = (i + 1) & (slots_.size() - 1)) {
      const uint32_t e = slots_[i];
      if (e == kNoState || (edges_[e].state == state && edges_[e].symbol == symbol)) return e;
    }
  }
  void put(uint32_t e) noexcept {
    size_t i = place(edges_[e].state, edges_[e].symbol);
    while (slots_[i] != kNoState) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = e;
  }
  void add_edge(uint32_t state, uint32_t symbol, uint32_t to) {
    ws_.poller.spend(40);
    const auto e = static_cast<uint32_t>(edges_.size());
    edges_.add({state, symbol, to, states_[state].edges});
    states_[state].edges = e;
    if (2 * edges_.size() > slots_.size()) {
      slots_.fill(2 * slots_.size(), kNoState);
      for (uint32_t i = 0; i <= e; ++i) {
        ws_.poller.spend(20);
        put(i);
      }
    } else {
      put(e);
    }
  }

  Workspace& ws_;
  Numbers<State> states_;
  Numbers<Edge> edges_;
  Numbers<uint32_t> slots_;  // by state and symbol: edges
  uint32_t last_ = kRoot;
};

// Longer ones first, then those that begin first.
struct ShorterOrLater {
  bool operator()(const Run& x, const Run& y) const noexcept {
    const uint32_t x_units = x.end - x.begin, y_units = y.end - y.begin;
    return x_units != y_units ? x_units < y_units : x.begin > y.begin;
  }
};

// A heap of runs.
class RunHeap {
 public:
  explicit RunHeap(Workspace& ws) : ws_(ws), runs_(ws) {}

  bool empty() const noexcept { return runs_.size() == 0; }
  void push(const Run& run) {
    ws_.poller.spend(100);
    runs_.add(run);
    std::push_heap(&runs_[0], &runs_[0] + runs_.size(), ShorterOrLater{});
  }
  Run pop() {
    ws_.poller.spend(200);
    std::pop_heap(&runs_[0], &runs_[0] + runs_.size(), ShorterOrLater{});
    const Run top = runs_.back();
    runs_.drop_last();
    return top;
  }

 private:
  Workspace& ws_;
  Numbers<Run> runs_;
};

// The runs of a that stand in b and can be made longer neither way, in order.
RunHeap longest_matches(RunAutomaton& automaton, const Numbers<Run>& runs, const Numbers<uint32_t>& symbols,
                        size_t least, Workspace& ws) {
  RunHeap out(ws);
  for (size_t r = 0; r < runs.size(); ++r) {
    uint32_t state = RunAutomaton::kRoot;
    uint32_t units = 0;  // of the longest match that ends here
    for (uint32_t i = runs[r].begin; i < runs[r].end; ++i) {
      uint32_t to;
      const uint32_t before = units;
      while ((to = automaton.next(state, symbols[i])) == RunAutomaton::kNoState && state != RunAutomaton::kRoot) {
        state = automaton.link(state);
        units = automaton.length(state);
      }
      if (units < before && before >= least) out.push({i - before, i});
      if (to == RunAutomaton::kNoState) continue;
      state = to;
      ++units;
    }
    if (units >= least) out.push({runs[r].end - units, runs[r].end});
  }
  return out;
}

// The greedy choice of shared_passages.h. In what is left of a match when a longer one was taken no gap can open: a
// match taken before this one was longer than all of this one that was free, so that it took an end, or all.
Numbers<Run> choose(RunHeap matches, size_t units, size_t least, Workspace& ws) {
  Numbers<Run> chosen(ws);
  Numbers<uint32_t> owner(ws);  // of a unit: its passage, from 1 on
  owner.fill(units, 0);
  while (!matches.empty()) {
    const Run match = matches.pop();
    Run left = match;
    if (const uint32_t o = owner[left.begin]; o != 0) left.begin = chosen[o - 1].end;
    if (left.begin >= left.end) continue;
    if (const uint32_t o = owner[left.end - 1]; o != 0) left.end = chosen[o - 1].begin;
    if (left.begin >= left.end || left.end - left.begin < least) continue;
    if (left.begin != match.begin || left.end != match.end) {
      matches.push(left);
      continue;
    }
    chosen.add(match);
    for (uint32_t i = match.begin; i < match.end; ++i) {
      owner[i] = static_cast<uint32_t>(chosen.size());
      ws.poller.spend(1);
    }
  }
  // Every unit names its passage: put out in the order of a.
  Numbers<Run> out(ws);
  for (size_t i = 0; i < units;) {
    ws.poller.spend(2);
    if (owner[i] == 0) {
      ++i;
      continue;
    }
    out.add(chosen[owner[i] - 1]);
    i = out.back().end;
  }
  return out;
}

// The code points before each unit of `order`, which names passages by ascending offset(passage).
template <class Offset, class Set>
void count_up(const uint8_t* text, const std::vector<uint32_t>& order, StopCheck* stop, Offset offset, Set set) {
  size_t bytes = 0, position = 0;
  for (const uint32_t i : order) {
    const size_t to = offset(i);
    position += count_code_points(text + bytes, to - bytes, stop);
    bytes = to;
    set(i, position);
  }
}

// Runs of units of a text, in an automaton one behind the other.
struct AutomatonRuns {
  AutomatonRuns(const Numbers<Run>& of, const Numbers<uint32_t>& units, Workspace& ws)
      : runs(of), automaton(ws), run_end(ws) {
    uint32_t symbols = 0;
    for (size_t r = 0; r < runs.size(); ++r) {
      for (uint32_t i = runs[r].begin; i < runs[r].end; ++i) automaton.append(units[i]);
      automaton.append(0);  // a has no such unit in its runs
      symbols += runs[r].end - runs[r].begin + 1;
      run_end.add(symbols);
    }
  }

  // The unit of b with which the first occurrence of a's units begin .. end - 1 begins; there is one.
  uint32_t first_unit(const Numbers<uint32_t>& units_a, const Run& of_a) {
    uint32_t state = RunAutomaton::kRoot;
    for (uint32_t i = of_a.begin; i < of_a.end; ++i) state = automaton.next(state, units_a[i]);
    const uint32_t end = automaton.first_end(state);
    const auto r = static_cast<size_t>(std::lower_bound(&run_end[0], &run_end[0] + run_end.size(), end) - &run_end[0]);
    // run_end counts the separator, which is none of the run's units.
    const uint32_t end_b = runs[r].end - (run_end[r] - 1 - end);
    return end_b - (of_a.end - of_a.begin);
  }

  const Numbers<Run>& runs;
  RunAutomaton automaton;
  Numbers<uint32_t> run_end;  // where the runs end in the automaton's sequence
};

// Code points of passages whose bytes in a, and first byte in b, are known. first_byte_b: by passage.
void set_positions(Unit unit, const uint8_t* a, const uint8_t* b, const std::vector<size_t>& first_byte_b,
                   std::vector<Passage>& passages, Workspace& ws, StopCheck* stop) {
  std::vector<uint32_t> order(passages.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  // Bytes have no code points.
  const auto positions = [&](const uint8_t* text, auto offset, auto set) {
    if (unit != Unit::byte) return count_up(text, order, stop, offset, set);
    for (const uint32_t i : order) set(i, offset(i));
  };
  positions(
      a, [&](uint32_t i) { return passages[i].begin; }, [&](uint32_t i, size_t at) { passages[i].start_a = at; });
  positions(
      a, [&](uint32_t i) { return passages[i].end; },
      [&](uint32_t i, size_t at) { passages[i].length_a = at - passages[i].start_a; });
  std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
    ws.poller.spend(5);
    return first_byte_b[x] < first_byte_b[y];
  });
  positions(
      b, [&](uint32_t i) { return first_byte_b[i]; }, [&](uint32_t i, size_t at) { passages[i].start_b = at; });
}

}  // namespace

std::vector<Passage> shared_passages(Unit unit, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                     int64_t min_units, const IgnoredTexts& ignore, StopCheck* stop,
                                     PassageStats* stats) {
  const size_t least = checked_least(min_units);
  Workspace ws(SIZE_MAX, nullptr, stop);
  SharedUnits units(unit, a, a_size, b, b_size, ws, stop);
  leave_out(ignored_units(unit, a, a_size, ignore, least, ws, stop), &units.a, ws);
  Numbers<Run> runs_a(ws), runs_b(ws);
  {
    Numbers<uint32_t> named_a = copy(units.a, ws), named_b = copy(units.b, ws);
    name_shared_runs(least, &named_a, &named_b, ws);
    runs_a = shared_runs(named_a, least, ws);
    runs_b = shared_runs(named_b, least, ws);
  }
  std::vector<Passage> out;
  if (runs_a.size() != 0) {
    AutomatonRuns suffixes_b(runs_b, units.b, ws);
    const Numbers<Run> chosen =
        choose(longest_matches(suffixes_b.automaton, runs_a, units.a, least, ws), units.a.size(), least, ws);
    std::vector<size_t> first_byte_b;
    first_byte_b.reserve(chosen.size());
    out.reserve(chosen.size());
    for (size_t c = 0; c < chosen.size(); ++c) {
      first_byte_b.push_back(units.b_begin[suffixes_b.first_unit(units.a, chosen[c])]);
      Passage p{};
      p.units = chosen[c].end - chosen[c].begin;
      p.begin = units.a_begin[chosen[c].begin];
      p.end = units.a_end[chosen[c].end - 1];
      out.push_back(p);
    }
    set_positions(unit, a, b, first_byte_b, out, ws, stop);
  }
  if (stats != nullptr) stats->peak_bytes = ws.ledger.peak();
  return out;
}

double copied_share(Unit unit, const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size, int64_t min_units,
                    const IgnoredTexts& ignore, StopCheck* stop, PassageStats* stats) {
  const size_t least = checked_least(min_units);
  Workspace ws(SIZE_MAX, nullptr, stop);
  SharedUnits units(unit, a, a_size, b, b_size, ws, stop);
  const size_t compared =
      units.a.size() - leave_out(ignored_units(unit, a, a_size, ignore, least, ws, stop), &units.a, ws);
  name_shared_runs(least, &units.a, &units.b, ws);
  const Numbers<Run> runs = shared_runs(units.a, least, ws);
  uint64_t copied = 0;
  for (size_t r = 0; r < runs.size(); ++r) copied += runs[r].end - runs[r].begin;
  if (stats != nullptr) stats->peak_bytes = ws.ledger.peak();
  return compared == 0 ? 0.0 : static_cast<double>(copied) / static_cast<double>(compared);
}

}  // namespace neardup
