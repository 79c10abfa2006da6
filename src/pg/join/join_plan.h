// The plan of a similarity join, made from its path.
#pragma once

#include "pg/join/join_condition.h"
#include "pg/join/join_keys.h"

extern "C" {
#include "nodes/extensible.h"
}

namespace neardup {

// A path with what its plan is made of.
struct JoinPath {
  CustomPath path;  // custom_paths: the outer side, the inner side; of a self-join one with the columns of both
  bool is_self;
  bool omits_itself;  // of a self-join: no row matches itself
  bool inner_first;   // the inner side is read first
  Index outer;        // of a self-join: the range table's numbers of both sides
  Index inner;
  JoinType type;  // INNER, LEFT, SEMI or ANTI
  JoinCondition condition;
  JoinKeys keys;
  List* clauses;  // RestrictInfo: all of the join, the condition among them
};

// The members of CustomScan.custom_exprs.
enum JoinExpression {
  kJoinOuterValue,
  kJoinInnerValue,
  kJoinBound,
  kJoinConditions,  // a list
  kJoinShown,       // the similarity condition
  kJoinOuterKeys,   // lists, as JoinKeys has them
  kJoinInnerKeys,
  kJoinKeyConditions
};
// The members of CustomScan.custom_private: lists.
enum JoinList { kJoinFacts, kJoinOuterHash, kJoinInnerHash, kJoinCollations };
enum JoinFact {
  kJoinKind,
  kJoinMeasure,
  kJoinOuterColumns,
  kJoinBoundFrom,
  kJoinIsSelf,
  kJoinOmitsItself,
  kJoinInnerFirst
};

extern const CustomPathMethods join_path_methods;
extern const CustomScanMethods join_scan_methods;

// For a plan that is copied or read from text.
void register_join_scan();

// The executor's node for a plan: JoinState.
Node* create_join_state(CustomScan* plan);

// True if it is a column that stands for what identifies a row of one of several tables, which the statement changes.
bool is_row_identity(const Node* node);

// Divides the clauses of a join into those that decide whether rows match, and, for outer joins, conditions on the
// joined rows. All are RestrictInfo.
void divide_clauses(const RelOptInfo* join, JoinType type, List* clauses, List** matching, List** filters);

// Bytes that one node may hold: work_mem * hash_mem_multiplier.
size_t join_memory();

}  // namespace neardup
