// A step of a refresh: what its statements are about. A step is one transaction. It reads the row of the job and its
// profile once, when it begins; a stage that changes what later ones use changes it here, too.
#pragma once

#include "pg/jobs/job_source.h"
#include "pg/profiles/profile.h"

namespace neardup {

// Temporary tables of a refresh. With the role in their names: what a failed refresh leaves to a session is not in the
// way of another role's there.
struct RefreshTables {
  QualifiedName todo;     // n, id, gone: rows to be signed, and those that have gone
  QualifiedName shape;    // no rows: the types that the source's columns have now
  QualifiedName touched;  // id, searched: rows whose cluster may have changed
  QualifiedName edges;    // x, y, later, settled: rows y near touched rows x
  QualifiedName fresh;    // id, c, representative, similarity, survivor, n: what the clustering says
  QualifiedName heirs;    // old, c: where an old cluster lives on
  QualifiedName ids;      // c, id, new: the number of each new cluster
  QualifiedName taken;    // entry, id: of the queue, as it was before the rows were listed
  QualifiedName old;      // cluster: clusters of the result of which a row may change
};

struct RefreshStep {
  Job job;
  Profile profile;
  JobSource source;
  RefreshTables tables;

  const JobRow& row() const { return job.row; }
  // True if the profile cuts passages that stand in many documents, and nobody has counted them yet.
  bool lacks_passages() const { return profile.cuts() && !row().has_passages; }
};

// This reads the profile and the source of a job that was read in this transaction.
RefreshStep read_step(const Job& job);

// sql() with the placeholders of job_sql(), those of the temporary tables, {rows} and {same_id}.
Sql step_sql(const RefreshStep& step, Pattern pattern, std::initializer_list<Placeholder> more = {});

// InvalidOid where there is none.
Oid temporary_table(const QualifiedName& table);

// Drops those that there are.
void drop_temporary(std::initializer_list<QualifiedName> tables);

}  // namespace neardup
