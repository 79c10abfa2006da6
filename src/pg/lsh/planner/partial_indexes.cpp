// See partial_indexes.h.
#include "pg/lsh/planner/partial_indexes.h"

#include "pg/lsh/planner/nearest_paths.h"
#include "pg/lsh/planner/facts/plan_measures.h"

namespace neardup {
namespace {

bool is_partial(const IndexPath* path) { return path->indexinfo->indpred != NIL && is_lsh(path->indexinfo); }

// The path gets an index of its own to change.
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
  ListCell* cell;
  foreach (cell, members) avoid_in_bitmap(static_cast<Path*>(lfirst(cell)));
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
  ListCell* cell;
  foreach (cell, rel->pathlist) avoid_in(rel, static_cast<Path*>(lfirst(cell)));
  foreach (cell, rel->partial_pathlist) avoid_in(rel, static_cast<Path*>(lfirst(cell)));
}

}  // namespace neardup
