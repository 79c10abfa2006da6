#include "pg/jobs/job_table.h"

#include "pg/base/held_names.h"
#include "pg/base/own_schemas.h"
#include "pg/sql/statement.h"

extern "C" {
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_depend.h"
}

namespace neardup {

namespace {

constexpr const char* kSuffixes[kJobParts] = {"", "_signatures", "_changes", "_passages", "_queue"};
// The columns of a job's row that name the tables which belong to it.
constexpr const char* kPartTables[kJobParts] = {"result", "signatures", "changes", "passages", "queue"};

constexpr int kMaxPartColumns = 7;
constexpr const char* kShapes[kJobParts][kMaxPartColumns + 1] = {
    {"id", "cluster", "representative", "similarity", "survivor", "found_at"},
    {"id", "signature", "content", "origin", "place", "version", "key"},
    {"refresh", "at", "change", "cluster", "other"},
    {"number", "windows"},
    {"entry", "id"},
};

bool has_shape(Oid table, JobPart part) {
  for (const char* const* column = kShapes[static_cast<int>(part)]; *column != nullptr; ++column)
    if (get_attnum(table, *column) <= 0) return false;
  return true;
}

// True if pg_depend says that the table belongs to the job; *other: that it depends on another relation.
bool depends_on(Oid table, Oid job, bool* other) {
  bool found = false;
  *other = false;
  Relation depend = table_open(DependRelationId, AccessShareLock);
  ScanKeyData keys[3];
  ScanKeyInit(&keys[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(RelationRelationId));
  ScanKeyInit(&keys[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
  ScanKeyInit(&keys[2], Anum_pg_depend_objsubid, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(0));
  SysScanDesc scan = systable_beginscan(depend, DependDependerIndexId, true, nullptr, 3, keys);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan))) {
    const auto* form = reinterpret_cast<Form_pg_depend>(GETSTRUCT(tuple));
    if (form->refclassid != RelationRelationId) continue;
    if (form->refobjid == job) {
      found = true;
    } else {
      *other = true;
    }
  }
  systable_endscan(scan);
  table_close(depend, AccessShareLock);
  return found;
}

const char* base_name(Relation job) {
  const char* name = RelationGetRelationName(job);
  const size_t size = strlen(name);
  const size_t suffix = strlen(kJobSuffix);
  if (size <= suffix || strcmp(name + size - suffix, kJobSuffix) != 0) return name;
  return pnstrdup(name, size - suffix);
}

[[noreturn]] void no_such_job(const char* name, Oid function) {
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("there is no table of duplicates \"%s\"", name),
                  errhint("SELECT job FROM %s.duplicates_status lists them; create_duplicates() makes one.",
                          extension_schema(function).text())));
  pg_unreachable();
}

}  // namespace

const char* part_suffix(JobPart part) { return kSuffixes[static_cast<int>(part)]; }

const char* name_of_part(Relation job, JobPart part) { return psprintf("%s%s", base_name(job), part_suffix(part)); }

const char* job_name(Relation job) {
  return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(job)), base_name(job));
}

Oid job_named(const text* name, Oid function) {
  const Oid job = relation_named(name, kJobSuffix);
  HeapTuple tuple = OidIsValid(job) ? SearchSysCache1(RELOID, ObjectIdGetDatum(job)) : nullptr;
  if (!HeapTupleIsValid(tuple)) no_such_job(text_to_cstring(name), function);
  const auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
  const bool is_job = form->relkind == RELKIND_RELATION && form->reloftype == own_type(function, "neardup_job");
  ReleaseSysCache(tuple);
  if (!is_job) no_such_job(text_to_cstring(name), function);
  return job;
}

OpenJob open_job(Oid job, Oid function) {
  const OpenTable opened = open_typed_table(job, own_type(function, "neardup_job"));
  switch (opened.refusal) {
    case Refusal::none:
      break;
    case Refusal::missing:
    case Refusal::locked:
      ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                      errmsg("the job with OID %u does not exist, or was dropped meanwhile", job)));
    case Refusal::kind:
    case Refusal::row_type:
      ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("relation with OID %u is no job", job),
                      errhint("create_duplicates() makes one.")));
    case Refusal::privilege:
      ereport(ERROR,
              (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for table %s", get_rel_name(job))));
    case Refusal::row_security:
      ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                      errmsg("row-level security hides the row of job %s from you", get_rel_name(job))));
  }
  held_name(job);
  return {opened.relation, first_row(opened.relation)};
}

