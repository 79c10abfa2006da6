// The lock of one job, which whoever refreshes or changes it holds; jobs as arguments of functions.
#pragma once

#include "pg/values/values.h"

#include "pg/jobs/job_table.h"

extern "C" {
#include "storage/lock.h"
}

namespace neardup {

// What the name of a job may have, so that those of its tables are no longer than names may be.
inline constexpr int kMaxJobNameBytes = NAMEDATALEN - static_cast<int>(sizeof "_signatures");

// What a message calls a job.
inline constexpr const char* kWhatJobsAre = "a table of duplicates";

LOCKTAG tag_of_job(Oid job);

// Not waited for: an error for whoever may not change the job, and where another session has it. session: held beyond
// the end of the transaction.
void lock_job(Oid job, bool session);

// The job that argument n names, which may not be NULL. Not locked.
Oid job_argument(FunctionCallInfo fcinfo, int n);

// The same, with refreshes and other changes kept away until the transaction ends. An error for who may not change it,
// and while another session refreshes or changes it.
Oid locked_job_argument(FunctionCallInfo fcinfo, int n);

}  // namespace neardup
