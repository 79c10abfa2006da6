// CountStage: see refresh_stages.h.
#include "pg/base/held_names.h"
#include "pg/base/open_table.h"
#include "pg/jobs/refresh/job_state.h"
#include "pg/jobs/job_statements.h"
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/jobs/refresh/refresh_statements.h"
#include "pg/profiles/profile.h"
#include "pg/sql/new_table.h"

namespace neardup {

namespace {

// Beside the table of the job, under the name that a part has.
QualifiedName new_passages_name(const Job& job) {
  Relation table = relation_open(job.oid, AccessShareLock);
  const QualifiedName name(get_namespace_name(RelationGetNamespace(table)), name_of_part(table, JobPart::passages));
  relation_close(table, NoLock);
  return name;
}

}  // namespace

bool cuts_passages(const JobRow& row, Oid function) {
  return row.body != nullptr && profile_named(row.profile, function).cuts();
}

bool lacks_passages(const JobRow& row, Oid function) { return !row.has_passages && cuts_passages(row, function); }

void CountStage::make_table() {
  const Job& job = step_->job;
  const QualifiedName name = new_passages_name(job);
  const bool is_ours = made_first({name}, [&] { run_statement(create_passages_table(job, name)); });
  if (!is_ours)
    ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE),
                    errmsg("relation %s exists already: the job needs the name for its passages", name.text()),
                    errhint("Rename the relation, or the job by rename_duplicates().")));
  const Oid table = made_here(cstring_to_text(name.text()));
  record_part(job.oid, table);
  store_passages_table(job, table);
  CommandCounterIncrement();
  *step_ = read_step(job.oid, job.function);
}

void CountStage::run() {
  if (!OidIsValid(step_->job.passages_oid)) make_table();
  int64 key;
  if (!pg_strong_random(&key, sizeof key)) elog(ERROR, "could not generate random bytes");
  run_statement(empty_passages_table(step_->job));
  run_statement(fill_passages(*step_), {value(key)});
  store_passages(step_->job, key, step_->row().total);
}

}  // namespace neardup
