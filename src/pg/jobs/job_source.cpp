#include "pg/jobs/job_source.h"

#include "pg/base/open_table.h"
#include "pg/base/own_schemas.h"
#include "pg/base/text_equals.h"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_inherits.h"
}

namespace neardup {

namespace {

// Those that are signatures, types of the extension.
constexpr Kind kSignatures[] = {Kind::minhash, Kind::simhash, Kind::ctph};

[[noreturn]] void no_source() {
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("the source of the job has been dropped"),
                  errhint("drop_duplicates() drops the job.")));
  pg_unreachable();
}

[[noreturn]] void no_column(Oid source, const char* column, const char* what) {
  const char* name = qualified_name(source);
  if (name == nullptr) no_source();
  const bool is_within = strcmp(what, "within") == 0;
  ereport(ERROR,
          (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("column \"%s\" of %s does not exist: %s", column, name, what),
           errdetail("%s has the columns %s.", name, source_columns(source)),
           is_within
               ? errhint("If it was renamed, rename it back, or create the job again: a job keeps its within columns.")
               : errhint("If it was renamed: SELECT alter_duplicates(.., %s => 'new_name').", what)));
  pg_unreachable();
}

// True if the table and all that inherits from it lie here.
bool is_stored(Oid source) {
  List* all = find_all_inheritors(source, NoLock, nullptr);
  ListCell* cell;
  foreach (cell, all) {
    const char kind = get_rel_relkind(lfirst_oid(cell));
    if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW) return false;
  }
  return true;
}

// The key by which one row of a cluster is kept.
Sql key_sql(const JobRow& row, const Profile& profile, Oid function) {
  if (strcmp(row.keep, "longest") == 0) return sql("pg_catalog.octet_length({body})", {{"body", Identifier(row.body)}});
  if (strcmp(row.keep, "best") == 0) {
    const Identifier neardup = extension_schema(function);
    // Apart: which argument is evaluated first, and so which of two errors is raised, depends on the processor.
    const Identifier body(row.body);
    const Sql document = document_sql(profile, neardup, source_column_type(row.source, row.body, "body"), body);
    return sql("{neardup}.neardup_text_score({document})", {{"neardup", neardup}, {"document", document}});
  }
  if (row.order_by != nullptr) return sql("{order_by}", {{"order_by", Expression(row.order_by)}});
  if (row.at != nullptr) return source_value(row.source, row.at, "at");
  return source_value(row.source, row.id, "id");
}

// The document or signature, of the very type that our functions take: no other function fits better.
Sql body_sql(const JobRow& row, Kind kind, Oid function) {
  if (row.body == nullptr)
    return sql("{signature}::{type}", {{"signature", Identifier(row.signature)},
                                       {"type", signature_type_sql(kind, extension_schema(function))}});
  const Oid type = source_column_type(row.source, row.body, "body");
  if (type != TEXTOID && type != VARCHAROID && type != BYTEAOID)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("body column \"%s\" is %s, not text or bytea", row.body, format_type_be(type))));
  return sql("{body}::{type}",
             {{"body", Identifier(row.body)}, {"type", TypeName(type == BYTEAOID ? BYTEAOID : TEXTOID)}});
}

// The conditions of the rows that a job looks at, each with AND before it.
Sql conditions_sql(const JobRow& row) {
  SqlList conditions("");
  if (row.filter != nullptr) conditions.add(sql(" AND {filter}", {{"filter", Expression(row.filter)}}));
  if (row.deleted != nullptr) conditions.add(sql(" AND {deleted} IS NOT TRUE", {{"deleted", Expression(row.deleted)}}));
  return conditions.all();
}

// A name that a query of ours gives to a column.
Identifier within_name(int i) { return Identifier(psprintf("within_%d", i + 1)); }

// ", value AS name" of the within columns and of at.
Sql kept_values(const JobRow& row) {
  SqlList values("");
  for (int i = 0; i < row.n_within; ++i)
    values.add(sql(", {value} AS {name}",
                   {{"value", source_value(row.source, row.within[i], "within")}, {"name", within_name(i)}}));
  if (row.at != nullptr) values.add(sql(", {value} AS at", {{"value", source_value(row.source, row.at, "at")}}));
  return values.all();
}

