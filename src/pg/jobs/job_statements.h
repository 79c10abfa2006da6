// Every statement that makes, changes or drops a job or its tables, a function each, in the order in which they run.
// Their names say what they do; a comment names their parameters. While a job is made, Job names tables that there are
// not yet.
#pragma once

#include "pg/jobs/job_source.h"

namespace neardup {

// The table of the job
Sql create_job_table(const Job& job);
Sql identify_job_rows(const Job& job);
Sql insert_job_row(const Job& job);  // $1: source; $2: within; $3 to $5: result, signatures, changes
// These two run their statement: they write the settings of job.row that alter_duplicates() may change, and the
// measure, which the row of a job has from 0.3.0 on.
void store_settings(const Job& job);
void store_measure(const Job& job);

// The result
Sql create_result_table(const Job& job, const JobSource& source);
Sql key_result_table(const Job& job);
Sql index_result_table(const Job& job);
Sql describe_result_table(const Job& job, const char* given_name);

// The changes
Sql create_changes_table(const Job& job);

// The passages
Sql create_passages_table(const Job& job, const QualifiedName& table);
Sql empty_passages_table(const Job& job);
Sql forget_passages(const Job& job);  // in the row of the job

// The signatures
Sql create_signatures_table(const Job& job, const JobSource& source);
Sql key_signatures_table(const Job& job);
Sql index_signatures_table(const Job& job);
Sql empty_signatures_table(const Job& job);
Sql change_signature_type(const Job& job, Kind kind);
Sql drop_index(Oid index);

// A job that there is
Sql lock_job_row(const QualifiedName& job);
Sql pause_job(const QualifiedName& job);  // $1: whether it is paused
Sql rename_table(Oid table, const char* name);

}  // namespace neardup
