// See nearest_paths.h.
#include "pg/lsh/planner/nearest_paths.h"

#include "pg/base/each.h"
#include "pg/lsh/planner/facts/plan_measures.h"
#include "pg/lsh/planner/facts/row_security_paths.h"

extern "C" {
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
}

namespace neardup {
namespace {

// With a column before the value and no condition on it, the index finds nothing.
bool has_order_alone(const IndexOptInfo* index) {
  return is_lsh(index) && index->nkeycolumns == 1 && (index->indpred == NIL || index->predOK);
}

// A copy that may be asked for its order alone, but for no bitmap, which has none.
IndexOptInfo* without_condition(const IndexOptInfo* index) {
  auto* copy = makeNode(IndexOptInfo);
  *copy = *index;
  copy->amoptionalkey = true;
  copy->amhasgetbitmap = false;
  return copy;
}

// PostgreSQL's paths by these indexes, apart from those that the relation has.
List* make_paths(PlannerInfo* root, RelOptInfo* rel, List* indexes) {
  List* all_indexes = rel->indexlist;
  List* all_paths = rel->pathlist;
  rel->indexlist = indexes;
  rel->pathlist = NIL;
  create_index_paths(root, rel);
  guard_orders(root, rel);
  order_by_first(rel);
  List* paths = rel->pathlist;
  rel->indexlist = all_indexes;
  rel->pathlist = all_paths;
  return paths;
}

}  // namespace

bool is_nearest(const IndexPath* path) {
  for (auto* clause : each<IndexClause>(path->indexclauses))
    if (clause->indexcol == planned_value_column(path->indexinfo)) return false;
  return path->indexorderbys != NIL;
}

void order_by_first(RelOptInfo* rel) {
  for (auto* path : each<IndexPath>(rel->pathlist)) {
    if (!IsA(path, IndexPath) || list_length(path->indexorderbys) < 2 || !is_lsh(path->indexinfo)) continue;
    path->indexorderbys = list_make1(linitial(path->indexorderbys));
    path->indexorderbycols = list_make1_int(linitial_int(path->indexorderbycols));
    path->path.pathkeys = list_make1(linitial(path->path.pathkeys));
  }
}

void add_nearest_paths(PlannerInfo* root, RelOptInfo* rel) {
  if (root->query_pathkeys == NIL || IS_DUMMY_REL(rel)) return;
  List* indexes = NIL;
  for (const auto* index : each<IndexOptInfo>(rel->indexlist)) {
    if (has_order_alone(index)) indexes = lappend(indexes, without_condition(index));
  }
  if (indexes == NIL) return;
  // Others of them have a condition, and are there already, or neither condition nor order: those read the whole table.
  for (auto* path : each<IndexPath>(make_paths(root, rel, indexes))) {
    if (IsA(path, IndexPath) && path->indexclauses == NIL && path->indexorderbys != NIL)
      add_path(rel, reinterpret_cast<Path*>(path));
  }
}

}  // namespace neardup
