// The stages by which a job knows its rows: they list, count and sign. See refresh_stages.h.
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/base/held_names.h"
#include "pg/base/open_table.h"
#include "pg/jobs/refresh/job_state.h"
#include "pg/jobs/refresh/refresh_statements.h"
#include "pg/jobs/refresh/source_leaves.h"
#include "pg/jobs/signature_table.h"
#include "pg/sql/new_table.h"

namespace neardup {

namespace {

// Passages are counted anew when there are so many times as many rows as were counted.
constexpr double kGrowth = 2;

int64 random_number() {
  int64 number;
  if (!pg_strong_random(&number, sizeof number)) elog(ERROR, "could not generate random bytes");
  return number;
}

// Listing

void forget_signatures(RefreshStep* step) {
  clear_signatures(&step->job, step->source.kind);
  demand_clustering(step->job);
}

void demand_ids(const RefreshStep& step) {
  if (!one_bool(is_id_missing(step))) return;
  const JobRow& row = step.row();
  ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                  errmsg("the column \"%s\" of %s is NULL in a row", row.id, qualified_name(row.source)),
                  errhint("filter => %s leaves such rows out.",
                          quote_literal_cstr(psprintf("%s IS NOT NULL", quote_identifier(row.id))))));
}

// True if all rows are to be compared with what is known of them.
bool follow_source(RefreshStep* step) {
  bool changed = follow_source_columns(step->job);
  if (follow_source_types(step)) {
    changed = true;
    update_job(step->job, "resync = true, recluster = true");
  }
  // The hash of a team may be another one: of another type, or on another server.
  const bool other_teams = changed && step->row().has_passages && step->row().n_within > 0;
  if (other_teams || step->lacks_passages()) forget_signatures(step);
  return changed || step->row().resync;
}

// listed: rows that are new, changed or gone.
bool has_outgrown_passages(const RefreshStep& step, int64 listed) {
  const JobRow& row = step.row();
  const double most = kGrowth * static_cast<double>(row.passages_rows);
  // Mostly there cannot be so many rows, and they need not be counted.
  if (!row.has_passages || static_cast<double>(row.rows) + static_cast<double>(listed) <= most) return false;
  int64 rows = one_int64(count_known_rows(step));
  // Without changed rows there may be no list.
  if (listed > 0) rows += one_int64(count_added_rows(step));
  return static_cast<double>(rows) > most;
}

// Before the source is read: an entry whose row is not seen yet stays.
void read_queue(const RefreshStep& step) {
  drop_temporary({step.tables.taken});
  if (run_statement(copy_entries(step)) == 0) return;
  run_statement(index_taken_entries(step));
  run_statement(analyze_taken_entries(step));
}

// True if the queue does not have all that has changed. `resync`: what is known of rows is to be compared again.
bool must_scan(const RefreshStep& step, bool resync) {
  const JobRow& row = step.row();
  if (!row.follows()) return true;
  read_queue(step);
  const Datum leaves = source_leaves(step.job);
  const bool same = leaves != 0 && row.leaves != 0 && datumIsEqual(leaves, row.leaves, false, -1);
  if (!resync && !row.scan && same && !one_bool(must_compare_all(step))) return false;
  update_job(step.job, "scan = true, leaves = $1", {value(TEXTARRAYOID, leaves, leaves == 0)});
  return true;
}

int64 list_queue(const RefreshStep& step) {
  drop_temporary({step.tables.todo});
  return static_cast<int64>(run_statement(list_queued_rows(step)));
}

// Lists the changed rows. That joins all rows: whether there are any is asked first, in a fraction of the time.
int64 list_changes(const RefreshStep& step) {
  drop_temporary({step.tables.todo});
  if (step.source.stored && one_bool(is_unchanged(step), {value(random_number())})) return 0;
  return static_cast<int64>(run_statement(list_changed_rows(step)));
}

// Counting

void make_passages_table(Job* job) {
  const QualifiedName name = new_part_name(*job, JobPart::passages);
  const bool is_ours = made_first({name}, [&] {
    run_statement(sql("CREATE TABLE {table} (number int PRIMARY KEY, windows bigint[] NOT NULL)", {{"table", name}}));
  });
  if (!is_ours)
    ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE),
                    errmsg("relation %s exists already: the job needs the name for its passages", name.text()),
                    errhint("Rename the relation, or the job by rename_duplicates().")));
  job->passages_oid = made_here(cstring_to_text(name.text()));
  job->passages = QualifiedName::held(job->passages_oid);
  record_part(job->oid, job->passages_oid);
  update_job(*job, "passages = $1", {relation_value(job->passages_oid)});
}

