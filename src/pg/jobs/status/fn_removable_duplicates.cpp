// removable_duplicates(): the rows of a job's source that may be deleted now, because the row that they are copies of
// is kept. Both are locked until the transaction ends.
#include "pg/values/values.h"

#include "pg/base/local_settings.h"
#include "pg/base/result_row.h"
#include "pg/jobs/refresh/refresh_step.h"
#include "pg/sql/run_statement.h"

extern "C" {
#include "tcop/utility.h"
}

namespace {

using namespace neardup;

// The most rows of one call, whose ids are in memory.
constexpr int32 kMaxRemovableRows = 5000000;

// A row g of the signatures that the latest clusters are of: one that was signed since is not in them as it is now.
Sql is_clustered(const RefreshStep& step, const char* g) {
  return sql("NOT {g}.gone AND {g}.generation <= {clustered}",
             {{"g", Identifier(g)}, {"clustered", Literal::number(step.row().clustered)}});
}

Sql has_version(const char* g, const char* l) {
  return sql("{l}.origin = {g}.origin AND {l}.place = {g}.place AND {l}.version = {g}.version",
             {{"g", Identifier(g)}, {"l", Identifier(l)}});
}

// A row l of the source is what it was when g was signed. Documents of a job that verifies are read again when it
// clusters: there only the same version of a row is the same document.
Sql is_unchanged(const RefreshStep& step, const char* g, const char* l) {
  return sql("{g}.content IS NOT DISTINCT FROM {l}.content AND NOT ({kept_differ}){version}",
             {{"g", Identifier(g)},
              {"l", Identifier(l)},
              {"kept_differ", kept_differ(step.source, g, l)},
              {"version", step.row().verifies() ? sql(" AND {same}", {{"same", has_version(g, l)}}) : sql("")}});
}

// The same before the locks, where a document need not be read if nobody has written its row.
Sql seems_unchanged(const RefreshStep& step, const char* g, const char* l) {
  return sql("CASE WHEN {same} THEN true ELSE {is_unchanged} END",
             {{"same", has_version(g, l)}, {"is_unchanged", is_unchanged(step, g, l)}});
}

// Rows that may go, by what can be read without locks. $1: the most rows.
Sql removable_rows(const RefreshStep& step) {
  return step_sql(step, R"(
    SELECT r.id, r.representative, r.similarity
    FROM {result} r JOIN {result} k ON k.id {same_id} r.representative AND k.survivor
         JOIN {signatures} g ON g.id {same_id} r.id AND {row_is_clustered}
         JOIN {signatures} h ON h.id {same_id} k.id AND {kept_is_clustered}
         JOIN ({states}) l ON l.id {same_id} g.id AND {row_seems_unchanged}
         JOIN ({states}) m ON m.id {same_id} h.id AND {kept_seems_unchanged}
    WHERE NOT r.survivor
    LIMIT $1)",
                  {{"row_is_clustered", is_clustered(step, "g")},
                   {"kept_is_clustered", is_clustered(step, "h")},
                   {"row_seems_unchanged", seems_unchanged(step, "g", "l")},
                   {"kept_seems_unchanged", seems_unchanged(step, "h", "m")},
                   {"states", step.source.states}});
}

// $1: ids of rows, which are locked in the order of ids. The ids of those that are there.
Sql lock_rows(const RefreshStep& step, Pattern strength) {
  return step_sql(step, R"(
    SELECT l.{id}
    FROM {source} l
    WHERE EXISTS (SELECT FROM unnest($1) a(id) WHERE a.id {same_id} l.{id})
    ORDER BY 1
    FOR {strength})",
                  {{"id", source_value(step.row().source, step.row().id, "id")},
                   {"source", QualifiedName::held(step.row().source)},
                   {"strength", sql(strength)}});
}

