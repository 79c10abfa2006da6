// What alter_duplicates() may change of a job: from the arguments to the row.
#pragma once

#include "pg/jobs/job.h"
#include "pg/sql/run_statement.h"

namespace neardup {

// A profile's name, which may be null, with the schema of its table where it has one: as the row of a job keeps it.
const char* lasting_profile_name(const char* name);

// Writes the settings of job.row. SPI must be connected.
void store_settings(const Job& job);
// The measure of the row, which the row of a job has from 0.3.0 on.
void store_measure(const Job& job);

// name[]
SqlValue names_value(const char* const* names, int n);

}  // namespace neardup
