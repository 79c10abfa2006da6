// See partial_indexes.h.
#include "pg/lsh/planner/partial_indexes.h"

#include "pg/base/each.h"
#include "pg/lsh/planner/nearest_paths.h"
#include "pg/lsh/planner/facts/plan_measures.h"

namespace neardup {
namespace {

bool is_partial(const IndexPath* path) { return path->indexinfo->indpred != NIL && is_lsh(path->indexinfo); }

IndexOptInfo* own_index(IndexPath* path) {
  auto* index = makeNode(IndexOptInfo);
  *index = *path->indexinfo;
  path->indexinfo = index;
  return index;
}

// A bitmap's rows are those of the index; the plan would check them by its predicate, and leave out what that implies.
void avoid_in_bitmap(Path* path) {
  if (IsA(path, IndexPath)) {
    auto* scan = reinterpret_cast<IndexPath*>(path);
    if (is_partial(scan)) own_index(scan)->indpred = NIL;
    return;
  }
  List* members = NIL;
  if (IsA(path, BitmapAndPath)) members = reinterpret_cast<BitmapAndPath*>(path)->bitmapquals;
  if (IsA(path, BitmapOrPath)) members = reinterpret_cast<BitmapOrPath*>(path)->bitmapquals;
  for (auto* member : each<Path>(members)) avoid_in_bitmap(member);
}

void avoid_in(const RelOptInfo* rel, Path* path) {
  if (IsA(path, BitmapHeapPath)) avoid_in_bitmap(reinterpret_cast<BitmapHeapPath*>(path)->bitmapqual);
  if (!IsA(path, IndexPath)) return;
  // A scan in the order of distance ends with the rows of the table.
  auto* scan = reinterpret_cast<IndexPath*>(path);
  if (is_partial(scan) && is_nearest(scan)) own_index(scan)->indrestrictinfo = rel->baserestrictinfo;
}

}  // namespace

void avoid_predicates(RelOptInfo* rel) {
  for (auto* path : each<Path>(rel->pathlist)) avoid_in(rel, path);
  for (auto* path : each<Path>(rel->partial_pathlist)) avoid_in(rel, path);
}

}  // namespace neardup
