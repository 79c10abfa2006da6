// The trigger function neardup_follow(): it queues the ids of rows of a source that change, and notes that a result was
// changed by hand. Anybody may attach it to a table of his own: which job a trigger belongs to is recorded where only
// this extension writes, and no argument says it. It runs as who writes the table, and asks nothing of him: what it
// reads and writes runs no code of anybody's.
#include "pg/jobs/follow_triggers.h"

#include "pg/base/open_table.h"
#include "pg/base/own_schemas.h"
#include "pg/values/arrays.h"

extern "C" {
#include "catalog/pg_attribute.h"
#include "commands/trigger.h"
#include "executor/tuptable.h"
}

namespace {

using namespace neardup;

// A trigger as a statement needs it, for one table or partition. Kept in fn_extra.
struct Followed {
  bool is_restored;  // nothing records the job yet: its next refresh does, and compares all rows
  Oid result;        // the trigger is on this table, the result; InvalidOid: on the source
  QueueWriter queue;
  AttrNumber id;  // InvalidAttrNumber: ids cannot be queued, the next refresh compares all rows
  int16 id_length;
  bool id_by_value;
  bool queues_all;  // every UPDATE, whatever it changes
  AttrNumber* columns;
  int n_columns;
  bool has_noted;  // an entry without an id was added for this statement
};

// The row of a job, read as it is stored by the latest snapshot: a transaction with an older one may write, too.
OpenJob open_stored_job(Relation table) {
  PushActiveSnapshot(GetLatestSnapshot());
  const OpenJob job = {table, first_row(table)};
  PopActiveSnapshot();
  return job;
}

Oid stored_oid(const OpenJob& job, const char* column) {
  bool is_null = true;
  const Datum found = job.row == nullptr ? 0 : job_value(job.table, job.row, column, &is_null);
  return is_null ? InvalidOid : DatumGetObjectId(found);
}

const char* stored_name(const OpenJob& job, const char* column) {
  bool is_null = true;
  const Datum found = job.row == nullptr ? 0 : job_value(job.table, job.row, column, &is_null);
  return is_null ? nullptr : NameStr(*DatumGetName(found));
}

// True if a job may own the trigger that nothing records: one that a dump has brought, with the row of the job or still
// without it.
bool may_be_restored(const OpenJob& job, const FollowTrigger& origin) {
  if (job.row == nullptr) return true;
  if (stored_oid(job, "result") == origin.relation) return true;
  const char* name = stored_name(job, "follow_trigger");
  return stored_oid(job, "source") == origin.relation && name != nullptr && strcmp(name, origin.name) == 0;
}

// True if the trigger comes from a dump. Only until a refresh has recorded it: this reads all jobs.
bool is_restored(const FollowTrigger& origin, Oid row_type) {
  bool found = false;
  Relation classes = table_open(RelationRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_class_reloftype, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(row_type));
  SysScanDesc scan = systable_beginscan(classes, InvalidOid, false, nullptr, 1, &key);
  HeapTuple tuple;
  while (!found && HeapTupleIsValid(tuple = systable_getnext(scan))) {
    const auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
    if (form->relkind != RELKIND_RELATION || form->relpersistence == RELPERSISTENCE_TEMP) continue;
    if (!ConditionalLockRelationOid(form->oid, AccessShareLock)) continue;
    Relation table = try_relation_open(form->oid, NoLock);
    if (table != nullptr) {
      found = may_be_restored(open_stored_job(table), origin);
      relation_close(table, NoLock);
    }
  }
  systable_endscan(scan);
  table_close(classes, AccessShareLock);
  return found;
}

[[noreturn]] void refuse(const TriggerData* call, const FollowTrigger& origin) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("trigger \"%s\" of table %s belongs to no job", origin.name, qualified_name(call->tg_relation)),
           errdetail("Only triggers that create_duplicates(.., follow => 'trigger') has made call neardup_follow()."),
           errhint("DROP TRIGGER %s ON %s;", quote_identifier(origin.name), qualified_name(origin.relation))));
  pg_unreachable();
}

