#include "pg/jobs/follow_triggers.h"

#include "pg/jobs/refresh/source_leaves.h"
#include "pg/base/open_table.h"
#include "pg/values/arrays.h"

extern "C" {
#include "access/xact.h"
#include "utils/rls.h"
}

namespace neardup {

namespace {

// A crash empties unlogged tables, and a table that this very transaction has made may be emptied in its place.
bool is_lasting(Relation leaf) {
  return leaf->rd_rel->relkind == RELKIND_RELATION && leaf->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT &&
         !has_new_file(leaf);
}

void warn_of_trigger(const Job& job, Relation table) {
  ereport(WARNING,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("job %s compares all rows: its trigger \"%s\" does not fire on %s", job.name, job.row.follow_trigger,
                  qualified_name(table)),
           errdetail("It was dropped, disabled, renamed or replaced."),
           errhint("SELECT alter_duplicates(%s, follow => 'trigger') makes it again.", quote_literal_cstr(job.name))));
}

// Policies decide which rows the job has, and no trigger fires when that changes. A snapshot that is older than the
// locks does not show what was done before them.
bool sees_all(const Job& job) {
  return check_enable_rls(job.row.source, InvalidOid, true) != RLS_ENABLED && !IsolationUsesXactSnapshot();
}

}  // namespace

Datum source_leaves(const Job& job) {
  const Oid source = job.row.source;
  List* all = lock_with_partitions(source, AccessShareLock);
  auto* leaves = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<size_t>(list_length(all))));
  size_t n = 0;
  const bool is_partitioned = get_rel_relkind(source) == RELKIND_PARTITIONED_TABLE;
  bool is_known = sees_all(job) && (is_partitioned || list_length(all) == 1);
  ListCell* cell;
  foreach (cell, all) {
    Relation table = relation_open(lfirst_oid(cell), NoLock);
    const Oid trigger = firing_trigger(job, table);
    if (!OidIsValid(trigger)) {
      if (is_known) warn_of_trigger(job, table);
      is_known = false;
    }
    if (table->rd_rel->relkind != RELKIND_PARTITIONED_TABLE) {
      is_known = is_known && is_lasting(table);
      leaves[n++] = CStringGetTextDatum(psprintf("%u %u %u", RelationGetRelid(table), file_number(table), trigger));
    }
    relation_close(table, NoLock);
  }
  return is_known ? array_datum(leaves, n, TEXTOID) : 0;
}

}  // namespace neardup
