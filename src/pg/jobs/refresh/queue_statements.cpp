// The statements by which a refresh reads the queue of a job: see refresh_statements.h.
#include "pg/jobs/refresh/refresh_statements.h"

namespace neardup {

Sql copy_entries(const RefreshStep& step) {
  return step_sql(step, "CREATE TEMP TABLE {taken} AS SELECT q.entry, q.id FROM {queue} q");
}
Sql index_taken_entries(const RefreshStep& step) { return step_sql(step, "CREATE INDEX ON {taken} (id)"); }
Sql analyze_taken_entries(const RefreshStep& step) { return step_sql(step, "ANALYZE {taken}"); }

Sql must_compare_all(const RefreshStep& step) {
  return step_sql(step, "SELECT EXISTS (SELECT FROM {taken} WHERE id IS NULL)");
}

// They go by their keys: a row may have been queued again.
Sql delete_signed_entries(const RefreshStep& step) {
  return step_sql(step, R"(
    DELETE FROM {queue} q
    USING {todo} t JOIN {taken} k ON k.id {same_id} t.id
    WHERE t.n > $1 AND t.n <= $2 AND q.entry = k.entry)");
}
Sql delete_taken_entries(const RefreshStep& step) {
  return step_sql(step, "DELETE FROM {queue} q USING {taken} k WHERE q.entry = k.entry");
}

Sql list_queued_rows(const RefreshStep& step) {
  return step_sql(step, R"(
    CREATE TEMP TABLE {todo} AS
    SELECT row_number() OVER () AS n, t.id, NOT EXISTS (SELECT FROM ({rows}) l WHERE l.id {same_id} t.id) AS gone
    FROM (SELECT DISTINCT k.id FROM {taken} k) t)");
}

}  // namespace neardup