Sql version_columns(bool stored, Oid function) {
  if (!stored) return sql("NULL::oid AS origin, NULL::tid AS place, NULL::xid AS version");
  return sql("tableoid AS origin, ctid AS place, {internal}.neardup_row_version(xmin) AS version",
             {{"internal", internal_schema(function)}});
}

// last: the last column.
Sql rows_sql(const JobRow& row, const Profile& profile, const JobSource& source, Oid function, const Sql& last) {
  return sql("SELECT {id} AS id, {version}, {key} AS key{kept}, {last} FROM {source} WHERE true{conditions}",
             {{"id", source_value(row.source, row.id, "id")},
              {"version", version_columns(source.stored, function)},
              {"key", key_sql(row, profile, function)},
              {"kept", kept_values(row)},
              {"last", last},
              {"source", QualifiedName::held(row.source)},
              {"conditions", conditions_sql(row)}});
}

Sql hash_sql(const JobRow& row, Kind kind, Oid function, const Sql& value) {
  const Identifier neardup = extension_schema(function);
  if (row.body != nullptr)
    return sql("{neardup}.neardup_content_hash({value})", {{"neardup", neardup}, {"value", value}});
  if (kind == Kind::set)
    return sql("{neardup}.neardup_content_hash(pg_catalog.array_send({value}))",
               {{"neardup", neardup}, {"value", value}});
  return sql("{neardup}.neardup_content_hash({internal}.{send}({value}))",
             {{"neardup", neardup},
              {"internal", internal_schema(function)},
              {"send", Identifier(psprintf("%s_send", info(kind).name))},
              {"value", value}});
}

void name_kept(const JobRow& row, JobSource* source) {
  source->kept = static_cast<Identifier*>(palloc(sizeof(Identifier) * static_cast<size_t>(row.n_within + 2)));
  source->kept[source->n_kept++] = Identifier("key");
  for (int i = 0; i < row.n_within; ++i) source->kept[source->n_kept++] = within_name(i);
  if (row.at != nullptr) source->kept[source->n_kept++] = Identifier("at");
}

Kind kind_of_profile(const JobRow& row, const Profile& profile) {
  for (const Kind kind : kSignatures)
    if (equals(profile.signature, info(kind).name)) return row.compares_sets() ? Kind::set : kind;
  ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION),
                  errmsg("profile \"%s\" has no kind of signatures that a job knows: %s", row.profile,
                         profile.signature == nullptr ? "NULL" : quote_literal_cstr(profile.signature)),
                  errhint("alter_profile(.., signature => 'minhash') adds a version that has.")));
}

Kind kind_of_column(const JobRow& row, Oid function) {
  const Oid type = source_column_type(row.source, row.signature, "signature");
  const bool is_set = type == INT4ARRAYOID || type == INT8ARRAYOID;
  if (row.compares_sets()) {
    if (is_set) return Kind::set;
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("measure => '%s' is for sets: column \"%s\" is %s", row.measure, row.signature,
                           format_type_be(type)),
                    errdetail("Sets are int[] or bigint[]. A type of signature has one measure, its own.")));
  }
  if (is_set)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("column \"%s\" is %s, a set: measure is missing", row.signature, format_type_be(type)),
                    errhint("Give measure => %s.", list_names(kJobMeasures, "'", "or").text)));
  for (const Kind kind : kSignatures)
    if (type == signature_type(kind, function)) return kind;
  ereport(ERROR,
          (errcode(ERRCODE_DATATYPE_MISMATCH),
           errmsg("column \"%s\" is %s, not a signature", row.signature, format_type_be(type)),
           type == BITOID || type == VARBITOID
               ? errhint("Jobs take no bit strings; all_clusters() takes them.")
               : errhint("Give a column of documents as body => .., a column of minhash, simhash, ctph, int[] or "
                         "bigint[] as signature => ..")));
}

}  // namespace

