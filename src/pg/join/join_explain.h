// A similarity join in EXPLAIN.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "commands/explain.h"
#include "nodes/extensible.h"
}

namespace neardup {

void explain_join(CustomScanState* node, List* ancestors, ExplainState* es);

}  // namespace neardup