// Signing

[[noreturn]] void refuse_equal_ids(const JobRow& row) {
  const char* id = quote_identifier(row.id);
  ereport(ERROR,
          (errcode(ERRCODE_CARDINALITY_VIOLATION),
           errmsg("the column \"%s\" of %s is not unique", row.id, qualified_name(row.source)),
           errhint("SELECT %s FROM %s GROUP BY %s HAVING count(*) > 1 returns the values that several rows have.", id,
                   qualified_name(row.source), id)));
  pg_unreachable();
}

// Signs without a look for rows that are known. False where there is one, signed by a refresh that did not end: then
// none is signed.
bool sign_as_new(const RefreshStep& step, const SqlValue& first, const SqlValue& last, const SqlValue& refresh) {
  ErrorData* error = run_undoing([&] { run_statement(sign_new_rows(step), {first, last, refresh}); });
  if (error != nullptr && error->sqlerrcode != ERRCODE_UNIQUE_VIOLATION) ReThrowError(error);
  return error == nullptr;
}

void sign(const RefreshStep& step, const SqlValue& first, const SqlValue& last) {
  const JobRow& row = step.row();
  const SqlValue refresh = value(row.refresh);
  if (row.clustered != 0 || !sign_as_new(step, first, last, refresh))
    run_statement(sign_listed_rows(step), {first, last, refresh, value(row.verifies())});
  run_statement(mark_gone_rows(step), {first, last, refresh});
  if (row.follows()) run_statement(delete_signed_entries(step), {first, last});
}

// Raises the error for a set that has one, if there is one among the rows.
void refuse_null_elements(const RefreshStep& step, const SqlValue& first, const SqlValue& last) {
  const JobRow& row = step.row();
  bool is_null;
  const Datum id = one_value(row_with_null_element(step), {first, last}, &is_null);
  if (is_null) return;
  ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                  errmsg("the set in column \"%s\" of %s has a NULL element in the row with id %s", row.signature,
                         qualified_name(row.source), TextDatumGetCString(id)),
                  errhint("array_remove(%s, NULL) removes NULL elements.", quote_identifier(row.signature))));
}

}  // namespace

int64 list_rows(RefreshStep* step) {
  JobRow* row = &step->job.row;
  if (follow_profile(row, step->profile)) {
    update_job(step->job, "profile_version = $1, body_type = $2",
               {value(row->profile_version), value(REGTYPEOID, ObjectIdGetDatum(row->body_type))});
    forget_signatures(step);
  }
  const bool resync = follow_source(step);
  const bool scans = must_scan(*step, resync);
  if (scans && is_result_changed(step->job, result_hash(*step))) demand_clustering(step->job);
  // A row without a version is still to be compared. So the next refresh continues after a time limit.
  if (resync) {
    if (step->source.stored) run_statement(forget_versions(*step));
    update_job(step->job, "resync = false");
  }
  int64 n = scans ? list_changes(*step) : list_queue(*step);
  if (has_outgrown_passages(*step, n)) {
    forget_signatures(step);
    n = list_changes(*step);
  }
  if (n == 0) return 0;
  demand_ids(*step);
  run_statement(index_listed_rows(*step));
  run_statement(analyze_listed_rows(*step));
  return n;
}

void count_passages(RefreshStep* step) {
  if (!OidIsValid(step->job.passages_oid)) make_passages_table(&step->job);
  const SqlValue key = value(random_number());
  empty_passages(step->job);
  run_statement(fill_passages(*step), {key});
  update_job(step->job, "passages_key = $1, passages_rows = $2", {key, value(step->row().total)});
}

void sign_rows(const RefreshStep& step, int64 after, int64 upto) {
  const JobRow& row = step.row();
  const SqlValue first = value(after);
  const SqlValue last = value(upto);
  ErrorData* error = run_undoing([&] { sign(step, first, last); });
  if (error == nullptr) return;
  if (error->sqlerrcode == ERRCODE_CARDINALITY_VIOLATION) refuse_equal_ids(row);
  if (error->sqlerrcode == ERRCODE_NULL_VALUE_NOT_ALLOWED && row.compares_sets() && row.signature != nullptr)
    refuse_null_elements(step, first, last);
  // The column has signatures of other parameters now, which only another index takes.
  if (error->sqlerrcode != ERRCODE_DATATYPE_MISMATCH || row.signature == nullptr || signature_indexes(step.job) == NIL)
    ReThrowError(error);
  drop_signature_indexes(step.job);
  demand_clustering(step.job);
  sign(step, first, last);
}

}  // namespace neardup
