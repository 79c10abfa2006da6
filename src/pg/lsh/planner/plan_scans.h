// The indexes that a finished plan reads.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "nodes/plannodes.h"
}

namespace neardup {

struct IndexUse {
  Oid index;
  const Alias* relation;  // RangeTblEntry.eref of what is scanned, which tells relations of one alias apart
};

// A list of IndexUse*: all of the plan, its subplans and common table expressions.
List* index_uses(const PlannedStmt* statement);

// False for relations of a subquery that was planned in two ways, of which one is left.
bool has_relation(const PlannedStmt* statement, const Alias* relation);

}  // namespace neardup