// The columns of a job's row that name columns of the source, as they are numbered in this table or partition. A name
// that has gone counts as changed, until the owner of the job gives another.
void find_columns(const OpenJob& job, Relation table, Followed* found) {
  bool is_null;
  const Datum names = job_value(job.table, job.row, "follow_columns", &is_null);
  found->queues_all = is_null;
  if (is_null) return;
  const Elements all = array_elements(DatumGetArrayTypeP(names));
  found->columns = static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * static_cast<size_t>(Max(all.count, 1))));
  for (int i = 0; i < all.count; ++i) {
    const AttrNumber number =
        all.nulls[i] ? InvalidAttrNumber : get_attnum(RelationGetRelid(table), NameStr(*DatumGetName(all.values[i])));
    if (number <= 0) found->queues_all = true;
    found->columns[found->n_columns++] = number;
  }
}

bool may_read(Oid table, AttrNumber column, Oid role) {
  return pg_class_aclcheck(table, role, ACL_SELECT) == ACLCHECK_OK ||
         pg_attribute_aclcheck(table, column, role, ACL_SELECT) == ACLCHECK_OK;
}

// The id is queued as it is stored, where the queue has the type of the source and the owner of the job may read it.
void find_id(const OpenJob& job, const FollowTrigger& origin, Relation table, Followed* found) {
  const char* name = stored_name(job, "id");
  const AttrNumber number = name == nullptr ? InvalidAttrNumber : get_attnum(RelationGetRelid(table), name);
  if (number <= 0) return;
  const Form_pg_attribute column = TupleDescAttr(RelationGetDescr(table), number - 1);
  if (getBaseType(column->atttypid) != getBaseType(found->queue.id_type)) return;
  if (!may_read(origin.relation, get_attnum(origin.relation, name), job.table->rd_rel->relowner)) return;
  found->id = number;
  found->id_length = column->attlen;
  found->id_by_value = column->attbyval;
}

Oid find_queue(const OpenJob& job) {
  const PartTable queue = part_of_job(job.table, job.row, JobPart::queue);
  if (queue.belonging == Belonging::owned || queue.belonging == Belonging::like) return queue.table;
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                  errmsg("job %s has no queue any more, and follows its source by a trigger", job_name(job.table)),
                  errhint("The owner of the job makes the queue again by SELECT alter_duplicates(%s, follow => "
                          "'trigger').",
                          quote_literal_cstr(job_name(job.table)))));
  pg_unreachable();
}

bool is_call_for(const TriggerData* call, bool of_source) {
  const TriggerEvent event = call->tg_event;
  return TRIGGER_FIRED_AFTER(event) && of_source == static_cast<bool>(TRIGGER_FIRED_FOR_ROW(event));
}

void read_stored_job(const TriggerData* call, const FollowTrigger& origin, Relation table, Followed* found) {
  const OpenJob job = open_stored_job(table);
  const bool of_source = stored_oid(job, "source") == origin.relation && stored_name(job, "follow_trigger") != nullptr;
  const bool of_result = stored_oid(job, "result") == origin.relation;
  if ((!of_source && !of_result) || !is_call_for(call, of_source)) refuse(call, origin);
  found->queue = open_queue(find_queue(job), job_name(table));
  if (of_result) found->result = origin.relation;
  if (!of_source) return;
  find_id(job, origin, call->tg_relation, found);
  find_columns(job, call->tg_relation, found);
}

