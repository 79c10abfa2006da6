// See job_settings.h.
#include "pg/jobs/job_settings.h"

#include <cmath>

#include "pg/jobs/job_statements.h"
#include "pg/profiles/profile_rules.h"
#include "pg/values/arrays.h"

namespace neardup {

namespace {

// NULL where JobRow says so.
SqlValue fraction_value(double v) { return std::isnan(v) ? value(FLOAT8OID, 0, true) : value(v); }
SqlValue interval_value(const Interval* v) { return value(INTERVALOID, PointerGetDatum(v), v == nullptr); }
SqlValue version_value(int32 v) { return value(INT4OID, Int32GetDatum(v), v == 0); }
SqlValue type_value(Oid v) { return value(REGTYPEOID, ObjectIdGetDatum(v), !OidIsValid(v)); }

}  // namespace

const char* lasting_profile_name(const char* name) {
  if (name == nullptr || built_in_profile(name) != nullptr) return name;
  const char* lasting = lasting_name(relation_named(cstring_to_text(name)));
  return lasting == nullptr ? name : lasting;
}

void store_settings(const Job& job) {
  const JobRow& row = job.row;
  run_statement(
      write_settings(job),
      {value(row.id), value(row.body), value(row.signature), fraction_value(row.threshold), value(row.profile),
       value(row.linkage), value(row.verify), fraction_value(row.verify_threshold), value(row.keep),
       value(row.order_by), value(row.at), interval_value(row.at_most_apart), value(row.filter), value(row.deleted),
       version_value(row.profile_version), type_value(row.body_type), value(row.resync)});
}

void store_measure(const Job& job) { run_statement(write_measure(job), {value(job.row.measure)}); }

SqlValue names_value(const char* const* names, int n) {
  auto* elements = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<size_t>(Max(n, 1))));
  for (int i = 0; i < n; ++i) elements[i] = DirectFunctionCall1(namein, CStringGetDatum(names[i]));
  return value(NAMEARRAYOID, array_datum(elements, static_cast<size_t>(n), NAMEOID));
}

}  // namespace neardup
