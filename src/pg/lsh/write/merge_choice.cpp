// See merge_choice.h.
#include "pg/lsh/write/merge_choice.h"

#include <algorithm>

#include "pg/base/pg.h"  // for: Min and Max, which are macros

namespace neardup {
namespace {

constexpr int kUnitClasses = 32;         // of units, by their size
constexpr uint32_t kSlotsForMerge = 2;   // of the directory: the output's, and a sibling's
constexpr uint64_t kNearlyFullPart = 8;  // a run is full when it lacks no more than this part of its leaves

bool is_full(const RunSlot& run) { return run.leaves >= kMaxLeaves - kMaxLeaves / kNearlyFullPart; }

// A merge costs as much as it has entries to write.
uint64_t run_size(const RunSlot& run) { return Max(run.rows, run.entries / kUsualEntries); }

// The units that may be merged: all, or those above the horizon of the vacuum at work.
struct Movable {
  bool all;
  uint64_t horizon;

  bool operator()(const Unit& u) const { return all || u.least_id >= horizon; }
};

// The two smallest units whose merging frees a slot, whatever their classes. The largest is not written anew for that
// once it has full runs. Sorts the units. Returns 2, or 0 when there are none.
int smallest_pair(Unit* units, int n, const Movable& movable, uint8_t* chosen) {
  std::sort(units, units + n, [](const Unit& a, const Unit& b) { return a.size < b.size; });
  const int most = n != 0 && units[n - 1].full != 0 ? n - 1 : n;
  const auto usable = [&](const Unit& u) { return !u.merging && movable(u); };
  for (int b = 1; b < most; ++b) {
    for (int a = 0; a < b; ++a) {
      const uint64_t runs = (units[a].leaves + units[b].leaves + kMaxLeaves - 1) / kMaxLeaves;
      if (!usable(units[a]) || !usable(units[b]) || runs >= static_cast<uint64_t>(units[a].runs + units[b].runs))
        continue;
      chosen[0] = units[a].number;
      chosen[1] = units[b].number;
      return 2;
    }
  }
  return 0;
}

int unit_class(uint64_t size) {
  int c = 0;
  while (size >= uint64_t{4} * kFlushRows) {
    size /= 4;
    ++c;
  }
  return c;
}

int merge_fanout(int c) { return c == 0 ? kMergeFanout : c == 1 ? kLargeMergeFanout : kLargestMergeFanout; }

// The units of the class, if there are enough for a merge and none is at work.
int units_of_class(const Unit* units, int n, int c, const Movable& movable, uint8_t* chosen) {
  int nchosen = 0;
  for (int u = 0; u < n; ++u) {
    if (!movable(units[u])) continue;
    if (units[u].merging && unit_class(units[u].most_size) == c) return 0;
    if (!units[u].merging && unit_class(units[u].size) == c) chosen[nchosen++] = units[u].number;
  }
  const int fanout = merge_fanout(c);
  return nchosen < fanout ? 0 : Min(nchosen, 2 * fanout);
}

// Runs that there will be when the merges at work have ended.
int runs_remaining(const Unit* units, int n, const Movable& movable) {
  int remaining = 0;
  for (int u = 0; u < n; ++u)
    remaining += units[u].merging && movable(units[u]) ? Min(units[u].full + 1, units[u].runs) : units[u].runs;
  return remaining;
}

}  // namespace

int list_units(const LshMeta& meta, Unit* out) {
  int n = 0;
  for (int i = 0; i < meta.nruns; ++i) {
    const RunSlot& run = meta.runs[i];
    if (run.state == kBuilding) continue;
    int u = 0;
    while (u < n && out[u].number != run.unit) ++u;
    if (u == n) out[n++] = {run.unit, false, 0, 0, 0, run.id, 0, 0, 0};
    out[u].merging |= run.state != kLive;
    out[u].rows += run.rows;
    out[u].size += run_size(run);
    if (run.state != kOutput) out[u].most_size = Max(out[u].most_size, run_size(run));
    out[u].least_id = Min(out[u].least_id, run.id);
    out[u].leaves += run.leaves;
    ++out[u].runs;
    out[u].full += is_full(run) ? 1 : 0;
  }
  return n;
}

int full_runs(const LshMeta& meta) {
  return static_cast<int>(std::count_if(meta.runs, meta.runs + meta.nruns, is_full));
}

int roomy(const LshMeta& meta) { return (static_cast<int>(kMaxRuns) + full_runs(meta)) / 2; }

bool can_shrink(const LshMeta& meta) {
  Unit units[kMaxRuns];
  const int n = list_units(meta, units);
  uint8_t chosen[2];
  return std::any_of(units, units + n, [](const Unit& u) { return u.merging; }) ||
         smallest_pair(units, n, {true, 0}, chosen) != 0;
}

int units_due(const LshMeta& meta, bool vacuum_works, bool for_vacuum, uint8_t* chosen) {
  if (meta.nruns + kSlotsForMerge >= kMaxRuns) return 0;
  Unit units[kMaxRuns];
  const int n = list_units(meta, units);
  const Movable movable{!vacuum_works, meta.vac_horizon};
  for (int c = 0; c < kUnitClasses; ++c)
    if (const int nchosen = units_of_class(units, n, c, movable, chosen)) return nchosen;
  const int most = for_vacuum ? roomy(meta) : kCrowded;
  return runs_remaining(units, n, movable) < most ? 0 : smallest_pair(units, n, movable, chosen);
}

}  // namespace neardup
