// Statements that change the row of a job while it is refreshed.
#pragma once

#include "pg/jobs/job.h"

namespace neardup {

// A refresh begins: what a job of 0.2.0 lacks is completed, and last_error is taken away. sign_again: documents are
// signed anew.
void begin_refresh(const Job& job, bool sign_again);
// The phase is that of the next step. The result says whether the job is paused, perhaps since the step began.
bool enter_phase(const Job& job, const char* phase);

// True if a column of the source has gone or changed its name since the last listing, or the server is another one: on
// a server that the job was restored on from a dump, a row may be where another version of it was, under the same
// number. Then resync is set, too. By ALTER TABLE another column may have the name of one that the job reads, and no
// row is written.
bool follow_source_columns(const Job& job);

void demand_clustering(const Job& job);

// Stores the hash of the result as it is now. result_hash: of all its rows r.
void store_result(const Job& job, const Sql& result_hash);
// True if somebody has changed the result by hand since a refresh has left it.
bool is_result_changed(const Job& job, const Sql& result_hash);

}  // namespace neardup
