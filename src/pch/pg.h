// Precompiled for src/pg: the headers of the system, then PostgreSQL's as pg/base/pg.h wraps them. See core.h beside
// it.
#define NEARDUP_PRECOMPILED
#include "pch/core.h"
#include "pg/base/pg.h"
