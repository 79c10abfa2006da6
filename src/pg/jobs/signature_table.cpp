// See signature_table.h.
#include "pg/jobs/signature_table.h"

#include "pg/base/held_names.h"
#include "pg/jobs/job_statements.h"
#include "pg/sql/run_statement.h"

extern "C" {
#include "access/relation.h"
#include "commands/defrem.h"
}

namespace neardup {

Oid create_signatures(const Job& job, const JobSource& source) {
  run_statement(create_signatures_table(job, source));
  const Oid table = made_here(cstring_to_text(job.signatures.text()));
  run_statement(key_signatures_table(job));
  run_statement(index_signatures_table(job));
  return table;
}

void clear_signatures(Job* job, Kind kind) {
  drop_signature_indexes(*job);
  run_statement(empty_signatures_table(*job));
  run_statement(change_signature_type(*job, kind));
  if (!OidIsValid(job->passages_oid)) return;
  run_statement(empty_passages_table(*job));
  run_statement(forget_passages(*job));
  job->row.has_passages = false;
}

List* signature_indexes(const Job& job) {
  const Oid lsh = get_index_am_oid("lsh", false);
  Relation table = relation_open(job.signatures_oid, AccessShareLock);
  List* all = RelationGetIndexList(table);
  List* found = NIL;
  ListCell* cell;
  foreach (cell, all) {
    Relation index = index_open(lfirst_oid(cell), AccessShareLock);
    if (index->rd_rel->relam == lsh) found = lappend_oid(found, lfirst_oid(cell));
    index_close(index, NoLock);
  }
  relation_close(table, NoLock);
  return found;
}

void drop_signature_indexes(const Job& job) {
  ListCell* cell;
  foreach (cell, signature_indexes(job)) run_statement(drop_index(lfirst_oid(cell)));
}

}  // namespace neardup
