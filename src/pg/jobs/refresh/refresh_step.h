// A step of a refresh: what its statements are about. A step is one transaction, and reads the job and its source anew.
#pragma once

#include "pg/jobs/job_source.h"

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
};

struct RefreshStep {
  Job job;
  JobSource source;
  RefreshTables tables;

  const JobRow& row() const { return job.row; }
};

RefreshStep read_step(Oid job, Oid function);

// sql() with the placeholders of job_sql(), those of the temporary tables, {rows} and {same_id}.
Sql step_sql(const RefreshStep& step, Pattern pattern, std::initializer_list<Placeholder> more = {});

// InvalidOid where there is none.
Oid temporary_table(const QualifiedName& table);

// Drops those that there are.
void drop_temporary(std::initializer_list<QualifiedName> tables);

}  // namespace neardup
