// The stages by which a job knows its rows: they list, count and sign. See refresh_stages.h.
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/base/held_names.h"
#include "pg/base/open_table.h"
#include "pg/jobs/job_statements.h"
#include "pg/jobs/refresh/job_state.h"
#include "pg/jobs/refresh/refresh_statements.h"
#include "pg/jobs/signature_table.h"
#include "pg/sql/new_table.h"

namespace neardup {

// Listing

namespace {

// Passages are counted anew when there are so many times as many rows as were counted.
constexpr double kGrowth = 2;

}  // namespace

void ListStage::forget_signatures() {
  clear_signatures(&step_->job, step_->source.kind);
  demand_clustering(step_->job);
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

// True if all rows are to be compared with what is known of them.
bool ListStage::follow_source() {
  bool changed = follow_source_columns(step_->job);
  if (follow_source_types(step_)) {
    changed = true;
    demand_resync(step_->job);
  }
  // The hash of a team may be another one: of another type, or on another server.
  const bool other_teams = changed && step_->row().has_passages && step_->row().n_within > 0;
  if (other_teams || step_->lacks_passages()) forget_signatures();
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
  if (follow_profile(&step_->job.row, step_->profile)) {
    store_signing(step_->job);
    forget_signatures();
  }
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

// Counting

namespace {

// Beside the table of the job, under the name that a part has.
QualifiedName new_passages_name(const Job& job) {
  Relation table = relation_open(job.oid, AccessShareLock);
  const QualifiedName name(get_namespace_name(RelationGetNamespace(table)), name_of_part(table, JobPart::passages));
  relation_close(table, NoLock);
  return name;
}

}  // namespace

void CountStage::make_table() {
  Job& job = step_->job;
  const QualifiedName name = new_passages_name(job);
  const bool is_ours = made_first({name}, [&] { run_statement(create_passages_table(job, name)); });
  if (!is_ours)
    ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE),
                    errmsg("relation %s exists already: the job needs the name for its passages", name.text()),
                    errhint("Rename the relation, or the job by rename_duplicates().")));
  job.passages_oid = made_here(cstring_to_text(name.text()));
  job.passages = QualifiedName::held(job.passages_oid);
  record_part(job.oid, job.passages_oid);
  store_passages_table(job);
}

void CountStage::run() {
  if (!OidIsValid(step_->job.passages_oid)) make_table();
  int64 key;
  if (!pg_strong_random(&key, sizeof key)) elog(ERROR, "could not generate random bytes");
  run_statement(empty_passages_table(step_->job));
  run_statement(fill_passages(*step_), {value(key)});
  store_passages(step_->job, key, step_->row().total);
}

// Signing

namespace {

[[noreturn]] void refuse_equal_ids(const JobRow& row) {
  const char* id = quote_identifier(row.id);
  ereport(ERROR,
          (errcode(ERRCODE_CARDINALITY_VIOLATION),
           errmsg("the column \"%s\" of %s is not unique", row.id, qualified_name(row.source)),
           errhint("SELECT %s FROM %s GROUP BY %s HAVING count(*) > 1 returns the values that several rows have.", id,
                   qualified_name(row.source), id)));
  pg_unreachable();
}

}  // namespace

// Without a look for rows that are known. False where there is one, signed by a refresh that did not end: then none is
// signed.
bool SignStage::sign_as_new(const SqlValue& first, const SqlValue& last, const SqlValue& refresh) const {
  ErrorData* error = run_undoing([&] { run_statement(sign_new_rows(step_), {first, last, refresh}); });
  if (error != nullptr && error->sqlerrcode != ERRCODE_UNIQUE_VIOLATION) ReThrowError(error);
  return error == nullptr;
}

void SignStage::sign(int64 after, int64 upto) const {
  const JobRow& row = step_.row();
  const SqlValue first = value(after);
  const SqlValue last = value(upto);
  const SqlValue refresh = value(row.refresh);
  if (row.clustered != 0 || !sign_as_new(first, last, refresh))
    run_statement(sign_listed_rows(step_), {first, last, refresh, value(row.verifies())});
  run_statement(mark_gone_rows(step_), {first, last, refresh});
}

// Raises the error for a set that has one, if there is one among the rows.
void SignStage::refuse_null_elements(const SqlValue& first, const SqlValue& last) const {
  const JobRow& row = step_.row();
  bool is_null;
  const Datum id = one_value(row_with_null_element(step_), {first, last}, &is_null);
  if (is_null) return;
  ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                  errmsg("the set in column \"%s\" of %s has a NULL element in the row with id %s", row.signature,
                         qualified_name(row.source), TextDatumGetCString(id)),
                  errhint("array_remove(%s, NULL) removes NULL elements.", quote_identifier(row.signature))));
}

void SignStage::run(int64 after, int64 upto) {
  const JobRow& row = step_.row();
  ErrorData* error = run_undoing([&] { sign(after, upto); });
  if (error == nullptr) return;
  if (error->sqlerrcode == ERRCODE_CARDINALITY_VIOLATION) refuse_equal_ids(row);
  if (error->sqlerrcode == ERRCODE_NULL_VALUE_NOT_ALLOWED && row.compares_sets() && row.signature != nullptr)
    refuse_null_elements(value(after), value(upto));
  // The column has signatures of other parameters now, which only another index takes.
  if (error->sqlerrcode != ERRCODE_DATATYPE_MISMATCH || row.signature == nullptr || signature_indexes(step_.job) == NIL)
    ReThrowError(error);
  drop_signature_indexes(step_.job);
  demand_clustering(step_.job);
  sign(after, upto);
}

}  // namespace neardup
