// A job as one transaction sees it: its row, and the names of its tables, which keep their meaning until the
// transaction ends. After a commit it is read again.
#pragma once

#include "pg/jobs/job_table.h"
#include "pg/profiles/profile.h"
#include "pg/sql/run_statement.h"

namespace neardup {

// The row of a job, a column each, as sql/install/86_jobs.sql declares neardup_job. Text is null where the column is
// NULL.
struct JobRow {
  Oid source;  // InvalidOid: NULL
  const char* id;
  const char* body;
  const char* signature;
  double threshold;
  const char* profile;
  const char* linkage;
  const char* verify;
  double verify_threshold;  // NaN: NULL
  const char* keep;
  const char* order_by;
  const char** within;
  int n_within;
  const char* at;
  const Interval* at_most_apart;
  const char* filter;
  const char* deleted;
  int32 profile_version;  // 0: NULL
  Oid body_type;          // InvalidOid: NULL
  bool resync;
  bool recluster;
  double search_threshold;  // NaN: NULL
  int64 refresh;
  int64 clustered;
  int64 next_cluster;
  bool paused;
  const char* phase;
  int64 done;
  int64 total;
  bool qualified;
  Datum columns;      // of the source when its rows were listed last, text[]: "number name" of each; 0: NULL
  int64 system;       // the identifier of the server then; 0: NULL
  bool knows_result;  // false: by 0.2.0, which counted no rows of the result
  int64 result_hash;
  int64 rows;           // of the result
  const char* measure;  // of sets; null: signatures are compared, by the measure of their kind
  bool has_passages;    // the table of passages is filled, for numbers by this key, from so many rows
  int64 passages_key;
  int64 passages_rows;
  const char* follow_trigger;   // of the source; null: a refresh compares all rows
  const char** follow_columns;  // a change in which queues a row; null: in any column
  int n_follow_columns;
  bool scan;     // not all that has changed since the last refresh is in the queue
  Datum leaves;  // what held the rows of the source when all were compared last, text[]; 0: NULL

  // The source has a trigger, which queues rows that change.
  bool follows() const { return follow_trigger != nullptr; }
  bool compares_sets() const { return measure != nullptr; }
  // A row is a copy of a larger one that contains it: rows come by the size of their sets, the largest first.
  bool compares_containment() const { return measure != nullptr && strcmp(measure, "containment") == 0; }
  bool verifies() const { return verify != nullptr; }
  // The row of a cluster that is kept has the least key (oldest) or the greatest (newest).
  bool keeps_oldest() const { return strcmp(keep, "oldest") == 0; }
  bool keeps_by_order() const { return keeps_oldest() || strcmp(keep, "newest") == 0; }
  bool is_anchor() const { return strcmp(linkage, "anchor") == 0; }
};

struct Job {
  Oid oid;             // of its table <name>_job
  Oid function;        // of the extension, the one that runs
  Identifier neardup;  // the extension's schema
  const char* name;    // with its schema, for messages
  JobRow row;
  // Its table, and those that belong to it.
  Oid result_oid;
  Oid signatures_oid;
  Oid changes_oid;
  Oid passages_oid;  // InvalidOid: it has none
  Oid queue_oid;     // the same
  QualifiedName job;
  QualifiedName result;
  QualifiedName signatures;
  QualifiedName changes;
  QualifiedName passages;
  QualifiedName queue;
};

// This reads a job that is open, and holds the names of its tables. It is an error if its row or one of its tables is
// missing, or if a table is not its own.
Job read_job(const OpenJob& opened, Oid function);

// These open the job by its OID first. The second one refuses a job that is not the caller's.
Job read_job(Oid oid, Oid function);
Job read_own_job(Oid oid, Oid function);

// This reads how the documents of a job are signed now. A job of signatures has an empty profile.
Profile read_profile(const JobRow& row, Oid function);

// Beside the table of the job, under the name that a part has.
QualifiedName new_part_name(const Job& job, JobPart part);

// sql() with the placeholders {neardup}, {job}, {result}, {signatures}, {changes}, and {queue} where the job has one.
Sql job_sql(const Job& job, Pattern pattern, std::initializer_list<Placeholder> more = {});

// UPDATE {job} SET ..
void update_job(const Job& job, Pattern set, std::initializer_list<SqlValue> values = {});

// Writes the settings of job.row that alter_duplicates() may change.
void store_settings(const Job& job);

}  // namespace neardup
