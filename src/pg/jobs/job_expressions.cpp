#include "pg/jobs/job_expressions.h"

#include "pg/base/expression.h"
#include "pg/base/local_settings.h"
#include "pg/profiles/profile.h"

extern "C" {
#include "optimizer/optimizer.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "utils/ruleutils.h"
}

namespace neardup {

namespace {

// The one expression of "SELECT expression", which reads nothing by itself.
Node* only_expression(const char* source) {
  const ResTarget* target = parse_one_expression(source);
  if (target == nullptr)
    ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("not a single expression: \"%s\"", source)));
  // as "published desc" is read: the keyword as a name
  if (target->name != nullptr)
    ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("not an expression alone: \"%s\"", source),
                    errhint("An expression has no ASC or DESC and no name; -extract(epoch FROM published) puts the "
                            "newest first.")));
  return target->val;
}

// A place that the parser names is one in the expression, not in the caller's statement.
void name_expression(void* arg) {
  const char* expression = static_cast<const char*>(arg);
  const int place = geterrposition();
  if (place > 0) {
    errposition(0);
    internalerrposition(place);
    internalerrquery(expression);
  }
  errcontext("expression \"%s\" of a job", expression);
}

// The table that an expression is over, open and locked.
Relation open_source(Oid table) {
  const OpenTable opened = open_readable(table);
  if (opened.refusal == Refusal::privilege)
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("permission denied for relation %s", get_rel_name(table))));
  if (opened.refusal == Refusal::missing)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", table)));
  if (opened.refusal != Refusal::none || !has_rows(opened.relation->rd_rel->relkind))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("%s is no table or view", get_rel_name(table))));
  return opened.relation;
}

// The expression, analysed in the current search_path.
Node* analysed(Relation relation, const char* expression) {
  Node* raw = only_expression(expression);
  ParseState* state = make_parsestate(nullptr);
  state->p_sourcetext = expression;
  ParseNamespaceItem* item = addRangeTableEntryForRelation(state, relation, AccessShareLock, nullptr, false, true);
  addNSItemToQuery(state, item, true, true, true);
  // The kind says what is refused: subqueries, aggregates, window functions, sets.
  Node* node = transformExpr(state, raw, EXPR_KIND_CHECK_CONSTRAINT);
  assign_expr_collations(state, node);
  free_parsestate(state);
  return node;
}

// Written so that only what is in pg_catalog has no schema.
const char* written(Relation relation, Node* node) {
  List* context = deparse_context_for(RelationGetRelationName(relation), RelationGetRelid(relation));
  const CatalogPath path = CatalogPath::begin("pg_catalog");
  const char* text = deparse_expression(node, context, false, false);
  path.end();
  return text;
}

// Calls f(relation, node) with the expression, analysed; errors name it.
template <typename F>
void with_expression(Oid source, const char* expression, F f) {
  Relation relation = open_source(source);
  ErrorContextCallback context = {error_context_stack, name_expression, const_cast<char*>(expression)};
  error_context_stack = &context;
  f(relation, analysed(relation, expression));
  error_context_stack = context.previous;
  relation_close(relation, NoLock);
}

}  // namespace

const char* qualified_expression(Oid source, const char* expression) {
  const char* text = nullptr;
  if (expression != nullptr)
    with_expression(source, expression, [&](Relation relation, Node* node) { text = written(relation, node); });
  return text;
}

Oid expression_type(Oid source, const char* expression) {
  Oid type = InvalidOid;
  with_expression(source, expression, [&](Relation, Node* node) {
    type = getBaseType(exprType(node));
    if (contain_volatile_functions(reinterpret_cast<Node*>(expression_planner(reinterpret_cast<Expr*>(node)))))
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("volatile functions cannot be used here")));
  });
  return type == UNKNOWNOID ? TEXTOID : type;
}

Bitmapset* add_read_columns(Bitmapset* columns, Oid source, const char* expression) {
  if (expression != nullptr)
    with_expression(source, expression, [&](Relation, Node* node) { pull_varattnos(node, 1, &columns); });
  return columns;
}

bool is_immutable(Oid source, const char* expression) {
  bool immutable = true;
  if (expression != nullptr)
    with_expression(source, expression, [&](Relation, Node* node) {
      const auto* planned = expression_planner(reinterpret_cast<Expr*>(node));
      immutable = !contain_mutable_functions(reinterpret_cast<Node*>(const_cast<Expr*>(planned)));
    });
  return immutable;
}

void qualify_expressions(JobRow* row) {
  if (row->qualified) return;
  row->order_by = qualified_expression(row->source, row->order_by);
  row->filter = qualified_expression(row->source, row->filter);
  row->deleted = qualified_expression(row->source, row->deleted);
  row->profile = lasting_profile_name(row->profile);
  row->qualified = true;
}

}  // namespace neardup
