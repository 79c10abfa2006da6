// alter_duplicates(): a job with other settings.
#include <cmath>
#include <limits>

#include "pg/jobs/job_arguments.h"

#include "pg/base/open_table.h"
#include "pg/jobs/follow_triggers.h"
#include "pg/jobs/job_lock.h"
#include "pg/jobs/job_checks.h"
#include "pg/jobs/job_expressions.h"
#include "pg/jobs/signature_table.h"
#include "pg/sql/statement_scope.h"

namespace {

using namespace neardup;

enum Argument : uint8_t {
  kName,
  kThreshold,
  kProfile,
  kLinkage,
  kVerify,
  kVerifyThreshold,
  kKeep,
  kOrderBy,
  kAtMostApart,
  kFilter,
  kDeleted,
  kId,
  kBody,
  kSignature,
  kAt,
  kMeasure,
  kFollow,
};

bool is_empty(const char* text) { return text != nullptr && text[0] == '\0'; }

// '' takes an expression away.
const char* expression_given(Oid source, const char* expression) {
  return is_empty(expression) ? expression : qualified_expression(source, expression);
}

// The caller's arguments, NULL where he gives none. Names and expressions mean here what they mean to him.
JobRow row_given(const JobArguments& given, Oid source) {
  JobRow row = {};
  row.threshold = given.fraction(kThreshold, "threshold");
  row.profile = lasting_profile_name(given.string(kProfile));
  row.linkage = given.string(kLinkage);
  row.verify = given.string(kVerify);
  row.verify_threshold = given.fraction(kVerifyThreshold, "verify_threshold");
  row.keep = given.string(kKeep);
  row.order_by = expression_given(source, given.string(kOrderBy));
  row.at_most_apart = given.interval(kAtMostApart);
  row.filter = expression_given(source, given.string(kFilter));
  row.deleted = expression_given(source, given.string(kDeleted));
  row.id = given.name(kId);
  row.body = given.name(kBody);
  row.signature = given.name(kSignature);
  row.at = given.name(kAt);
  row.measure = given.string(kMeasure);
  return row;
}

void replace(const char** setting, const char* given) {
  if (given != nullptr) *setting = given;
}
// '' takes it away.
void replace_or_end(const char** setting, const char* given) {
  replace(setting, given);
  if (is_empty(*setting)) *setting = nullptr;
}
void replace(double* setting, double given) {
  if (!std::isnan(given)) *setting = given;
}

// The settings of a job with those that are given in their place.
JobRow changed(const JobRow& old, const JobRow& given) {
  JobRow row = old;
  replace(&row.threshold, given.threshold);
  replace(&row.profile, given.profile);
  replace(&row.linkage, given.linkage);
  replace_or_end(&row.verify, given.verify);
  if (!row.verifies()) row.verify_threshold = std::numeric_limits<double>::quiet_NaN();
  replace(&row.verify_threshold, given.verify_threshold);
  replace(&row.keep, given.keep);
  if (row.keep == nullptr || !row.keeps_by_order()) row.order_by = nullptr;
  replace_or_end(&row.order_by, given.order_by);
  if (given.at_most_apart != nullptr) row.at_most_apart = given.at_most_apart;
  replace_or_end(&row.filter, given.filter);
  replace_or_end(&row.deleted, given.deleted);
  replace(&row.id, given.id);
  replace(&row.body, given.body);
  replace(&row.signature, given.signature);
  replace(&row.at, given.at);
  replace_or_end(&row.measure, given.measure);
  return row;
}

bool differ(const char* a, const char* b) {
  return (a == nullptr) != (b == nullptr) || (a != nullptr && strcmp(a, b) != 0);
}

bool profiles_differ(const JobRow& a, const JobRow& b) {
  return differ(a.profile, b.profile) || a.profile_version != b.profile_version;
}

// True if all rows of the source must be compared again with what the job knows of them.
bool demands_resync(const JobRow& now, const JobRow& old) {
  return differ(now.id, old.id) || differ(now.body, old.body) || differ(now.signature, old.signature) ||
         differ(now.at, old.at) || differ(now.keep, old.keep) || differ(now.order_by, old.order_by) ||
         profiles_differ(now, old);
}

// True if passages are now counted in another column than before.
bool counts_otherwise(const JobRow& now, const JobRow& old) { return now.has_passages && differ(now.body, old.body); }

// Signatures of two kinds, or of two profiles, cannot be compared.
bool signs_otherwise(const Job& job, const JobRow& old, Kind kind) {
  const Oid stored = get_atttype(job.signatures_oid, get_attnum(job.signatures_oid, "signature"));
  return profiles_differ(job.row, old) || counts_otherwise(job.row, old) || job.row.body_type != old.body_type ||
         stored != signature_type(kind, job.function);
}

// The job, with its row locked: nobody may change it meanwhile.
Job locked_row(Oid job, Oid function) {
  with_open_job(job, function, [&](const OpenJob& opened) {
    demand_owner(opened);
    adopt_parts(opened);
  });
  const QualifiedName name = QualifiedName::held(job);
  with_statements([&] { run_statement(sql("SELECT FROM {job} FOR UPDATE", {{"job", name}})); });
  return read_job(job, function);
}

// True if other columns, or other rows, are to be queued.
bool reads_otherwise(const JobRow& now, const JobRow& old) {
  return demands_resync(now, old) || differ(now.filter, old.filter) || differ(now.deleted, old.deleted);
}

// given: the argument follow. 'trigger' makes queue and triggers again where the job has them.
void follow_as_given(Job* job, const Profile& profile, const JobRow& old, const char* given) {
  const bool follows = follows_by_trigger(given, old.follows());
  if (follows) check_followable(job->row);
  if (given != nullptr && old.follows()) end_following(job);
  if (given != nullptr && follows) {
    begin_following(job, read_source(job->row, profile, job->function));
  } else if (follows && reads_otherwise(job->row, old)) {
    follow_other_columns(*job);
  }
}

// old: the row of the job before. The refresh sees to the types of keys.
void store(Job* job, const Profile& profile, const JobRow& old) {
  const Kind kind = signature_kind(job->row, profile, job->function);
  store_settings(*job);
  if (signs_otherwise(*job, old, kind)) {
    clear_signatures(job, kind);
  } else {
    drop_signature_indexes(*job);
  }
}

}  // namespace

// alter_duplicates(name text, threshold float8, profile text, linkage text, verify text, verify_threshold float8,
//   keep text, order_by text, at_most_apart interval, filter text, deleted text, id name, body name, signature name,
//   at name, measure text, follow text)
SQL_FUNCTION(neardup_alter_duplicates) {
  const Oid function = fcinfo->flinfo->fn_oid;
  const JobArguments given(fcinfo);
  const Oid oid = locked_job_argument(fcinfo, kName);
  const char* follow = given.string(kFollow);
  if (follow != nullptr && is_own_job(oid)) lock_followed_source(oid);
  Job job = locked_row(oid, function);
  const JobRow arguments = row_given(given, job.row.source);
  qualify_expressions(&job.row);
  const JobRow old = job.row;
  job.row = changed(old, arguments);
  if ((job.row.at == nullptr) != (old.at == nullptr))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("at can be given another column, but not be added: drop the job and create it again")));
  with_statements([&] {
    const Profile profile = read_profile(job.row, function);
    follow_profile(&job.row, profile);
    check_job(job.row, profile, function);
    job.row.resync = old.resync || demands_resync(job.row, old);
    store(&job, profile, old);
    follow_as_given(&job, profile, old, follow);
  });
  PG_RETURN_VOID();
}
