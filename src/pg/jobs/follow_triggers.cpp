#include "pg/jobs/follow_triggers.h"

#include "pg/base/open_table.h"
#include "pg/base/own_schemas.h"
#include "pg/jobs/job_expressions.h"
#include "pg/sql/drop_tables.h"
#include "pg/values/arrays.h"

extern "C" {
#include "access/sysattr.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
}

namespace neardup {

Oid result_being_written = InvalidOid;

namespace {

constexpr int16 kRowEvents = TRIGGER_TYPE_INSERT | TRIGGER_TYPE_DELETE | TRIGGER_TYPE_UPDATE;
constexpr int16 kStatementEvents = kRowEvents | TRIGGER_TYPE_TRUNCATE;
// The value of attgenerated, from 18 on, of a column that no row stores.
constexpr char kVirtual = 'v';

// Refusals

[[noreturn]] void refuse_source(Oid source, const char* what) {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("follow => 'trigger' cannot follow %s: it is %s", qualified_name(source), what),
                  errhint("With follow => 'scan' a refresh compares all rows.")));
  pg_unreachable();
}

// Null: nothing in the way.
const char* obstacle_in(Oid source) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(source));
  if (!HeapTupleIsValid(tuple)) return nullptr;
  const auto form = *reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  if (IsCatalogRelationOid(source)) return "a system catalog";
  if (form.relkind == RELKIND_VIEW) return "a view";
  if (form.relkind == RELKIND_MATVIEW) return "a materialized view";
  if (form.relkind == RELKIND_FOREIGN_TABLE) return "a foreign table";
  if (form.relpersistence == RELPERSISTENCE_TEMP) return "a temporary table";
  if (form.relpersistence == RELPERSISTENCE_UNLOGGED) return "unlogged, and a crash empties it without a trigger";
  return nullptr;
}

void check_tables(Oid source) {
  const char* obstacle = obstacle_in(source);
  if (obstacle != nullptr) refuse_source(source, obstacle);
  List* all = find_all_inheritors(source, NoLock, nullptr);
  if (get_rel_relkind(source) == RELKIND_RELATION && list_length(all) > 1)
    refuse_source(source, "a table from which others inherit");
  ListCell* cell;
  foreach (cell, all) {
    obstacle = obstacle_in(lfirst_oid(cell));
    if (obstacle != nullptr)
      refuse_source(source,
                    psprintf("partitioned, and its partition %s is %s", get_rel_name(lfirst_oid(cell)), obstacle));
  }
}

bool is_virtual(Oid table, AttrNumber column) {
  HeapTuple tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(table), Int16GetDatum(column));
  if (!HeapTupleIsValid(tuple)) return false;
  const bool found = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple))->attgenerated == kVirtual;
  ReleaseSysCache(tuple);
  return found;
}

void check_expression(const JobRow& row, const char* expression, const char* what) {
  if (is_immutable(row.source, expression)) return;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("follow => 'trigger' needs a condition whose value changes with its row alone: %s => %s", what,
                  quote_literal_cstr(expression)),
           errdetail("A function in it is not IMMUTABLE: no trigger fires when its result changes with the time or a "
                     "setting."),
           errhint("With follow => 'scan' a refresh compares all rows.")));
}

// Columns that are read

Bitmapset* add_column(Bitmapset* columns, Oid source, const char* name) {
  const AttrNumber number = name == nullptr ? InvalidAttrNumber : get_attnum(source, name);
  return number == InvalidAttrNumber ? columns : bms_add_member(columns, number - FirstLowInvalidHeapAttributeNumber);
}

// The columns that a job reads, name[]; NULL: any change is to be looked at.
SqlValue columns_read(const JobRow& row) {
  const Oid source = row.source;
  Bitmapset* columns = nullptr;
  for (const char* name : {row.body, row.signature, row.at}) columns = add_column(columns, source, name);
  for (int i = 0; i < row.n_within; ++i) columns = add_column(columns, source, row.within[i]);
  for (const char* expression : {row.order_by, row.filter, row.deleted})
    columns = add_read_columns(columns, source, expression);
  auto* names = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<size_t>(bms_num_members(columns) + 1)));
  size_t n = 0;
  for (int member = bms_next_member(columns, -1); member >= 0; member = bms_next_member(columns, member)) {
    const auto number = static_cast<AttrNumber>(member + FirstLowInvalidHeapAttributeNumber);
    if (number == InvalidAttrNumber || is_virtual(source, number)) return value(NAMEARRAYOID, 0, true);
    // tableoid is another one only where a row is deleted and inserted
    if (number < 0) continue;
    names[n++] = DirectFunctionCall1(namein, CStringGetDatum(get_attname(source, number, false)));
  }
  return value(NAMEARRAYOID, array_datum(names, n, NAMEOID));
}

