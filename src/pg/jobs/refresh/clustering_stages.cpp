// The stages from signatures to a result: they index, find, cluster and publish. See refresh_stages.h.
#include <cmath>
#include <limits>

#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/jobs/follow_triggers.h"
#include "pg/jobs/refresh/job_state.h"
#include "pg/jobs/refresh/refresh_statements.h"
#include "pg/jobs/signature_table.h"

namespace neardup {

namespace {

// Indexing

// An index of a lower threshold than what is searched for tells candidates apart by how many bands they share: at a
// million rows of pages full of boilerplate a tenth of them is left.
constexpr double kIndexSlack = 0.05;
// Digests may differ by this factor more than documents that are verified by edit rate. The search threshold is never
// below the least one.
constexpr double kEditRateFactor = 3;
constexpr double kLeastThreshold = 0.01;

// Least similarity of signatures of rows that may be similar.
double search_threshold(const RefreshStep& step) {
  const JobRow& row = step.row();
  if (!row.verifies() || !std::isnan(row.verify_threshold)) return row.threshold;
  if (strcmp(row.verify, "edit_rate") == 0) return Max(1 - kEditRateFactor * (1 - row.threshold), kLeastThreshold);
  bool is_null;
  const Datum found = one_value(least_signature_similarity(step), {value(row.threshold)}, &is_null);
  return is_null ? std::numeric_limits<double>::quiet_NaN() : DatumGetFloat8(found);
}

// Long signatures may have too many bands for the first index, or for any: then all rows are clustered each time.
void create_index(const RefreshStep& step) {
  // they may be of other parameters than those that have come
  run_statement(forget_gone_signatures(step));
  for (const double slack : {kIndexSlack, 0.0}) {
    if (slack > 0 && step.source.kind != Kind::minhash) continue;
    ErrorData* error = run_undoing([&] { run_statement(create_signature_index(step, slack)); });
    if (error == nullptr) break;
    if (error->sqlerrcode != ERRCODE_PROGRAM_LIMIT_EXCEEDED) ReThrowError(error);
  }
  run_statement(analyze_signatures(step));
}

// All rows that were listed are signed: what was in the queue before is done with.
void end_list(const RefreshStep& step) {
  if (OidIsValid(temporary_table(step.tables.taken))) run_statement(delete_taken_entries(step));
  drop_temporary({step.tables.taken});
  update_job(step.job, "scan = leaves IS NULL");
}

// Finding

// In a chain of rows, each near the next, a change moves on by one row a round.
constexpr int kMaxRounds = 1000;
// A search costs as much as to cluster ten rows, and in more than a million rows more: an index that the memory does
// not hold. So much may be searched, of so many rows.
int64 max_touched(int64 rows) { return Min(rows / 10 + 10, 100000 + rows / 100); }
// Near rows that all searches may find together.
int64 max_found(int64 rows) { return 10 * rows + 100000; }

SqlValue clustered(const RefreshStep& step) { return value(step.row().clustered); }

// True if few of the rows have changed, and an index finds those near them.
bool may_search(const RefreshStep& step, int64* rows) {
  const JobRow& row = step.row();
  if (row.recluster || row.clustered == 0 || !is_searchable(step) || signature_indexes(step.job) == NIL) return false;
  *rows = row.knows_result ? row.rows : one_int64(count_rows(step));
  return one_int64(count_changed_rows(step), {clustered(step)}) <= max_touched(*rows);
}

// A large family of near rows: each would find all others.
bool search_costs_too_much(const RefreshStep& step, int64 searches, int64 rows) {
  const int64 found = one_int64(count_near_rows_of_sample(step));
  return found * searches / Min(searches, int64{kSampledSearches}) > max_found(rows);
}

// Searches from touched rows, and touches what is affected, until nothing is. False where it comes to no end.
bool spread(const RefreshStep& step, int64 rows) {
  for (int round = 0; round < kMaxRounds; ++round) {
    const int64 unsearched = one_int64(count_unsearched_rows(step));
    if (one_int64(count_touched_rows(step)) > max_touched(rows)) return false;
    if (unsearched == 0) return true;
    run_statement(analyze_touched_rows(step));
    if (search_costs_too_much(step, unsearched, rows)) return false;
    run_statement(search_near_rows(step), {clustered(step)});
    run_statement(mark_searched_rows(step));
    if (!step.row().is_anchor()) return true;
    run_statement(analyze_edges(step));
    run_statement(touch_affected_rows(step));
  }
  return false;
}

// Lists the rows whose cluster may have changed: {touched}. False, and no list to use, where they are so many that to
// cluster all rows is quicker.
//
// Connected: rows of two clusters are not similar. So what changes are the clusters of rows that have changed or gone,
// and those that the changed rows are near to now. Anchor: only representatives draw others to them, and only later
// ones. A row is affected when it has changed, when its representative has gone, has changed or is affected itself, or
// when an earlier near row is affected that may be a representative now. It is none for sure where an earlier
// representative that is not affected is near.
//
// The condition of the index may hold of more pairs than are similar (within, at and verify are left to the
// clustering): then the list is longer, nothing else.
bool find_touched(const RefreshStep& step) {
  int64 rows;
  if (!may_search(step, &rows)) return false;
  drop_temporary({step.tables.touched, step.tables.edges});
  run_statement(touch_changed_rows(step), {clustered(step)});
  run_statement(key_touched_rows(step));
  run_statement(create_edges(step));
  const bool is_anchor = step.row().is_anchor();
  if (is_anchor) run_statement(touch_rows_of_changed_representatives(step), {clustered(step)});
  if (!spread(step, rows)) return false;
  if (is_anchor) {
    run_statement(touch_settled_representatives(step));
    run_statement(touch_representatives_of_changed_rows(step), {clustered(step)});
  } else {
    run_statement(touch_near_rows(step));
    run_statement(touch_rows_of_touched_clusters(step), {clustered(step)});
    if (one_int64(count_touched_rows(step)) > rows / 2) return false;
  }
  run_statement(analyze_touched_rows(step));
  return true;
}

// Publishing

void number_fresh_clusters(const RefreshStep& step) {
  drop_temporary({step.tables.ids, step.tables.heirs});
  run_statement(list_heirs(step));
  run_statement(number_clusters(step), {value(step.row().next_cluster)});
  run_statement(analyze_numbers(step));
  run_statement(analyze_heirs(step));
}

void write_rows(const RefreshStep& step, bool part) {
  if (one_bool(is_result_empty(step))) {
    run_statement(write_first_results(step));
  } else {
    run_statement(record_changes(step, part), {value(step.row().refresh)});
    run_statement(delete_gone_results(step, part));
    run_statement(write_results(step));
    if (part) run_statement(move_rows_of_merged_clusters(step));
  }
}

// Counts and hash of the result are those of all its rows, or differ by what is written.
void write_result(const RefreshStep& step, bool part) {
  const bool by_difference = part && step.row().knows_result;
  if (by_difference) {
    drop_temporary({step.tables.old});
    run_statement(list_old_clusters(step));
    run_statement(analyze_old_clusters(step));
    run_statement(subtract_old_clusters(step));
  }
  write_unnoted(step.job.result_oid, [&] { write_rows(step, part); });
  if (by_difference) {
    run_statement(list_new_clusters(step));
    run_statement(add_old_clusters(step));
  } else {
    store_result(step.job, result_hash(step));
  }
  run_statement(forget_gone_rows(step));
  // the next refresh reads few of these rows, by their indexes
  if (!part) run_statement(analyze_results(step));
}

}  // namespace

bool index_signatures(RefreshStep* step) {
  const Job& job = step->job;
  JobRow& row = step->job.row;
  row.search_threshold = search_threshold(*step);
  update_job(job, "search_threshold = $1", {value(row.search_threshold)});
  if (signature_indexes(job) == NIL && is_searchable(*step)) create_index(*step);
  drop_temporary({step->tables.todo});
  if (row.follows()) end_list(*step);
  const bool changed = one_int64(count_changed_rows(*step), {clustered(*step)}) > 0;
  if (!changed && !row.recluster) {
    update_job(job, "clustered_rows = 0");
    if (!row.knows_result) store_result(job, result_hash(*step));
    return false;
  }
  return true;
}

void cluster(const RefreshStep& step) {
  const bool part = find_touched(step);
  const RefreshTables& t = step.tables;
  drop_temporary({t.fresh});
  const uint64 rows = run_statement(cluster_rows(step, part));
  run_statement(analyze_fresh_clusters(step));
  number_fresh_clusters(step);
  write_result(step, part);
  update_job(step.job, "clustered = refresh, clustered_rows = $2, recluster = false, next_cluster = next_cluster + $1",
             {value(one_int64(count_new_clusters(step))), value(static_cast<int64>(rows))});
  drop_temporary({t.fresh, t.ids, t.heirs, t.touched, t.edges, t.old});
}

}  // namespace neardup
