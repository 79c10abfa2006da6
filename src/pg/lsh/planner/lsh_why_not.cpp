// lsh_why_not(): why an lsh index serves a condition of a query, or not. The query is planned, not run.
#include "pg/base/each.h"
#include "pg/base/result_row.h"
#include "pg/lsh/planner/condition_notes.h"
#include "pg/lsh/planner/plan_scans.h"

extern "C" {
#include "executor/executor.h"
#include "rewrite/rewriteHandler.h"
#include "utils/float.h"
}

namespace neardup {
namespace {

[[noreturn]] void no_query(const char* source) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("query must be one SELECT, INSERT, UPDATE, DELETE or MERGE: %s", source)));
  pg_unreachable();
}

// An error's place in the query is not one in the statement that calls us.
void point_into_query(void* source) {
  const int position = geterrposition();
  if (position <= 0) return;
  errposition(0);
  internalerrposition(position);
  internalerrquery(static_cast<const char*>(source));
}

// The queries within a query, each of which has a range table of its own.
bool demand_all_privileges(Node* node, void* context) {
  if (node == nullptr) return false;
  if (!IsA(node, Query)) return walk_expression(node, demand_all_privileges, context);
  auto* query = reinterpret_cast<Query*>(node);
  demand_privileges(query);
  return walk_query(query, demand_all_privileges, context);
}

// The query as it is run: its views expanded, and perhaps several by rules; $1 and the like may stand in it. The
// executor would check privileges after planning, which is too late here: planning tells of tables. As written, the
// query names relations that a rule DO INSTEAD leaves out.
List* rewritten(const char* source) {
  ErrorContextCallback callback = {error_context_stack, point_into_query, const_cast<char*>(source)};
  error_context_stack = &callback;
  List* parsed = pg_parse_query(source);
  if (list_length(parsed) != 1) no_query(source);
  Query* query = analyze_with_parameters(linitial_node(RawStmt, parsed), source);
  if (query->commandType == CMD_UTILITY) no_query(source);
  error_context_stack = callback.previous;
  demand_all_privileges(reinterpret_cast<Node*>(query), nullptr);
  List* queries = QueryRewrite(query);
  for (auto* member : each<Node>(queries)) demand_all_privileges(member, nullptr);
  return queries;
}

PlannedStmt* plan_and_note(Query* query, const char* source, ConditionNotes* notes) {
  begin_condition_notes(notes);
  PlannedStmt* volatile statement = nullptr;
  PG_TRY();
  { statement = plan_query(query, source, notes->parameters); }
  PG_FINALLY();
  { end_condition_notes(notes); }
  PG_END_TRY();
  // Functions in SQL that were inlined have added tables of theirs.
  demand_privileges(statement);
  return statement;
}

const char* reason_text(const ConditionNote& note, bool used) {
  const char* table = OidIsValid(note.table) ? quote_identifier(get_rel_name(note.table)) : nullptr;
  switch (note.verdict) {
    case Verdict::usable:
      return used ? "the plan uses the index"
                  : "the index serves the condition, and the planner takes another plan that it expects to cost less";
    case Verdict::joined:
      return "a Similarity Join answers the condition, without an index";
    case Verdict::foreign_table:
      return psprintf("table %s is a foreign table: ask lsh_why_not() on the server that has it", table);
    case Verdict::no_table:
      return "the condition is on rows of a subquery, a function or VALUES, which have no index";
    case Verdict::no_index:
      return psprintf("table %s has no lsh index", table);
    case Verdict::not_valid:
      return "the index is not valid: REINDEX builds it again";
    case Verdict::other_value:
      return "the index is over another column or expression: the condition must have it as CREATE INDEX wrote it";
    case Verdict::other_measure:
      return "the operator class of the index serves other measures";
    case Verdict::far:
      return "the condition is true of values that are far from one another, and an lsh index finds near ones";
    case Verdict::other_row:
      return "the value or the bound to compare with depends on the same row, or changes within the query";
    case Verdict::partial:
      return "the index is partial, and the conditions of the query do not imply its WHERE";
    case Verdict::bad_bound:
      return "no value of the measure reaches the bound";
    case Verdict::below_threshold:
      return psprintf(
          "the index finds what is as near as its threshold, %s, and the condition asks for less near values",
          float8out_internal(note.limit));
    case Verdict::beyond_distance:
      return psprintf("the index finds what is up to its max_distance, %s, away, and the condition asks for more",
                      float8out_internal(note.limit));
    case Verdict::other_signature:
      return "the value was made with other parameters than the signatures in the index";
    case Verdict::leaks:
      return "row security comes first, and what the condition evaluates could tell of rows that it hides";
    case Verdict::hidden:
      return "the index does not serve the condition; row security hides why";
  }
  return nullptr;
}

enum class Column { condition, relation, index, served, reason, kColumns };

bool is_used(const ConditionNote& note, const List* uses) {
  for (const auto* use : each<IndexUse>(uses)) {
    if (use->index == note.index && use->relation == note.relation) return true;
  }
  return false;
}

void put_note(const ConditionNote& note, const List* uses, ReturnSetInfo* rows) {
  const bool is_served = note.verdict == Verdict::joined || (note.verdict == Verdict::usable && is_used(note, uses));
  ResultRow<Column> row;
  row.set(Column::condition, CStringGetTextDatum(note.condition));
  if (OidIsValid(note.table)) row.set(Column::relation, ObjectIdGetDatum(note.table));
  if (OidIsValid(note.index)) row.set(Column::index, ObjectIdGetDatum(note.index));
  row.set(Column::served, BoolGetDatum(is_served));
  row.set(Column::reason, CStringGetTextDatum(reason_text(note, is_served)));
  row.put(rows);
}

// The conditions of one query, and what its plan does for them. False: it has none.
bool put_conditions(Query* query, const char* source, ReturnSetInfo* rows) {
  ConditionNotes notes;
  const PlannedStmt* statement = plan_and_note(query, source, &notes);
  const List* uses = index_uses(statement);
  bool found = false;
  for (const auto* note : each<ConditionNote>(notes.notes)) {
    if (!has_relation(statement, note->relation)) continue;
    put_note(*note, uses, rows);
    found = true;
  }
  return found;
}

}  // namespace
}  // namespace neardup

extern "C" {

// lsh_why_not(query text) -> setof (condition text, relation regclass, index regclass, served boolean, reason text)
PG_FUNCTION_INFO_V1(lsh_why_not);
Datum lsh_why_not(PG_FUNCTION_ARGS) {
  using namespace neardup;
  const char* source = text_to_cstring(PG_GETARG_TEXT_PP(0));
  ReturnSetInfo* rows = begin_rows(fcinfo);
  bool found = false;
  for (auto* query : each<Query>(rewritten(source))) {
    if (query->commandType == CMD_UTILITY)
      ereport(NOTICE, (errmsg("a rule adds a utility command to the query, which has no plan")));
    else if (put_conditions(query, source, rows))
      found = true;
  }
  if (!found)
    ereport(NOTICE, (errmsg("the query has no condition in WHERE or JOIN .. ON that an lsh index could serve"),
                     errhint("Such are jaccard(sig, q) >= 0.8, hamming(hash, q) <= 3 and sig %% q.")));
  return static_cast<Datum>(0);
}

}  // extern "C"
