// The lock of one job, which whoever refreshes or changes it holds; jobs as arguments of functions.
#pragma once

#include "pg/values/values.h"

#include "pg/jobs/job_table.h"

extern "C" {
#include "storage/lock.h"
}

namespace neardup {

// Longer names of jobs would leave no room for the suffixes of their tables.
inline constexpr int kMaxJobNameBytes = NAMEDATALEN - static_cast<int>(sizeof "_signatures");

// The term for a job in messages.
inline constexpr const char* kWhatJobsAre = "a table of duplicates";

LOCKTAG tag_of_job(Oid job);

// Locks without waiting: an error if another session holds the lock, or if the caller may not change the job. session:
// the lock is held beyond the end of the transaction.
void lock_job(Oid job, bool session);

// The job that argument n names, which may not be NULL. Not locked.
Oid job_argument(FunctionCallInfo fcinfo, int n);

// The same, with refreshes and other changes kept away until the transaction ends. An error for who may not change it,
// and while another session refreshes or changes it.
Oid locked_job_argument(FunctionCallInfo fcinfo, int n);

}  // namespace neardup
