// The lock of one job, which whoever refreshes or changes it holds.
#pragma once

#include "pg/values/values.h"

extern "C" {
#include "storage/lock.h"
}

namespace neardup {

LOCKTAG tag_of_job(Oid job);

// An error for whoever may not change the job.
void demand_update(Oid job);

// Not waited for: an error where another session has it. session: held beyond the end of the transaction.
void lock_job(Oid job, bool session);

}  // namespace neardup
