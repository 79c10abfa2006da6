// create_duplicates(): a job and its tables.
#include "pg/jobs/job_arguments.h"

#include "pg/jobs/follow_triggers.h"
#include "pg/base/held_names.h"
#include "pg/jobs/job_lock.h"
#include "pg/jobs/job_checks.h"
#include "pg/jobs/job_expressions.h"
#include "pg/jobs/signature_table.h"
#include "pg/sql/new_table.h"
#include "pg/sql/statement_scope.h"
#include "pg/values/arrays.h"

namespace {

using namespace neardup;

enum Argument : uint8_t {
  kName,
  kSource,
  kId,
  kBody,
  kSignature,
  kThreshold,
  kProfile,
  kLinkage,
  kVerify,
  kVerifyThreshold,
  kKeep,
  kOrderBy,
  kWithin,
  kAt,
  kAtMostApart,
  kFilter,
  kDeleted,
  kMeasure,
  kFollow,
};

// The caller's arguments. Names and expressions mean here what they mean to him.
JobRow row_given(const JobArguments& given) {
  JobRow row = {};
  row.source = given.oid(kSource);
  row.id = given.name(kId);
  row.body = given.name(kBody);
  row.signature = given.name(kSignature);
  row.threshold = given.fraction(kThreshold, "threshold");
  row.profile = lasting_profile_name(given.string(kProfile));
  row.linkage = given.string(kLinkage);
  row.verify = given.string(kVerify);
  row.verify_threshold = given.fraction(kVerifyThreshold, "verify_threshold");
  row.keep = given.string(kKeep);
  row.order_by = given.string(kOrderBy);
  row.within = given.names(kWithin, "within", &row.n_within);
  row.at = given.name(kAt);
  row.at_most_apart = given.interval(kAtMostApart);
  row.filter = given.string(kFilter);
  row.deleted = given.string(kDeleted);
  row.measure = given.string(kMeasure);
  if (OidIsValid(row.source)) qualify_expressions(&row);  // else it is refused before they are used
  return row;
}

// The table of the job, without a row.
void make_job_table(Job* job) {
  const bool is_ours =
      made_first({job->job}, [&] { run_statement(job_sql(*job, "CREATE TABLE {job} OF {neardup}.neardup_job")); });
  if (!is_ours)
    ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE), errmsg("relation %s exists already", job->job.text()),
                    errhint("drop_duplicates() drops a table of duplicates with its job; or choose another name.")));
  job->oid = made_here(cstring_to_text(job->job.text()));
  // A publication of all tables lets none be updated that has no key.
  run_statement(job_sql(*job, "ALTER TABLE {job} REPLICA IDENTITY FULL"));
}

// ", within_1 AS name, .."
Sql within_columns(const JobRow& row) {
  SqlList columns("");
  for (int i = 0; i < row.n_within; ++i)
    columns.add(sql(", {value} AS {name}",
                    {{"value", Identifier(psprintf("within_%d", i + 1))}, {"name", Identifier(row.within[i])}}));
  return columns.all();
}

void make_result_table(Job* job, const JobSource& source, const char* given_name) {
  run_statement(job_sql(*job, R"(
    CREATE TABLE {result} AS
    SELECT id, NULL::bigint AS cluster, id AS representative, NULL::float8 AS similarity,
           NULL::boolean AS survivor, NULL::timestamptz AS found_at{within}
    FROM ({rows}) l
    WITH NO DATA)",
                        {{"within", within_columns(job->row)}, {"rows", source.rows}}));
  job->result_oid = made_here(cstring_to_text(job->result.text()));
  run_statement(job_sql(*job, R"(
    ALTER TABLE {result}
      ADD PRIMARY KEY (id), ALTER cluster SET NOT NULL, ALTER representative SET NOT NULL,
      ALTER survivor SET NOT NULL, ALTER found_at SET NOT NULL)"));
  run_statement(job_sql(*job, "CREATE INDEX ON {result} (cluster)"));
  const char* text = psprintf("near duplicates among the rows of %s, kept by refresh_duplicates(%s)",
                              qualified_name(job->row.source), quote_literal_cstr(given_name));
  run_statement(job_sql(*job, "COMMENT ON TABLE {result} IS {text}", {{"text", Literal(text)}}));
}

void make_changes_table(Job* job) {
  run_statement(job_sql(*job, R"(
    CREATE TABLE {changes}
      (refresh bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(), change text NOT NULL,
       cluster bigint NOT NULL, other bigint))"));
  job->changes_oid = made_here(cstring_to_text(job->changes.text()));
}

// name[]
SqlValue names_value(const char* const* names, int n) {
  auto* elements = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<size_t>(Max(n, 1))));
  for (int i = 0; i < n; ++i) elements[i] = DirectFunctionCall1(namein, CStringGetDatum(names[i]));
  return value(NAMEARRAYOID, array_datum(elements, static_cast<size_t>(n), NAMEOID));
}

void write_row(const Job& job) {
  run_statement(job_sql(job, R"(
    INSERT INTO {job}
      (source, within, result, signatures, changes, refresh, clustered, next_cluster, paused, phase)
    VALUES ($1, $2, $3, $4, $5, 0, 0, 1, false, 'new'))"),
                {relation_value(job.row.source), names_value(job.row.within, job.row.n_within),
                 relation_value(job.result_oid), relation_value(job.signatures_oid), relation_value(job.changes_oid)});
  store_settings(job);
}

QualifiedName name_beside(const NewName& name, const char* suffix) {
  return QualifiedName(name.schema, psprintf("%s%s", name.name, suffix));
}

// A job of which nothing is made yet.
Job new_job(const NewName& name, const JobRow& row, Oid function) {
  Job job = {};
  job.function = function;
  job.neardup = extension_schema(function);
  job.row = row;
  job.job = name_beside(name, kJobSuffix);
  job.result = name_beside(name, part_suffix(JobPart::result));
  job.signatures = name_beside(name, part_suffix(JobPart::signatures));
  job.changes = name_beside(name, part_suffix(JobPart::changes));
  return job;
}

void make_job(Job* job, const Profile& profile, const char* given_name, bool follows) {
  const JobSource source = read_source(job->row, profile, job->function);
  make_job_table(job);
  make_result_table(job, source, given_name);
  make_changes_table(job);
  job->signatures_oid = create_signatures(*job, source);
  write_row(*job);
  if (follows) begin_following(job, source);
  with_open_job(job->oid, job->function, [&](const OpenJob& opened) { adopt_parts(opened); });
}

}  // namespace

// create_duplicates(name text, source regclass, id name, body name, signature name, threshold float8, profile text,
//   linkage text, verify text, verify_threshold float8, keep text, order_by text, within name[], at name,
//   at_most_apart interval, filter text, deleted text, measure text, follow text) -> regclass: the result
SQL_FUNCTION(neardup_create_duplicates) {
  const Oid function = fcinfo->flinfo->fn_oid;
  const JobArguments given(fcinfo);
  const NewName name = new_name(given.string(kName), kWhatJobsAre, kMaxJobNameBytes);
  const bool follows = follows_by_trigger(given.string(kFollow), false);
  Job job = new_job(name, row_given(given), function);
  with_statements([&] {
    check_new_columns(job.row);
    if (job.row.body == nullptr) job.row.profile = nullptr;
    const Profile profile = read_profile(job.row, function);
    follow_profile(&job.row, profile);
    check_job(job.row, profile, function);
    check_within_names(job.row);
    if (follows) check_followable(job.row);
    make_job(&job, profile, given.string(kName), follows);
  });
  PG_RETURN_OID(job.result_oid);
}
