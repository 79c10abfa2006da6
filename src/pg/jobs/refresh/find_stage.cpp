// FindStage: see refresh_stages.h.
#include "pg/jobs/refresh/measure.h"
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/jobs/refresh/refresh_statements.h"
#include "pg/jobs/signature_table.h"

namespace neardup {

namespace {

// In a chain of rows, each near the next, a change moves on by one row a round.
constexpr int kMaxRounds = 1000;
// A search costs as much as to cluster ten rows, and in more than a million rows more: an index that the memory does
// not hold. So much may be searched, of so many rows.
int64 max_touched(int64 rows) { return Min(rows / 10 + 10, 100000 + rows / 100); }
// Near rows that all searches may find together.
int64 max_found(int64 rows) { return 10 * rows + 100000; }

}  // namespace

// Whether few rows have changed, and an index finds those near them.
bool FindStage::may_search() {
  const JobRow& row = step_.row();
  if (row.recluster || row.clustered == 0 || !measure_of(step_).is_searchable(step_) ||
      signature_indexes(step_.job) == NIL)
    return false;
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

}  // namespace neardup
