// Checks of a job when it is made or changed, not when it is refreshed. SPI need not be connected;
// names mean what they mean in the current search_path.
#pragma once

#include "pg/jobs/job.h"

namespace neardup {

// An error for a job that cannot be. The profile is that of read_profile(), the function the one of the extension that
// runs.
void check_job(const JobRow& row, const Profile& profile, Oid function);

// For one that is to be made, before all else: the source, the id, and all columns that the arguments name.
void check_new_columns(const JobRow& row);

// For one that is to be made: its within columns are to be columns of the result.
void check_within_names(const JobRow& row);

}  // namespace neardup