// Triggers

// One that no other trigger of the table has.
const char* free_trigger_name(Oid table, Oid job) {
  const char* name = psprintf("neardup_%u", job);
  for (int i = 2; OidIsValid(get_trigger_oid(table, name, true)); ++i) name = psprintf("neardup_%u_%d", job, i);
  return name;
}

// It always fires, also where a subscription or a restore has turned triggers off.
const char* create_trigger(const Job& job, Oid table, bool for_each_row) {
  auto* statement = makeNode(CreateTrigStmt);
  statement->trigname = pstrdup(free_trigger_name(table, job.oid));
  statement->row = for_each_row;
  statement->timing = TRIGGER_TYPE_AFTER;
  statement->events = for_each_row ? kRowEvents : kStatementEvents;
  const ObjectAddress trigger = CreateTriggerFiringOn(statement, nullptr, table, InvalidOid, InvalidOid, InvalidOid,
                                                      own_internal_function(job.function, kFollowFunction), InvalidOid,
                                                      nullptr, false, false, TRIGGER_FIRES_ALWAYS);
  const ObjectAddress owner = {RelationRelationId, job.oid, 0};
  recordDependencyOn(&trigger, &owner, DEPENDENCY_AUTO);
  CommandCounterIncrement();
  return statement->trigname;
}

// The job that a trigger belongs to. A table that its expressions name is no more than a NORMAL dependency; its own is
// AUTO, too.
Oid job_of_trigger(Oid trigger, Oid table) {
  Oid found = InvalidOid;
  Relation depend = table_open(DependRelationId, AccessShareLock);
  ScanKeyData keys[2];
  ScanKeyInit(&keys[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(TriggerRelationId));
  ScanKeyInit(&keys[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(trigger));
  SysScanDesc scan = systable_beginscan(depend, DependDependerIndexId, true, nullptr, 2, keys);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan))) {
    const auto* form = reinterpret_cast<Form_pg_depend>(GETSTRUCT(tuple));
    if (form->refclassid == RelationRelationId && form->refobjid != table && form->refobjsubid == 0 &&
        form->deptype == DEPENDENCY_AUTO)
      found = form->refobjid;
  }
  systable_endscan(scan);
  table_close(depend, AccessShareLock);
  return found;
}

// Triggers that belong to a job: their OIDs.
List* list_triggers(Oid job) {
  List* found = NIL;
  Relation depend = table_open(DependRelationId, AccessShareLock);
  ScanKeyData keys[2];
  ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(RelationRelationId));
  ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(job));
  SysScanDesc scan = systable_beginscan(depend, DependReferenceIndexId, true, nullptr, 2, keys);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan))) {
    const auto* form = reinterpret_cast<Form_pg_depend>(GETSTRUCT(tuple));
    if (form->classid == TriggerRelationId && form->deptype == DEPENDENCY_AUTO) found = lappend_oid(found, form->objid);
  }
  systable_endscan(scan);
  table_close(depend, AccessShareLock);
  List* ours = NIL;
  ListCell* cell;
  foreach (cell, found)  // a trigger on the table of the job itself is its owner's
    if (find_origin(lfirst_oid(cell)).relation != job) ours = lappend_oid(ours, lfirst_oid(cell));
  return ours;
}

bool has_form(const Trigger& trigger, Oid function, int16 type) {
  return trigger.tgfoid == function && trigger.tgtype == type && trigger.tgnargs == 0 && trigger.tgnattr == 0 &&
         trigger.tgqual == nullptr;
}

// The trigger on a table that has this name, or any name, and is one of ours; null where there is none.
const Trigger* our_trigger(Relation table, const char* name, Oid function, int16 type) {
  const TriggerDesc* all = table->trigdesc;
  for (int i = 0; all != nullptr && i < all->numtriggers; ++i) {
    const Trigger& trigger = all->triggers[i];
    if ((name == nullptr || strcmp(trigger.tgname, name) == 0) && has_form(trigger, function, type)) return &trigger;
  }
  return nullptr;
}

// One that nothing records; InvalidOid where there is none.
Oid unrecorded(Oid table, const char* name, Oid function, int16 type) {
  Relation relation = relation_open(table, AccessShareLock);
  const Trigger* trigger = our_trigger(relation, name, function, type);
  const Oid found =
      trigger == nullptr || OidIsValid(job_of_trigger(trigger->tgoid, table)) ? InvalidOid : trigger->tgoid;
  relation_close(relation, NoLock);
  return found;
}

void record_trigger(Oid trigger, Oid job) {
  if (!OidIsValid(trigger)) return;
  const ObjectAddress part = {TriggerRelationId, trigger, 0};
  const ObjectAddress owner = {RelationRelationId, job, 0};
  recordDependencyOn(&part, &owner, DEPENDENCY_AUTO);
}