// Those of the rows $1, copies of $2 with similarity $3, that may go. $4: ids of the rows that are locked. CASE: the
// planner expects most rows to be unchanged.
Sql unchanged_rows(const RefreshStep& step, Oid id_type) {
  return step_sql(step, R"(
    SELECT w.id::{id_type}, w.representative::{id_type}, w.similarity, w.id
    FROM unnest($1, $2, $3) w(id, representative, similarity)
         JOIN unnest($4) x(id) ON x.id {same_id} w.id
         JOIN unnest($4) y(id) ON y.id {same_id} w.representative
         JOIN {signatures} g ON g.id {same_id} w.id AND {row_is_clustered}
         JOIN {signatures} h ON h.id {same_id} w.representative AND {kept_is_clustered}
         JOIN ({states}) l ON l.id {same_id} g.id AND CASE WHEN {row_is_unchanged} THEN true ELSE false END
         JOIN ({states}) m ON m.id {same_id} h.id AND CASE WHEN {kept_is_unchanged} THEN true ELSE false END
    ORDER BY w.id)",
                  {{"id_type", neardup::TypeName(id_type)},
                   {"row_is_clustered", is_clustered(step, "g")},
                   {"kept_is_clustered", is_clustered(step, "h")},
                   {"row_is_unchanged", is_unchanged(step, "g", "l")},
                   {"kept_is_unchanged", is_unchanged(step, "h", "m")},
                   {"states", step.source.states}});
}

// Values of one type, which become a parameter of a statement. The planner knows how many they are.
class Values {
 public:
  explicit Values(Oid type) : type_(type), state_(initArrayResult(type, CurrentMemoryContext, false)) {}

  void add(HeapTuple tuple, TupleDesc desc, int column) {
    bool is_null;
    const Datum found = SPI_getbinval(tuple, desc, column, &is_null);
    accumArrayResult(state_, found, is_null, type_, CurrentMemoryContext);
  }
  SqlValue array() const { return value(get_array_type(type_), makeArrayResult(state_, CurrentMemoryContext)); }

 private:
  Oid type_;
  ArrayBuildState* state_;
};

// Locks the rows that may go and those that they are copies of, and puts what is still so under the locks. Each
// statement sees what others have committed before it, or raises an error where the isolation of the transaction does
// not allow that.
//
// The first lock keeps both kinds of rows as they are, and lets others refer to the rows that stay. All are locked in
// the order of their ids: so calls do not wait for each other in a circle, whatever the clusters of their times. Only
// then are rows that go locked as DELETE does it, so that nothing comes to refer to them: no call waits for this one.
void put_removable_rows(ReturnSetInfo* rows, const RefreshStep& step, Oid id_type, int32 max_rows) {
  const Oid stored_type = step.source.id_type;
  Values ids(stored_type);
  Values representatives(stored_type);
  Values similarities(FLOAT8OID);
  Values both(stored_type);
  for_each_row(removable_rows(step), {value(max_rows)}, [&](HeapTuple tuple, TupleDesc desc) {
    ids.add(tuple, desc, 1);
    representatives.add(tuple, desc, 2);
    similarities.add(tuple, desc, 3);
    both.add(tuple, desc, 1);
    both.add(tuple, desc, 2);
  });
  Values locked(stored_type);
  for_each_row(lock_rows(step, "NO KEY UPDATE"), {both.array()},
               [&](HeapTuple tuple, TupleDesc desc) { locked.add(tuple, desc, 1); });
  Values going(stored_type);
  for_each_row(unchanged_rows(step, id_type),
               {ids.array(), representatives.array(), similarities.array(), locked.array()},
               [&](HeapTuple tuple, TupleDesc desc) {
                 put_columns(rows, tuple, desc);
                 going.add(tuple, desc, 4);
               });
  run_statement(lock_rows(step, "UPDATE"), {going.array()});
}

// True if a column that the job stores has another type in the source by now: its values cannot be compared.
Sql types_differ(const RefreshStep& step) {
  SqlList of_source;
  SqlList of_signatures;
  const auto add = [&](const Identifier& column) {
    of_source.add(sql("pg_typeof(l.{column})", {{"column", column}}));
    of_signatures.add(sql("pg_typeof(g.{column})", {{"column", column}}));
  };
  add(Identifier("id"));
  for (int i = 0; i < step.source.n_kept; ++i) add(step.source.kept[i]);
  return step_sql(step, R"(
    SELECT ROW({of_source}) IS DISTINCT FROM ROW({of_signatures})
    FROM (SELECT) one LEFT JOIN (SELECT s.* FROM ({rows}) s LIMIT 0) l ON true
         LEFT JOIN (SELECT s.* FROM {signatures} s LIMIT 0) g ON true)",
                  {{"of_source", of_source.all()}, {"of_signatures", of_signatures.all()}});
}

