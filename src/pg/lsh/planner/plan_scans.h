// Which indexes a finished plan reads.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "nodes/plannodes.h"
}

namespace neardup {

// A scan of an index, whatever node is above it.
struct IndexUse {
  Oid index;
  const Alias* relation;  // RangeTblEntry.eref of what is scanned, which tells relations of one alias apart
};

// Of the whole plan, with what subplans and common table expressions read: a list of IndexUse*.
List* index_uses(const PlannedStmt* statement);

// Whether the plan has the relation at all. Of subqueries that were planned in two ways one is left.
bool has_relation(const PlannedStmt* statement, const Alias* relation);

}  // namespace neardup
