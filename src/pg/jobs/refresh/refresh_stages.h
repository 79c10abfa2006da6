// The stages of a refresh. A stage runs in one transaction, on a step that was read in it; one that has a pointer to
// the step changes it.
#pragma once

#include "pg/jobs/refresh/refresh_step.h"

namespace neardup {

// Makes the tables of the job fit the source's columns and the profile, then lists the rows to be signed: their number.
int64 list_rows(RefreshStep* step);

// Counts the passages of all documents, for the next stages to cut. In one transaction: progress as all_clusters().
void count_passages(RefreshStep* step);

// Signs the listed rows n, after < n <= upto, and marks those that have gone. Rows keep their signature where the
// content is the same.
void sign_rows(const RefreshStep& step, int64 after, int64 upto);

// Makes the index of the signatures where there is none. True if there is anything to cluster.
bool index_signatures(RefreshStep* step);

// Clusters the rows whose cluster may have changed, or all; gives clusters their numbers, and writes the result, the
// changes and the job's state.
void cluster(const RefreshStep& step);

// Types of the source's columns may have changed since the tables of the job were made: theirs follow. True if any did.
bool follow_source_types(RefreshStep* step);

}  // namespace neardup
