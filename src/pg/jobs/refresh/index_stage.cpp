// IndexStage: see refresh_stages.h.
#include <cmath>
#include <limits>

#include "pg/jobs/refresh/job_state.h"
#include "pg/jobs/refresh/measure.h"
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/jobs/refresh/refresh_statements.h"
#include "pg/jobs/signature_table.h"

namespace neardup {

namespace {

// An index of a lower threshold than what is searched for tells candidates apart by how many bands they share: at a
// million rows of pages full of boilerplate a tenth of them is left.
constexpr double kIndexSlack = 0.05;
// Of documents verified by edit rate: what a difference of 1 in their similarity is in that of their digests, and the
// least.
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
  const bool is_minhash = step_->source.kind == SignatureKind::minhash;
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
  if (signature_indexes(job) == NIL && measure_of(*step_).is_searchable(*step_)) create_index();
  drop_temporary({step_->tables.todo});
  const bool changed = one_int64(count_changed_rows(*step_), {value(row.clustered)}) > 0;
  if (!changed && !row.recluster) {
    store_nothing_clustered(job);
    if (!row.knows_result) store_result(job, result_hash(*step_));
    return false;
  }
  return true;
}

}  // namespace neardup
