// Expressions that a job is given as text: checked against one table, and written so that they mean the same under any
// search_path. The operator by which values of a column are equal.
#include "pg/base/expression.h"
#include "pg/base/open_table.h"

extern "C" {
#include "optimizer/optimizer.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "utils/ruleutils.h"
}

namespace {

using namespace neardup;

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

void name_expression(void* arg) { errcontext("expression \"%s\" of a job", static_cast<const char*>(arg)); }

bool has_rows(char kind) {
  return kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_VIEW ||
         kind == RELKIND_MATVIEW || kind == RELKIND_FOREIGN_TABLE;
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

// The expression, analysed in the caller's search_path.
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
char* written(Relation relation, Node* node) {
  List* context = deparse_context_for(RelationGetRelationName(relation), RelationGetRelid(relation));
  const int level = NewGUCNestLevel();
  set_config_option("search_path", "pg_catalog", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
  char* text = deparse_expression(node, context, false, false);
  AtEOXact_GUC(true, level);
  return text;
}

// Calls f(relation, node) with the arguments source and expression, analysed; errors name the expression.
template <typename F>
void with_expression(FunctionCallInfo fcinfo, F f) {
  char* expression = text_to_cstring(PG_GETARG_TEXT_PP(1));
  Relation relation = open_source(PG_GETARG_OID(0));
  ErrorContextCallback context = {error_context_stack, name_expression, expression};
  error_context_stack = &context;
  f(relation, analysed(relation, expression));
  error_context_stack = context.previous;
  relation_close(relation, NoLock);
}

void demand_type(Oid type) {
  if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("type with OID %u does not exist", type)));
}

}  // namespace

extern "C" {

// neardup_expression_type(source regclass, expression text) -> regtype
PG_FUNCTION_INFO_V1(neardup_expression_type);
Datum neardup_expression_type(PG_FUNCTION_ARGS) {
  Oid type = InvalidOid;
  with_expression(fcinfo, [&](Relation, Node* node) {
    type = getBaseType(exprType(node));
    if (contain_volatile_functions(reinterpret_cast<Node*>(expression_planner(reinterpret_cast<Expr*>(node)))))
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("volatile functions cannot be used here")));
  });
  PG_RETURN_OID(type == UNKNOWNOID ? TEXTOID : type);
}

// neardup_expression(source regclass, expression text) -> text: the same expression, names qualified
PG_FUNCTION_INFO_V1(neardup_expression);
Datum neardup_expression(PG_FUNCTION_ARGS) {
  char* text = nullptr;
  with_expression(fcinfo, [&](Relation relation, Node* node) { text = written(relation, node); });
  PG_RETURN_TEXT_P(cstring_to_text(text));
}

// neardup_base_type(type oid) -> oid: of a domain the type below it
PG_FUNCTION_INFO_V1(neardup_base_type);
Datum neardup_base_type(PG_FUNCTION_ARGS) {
  const Oid type = PG_GETARG_OID(0);
  demand_type(type);
  PG_RETURN_OID(getBaseType(type));
}

// neardup_equality(type regtype) -> text: OPERATOR(schema.name), the equality by which the type is ordered
PG_FUNCTION_INFO_V1(neardup_equality);
Datum neardup_equality(PG_FUNCTION_ARGS) {
  const Oid type = PG_GETARG_OID(0);
  demand_type(type);
  const Oid equality = lookup_type_cache(getBaseType(type), TYPECACHE_EQ_OPR)->eq_opr;
  HeapTuple tuple = OidIsValid(equality) ? SearchSysCache1(OPEROID, ObjectIdGetDatum(equality)) : nullptr;
  if (!HeapTupleIsValid(tuple))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION), errmsg("type %s has no equality", format_type_be(type))));
  const auto* form = reinterpret_cast<Form_pg_operator>(GETSTRUCT(tuple));
  const char* text =
      psprintf("OPERATOR(%s.%s)", quote_identifier(get_namespace_name(form->oprnamespace)), NameStr(form->oprname));
  ReleaseSysCache(tuple);
  PG_RETURN_TEXT_P(cstring_to_text(text));
}

}  // extern "C"
