#include "pg/jobs/job_queue.h"

#include "pg/base/held_names.h"
#include "pg/base/open_table.h"

extern "C" {
#include "access/heapam.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_opfamily.h"
#include "commands/sequence.h"
#include "nodes/execnodes.h"
}

namespace neardup {

namespace {

constexpr int kColumns = 2;
constexpr int kEntry = 0;
constexpr int kId = 1;

bool has_columns(Relation queue) {
  const TupleDesc desc = RelationGetDescr(queue);
  if (desc->natts != kColumns) return false;
  const Form_pg_attribute entry = TupleDescAttr(desc, kEntry);
  const Form_pg_attribute id = TupleDescAttr(desc, kId);
  return entry->atttypid == INT8OID && entry->attidentity != '\0' && strcmp(NameStr(id->attname), "id") == 0 &&
         !id->attisdropped && !id->attnotnull && id->attidentity == '\0' && id->attgenerated == '\0';
}

// True if nothing on the table would run code of its owner: no CHECK, DEFAULT, trigger or rule.
bool is_bare(Relation queue) {
  const TupleConstr* constraints = RelationGetDescr(queue)->constr;
  const Form_pg_class form = queue->rd_rel;
  return form->relkind == RELKIND_RELATION && form->relpersistence == RELPERSISTENCE_PERMANENT &&
         form->relam == HEAP_TABLE_AM_OID && !form->relispartition && !form->relhastriggers && !form->relhasrules &&
         (constraints == nullptr ||
          (constraints->num_check == 0 && constraints->num_defval == 0 && !constraints->has_generated_stored));
}

bool is_key(Relation index) {
  const Form_pg_index form = index->rd_index;
  return form->indisprimary && form->indisunique && form->indimmediate && form->indisvalid && form->indisready &&
         form->indnatts == 1 && form->indkey.values[0] == kEntry + 1 && index->rd_rel->relam == BTREE_AM_OID &&
         index->rd_opfamily[0] == INTEGER_BTREE_FAM_OID;
}

// Its one index, the primary key, locked; InvalidOid where it has another, or none, or one more.
Oid find_key(Relation queue) {
  List* indexes = RelationGetIndexList(queue);
  if (list_length(indexes) != 1) return InvalidOid;
  Relation index = index_open(linitial_oid(indexes), RowExclusiveLock);
  const Oid found = is_key(index) ? RelationGetRelid(index) : InvalidOid;
  index_close(index, NoLock);
  return found;
}

[[noreturn]] void refuse_queue(Relation queue, const char* job) {
  ereport(ERROR,
          (errcode(ERRCODE_WRONG_OBJECT_TYPE),
           errmsg("table %s is no queue of job %s any more", qualified_name(queue), job),
           errdetail("It has a primary key from an identity column \"entry\", and a column \"id\" without index, "
                     "default or constraint; no trigger, no rule, no other column; and it is logged."),
           errhint("The owner of the job makes the queue again by SELECT alter_duplicates(%s, follow => "
                   "'trigger').",
                   quote_literal_cstr(job))));
  pg_unreachable();
}

}  // namespace

// The column of ids as the table of signatures has it: with its collation.
void create_queue(Job* job, const JobSource& source) {
  job->queue = new_part_name(*job, JobPart::queue);
  run_statement(job_sql(*job, "CREATE TABLE {queue} AS SELECT 0::bigint AS entry, id FROM ({rows}) l WITH NO DATA",
                        {{"rows", source.rows}}));
  job->queue_oid = made_here(cstring_to_text(job->queue.text()));
  run_statement(job_sql(*job, "ALTER TABLE {queue} ADD PRIMARY KEY (entry)"));
  // A refresh deletes what it has read: few entries are left to be looked at.
  run_statement(job_sql(*job, R"(
    ALTER TABLE {queue}
      ALTER entry ADD GENERATED ALWAYS AS IDENTITY (CACHE 100),
      SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000))"));
  record_part(job->oid, job->queue_oid);
}

QueueWriter open_queue(Oid table, const char* job) {
  Relation queue = table_open(table, RowExclusiveLock);
  QueueWriter writer = {};
  writer.table = table;
  if (!is_bare(queue) || !has_columns(queue)) refuse_queue(queue, job);
  writer.index = find_key(queue);
  writer.sequence = identity_sequence(queue, kEntry + 1);
  if (!OidIsValid(writer.index) || !OidIsValid(writer.sequence)) refuse_queue(queue, job);
  writer.id_type = TupleDescAttr(RelationGetDescr(queue), kId)->atttypid;
  Relation index = index_open(writer.index, RowExclusiveLock);
  writer.info = BuildIndexInfo(index);
  index_close(index, NoLock);
  table_close(queue, NoLock);
  return writer;
}

void append_entry(const QueueWriter& writer, Datum id, bool is_null) {
  Relation queue = table_open(writer.table, NoLock);
  Relation index = index_open(writer.index, NoLock);
  Datum values[kColumns] = {Int64GetDatum(nextval_internal(writer.sequence, false)), id};
  bool nulls[kColumns] = {false, is_null};
  HeapTuple tuple = heap_form_tuple(RelationGetDescr(queue), values, nulls);
  simple_heap_insert(queue, tuple);
  index_insert(index, values, nulls, &tuple->t_self, queue, UNIQUE_CHECK_YES, false, writer.info);
  index_close(index, NoLock);
  table_close(queue, NoLock);
}

}  // namespace neardup
