#include "pg/jobs/job.h"

#include <cmath>
#include <limits>

#include "pg/values/arrays.h"

extern "C" {
#include "access/relation.h"
}

namespace neardup {

namespace {

// A column of the row that is read: NULL where the type has no such column yet.
class RowReader {
 public:
  explicit RowReader(const OpenJob& job) : job_(job) {}

  const char* name(const char* column) const {
    return is(column) ? pstrdup(NameStr(*reinterpret_cast<Name>(DatumGetPointer(found_)))) : nullptr;
  }
  const char* string(const char* column) const { return is(column) ? TextDatumGetCString(found_) : nullptr; }
  Oid oid(const char* column) const { return is(column) ? DatumGetObjectId(found_) : InvalidOid; }
  bool has(const char* column) const { return is(column); }
  bool flag(const char* column) const { return is(column) && DatumGetBool(found_); }
  int32 int4(const char* column) const { return is(column) ? DatumGetInt32(found_) : 0; }
  int64 int8(const char* column) const { return is(column) ? DatumGetInt64(found_) : 0; }
  double float8(const char* column) const {
    return is(column) ? DatumGetFloat8(found_) : std::numeric_limits<double>::quiet_NaN();
  }
  const Interval* interval(const char* column) const {
    return is(column) ? DatumGetIntervalP(datumCopy(found_, false, sizeof(Interval))) : nullptr;
  }
  const char** names(const char* column, int* n) const;
  Datum array(const char* column) const { return is(column) ? PointerGetDatum(DatumGetArrayTypePCopy(found_)) : 0; }

 private:
  bool is(const char* column) const {
    bool is_null;
    found_ = job_value(job_.table, job_.row, column, &is_null);
    return !is_null;
  }

  const OpenJob& job_;
  mutable Datum found_ = 0;
};

const char** RowReader::names(const char* column, int* n) const {
  *n = 0;
  if (!is(column)) return nullptr;
  const Elements all = array_elements(DatumGetArrayTypeP(found_));
  *n = all.count;
  for (int i = 0; i < all.count; ++i)
    if (all.nulls[i])
      ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION),
                      errmsg("job %s has a NULL among the names in its column \"%s\"", job_name(job_.table), column)));
  return strings_of_names(all);
}

// NULL where JobRow says so.
SqlValue fraction_value(double v) { return std::isnan(v) ? value(FLOAT8OID, 0, true) : value(v); }
SqlValue interval_value(const Interval* v) { return value(INTERVALOID, PointerGetDatum(v), v == nullptr); }
SqlValue version_value(int32 v) { return value(INT4OID, Int32GetDatum(v), v == 0); }
SqlValue type_value(Oid v) { return value(REGTYPEOID, ObjectIdGetDatum(v), !OidIsValid(v)); }

// Its owner may have written anything into it.
void demand_columns(const Job& job) {
  const JobRow& row = job.row;
  const auto demand = [&](const char* column, bool is_null) {
    if (is_null)
      ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION),
                      errmsg("column \"%s\" of the row of job %s is NULL", column, job.name)));
  };
  demand("id", row.id == nullptr);
  demand(row.body == nullptr ? "signature" : "profile", (row.body == nullptr ? row.signature : row.profile) == nullptr);
  demand("threshold", std::isnan(row.threshold));
  demand("linkage", row.linkage == nullptr);
  demand("keep", row.keep == nullptr);
  demand("phase", row.phase == nullptr);
}

JobRow read_row(const OpenJob& job) {
  const RowReader read(job);
  JobRow row = {};
  row.source = read.oid("source");
  row.id = read.name("id");
  row.body = read.name("body");
  row.signature = read.name("signature");
  row.threshold = read.float8("threshold");
  row.profile = read.string("profile");
  row.linkage = read.string("linkage");
  row.verify = read.string("verify");
  row.verify_threshold = read.float8("verify_threshold");
  row.keep = read.string("keep");
  row.order_by = read.string("order_by");
  row.within = read.names("within", &row.n_within);
  row.at = read.name("at");
  row.at_most_apart = read.interval("at_most_apart");
  row.filter = read.string("filter");
  row.deleted = read.string("deleted");
  row.profile_version = read.int4("profile_version");
  row.body_type = read.oid("body_type");
  row.resync = read.flag("resync");
  row.recluster = read.flag("recluster");
  row.search_threshold = read.float8("search_threshold");
  row.refresh = read.int8("refresh");
  row.clustered = read.int8("clustered");
  row.next_cluster = read.int8("next_cluster");
  row.paused = read.flag("paused");
  row.phase = read.string("phase");
  row.done = read.int8("done");
  row.total = read.int8("total");
  row.qualified = read.flag("qualified");
  row.columns = read.array("columns");
  row.system = read.int8("system");
  row.knows_result = read.has("result_hash");
  row.result_hash = read.int8("result_hash");
  row.rows = read.int8("rows");
  row.measure = read.string("measure");
  row.has_passages = read.has("passages_key");
  row.passages_key = read.int8("passages_key");
  row.passages_rows = read.int8("passages_rows");
  row.follow_trigger = read.name("follow_trigger");
  row.follow_columns = read.names("follow_columns", &row.n_follow_columns);
  row.scan = read.flag("scan");
  row.leaves = read.array("leaves");
  return row;
}

}  // namespace