Followed* read_followed(FunctionCallInfo fcinfo, const TriggerData* call) {
  const Oid row_type = own_type(fcinfo->flinfo->fn_oid, "neardup_job");
  MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
  auto* found = static_cast<Followed*>(palloc0(sizeof(Followed)));
  const FollowTrigger origin = find_origin(call->tg_trigger->tgoid);
  if (OidIsValid(origin.job)) {
    Relation table = table_open(origin.job, AccessShareLock);
    if (table->rd_rel->reloftype != row_type) refuse(call, origin);
    read_stored_job(call, origin, table, found);
    table_close(table, NoLock);
  } else {
    found->is_restored = is_restored(origin, row_type);
    if (!found->is_restored) refuse(call, origin);
  }
  MemoryContextSwitchTo(old);
  return found;
}

// Large values that lie outside of the row are the same where the row points to the same place.
bool is_same_place(const varlena* a, const varlena* b) {
  return VARATT_IS_EXTERNAL_ONDISK(a) && VARATT_IS_EXTERNAL_ONDISK(b) &&
         memcmp(a, b, VARHDRSZ_EXTERNAL + sizeof(varatt_external)) == 0;
}

// Compares bytes: no function of a type is called.
bool is_changed(TupleTableSlot* before, TupleTableSlot* after, AttrNumber number) {
  bool was_null;
  bool is_null;
  const Datum was = slot_getattr(before, number, &was_null);
  const Datum is = slot_getattr(after, number, &is_null);
  if (was_null || is_null) return was_null != is_null;
  const Form_pg_attribute column = TupleDescAttr(after->tts_tupleDescriptor, number - 1);
  if (column->attlen == -1 && is_same_place(reinterpret_cast<const varlena*>(DatumGetPointer(was)),
                                            reinterpret_cast<const varlena*>(DatumGetPointer(is))))
    return false;
  return !datum_image_eq(was, is, column->attbyval, column->attlen);
}

bool is_row_changed(const Followed& followed, TupleTableSlot* before, TupleTableSlot* after) {
  if (followed.queues_all) return true;
  for (int i = 0; i < followed.n_columns; ++i)
    if (is_changed(before, after, followed.columns[i])) return true;
  return false;
}

// An entry without an id, once for a statement.
void note_once(Followed* followed) {
  if (!followed->has_noted) append_entry(followed->queue, 0, true);
  followed->has_noted = true;
}

void queue_row(Followed* followed, TupleTableSlot* row) {
  bool is_null = true;
  Datum id = 0;
  if (followed->id != InvalidAttrNumber) id = slot_getattr(row, followed->id, &is_null);
  if (is_null) {
    note_once(followed);
    return;
  }
  if (followed->id_length == -1) id = PointerGetDatum(PG_DETOAST_DATUM_PACKED(id));
  append_entry(followed->queue, id, false);
}

void queue_update(Followed* followed, TupleTableSlot* before, TupleTableSlot* after) {
  const bool moved = followed->id != InvalidAttrNumber && is_changed(before, after, followed->id);
  if (moved) queue_row(followed, before);
  if (moved || is_row_changed(*followed, before, after)) queue_row(followed, after);
}

void queue_change(Followed* followed, const TriggerData* call) {
  if (followed->is_restored) return;
  if (OidIsValid(followed->result)) {
    if (followed->result != result_being_written) note_once(followed);
  } else if (TRIGGER_FIRED_BY_UPDATE(call->tg_event)) {
    queue_update(followed, call->tg_trigslot, call->tg_newslot);
  } else {
    queue_row(followed, call->tg_trigslot);
  }
}

}  // namespace

// neardup_follow() -> trigger
SQL_FUNCTION(neardup_follow) {
  if (!CALLED_AS_TRIGGER(fcinfo))
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("neardup_follow() is called by triggers only")));
  const auto* call = reinterpret_cast<TriggerData*>(fcinfo->context);
  if (fcinfo->flinfo->fn_extra == nullptr) fcinfo->flinfo->fn_extra = read_followed(fcinfo, call);
  queue_change(static_cast<Followed*>(fcinfo->flinfo->fn_extra), call);
  return PointerGetDatum(nullptr);
}
