// PublishStage: see refresh_stages.h.
#include "pg/jobs/refresh/job_state.h"
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/jobs/refresh/refresh_statements.h"

namespace neardup {

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