// Rows of views are those of other tables, and what another server has may change without a lock of ours.
void demand_table(const RefreshStep& step) {
  const Oid source = step.row().source;
  const char kind = get_rel_relkind(source);
  if (step.source.stored && (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE)) return;
  ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                  errmsg("rows of %s, the source of job %s, cannot be locked", qualified_name(source), step.job.name),
                  errdetail("removable_duplicates() is for tables, partitioned or not, without foreign partitions."),
                  errhint("Create a job over the table itself, with a filter where the view has a condition.")));
}

void demand_right_to_lock(Oid source) {
  if (pg_class_aclcheck(source, GetUserId(), ACL_UPDATE) == ACLCHECK_OK) return;
  if (pg_attribute_aclcheck_all(source, GetUserId(), ACL_UPDATE, ACLMASK_ANY) == ACLCHECK_OK) return;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for table %s", get_rel_name(source)),
           errdetail("removable_duplicates() locks rows, which requires the privilege UPDATE.")));
}

// The clusters are what the job says now: of its settings and its profile, and of types that can be compared.
void demand_current(const RefreshStep& step) {
  JobRow row = step.row();
  const bool is_current = row.clustered > 0 && row.qualified && !row.recluster && !follow_profile(&row, step.profile) &&
                          !one_bool(types_differ(step));
  if (is_current) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("the clusters of job %s are out of date", step.job.name),
                  errdetail("It was never refreshed to the end, or it, its profile or a type of its source has changed "
                            "since."),
                  errhint("CALL refresh_duplicates(%s);", quote_literal_cstr(step.job.name))));
}

void demand_id_type(const RefreshStep& step, Oid id_type, bool any_integer) {
  const Oid has = step.source.id_type;
  if (!OidIsValid(get_array_type(has)))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("removable_duplicates() does not take ids of type %s, which has no array type",
                           format_type_be(has))));
  if (id_type == has || (any_integer && (has == INT2OID || has == INT4OID))) return;
  const char* name = format_type_be(has);
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("the ids of job %s are %s, not %s", step.job.name, name, format_type_be(id_type)),
                  errhint("Write removable_duplicates(%s, id => NULL::%s).", quote_literal_cstr(step.job.name), name)));
}

int32 max_rows_argument(FunctionCallInfo fcinfo, int n) {
  if (PG_ARGISNULL(n)) return kMaxRemovableRows;
  const int32 most = PG_GETARG_INT32(n);
  if (most < 1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("max_rows must be at least 1: %d", most),
                    errhint("NULL returns all rows.")));
  return Min(most, kMaxRemovableRows);
}

// max_rows: the number of that argument.
Datum removable_duplicates(FunctionCallInfo fcinfo, int max_rows, Oid id_type, bool any_integer) {
  const Oid function = fcinfo->flinfo->fn_oid;
  const text* name = DatumGetTextPP(argument(fcinfo, 0, "name"));
  const int32 most = max_rows_argument(fcinfo, max_rows);
  PreventCommandIfReadOnly("removable_duplicates()");
  ReturnSetInfo* rows = begin_rows(fcinfo);
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  const Oid job = job_named(name, function);
  const CatalogPath path = CatalogPath::begin();
  const RefreshStep step = read_step(read_own_job(job, function));
  demand_id_type(step, id_type, any_integer);
  demand_table(step);
  demand_right_to_lock(step.row().source);
  demand_current(step);
  put_removable_rows(rows, step, id_type, most);
  path.end();
  SPI_finish();
  return static_cast<Datum>(0);
}

}  // namespace

// removable_duplicates(name text, max_rows int) -> setof (id bigint, representative bigint, similarity float8)
SQL_FUNCTION(neardup_removable_duplicates) { return removable_duplicates(fcinfo, 1, INT8OID, true); }

// removable_duplicates(name text, id anyelement, max_rows int)
//   -> setof (id anyelement, representative anyelement, similarity float8)
SQL_FUNCTION(neardup_removable_duplicates_of_ids) {
  const Oid id_type = get_fn_expr_argtype(fcinfo->flinfo, 1);
  if (!PG_ARGISNULL(1))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("id names the type of the ids and must be NULL"),
                    errhint("Write id => NULL::uuid, or max_rows => for a number.")));
  if (!OidIsValid(id_type)) elog(ERROR, "could not determine the type of the ids");
  return removable_duplicates(fcinfo, 2, id_type, false);
}
