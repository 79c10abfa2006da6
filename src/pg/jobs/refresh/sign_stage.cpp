// SignStage: see refresh_stages.h.
#include "pg/jobs/refresh/job_state.h"
#include "pg/jobs/refresh/refresh_stages.h"
#include "pg/jobs/refresh/refresh_statements.h"
#include "pg/jobs/signature_table.h"

namespace neardup {
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
