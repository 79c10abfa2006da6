// See job.h.
#include "cli/base/job.h"

namespace neardup::cli {

std::optional<Extension> find_extension(Connection& db, const char* function) {
  const Result found = db.query(
      "SELECT pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.'), EXISTS ("
      "  SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid"
      "  WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass"
      "  AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'"
      "  AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass"
      "  AND p.proname OPERATOR(pg_catalog.=) $1)"
      " FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace"
      " WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'",
      Params().text(function));
  if (PQntuples(found.get()) == 0) return std::nullopt;
  return Extension{std::string(get_text(found, 0, 0)), get_bool(found, 0, 1)};
}

Extension require_extension(Connection& db) {
  const std::optional<Extension> extension = find_extension(db, "report_about");
  if (!extension)
    throw DatabaseError("the database has no extension neardup", "42704", false, "CREATE EXTENSION neardup;");
  if (!extension->has_function)
    throw DatabaseError("extension neardup of this database is of an older version than this program", "42883", false,
                        "ALTER EXTENSION neardup UPDATE; or the program of that version.");
  return *extension;
}

Job find_job(Connection& db, const std::string& name) {
  Job job{name, require_extension(db).schema, ""};
  job.table =
      get_text(db.query("SELECT neardup_internal.neardup_job_part(neardup_internal.neardup_job_table($1), '_job')",
                        Params().text(name)),
               0, 0);
  return job;
}

Result ask_job(Connection& db, const char* function, const std::string& more, const Params& params) {
  return db.query("SELECT * FROM neardup_internal." + std::string(function) + "($1::pg_catalog.regclass" + more + ")",
                  params);
}

Result ask_job(Connection& db, const Job& job, const char* function, const std::string& more) {
  return ask_job(db, function, more, Params().text(job.table));
}

JobCounts count_job(Connection& db, const Job& job) {
  const Result found = ask_job(db, job, "job_counts");
  return {get_int8(found, 0, 0), get_int8(found, 0, 1), get_int8(found, 0, 2), get_int8(found, 0, 3),
          get_int8(found, 0, 4)};
}

}  // namespace neardup::cli
