// Dropping tables by their OIDs.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// Drops those that there are in one statement, so that they may depend on each other. A name may be that of another
// table by the time: then it is an error, and none is dropped. SPI must be connected.
void drop_tables(const Oid* tables, int n);

}  // namespace neardup
