// ListStage: see refresh_stages.h.
#include "pg/jobs/job_state.h"
#include "pg/jobs/refresh_stages.h"
#include "pg/jobs/refresh_statements.h"
#include "pg/jobs/signature_table.h"
#include "pg/profiles/profile.h"

namespace neardup {

void ListStage::follow_profile() {
  const JobRow& row = step_->row();
  if (row.body == nullptr) return;
  const int32 version = profile_named(row.profile, step_->job.function).version;
  const Oid type = source_column_type(row.source, row.body, "body");
  if (version == row.profile_version && type == row.body_type) return;
  store_signing(step_->job, version, type);
  clear_signatures(step_->job, step_->source.kind);
  *step_ = read_step(step_->job.oid, step_->job.function);
}

void ListStage::demand_ids() const {
  if (!one_bool(is_id_missing(*step_))) return;
  const JobRow& row = step_->row();
  ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                  errmsg("the column \"%s\" of %s is NULL in a row", row.id, qualified_name(row.source)),
                  errhint("filter => %s leaves such rows out.",
                          quote_literal_cstr(psprintf("%s IS NOT NULL", quote_identifier(row.id))))));
}

// To list the changed rows takes several times as long: that joins all rows.
bool ListStage::is_source_unchanged() const {
  if (!step_->source.stored) return false;
  int64 seed;
  if (!pg_strong_random(&seed, sizeof seed)) elog(ERROR, "could not generate random bytes");
  return one_bool(is_unchanged(*step_), {value(seed)});
}

int64 ListStage::run() {
  follow_profile();
  bool resync = follow_source_columns(step_->job) || step_->row().resync;
  if (follow_source_types(*step_)) {
    resync = true;
    demand_resync(step_->job);
  }
  if (is_result_changed(step_->job, result_hash(*step_))) demand_clustering(step_->job);
  // A row without a version is still to be compared. So the next refresh continues after a time limit.
  if (resync) {
    if (step_->source.stored) run_statement(forget_versions(*step_));
    store_synced(step_->job);
  }
  drop_temporary({step_->tables.todo});
  if (is_source_unchanged()) return 0;
  const auto n = static_cast<int64>(run_statement(list_changed_rows(*step_)));
  demand_ids();
  run_statement(index_listed_rows(*step_));
  run_statement(analyze_listed_rows(*step_));
  return n;
}

}  // namespace neardup
