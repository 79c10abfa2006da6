// Two signatures of a job are near: the index that finds such signatures, and the condition that it serves. A job
// searches by the measure of its kind of signature, or by the one that it names for sets.
#pragma once

#include "pg/jobs/refresh/refresh_step.h"

namespace neardup {

// True if an index serves near() at the search threshold of the job.
bool is_searchable(const RefreshStep& step);

// The class of the index and its options; slack: how far below the search threshold it goes.
Sql index_class(const RefreshStep& step, double slack);

// A condition: signature b is at least as similar to signature a as the search threshold says, or a to b.
Sql near_condition(const RefreshStep& step, Pattern a, Pattern b);

}  // namespace neardup