// Whoever writes the source has ended, and nobody begins.
void lock_writers(Oid source) { lock_with_partitions(source, ShareRowExclusiveLock); }

}  // namespace

void check_followable(const JobRow& row) {
  check_tables(row.source);
  if (is_virtual(row.source, get_attnum(row.source, row.id)))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("follow => 'trigger' cannot queue the virtual column \"%s\": id", row.id)));
  check_expression(row, row.filter, "filter");
  check_expression(row, row.deleted, "deleted");
}

void begin_following(Job* job, const JobSource& source) {
  create_queue(job, source);
  job->row.follow_trigger = create_trigger(*job, job->row.source, true);
  create_trigger(*job, job->result_oid, false);
  update_job(*job, "queue = $1, follow_trigger = $2, follow_columns = $3, scan = true, leaves = NULL",
             {relation_value(job->queue_oid), value(job->row.follow_trigger), columns_read(job->row)});
  job->row.scan = true;
}

void end_following(Job* job) {
  ListCell* cell;
  foreach (cell, list_triggers(job->oid)) {
    const ObjectAddress trigger = {TriggerRelationId, lfirst_oid(cell), 0};
    performDeletion(&trigger, DROP_RESTRICT, 0);
  }
  if (OidIsValid(job->queue_oid)) drop_tables(&job->queue_oid, 1);
  update_job(*job, "queue = NULL, follow_trigger = NULL, follow_columns = NULL, scan = NULL, leaves = NULL");
  job->row.follow_trigger = nullptr;
  job->queue_oid = InvalidOid;
}

void follow_other_columns(const Job& job) {
  const AclResult may = pg_class_aclcheck(job.row.source, GetUserId(), ACL_TRIGGER);
  if (may != ACLCHECK_OK) aclcheck_error(may, OBJECT_TABLE, get_rel_name(job.row.source));
  lock_writers(job.row.source);
  update_job(job, "follow_columns = $1, scan = true", {columns_read(job.row)});
}

void lock_followed_source(Oid job) {
  ListCell* cell;
  foreach (cell, list_triggers(job)) lock_with_partitions(find_origin(lfirst_oid(cell)).relation, AccessExclusiveLock);
}

List* lock_with_partitions(Oid table, LOCKMODE mode) {
  LockRelationOid(table, mode);
  return find_all_inheritors(table, mode, nullptr);
}

void adopt_triggers(const Job& job) {
  const JobRow& row = job.row;
  if (!row.follows() || !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(row.source))) return;
  if (pg_class_aclcheck(row.source, GetUserId(), ACL_TRIGGER) != ACLCHECK_OK) return;
  const Oid function = own_internal_function(job.function, kFollowFunction);
  const int16 of_rows = TRIGGER_TYPE_ROW | kRowEvents;
  const bool is_new = OidIsValid(unrecorded(row.source, row.follow_trigger, function, of_rows));
  if (!is_new && !OidIsValid(unrecorded(job.result_oid, nullptr, function, kStatementEvents))) return;
  lock_writers(row.source);
  record_trigger(unrecorded(row.source, row.follow_trigger, function, of_rows), job.oid);
  record_trigger(unrecorded(job.result_oid, nullptr, function, kStatementEvents), job.oid);
  update_job(job, "scan = true");
}

FollowTrigger find_origin(Oid trigger) {
  FollowTrigger found = {};
  Relation catalog = table_open(TriggerRelationId, AccessShareLock);
  for (Oid next = trigger; OidIsValid(next);) {
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(next));
    SysScanDesc scan = systable_beginscan(catalog, TriggerOidIndexId, true, nullptr, 1, &key);
    HeapTuple tuple = systable_getnext(scan);
    if (!HeapTupleIsValid(tuple)) elog(ERROR, "could not find trigger %u", next);
    const auto* form = reinterpret_cast<Form_pg_trigger>(GETSTRUCT(tuple));
    found = {next, form->tgrelid, InvalidOid, pstrdup(NameStr(form->tgname))};
    next = form->tgparentid;
    systable_endscan(scan);
  }
  table_close(catalog, AccessShareLock);
  found.job = job_of_trigger(found.trigger, found.relation);
  return found;
}

Oid firing_trigger(const Job& job, Relation table) {
  const Oid function = own_internal_function(job.function, kFollowFunction);
  const Trigger* trigger = our_trigger(table, job.row.follow_trigger, function, TRIGGER_TYPE_ROW | kRowEvents);
  if (trigger == nullptr || trigger->tgenabled != TRIGGER_FIRES_ALWAYS) return InvalidOid;
  return find_origin(trigger->tgoid).job == job.oid ? trigger->tgoid : InvalidOid;
}

}  // namespace neardup
