// Memory of a flush or a merge step, kept by the session for the next one: taking some hundred pages from the system
// each time, and giving them back, costs a tenth of an insert.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// Takes back all that was handed out before. Called by flush() and by each merge step.
void scratch_begin();

// Memory that is not zeroed, good until the next scratch_begin() or until the current memory context is reset: memory
// beyond what is kept is palloced there.
void* scratch_alloc(Size bytes);

}  // namespace neardup
