#include <cmath>

#include "pg/values/values.h"

#include "pg/jobs/job_checks.h"
#include "pg/base/open_table.h"
#include "pg/base/text_equals.h"
#include "pg/jobs/job_expressions.h"
#include "pg/jobs/job_source.h"
#include "pg/jobs/job_types.h"

namespace neardup {

namespace {

// Up to here a threshold above 1 is taken for a percentage.
constexpr double kMaxPercent = 100;

constexpr const char* kResultColumns[] = {"id", "cluster", "representative", "similarity", "survivor", "found_at"};

// Values in messages.
const char* quoted(const char* value) { return value == nullptr ? "NULL" : quote_literal_cstr(value); }
const char* written(double value) { return DatumGetCString(DirectFunctionCall1(float8out, Float8GetDatum(value))); }

bool is_fraction(double value) { return value > 0 && value <= 1; }

void check_documents(const JobRow& row) {
  if ((row.body == nullptr) == (row.signature == nullptr))
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("exactly one of body and signature must be given")));
}

void check_source(const JobRow& row) {
  const char kind = get_rel_relkind(row.source);
  const bool dropped = kind == '\0';  // what reads its columns says so
  if (!dropped && !has_rows(kind))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("%s is no table or view", qualified_name(row.source))));
}

void check_threshold(const JobRow& row) {
  const double given = row.threshold;
  if (is_fraction(given)) return;
  const bool percent = given > 1 && given <= kMaxPercent;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("threshold must be above 0 and at most 1: %s", std::isnan(given) ? "NULL" : written(given)),
                  percent ? errhint("For %s %%, write %s.", written(given), written(given / kMaxPercent)) : 0));
}

void check_linkage(const JobRow& row) {
  if (!equals_any(row.linkage, {"anchor", "connected"}))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("linkage must be 'anchor' or 'connected': %s", quoted(row.linkage))));
}

void check_measure(const JobRow& row, const Profile& profile) {
  if (!row.compares_sets()) return;
  if (!value_named(kJobMeasures, row.measure))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("measure must be %s: %s", list_names(kJobMeasures, "'", "or").text, quoted(row.measure))));
  if (row.verifies())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("verify is for signatures: measure => '%s' compares sets, exactly", row.measure)));
  if (row.body == nullptr) return;
  if (!row.compares_containment())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("measure => '%s' needs signature => .., a column of sets", row.measure),
                    errdetail("Documents are compared by the signatures of their profile, or by containment.")));
  if (equals(profile.signature, info(Kind::ctph).name))
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("measure => '%s' needs shingles: profile \"%s\" makes ctph digests", row.measure, row.profile),
             errhint("A profile of minhash or simhash signatures has the unit and k of shingles.")));
}

bool takes_bytes(const JobRow& row, const Profile& profile) {
  return row.body_type == BYTEAOID && equals(profile.encoding, "bytes");
}

void check_keep(const JobRow& row, const Profile& profile) {
  if (!equals_any(row.keep, {"oldest", "newest", "longest", "best"}))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("keep must be 'oldest', 'newest', 'longest' or 'best': %s", quoted(row.keep))));
  if (row.keeps_by_order()) return;
  if (row.order_by != nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("order_by is for keep => 'oldest' or 'newest', not '%s'", row.keep)));
  if (row.body == nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("keep => '%s' needs body: signatures do not tell it", row.keep)));
  if (equals(row.keep, "best") && takes_bytes(row, profile))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("keep => 'best' is for text: profile \"%s\" takes documents as bytes", row.profile)));
}

void check_verify(const JobRow& row) {
  const bool has_threshold = !std::isnan(row.verify_threshold);
  if (row.verifies() && !equals_any(row.verify, {"jaccard", "edit_rate"}))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("verify must be 'jaccard' or 'edit_rate': %s", quoted(row.verify))));
  if (row.verifies() && row.body == nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("verify needs body: documents are compared")));
  if (!row.verifies() && has_threshold)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("verify_threshold is given without verify")));
  if (has_threshold && !is_fraction(row.verify_threshold))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("verify_threshold must be above 0 and at most 1: %s", written(row.verify_threshold))));
}

