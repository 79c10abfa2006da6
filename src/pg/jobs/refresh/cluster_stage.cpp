// ClusterStage: see refresh_stages.h.
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/jobs/refresh/refresh_statements.h"

namespace neardup {

uint64 ClusterStage::run() {
  drop_temporary({step_.tables.fresh});
  const uint64 rows = run_statement(cluster_rows(step_, part_));
  run_statement(analyze_fresh_clusters(step_));
  return rows;
}

}  // namespace neardup
