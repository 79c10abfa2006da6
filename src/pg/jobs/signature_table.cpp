#include "pg/jobs/signature_table.h"

#include "pg/base/held_names.h"

extern "C" {
#include "access/relation.h"
#include "commands/defrem.h"
}

namespace neardup {

Oid create_signatures(const Job& job, const JobSource& source) {
  run_statement(job_sql(job, R"(
    CREATE TABLE {signatures} AS
    SELECT id, NULL::{type} AS signature, NULL::uuid AS content, origin, place, version{kept},
           0::bigint AS generation, false AS gone
    FROM ({rows}) l
    WITH NO DATA)",
                        {{"type", signature_type_sql(source.kind, job.neardup)},
                         {"kept", kept_columns(source, "l")},
                         {"rows", source.rows}}));
  const Oid table = made_here(cstring_to_text(job.signatures.text()));
  run_statement(job_sql(job, "ALTER TABLE {signatures} ADD PRIMARY KEY (id)"));
  run_statement(job_sql(job, "CREATE INDEX ON {signatures} (generation)"));
  return table;
}

void clear_signatures(Job* job, Kind kind) {
  drop_signature_indexes(*job);
  run_statement(job_sql(*job, "TRUNCATE {signatures}"));
  run_statement(job_sql(*job, "ALTER TABLE {signatures} ALTER signature TYPE {type} USING NULL",
                        {{"type", signature_type_sql(kind, job->neardup)}}));
  if (job->row.follows()) update_job(*job, "scan = true");
  job->row.scan = true;
  if (!OidIsValid(job->passages_oid)) return;
  empty_passages(*job);
  update_job(*job, "passages_key = NULL, passages_rows = NULL");
  job->row.has_passages = false;
}

void empty_passages(const Job& job) { run_statement(sql("TRUNCATE {passages}", {{"passages", job.passages}})); }

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
  foreach (cell, signature_indexes(job))
    run_statement(sql("DROP INDEX {index}", {{"index", QualifiedName::existing(lfirst_oid(cell))}}));
}

}  // namespace neardup
