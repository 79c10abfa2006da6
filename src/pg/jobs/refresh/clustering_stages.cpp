// The stages from signatures to a result: they index, find, cluster and publish. See refresh_stages.h.
#include <cmath>
#include <limits>

#include "pg/jobs/refresh/measure.h"
#include "pg/jobs/refresh/job_state.h"
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/jobs/refresh/refresh_statements.h"
#include "pg/jobs/signature_table.h"

namespace neardup {

// Indexing

namespace {

// An index of a lower threshold than what is searched for tells candidates apart by how many bands they share: at a
// million rows of pages full of boilerplate a tenth of them is left.
constexpr double kIndexSlack = 0.05;
// Documents verified by edit rate: a difference of 1 in their similarity is one of this in that of their digests; and
// the least threshold.
constexpr double kEditRateFactor = 3;
constexpr double kLeastThreshold = 0.01;

}  // namespace

// Least similarity of signatures of rows that may be similar.
double IndexStage::search_threshold() const {
  const JobRow& row = step_->row();
  if (!row.verifies() || !std::isnan(row.verify_threshold)) return row.threshold;
  if (strcmp(row.verify, "edit_rate") == 0) return Max(1 - kEditRateFactor * (1 - row.threshold), kLeastThreshold);
  bool is_null;
  const Datum found = one_value(least_signature_similarity(*step_), {value(row.threshold)}, &is_null);
  return is_null ? std::numeric_limits<double>::quiet_NaN() : DatumGetFloat8(found);
}

// Long signatures may have too many bands for the first index, or for any: then all rows are clustered each time.
void IndexStage::create_index() const {
  // they may be of other parameters than those that have come
  run_statement(forget_gone_signatures(*step_));
  const bool is_minhash = step_->source.kind == Kind::minhash;
  for (const double slack : {kIndexSlack, 0.0}) {
    if (slack > 0 && !is_minhash) continue;
    ErrorData* error = run_undoing([&] { run_statement(create_signature_index(*step_, slack)); });
    if (error == nullptr) break;
    if (error->sqlerrcode != ERRCODE_PROGRAM_LIMIT_EXCEEDED) ReThrowError(error);
  }
  run_statement(analyze_signatures(*step_));
}

bool IndexStage::run() {
  const Job& job = step_->job;
  JobRow& row = step_->job.row;
  row.search_threshold = search_threshold();
  store_search_threshold(job, row.search_threshold);
  if (signature_indexes(job) == NIL && is_searchable(*step_)) create_index();
  drop_temporary({step_->tables.todo});
  const bool changed = one_int64(count_changed_rows(*step_), {value(row.clustered)}) > 0;
  if (!changed && !row.recluster) {
    store_nothing_clustered(job);
    if (!row.knows_result) store_result(job, result_hash(*step_));
    return false;
  }
  return true;
}

// Finding

namespace {

// In a chain of rows, each near the next, a change moves on by one row a round.
constexpr int kMaxRounds = 1000;
// A search costs as much as to cluster ten rows, and in more than a million rows more: an index that the memory does
// not hold. So much may be searched, of so many rows.
int64 max_touched(int64 rows) { return Min(rows / 10 + 10, 100000 + rows / 100); }
// Near rows that all searches may find together.
int64 max_found(int64 rows) { return 10 * rows + 100000; }

}  // namespace

// True if few rows have changed, and an index finds those near them.
bool FindStage::may_search() {
  const JobRow& row = step_.row();
  if (row.recluster || row.clustered == 0 || !is_searchable(step_) || signature_indexes(step_.job) == NIL) return false;
  rows_ = row.knows_result ? row.rows : one_int64(count_rows(step_));
  max_touched_ = max_touched(rows_);
  return one_int64(count_changed_rows(step_), {clustered()}) <= max_touched_;
}

// A large family of near rows: each would find all others.
bool FindStage::search_costs_too_much(int64 searches) const {
  const int64 found = one_int64(count_near_rows_of_sample(step_));
  return found * searches / Min(searches, int64{kSampledSearches}) > max_found(rows_);
}

// Searches from touched rows, and touches what is affected, until nothing is. False where it comes to no end.
bool FindStage::spread() {
  for (int round = 0; round < kMaxRounds; ++round) {
    const int64 unsearched = one_int64(count_unsearched_rows(step_));
    if (one_int64(count_touched_rows(step_)) > max_touched_) return false;
    if (unsearched == 0) return true;
    run_statement(analyze_touched_rows(step_));
    if (search_costs_too_much(unsearched)) return false;
    run_statement(search_near_rows(step_), {clustered()});
    run_statement(mark_searched_rows(step_));
    if (!step_.row().is_anchor()) return true;
    run_statement(analyze_edges(step_));
    run_statement(touch_affected_rows(step_));
  }
  return false;
}

bool FindStage::add_connected() const {
  run_statement(touch_near_rows(step_));
  run_statement(touch_rows_of_touched_clusters(step_), {clustered()});
  return one_int64(count_touched_rows(step_)) <= rows_ / 2;
}

void FindStage::add_representatives() const {
  run_statement(touch_settled_representatives(step_));
  run_statement(touch_representatives_of_changed_rows(step_), {clustered()});
}

bool FindStage::run() {
  if (!may_search()) return false;
  drop_temporary({step_.tables.touched, step_.tables.edges});
  run_statement(touch_changed_rows(step_), {clustered()});
  run_statement(key_touched_rows(step_));
  run_statement(create_edges(step_));
  const bool is_anchor = step_.row().is_anchor();
  if (is_anchor) run_statement(touch_rows_of_changed_representatives(step_), {clustered()});
  if (!spread()) return false;
  if (is_anchor)
    add_representatives();
  else if (!add_connected())
    return false;
  run_statement(analyze_touched_rows(step_));
  return true;
}

// Clustering

uint64 ClusterStage::run() {
  drop_temporary({step_.tables.fresh});
  const uint64 rows = run_statement(cluster_rows(step_, part_));
  run_statement(analyze_fresh_clusters(step_));
  return rows;
}

// Publishing

void PublishStage::number_clusters() const {
  drop_temporary({step_.tables.ids, step_.tables.heirs});
  run_statement(list_heirs(step_));
  run_statement(neardup::number_clusters(step_), {value(step_.row().next_cluster)});
  run_statement(analyze_numbers(step_));
  run_statement(analyze_heirs(step_));
}

void PublishStage::write() const {
  if (one_bool(is_result_empty(step_))) {
    run_statement(write_first_results(step_));
    run_statement(forget_gone_rows(step_));
    return;
  }
  run_statement(record_changes(step_, part_), {value(step_.row().refresh)});
  run_statement(delete_gone_results(step_, part_));
  run_statement(write_results(step_));
  if (part_) run_statement(move_rows_of_merged_clusters(step_));
  run_statement(forget_gone_rows(step_));
}

void PublishStage::run(uint64 clustered_rows) {
  number_clusters();
  write();
  // the next refresh reads few of these rows, by their indexes
  if (!part_) run_statement(analyze_results(step_));
  store_clustered(step_.job, one_int64(count_new_clusters(step_)), clustered_rows);
  store_result(step_.job, result_hash(step_));
  const RefreshTables& t = step_.tables;
  drop_temporary({t.fresh, t.ids, t.heirs, t.touched, t.edges});
}

}  // namespace neardup