Datum job_value(Relation job, HeapTuple row, const char* column, bool* is_null) {
  const AttrNumber number = get_attnum(RelationGetRelid(job), column);
  *is_null = true;
  return number > 0 ? heap_getattr(row, number, RelationGetDescr(job), is_null) : 0;
}

PartTable part_of_job(Relation job, HeapTuple row, JobPart part) {
  bool is_null = true;
  Oid table = InvalidOid;
  if (row != nullptr) table = DatumGetObjectId(job_value(job, row, kPartTables[static_cast<int>(part)], &is_null));
  // A release that knows passages and queues records them.
  if (is_null && part != JobPart::passages && part != JobPart::queue)
    table = relation_in(RelationGetNamespace(job), base_name(job), part_suffix(part));
  HeapTuple tuple = OidIsValid(table) ? SearchSysCache1(RELOID, ObjectIdGetDatum(table)) : nullptr;
  if (!HeapTupleIsValid(tuple)) return {table, Belonging::none};
  const auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
  const bool plain = form->relkind == RELKIND_RELATION && form->relowner == job->rd_rel->relowner;
  ReleaseSysCache(tuple);
  if (!plain) return {table, Belonging::stranger};
  bool other;
  if (depends_on(table, RelationGetRelid(job), &other)) return {table, Belonging::owned};
  return {table, !other && has_shape(table, part) ? Belonging::like : Belonging::stranger};
}

Oid demand_part(const OpenJob& job, JobPart part) {
  const Oid table = optional_part(job, part);
  if (!OidIsValid(table))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                    errmsg("table \"%s\" of job %s does not exist", name_of_part(job.table, part), job_name(job.table)),
                    errhint("SELECT drop_duplicates(%s) drops what is left of the job.",
                            quote_literal_cstr(job_name(job.table)))));
  return table;
}

Oid optional_part(const OpenJob& job, JobPart part) {
  const PartTable found = part_of_job(job.table, job.row, part);
  if (found.belonging == Belonging::none) return InvalidOid;
  if (found.belonging == Belonging::stranger)
    ereport(
        ERROR,
        (errcode(ERRCODE_WRONG_OBJECT_TYPE),
         errmsg("table %s does not belong to job %s", qualified_name(found.table), job_name(job.table)),
         errdetail("A job owns the tables that create_duplicates() made with it, while they have the same owner.")));
  return found.table;
}

bool is_own_job(Oid job) {
  const Oid owner = relation_owner(job);
  return OidIsValid(owner) && (owner == GetUserId() || (superuser_arg(owner) && superuser()));
}

void demand_owner(const OpenJob& job) {
  if (is_own_job(RelationGetRelid(job.table))) return;
  const char* owner = GetUserNameFromId(job.table->rd_rel->relowner, true);
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("job %s belongs to another role", job_name(job.table)),
           errdetail("Its filter, its order and what is on its tables would run with your rights."),
           owner == nullptr ? 0 : errhint("SET ROLE %s;", quote_identifier(owner))));
}

void adopt_parts(const OpenJob& job, Oid* tables) {
  const Oid oid = RelationGetRelid(job.table);
  for (int i = 0; i < kJobParts; ++i) {
    PartTable found = part_of_job(job.table, job.row, static_cast<JobPart>(i));
    if (found.belonging == Belonging::like && owns_relation(oid)) {
      LockRelationOid(found.table, AccessShareLock);
      found = part_of_job(job.table, job.row, static_cast<JobPart>(i));
      if (found.belonging == Belonging::like) record_part(oid, found.table);
    }
    const bool is_none = found.belonging == Belonging::none || found.belonging == Belonging::stranger;
    if (tables != nullptr) tables[i] = is_none ? InvalidOid : found.table;
  }
}

void record_part(Oid job, Oid table) {
  const ObjectAddress part = {RelationRelationId, table, 0};
  const ObjectAddress owner = {RelationRelationId, job, 0};
  recordDependencyOn(&part, &owner, DEPENDENCY_NORMAL);
}

}  // namespace neardup
