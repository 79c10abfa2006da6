// See job_source.h.
#include "cli/base/job_source.h"

namespace neardup::cli {
namespace {

// Columns of two collations can be compared only by a collation that the comparison names.
constexpr const char* kByteOrder = " COLLATE pg_catalog.\"C\"";

}  // namespace

JobIds job_ids(Connection& db, const Job& job) {
  const Result source = db.query(
      "SELECT j.id, COALESCE((SELECT c.oid::pg_catalog.regclass::text FROM pg_catalog.pg_class c"
      "  WHERE c.oid = j.source::pg_catalog.oid), '') FROM " +
          job.internal + "neardup_job_row($1::pg_catalog.regclass) j",
      Params().text(job.job));
  JobIds ids;
  ids.column = get_text(source, 0, 0);
  ids.source = get_text(source, 0, 1);
  const Result sides = db.query(
      "WITH RECURSIVE columns(side, relation, name) AS (SELECT 1::int8, source::pg_catalog.oid, id FROM " +
          job.internal +
          "neardup_job_row($1::pg_catalog.regclass) UNION ALL SELECT 2::int8, $2::pg_catalog.regclass::pg_catalog.oid, "
          "'id'),"
          " below(side, declared, type, collated) AS (SELECT c.side, a.atttypid, a.atttypid, a.attcollation FROM "
          "columns c"
          "   JOIN pg_catalog.pg_attribute a ON a.attrelid = c.relation AND a.attname = c.name AND a.attnum > 0 AND "
          "NOT "
          "a.attisdropped"
          "  UNION ALL SELECT b.side, b.declared, t.typbasetype, b.collated FROM below b"
          "   JOIN pg_catalog.pg_type t ON t.oid = b.type AND t.typtype = 'd')"
          " SELECT b.side, pg_catalog.format_type(b.declared, NULL),"
          "  pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(t.typname), n.nspname = 'pg_catalog',"
          "  b.collated::int8"
          " FROM below b JOIN pg_catalog.pg_type t ON t.oid = b.type AND t.typtype <> 'd'"
          " JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace ORDER BY b.side",
      Params().text(job.job).text(job.result));
  const int n = PQntuples(sides.get());
  for (int i = 0; i < n; ++i) (get_int8(sides, i, 0) == 1 ? ids.source_type : ids.result_type) = get_text(sides, i, 1);
  if (n < 2) return ids;
  const bool built_in = get_bool(sides, 0, 3) && get_bool(sides, 1, 3);
  if (get_text(sides, 0, 2) == get_text(sides, 1, 2)) {
    ids.cast = "::" + std::string(get_text(sides, 0, 2));
    if (built_in && get_int8(sides, 0, 4) != get_int8(sides, 1, 4)) ids.cast += kByteOrder;
  } else if (built_in) {
    ids.cast = "::pg_catalog.text" + std::string(kByteOrder);
  }
  return ids;
}

std::string same_ids(const JobIds& ids, const std::string& a, const std::string& b) {
  return a + ids.cast + " = " + b + ids.cast;
}

std::string ids_problem(const JobIds& ids) {
  if (ids.source.empty()) return "the source of the job has been dropped";
  const std::string column = "column \"" + printable(ids.column) + "\"";
  if (ids.source_type.empty()) return column + " of " + ids.source + " does not exist";
  return column + " of " + ids.source + " is " + ids.source_type + ", and was " + ids.result_type + " at the last run";
}

std::string ids_cure(const JobIds& ids) {
  if (ids.source.empty()) return "drop_duplicates() drops the job.";
  if (ids.source_type.empty()) return "If it was renamed: SELECT alter_duplicates(.., id => 'new_name').";
  return "neardup run writes the table of duplicates again.";
}

SourcePaths source_paths(Connection& db, const Job& job, const std::string& column) {
  const Result found = db.query(
      "SELECT COALESCE(pg_catalog.format_type(a.atttypid, NULL), ''),"
      " COALESCE(pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'), false),"
      " COALESCE('SELECT ' || pg_catalog.quote_ident(j.id) || ' AS id, ' || pg_catalog.quote_ident(a.attname) ||"
      "  ' AS path FROM ' || c.oid::pg_catalog.regclass::text || ' WHERE true' ||"
      "  COALESCE(' AND (' || j.filter || E'\\n)', '') || COALESCE(' AND (' || j.deleted || E'\\n) IS NOT TRUE', ''), "
      "'')"
      " FROM " +
          job.internal +
          "neardup_job_row($1::pg_catalog.regclass) j LEFT JOIN pg_catalog.pg_class c ON c.oid = "
          "j.source::pg_catalog.oid"
          " LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = $2 AND a.attnum > 0"
          "  AND NOT a.attisdropped",
      Params().text(job.job).text(column));
  return {std::string(get_text(found, 0, 0)), get_bool(found, 0, 1), std::string(get_text(found, 0, 2))};
}

}  // namespace neardup::cli