const char* source_columns(Oid table) {
  SqlList names;
  Relation relation = relation_open(table, AccessShareLock);
  const TupleDesc desc = RelationGetDescr(relation);
  for (int i = 0; i < desc->natts; ++i)
    if (!TupleDescAttr(desc, i)->attisdropped) names.add(Identifier(NameStr(TupleDescAttr(desc, i)->attname)));
  relation_close(relation, NoLock);
  return names.all().text();
}

Oid signature_type(Kind kind, Oid function) {
  return kind == Kind::set ? INT8ARRAYOID : own_type(function, info(kind).name);
}

Sql signature_type_sql(Kind kind, const Identifier& neardup) {
  if (kind == Kind::set) return sql("pg_catalog.int8[]");
  return sql("{neardup}.{type}", {{"neardup", neardup}, {"type", Identifier(info(kind).name)}});
}

Oid source_column_type(Oid source, const char* column, const char* what) {
  const AttrNumber number = get_attnum(source, column);
  if (number <= 0) no_column(source, column, what);
  return getBaseType(get_atttype(source, number));
}

Sql source_value(Oid source, const char* column, const char* what) {
  const Oid base = source_column_type(source, column, what);
  const Identifier name(column);
  if (get_atttype(source, get_attnum(source, column)) == base) return sql("{name}", {{"name", name}});
  return sql("{name}::{type}", {{"name", name}, {"type", TypeName(base)}});
}

Kind signature_kind(const JobRow& row, const Profile& profile, Oid function) {
  return row.body != nullptr ? kind_of_profile(row, profile) : kind_of_column(row, function);
}

void demand_source(const JobRow& row) {
  if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(row.source))) no_source();
}

bool follow_profile(JobRow* row, const Profile& profile) {
  if (row->body == nullptr) return false;
  const Oid type = source_column_type(row->source, row->body, "body");
  const bool differs = profile.version != row->profile_version || type != row->body_type;
  row->profile_version = profile.version;
  row->body_type = type;
  return differs;
}

JobSource read_source(const JobRow& row, const Profile& profile, Oid function) {
  JobSource source = {};
  source.stored = is_stored(row.source);
  source.kind = signature_kind(row, profile, function);
  source.id_type = source_column_type(row.source, row.id, "id");
  source.same_id = EqualityOperator(source.id_type);
  const Oid equality = lookup_type_cache(source.id_type, TYPECACHE_EQ_OPR)->eq_opr;
  source.joins_fully = op_mergejoinable(equality, source.id_type) || op_hashjoinable(equality, source.id_type);
  name_kept(row, &source);
  const Sql body = body_sql(row, source.kind, function);
  source.rows = rows_sql(row, profile, source, function, sql("{body} AS body", {{"body", body}}));
  source.states = rows_sql(row, profile, source, function,
                           sql("{hash} AS content", {{"hash", hash_sql(row, source.kind, function, body)}}));
  return source;
}

Sql content_sql(const JobRow& row, Kind kind, Oid function, Pattern value) {
  return hash_sql(row, kind, function, sql(value));
}

Sql kept_columns(const JobSource& source, const char* alias) {
  SqlList columns("");
  for (int i = 0; i < source.n_kept; ++i)
    columns.add(sql(", {alias}.{column}", {{"alias", Identifier(alias)}, {"column", source.kept[i]}}));
  return columns.all();
}

Sql kept_differ(const JobSource& source, const char* a, const char* b) {
  SqlList of_a;
  SqlList of_b;
  for (int i = 0; i < source.n_kept; ++i) {
    of_a.add(sql("{alias}.{column}", {{"alias", Identifier(a)}, {"column", source.kept[i]}}));
    of_b.add(sql("{alias}.{column}", {{"alias", Identifier(b)}, {"column", source.kept[i]}}));
  }
  return sql("ROW({a})::record OPERATOR(pg_catalog.*<>) ROW({b})::record", {{"a", of_a.all()}, {"b", of_b.all()}});
}

}  // namespace neardup
