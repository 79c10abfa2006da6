#include "pg/jobs/refresh/refresh_step.h"

namespace neardup {

namespace {

QualifiedName temporary(const char* what, Oid job) {
  return QualifiedName("pg_temp", psprintf("neardup_%s_%u_%u", what, job, GetUserId()));
}

void demand_queue(const Job& job) {
  if (job.row.follows() && !OidIsValid(job.queue_oid))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("job %s has no queue any more", job.name),
                    errhint("SELECT alter_duplicates(%s, follow => 'trigger') makes it again.",
                            quote_literal_cstr(job.name))));
}

}  // namespace

RefreshStep read_step(const Job& job) {
  demand_source(job.row);
  demand_queue(job);
  const Profile profile = read_profile(job.row, job.function);
  const Oid oid = job.oid;
  return {job,
          profile,
          read_source(job.row, profile, job.function),
          {temporary("todo", oid), temporary("shape", oid), temporary("touched", oid), temporary("edges", oid),
           temporary("fresh", oid), temporary("heirs", oid), temporary("ids", oid), temporary("taken", oid),
           temporary("old", oid)}};
}

Sql step_sql(const RefreshStep& step, Pattern pattern, std::initializer_list<Placeholder> more) {
  const Placeholder common[] = {{"neardup", step.job.neardup},   {"job", step.job.job},
                                {"result", step.job.result},     {"signatures", step.job.signatures},
                                {"changes", step.job.changes},   {"todo", step.tables.todo},
                                {"shape", step.tables.shape},    {"touched", step.tables.touched},
                                {"edges", step.tables.edges},    {"fresh", step.tables.fresh},
                                {"heirs", step.tables.heirs},    {"ids", step.tables.ids},
                                {"taken", step.tables.taken},    {"old", step.tables.old},
                                {"queue", step.job.queue},       {"rows", step.source.rows},
                                {"same_id", step.source.same_id}};
  return sql(pattern, more, common, lengthof(common));
}

Oid temporary_table(const QualifiedName& table) {
  bool is_null;
  const Datum oid =
      one_value(sql("SELECT pg_catalog.to_regclass({name})", {{"name", Literal(table.text())}}), {}, &is_null);
  return is_null ? InvalidOid : DatumGetObjectId(oid);
}

void drop_temporary(std::initializer_list<QualifiedName> tables) {
  for (const QualifiedName& table : tables)
    if (OidIsValid(temporary_table(table))) run_statement(sql("DROP TABLE {table}", {{"table", table}}));
}

}  // namespace neardup
