// Opening an lsh index to look into it.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

struct InspectedIndex {
  Relation table;
  Relation index;
};

// Opens the index. Errors: no lsh index, or none any more; no right to SELECT from its table, or row security that
// hides some of its rows, of which all that an index holds would tell; not to be read here (another session's temporary
// table, an unlogged one during recovery). All that is asked of both is asked while they are locked.
InspectedIndex open_inspected(Oid index);
void close_inspected(const InspectedIndex& opened);

}  // namespace neardup
