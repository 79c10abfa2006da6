// A job of create_duplicates(): where its tables are.
#include "cli/base/job.h"

namespace neardup::cli {

std::string extension_schema(Connection& db) {
  const Result extension = db.query(
      "SELECT pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' FROM pg_catalog.pg_extension e"
      " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace"
      " WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'");
  if (PQntuples(extension.get()) == 0) {
    throw DatabaseError("the database has no extension neardup", "42704", false, "CREATE EXTENSION neardup;");
  }
  return std::string(get_text(extension, 0, 0));
}

std::string schema_of_function(Connection& db, const char* name) {
  const Result found = db.query(
      "SELECT pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' FROM pg_catalog.pg_extension e"
      " JOIN pg_catalog.pg_depend d ON d.refclassid OPERATOR(pg_catalog.=) "
      "'pg_catalog.pg_extension'::pg_catalog.regclass"
      "  AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'"
      "  AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass"
      " JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid"
      " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace"
      " WHERE e.extname OPERATOR(pg_catalog.=) 'neardup' AND p.proname OPERATOR(pg_catalog.=) $1",
      Params().text(name));
  return PQntuples(found.get()) == 0 ? "" : std::string(get_text(found, 0, 0));
}

Job find_job(Connection& db, const std::string& name) {
  Job job;
  job.name = name;
  job.extension = extension_schema(db);
  job.internal = schema_of_function(db, "neardup_job_table");
  if (job.internal.empty()) {
    throw DatabaseError("extension neardup of this database is of a version without jobs", "42883", false,
                        "ALTER EXTENSION neardup UPDATE;");
  }
  const std::string part = job.internal + "neardup_job_part(j, ";
  const Result found = db.query("SELECT j::pg_catalog.oid::pg_catalog.int8, " + part + "''), " + part +
                                    "'_changes'), " + part + "'_job') FROM " + job.internal + "neardup_job_table($1) j",
                                Params().text(name));
  job.oid = get_int8(found, 0, 0);
  job.result = get_text(found, 0, 1);
  job.changes = get_text(found, 0, 2);
  job.job = get_text(found, 0, 3);
  return job;
}

void restrict_search_path(Connection& db) { db.query("SET search_path = pg_catalog"); }

void restrict_search_path(Connection& db, const Job& job) {
  restrict_search_path(db);
  // An enum, an array or a range has the operators of pg_catalog. In its schema others may have put one that fits
  // better.
  db.query(
      "SELECT pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog',"
      " (WITH RECURSIVE below(type) AS (SELECT a.atttypid FROM pg_catalog.pg_attribute a"
      "    WHERE a.attrelid = $1::pg_catalog.regclass AND a.attname = 'id'"
      "   UNION ALL SELECT t.typbasetype FROM below b JOIN pg_catalog.pg_type t ON t.oid = b.type AND t.typtype = 'd')"
      "  SELECT pg_catalog.quote_ident(n.nspname) FROM below b"
      "  JOIN pg_catalog.pg_opclass c ON c.opcintype = b.type AND c.opcdefault"
      "  JOIN pg_catalog.pg_am m ON m.oid = c.opcmethod AND m.amname = 'btree'"
      "  JOIN pg_catalog.pg_amop f ON f.amopfamily = c.opcfamily AND f.amoplefttype = b.type"
      "   AND f.amoprighttype = b.type AND f.amopstrategy = 3"
      "  JOIN pg_catalog.pg_operator o ON o.oid = f.amopopr JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace"
      "  WHERE n.nspname <> 'pg_catalog')), false)",
      Params().text(job.result));
}

std::string shown(const std::string& value) {
  return "CASE WHEN " + value + " IS NOT NULL THEN pg_catalog.format('%s', " + value + ") END";
}

JobCounts count_job(Connection& db, const Job& job) {
  const Result found = db.query(
      "SELECT COALESCE(sum(n), 0)::int8, count(*) FILTER (WHERE n > 1), COALESCE(sum(n) FILTER (WHERE n > 1), 0)::int8,"
      " COALESCE(max(n), 0), COALESCE(sum(others) FILTER (WHERE n > 1), 0)::int8"
      " FROM (SELECT count(*) AS n, count(*) FILTER (WHERE NOT survivor) AS others FROM " +
      job.result + " GROUP BY cluster) c");
  return {get_int8(found, 0, 0), get_int8(found, 0, 1), get_int8(found, 0, 2), get_int8(found, 0, 3),
          get_int8(found, 0, 4)};
}

}  // namespace neardup::cli
