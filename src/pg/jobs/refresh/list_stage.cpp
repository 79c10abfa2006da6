// ListStage: see refresh_stages.h.
#include "pg/jobs/refresh/job_state.h"
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/jobs/refresh/refresh_statements.h"
#include "pg/jobs/signature_table.h"
#include "pg/profiles/profile.h"

namespace neardup {

namespace {

// Passages are counted anew when there are so many times as many rows as were counted.
constexpr double kGrowth = 2;

}  // namespace

void ListStage::forget_signatures() {
  clear_signatures(step_->job, step_->source.kind);
  demand_clustering(step_->job);
  *step_ = read_step(step_->job.oid, step_->job.function);
}

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

// Whether all rows are to be compared with what is known of them.
bool ListStage::follow_source() {
  bool changed = follow_source_columns(step_->job);
  if (follow_source_types(*step_)) {
    changed = true;
    demand_resync(step_->job);
    *step_ = read_step(step_->job.oid, step_->job.function);
  }
  // The hash of a team may be another one: of another type, or on another server.
  const bool other_teams = changed && step_->row().has_passages && step_->row().n_within > 0;
  if (other_teams || lacks_passages(step_->row(), step_->job.function)) forget_signatures();
  return changed || step_->row().resync;
}

// listed: rows that are new, changed or gone.
bool ListStage::has_outgrown_passages(int64 listed) const {
  const JobRow& row = step_->row();
  const double most = kGrowth * static_cast<double>(row.passages_rows);
  // Mostly there cannot be so many rows, and they need not be counted.
  if (!row.has_passages || static_cast<double>(row.rows) + static_cast<double>(listed) <= most) return false;
  int64 rows = one_int64(count_known_rows(*step_));
  // Without changed rows there may be no list.
  if (listed > 0) rows += one_int64(count_added_rows(*step_));
  return static_cast<double>(rows) > most;
}

int64 ListStage::list() const {
  drop_temporary({step_->tables.todo});
  if (is_source_unchanged()) return 0;
  return static_cast<int64>(run_statement(list_changed_rows(*step_)));
}

int64 ListStage::run() {
  follow_profile();
  const bool resync = follow_source();
  if (is_result_changed(step_->job, result_hash(*step_))) demand_clustering(step_->job);
  // A row without a version is still to be compared. So the next refresh continues after a time limit.
  if (resync) {
    if (step_->source.stored) run_statement(forget_versions(*step_));
    store_synced(step_->job);
  }
  int64 n = list();
  if (has_outgrown_passages(n)) {
    forget_signatures();
    n = list();
  }
  if (n == 0) return 0;
  demand_ids();
  run_statement(index_listed_rows(*step_));
  run_statement(analyze_listed_rows(*step_));
  return n;
}

}  // namespace neardup
