// From the path of a similarity join to its plan.
#pragma once

#include "pg/join/join_condition.h"

extern "C" {
#include "nodes/extensible.h"
}

namespace neardup {

// A path with what its plan is made of.
struct JoinPath {
  CustomPath path;  // custom_paths: the outer side, the inner side; of a self-join one with the columns of both
  bool is_self;
  Index outer;  // of a self-join: the range table's numbers of both sides
  Index inner;
  JoinType type;  // INNER, LEFT, SEMI or ANTI
  JoinCondition condition;
  List* clauses;  // RestrictInfo: all of the join, the condition among them
};

// The members of CustomScan.custom_exprs and custom_private.
enum JoinExpression { kJoinOuterValue, kJoinInnerValue, kJoinBound, kJoinConditions, kJoinShown };
enum JoinFact { kJoinKind, kJoinMeasure, kJoinOuterColumns, kJoinBoundFrom, kJoinIsSelf };

extern const CustomPathMethods join_path_methods;
extern const CustomScanMethods join_scan_methods;

// For a plan that is copied or read from text.
void register_join_scan();

// The executor's node for a plan: JoinState.
Node* create_join_state(CustomScan* plan);

// Bytes that one node may hold: work_mem * hash_mem_multiplier.
size_t join_memory();

}  // namespace neardup
