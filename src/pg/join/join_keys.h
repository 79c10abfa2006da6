// Equality conditions of a similarity join: rows with equal keys are a group, and only rows of one group match.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "executor/executor.h"
#include "nodes/pathnodes.h"
}

namespace neardup {

// Four lists with an entry for each condition: its key of either side, the hash functions of their types, the
// collation, the condition.
struct JoinKeys {
  List* outer;
  List* inner;
  List* outer_hash;
  List* inner_hash;
  List* collations;
  List* conditions;
};

// clauses: RestrictInfo, of those that decide whether rows match. Equality is that of hash joins.
JoinKeys find_join_keys(const RelOptInfo* outer, const RelOptInfo* inner, List* clauses);

// Computes the group of a row.
struct KeyHasher {
  int count;
  ExprState** keys;
  FmgrInfo* functions;
  Oid* collations;
};

KeyHasher* make_hasher(List* keys, List* functions, List* collations, PlanState* parent);

// The hash of a row's keys, made in the context's short-lived memory. False where a key is NULL: the row is of no
// group.
bool hash_keys(const KeyHasher* hasher, ExprContext* context, uint32* hash);

}  // namespace neardup