Job read_job(const OpenJob& opened, Oid function) {
  Job job = {};
  job.oid = RelationGetRelid(opened.table);
  job.function = function;
  job.neardup = extension_schema(function);
  job.name = job_name(opened.table);
  // a row that its owner has emptied is no job, either
  if (opened.row != nullptr) job.row = read_row(opened);
  if (!OidIsValid(job.row.source))
    ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION), errmsg("job %s has no row", job.name)));
  demand_columns(job);
  job.job = QualifiedName::held(job.oid);
  job.passages_oid = optional_part(opened, JobPart::passages);
  job.result_oid = demand_part(opened, JobPart::result);
  job.signatures_oid = demand_part(opened, JobPart::signatures);
  job.changes_oid = demand_part(opened, JobPart::changes);
  job.result = QualifiedName::held(job.result_oid);
  job.signatures = QualifiedName::held(job.signatures_oid);
  job.changes = QualifiedName::held(job.changes_oid);
  if (OidIsValid(job.passages_oid)) job.passages = QualifiedName::held(job.passages_oid);
  job.row.has_passages = job.row.has_passages && OidIsValid(job.passages_oid);
  if (job.row.follows()) job.queue_oid = optional_part(opened, JobPart::queue);
  if (OidIsValid(job.queue_oid)) job.queue = QualifiedName::held(job.queue_oid);
  return job;
}

Job read_job(Oid oid, Oid function) {
  Job job;
  with_open_job(oid, function, [&](const OpenJob& opened) { job = read_job(opened, function); });
  return job;
}

Job read_own_job(Oid oid, Oid function) {
  Job job;
  with_open_job(oid, function, [&](const OpenJob& opened) {
    demand_owner(opened);
    job = read_job(opened, function);
  });
  return job;
}

Profile read_profile(const JobRow& row, Oid function) {
  return row.body == nullptr ? Profile{} : profile_named(row.profile, function);
}

QualifiedName new_part_name(const Job& job, JobPart part) {
  Relation table = relation_open(job.oid, AccessShareLock);
  const QualifiedName name(get_namespace_name(RelationGetNamespace(table)), name_of_part(table, part));
  relation_close(table, NoLock);
  return name;
}

Sql job_sql(const Job& job, Pattern pattern, std::initializer_list<Placeholder> more) {
  const Placeholder common[] = {{"neardup", job.neardup},       {"job", job.job},         {"result", job.result},
                                {"signatures", job.signatures}, {"changes", job.changes}, {"queue", job.queue}};
  return sql(pattern, more, common, lengthof(common));
}

void update_job(const Job& job, Pattern set, std::initializer_list<SqlValue> values) {
  run_statement(job_sql(job, "UPDATE {job} SET {set}", {{"set", sql(set)}}), values);
}

void store_settings(const Job& job) {
  const JobRow& row = job.row;
  update_job(
      job,
      "id = $1, body = $2, signature = $3, threshold = $4, profile = $5, linkage = $6, verify = $7,"
      " verify_threshold = $8, keep = $9, order_by = $10, at = $11, at_most_apart = $12, filter = $13, deleted = $14,"
      " profile_version = $15, body_type = $16, resync = $17, measure = $18, recluster = true, qualified = true",
      {value(row.id), value(row.body), value(row.signature), fraction_value(row.threshold), value(row.profile),
       value(row.linkage), value(row.verify), fraction_value(row.verify_threshold), value(row.keep),
       value(row.order_by), value(row.at), interval_value(row.at_most_apart), value(row.filter), value(row.deleted),
       version_value(row.profile_version), type_value(row.body_type), value(row.resync), value(row.measure)});
}

}  // namespace neardup
