// SignStage: see refresh_stages.h.
#include "pg/jobs/job_state.h"
#include "pg/jobs/refresh_stages.h"
#include "pg/jobs/refresh_statements.h"
#include "pg/jobs/signature_table.h"

namespace neardup {

void SignStage::sign(int64 after, int64 upto) const {
  const JobRow& row = step_.row();
  const Value first = value(after);
  const Value last = value(upto);
  const Value refresh = value(row.refresh);
  // Without a look for rows that are known: rows signed by a refresh that did not end may be among them.
  const bool all_new = row.clustered == 0 && run_undoing([&] {
                                               run_statement(sign_new_rows(step_), {first, last, refresh});
                                             }) == nullptr;
  if (!all_new) run_statement(sign_listed_rows(step_), {first, last, refresh, value(row.verifies())});
  run_statement(mark_gone_rows(step_), {first, last, refresh});
}

void SignStage::run(int64 after, int64 upto) {
  const JobRow& row = step_.row();
  ErrorData* error = run_undoing([&] { sign(after, upto); });
  if (error == nullptr) return;
  if (error->sqlerrcode == ERRCODE_CARDINALITY_VIOLATION)
    ereport(ERROR, (errcode(ERRCODE_CARDINALITY_VIOLATION),
                    errmsg("the column \"%s\" of %s is not unique", row.id, qualified_name(row.source))));
  // The column has signatures of other parameters now, which only another index takes.
  if (error->sqlerrcode != ERRCODE_DATATYPE_MISMATCH || row.signature == nullptr || signature_indexes(step_.job) == NIL)
    ReThrowError(error);
  drop_signature_indexes(step_.job);
  demand_clustering(step_.job);
  sign(after, upto);
}

}  // namespace neardup
