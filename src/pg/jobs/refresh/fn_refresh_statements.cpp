// neardup_refresh_statements(): the statements of refresh_statements.h, as they are for a job.
#include "pg/jobs/refresh/refresh_statements.h"
#include "pg/base/result_row.h"

namespace {

using namespace neardup;

// Statements that only some jobs have.
enum class Only : uint8_t {
  none,
  of_sets,      // a column of the source has sets
  of_passages,  // passages are cut, and have been counted
  of_queue,     // a trigger of the source queues what changes
};

struct Statement {
  const char* name;
  Sql (*make)(const RefreshStep& step);
  Only only = Only::none;
};

bool has_statement(const RefreshStep& step, const Statement& statement) {
  const JobRow& row = step.row();
  if (statement.only == Only::of_sets) return row.compares_sets() && row.signature != nullptr;
  if (statement.only == Only::of_queue) return row.follows();
  return statement.only == Only::none || (row.has_passages && step.profile.cuts());
}

template <Sql (*make)(const RefreshStep&, bool), bool part>
Sql part_statement(const RefreshStep& step) {
  return make(step, part);
}

Sql index_statement(const RefreshStep& step) { return create_signature_index(step, 0); }

constexpr Statement kStatements[] = {
    {"create_shape", create_shape},
    {"forget_versions", forget_versions},
    {"is_unchanged", is_unchanged},
    {"list_changed_rows", list_changed_rows},
    {"copy_entries", copy_entries, Only::of_queue},
    {"index_taken_entries", index_taken_entries, Only::of_queue},
    {"analyze_taken_entries", analyze_taken_entries, Only::of_queue},
    {"must_compare_all", must_compare_all, Only::of_queue},
    {"list_queued_rows", list_queued_rows, Only::of_queue},
    {"is_id_missing", is_id_missing},
    {"index_listed_rows", index_listed_rows},
    {"analyze_listed_rows", analyze_listed_rows},
    {"count_known_rows", count_known_rows, Only::of_passages},
    {"count_added_rows", count_added_rows, Only::of_passages},
    {"fill_passages", fill_passages, Only::of_passages},
    {"sign_new_rows", sign_new_rows},
    {"sign_listed_rows", sign_listed_rows},
    {"mark_gone_rows", mark_gone_rows},
    {"delete_signed_entries", delete_signed_entries, Only::of_queue},
    {"delete_taken_entries", delete_taken_entries, Only::of_queue},
    {"list_unqueued_changes", list_unqueued_changes, Only::of_queue},
    {"row_with_null_element", row_with_null_element, Only::of_sets},
    {"least_signature_similarity", least_signature_similarity},
    {"forget_gone_signatures", forget_gone_signatures},
    {"create_signature_index", index_statement},
    {"analyze_signatures", analyze_signatures},
    {"count_rows", count_rows},
    {"count_changed_rows", count_changed_rows},
    {"touch_changed_rows", touch_changed_rows},
    {"key_touched_rows", key_touched_rows},
    {"create_edges", create_edges},
    {"touch_rows_of_changed_representatives", touch_rows_of_changed_representatives},
    {"count_unsearched_rows", count_unsearched_rows},
    {"count_touched_rows", count_touched_rows},
    {"analyze_touched_rows", analyze_touched_rows},
    {"count_near_rows_of_sample", count_near_rows_of_sample},
    {"search_near_rows", search_near_rows},
    {"mark_searched_rows", mark_searched_rows},
    {"analyze_edges", analyze_edges},
    {"touch_affected_rows", touch_affected_rows},
    {"touch_near_rows", touch_near_rows},
    {"touch_rows_of_touched_clusters", touch_rows_of_touched_clusters},
    {"touch_settled_representatives", touch_settled_representatives},
    {"touch_representatives_of_changed_rows", touch_representatives_of_changed_rows},
    {"cluster_rows, all", part_statement<cluster_rows, false>},
    {"cluster_rows, touched", part_statement<cluster_rows, true>},
    {"analyze_fresh_clusters", analyze_fresh_clusters},
    {"list_heirs", list_heirs},
    {"number_clusters", number_clusters},
    {"analyze_numbers", analyze_numbers},
    {"analyze_heirs", analyze_heirs},
    {"record_changes, all", part_statement<record_changes, false>},
    {"record_changes, touched", part_statement<record_changes, true>},
    {"delete_gone_results, all", part_statement<delete_gone_results, false>},
    {"delete_gone_results, touched", part_statement<delete_gone_results, true>},
    {"is_result_empty", is_result_empty},
    {"write_first_results", write_first_results},
    {"write_results", write_results},
    {"move_rows_of_merged_clusters", move_rows_of_merged_clusters},
    {"forget_gone_rows", forget_gone_rows},
    {"analyze_results", analyze_results},
    {"count_new_clusters", count_new_clusters},
    {"result_hash", result_hash},
    {"list_old_clusters", list_old_clusters},
    {"analyze_old_clusters", analyze_old_clusters},
    {"subtract_old_clusters", subtract_old_clusters},
    {"list_new_clusters", list_new_clusters},
    {"add_old_clusters", add_old_clusters},
};

enum class Column { name, statement, kColumns };

}  // namespace

// neardup_refresh_statements(job text) -> setof (name text, statement text)
SQL_FUNCTION(neardup_refresh_statements) {
  const Oid function = fcinfo->flinfo->fn_oid;
  ReturnSetInfo* rows = begin_rows(fcinfo);
  const Oid job = job_named(PG_GETARG_TEXT_PP(0), function);
  const CatalogPath path = CatalogPath::begin();
  const RefreshStep step = read_step(read_job(job, function));
  for (const Statement& statement : kStatements) {
    if (!has_statement(step, statement)) continue;
    ResultRow<Column> row;
    row.set(Column::name, CStringGetTextDatum(statement.name));
    row.set(Column::statement, CStringGetTextDatum(statement.make(step).text()));
    row.put(rows);
  }
  path.end();
  return static_cast<Datum>(0);
}