void check_at_most_apart(const JobRow& row) {
  if ((row.at == nullptr) != (row.at_most_apart == nullptr))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("at and at_most_apart must be given together")));
  if (row.at_most_apart != nullptr) check_not_negative("at_most_apart", row.at_most_apart);
}

// True if documents' similarity is known to follow that of their signatures.
bool follows(Kind kind, const char* verify) {
  return (kind == Kind::minhash && equals(verify, "jaccard")) || (kind == Kind::ctph && equals(verify, "edit_rate"));
}

void check_verify_threshold(const JobRow& row, Kind kind) {
  if (!row.verifies() || !std::isnan(row.verify_threshold) || follows(kind, row.verify)) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("verify => '%s' over %s signatures needs verify_threshold", row.verify, info(kind).name),
                  errdetail("Nothing is known about how far one follows the other: threshold is for the signatures, "
                            "verify_threshold for the documents.")));
}

void check_columns(const JobRow& row) {
  if (row.id == nullptr) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("id must not be NULL")));
  check_order(source_column_type(row.source, row.id, "id"), psprintf("id column \"%s\"", row.id));
  for (int i = 0; i < row.n_within; ++i)
    check_order(source_column_type(row.source, row.within[i], "within"),
                psprintf("within column \"%s\"", row.within[i]));
}

void check_order_by(const JobRow& row) {
  if (row.order_by == nullptr) return;
  const Oid type = expression_type(row.source, row.order_by);
  const char* what = psprintf("order_by => %s", quote_literal_cstr(row.order_by));
  if (type == RECORDOID)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("%s is a row of values, not one value", what),
                    errhint("Values of one type make an array, ARRAY[a, b], which is ordered by a, then by b.")));
  check_order(type, what);
}

// what: the argument that the condition is
void check_condition(const JobRow& row, const char* condition, const char* what) {
  if (condition == nullptr) return;
  const Oid type = expression_type(row.source, condition);
  if (type != BOOLOID)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s must be a condition: \"%s\" is %s", what, condition, format_type_be(type))));
}

void check_at(const JobRow& row) {
  if (row.at == nullptr) return;
  const Oid type = source_column_type(row.source, row.at, "at");
  if (type != TIMESTAMPTZOID && type != TIMESTAMPOID && type != DATEOID)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("column \"%s\" is no timestamp or date: at", row.at)));
}

// given: the value of the argument, which names the column
void demand_column(Oid source, const char* argument, const char* column, const char* given) {
  if (column == nullptr || get_attnum(source, column) > 0) return;
  const char* table = qualified_name(source);
  ereport(ERROR,
          (errcode(ERRCODE_UNDEFINED_COLUMN),
           errmsg("%s => %s: column \"%s\" of %s does not exist", argument, quote_literal_cstr(given), column, table),
           errdetail("%s has the columns %s.", table, source_columns(source))));
}

}  // namespace

void check_job(const JobRow& row, const Profile& profile, Oid function) {
  check_documents(row);
  check_source(row);
  check_threshold(row);
  check_linkage(row);
  check_measure(row, profile);
  check_keep(row, profile);
  check_verify(row);
  check_at_most_apart(row);
  check_verify_threshold(row, signature_kind(row, profile, function));
  check_columns(row);
  check_order_by(row);
  check_condition(row, row.filter, "filter");
  check_condition(row, row.deleted, "deleted");
  check_at(row);
  read_source(row, profile, function);
}

void check_new_columns(const JobRow& row) {
  if (!OidIsValid(row.source) || row.id == nullptr)
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("source and id must not be NULL")));
  if (get_rel_name(row.source) == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", row.source)));
  demand_column(row.source, "id", row.id, row.id);
  demand_column(row.source, "body", row.body, row.body);
  demand_column(row.source, "signature", row.signature, row.signature);
  for (int i = 0; i < row.n_within; ++i)
    demand_column(row.source, "within", row.within[i], psprintf("{%s}", quote_identifier(row.within[i])));
  demand_column(row.source, "at", row.at, row.at);
}

void check_within_names(const JobRow& row) {
  for (int i = 0; i < row.n_within; ++i)
    for (const char* column : kResultColumns)
      if (strcmp(row.within[i], column) == 0)
        ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
                        errmsg("within columns are columns of the result: none can be called id, cluster, "
                               "representative, similarity, survivor or found_at")));
}

}  // namespace neardup
