// The arguments of a trigger against near copies, and the table that it guards. See guard.h.
#include "pg/triggers/guard.h"

#include "pg/base/expression.h"
#include "pg/base/local_settings.h"
#include "pg/base/own_schemas.h"
#include "pg/values/values.h"

extern "C" {
#include "catalog/pg_trigger.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "utils/ruleutils.h"
}

namespace neardup {

namespace {

[[noreturn]] void wrong_arguments(bool flags, int given) {
  if (flags)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("neardup_flag() takes 3 or 4 arguments: %d", given),
             errdetail("They are the signature, the threshold, the column to fill, and the column to fill it from."),
             errhint("EXECUTE FUNCTION neardup_flag('sig', '0.9', 'copy_of', 'id')")));
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("neardup_guard() takes 2 or 3 arguments: %d", given),
                  errdetail("They are the signature, the threshold, and 'refuse' or 'skip'."),
                  errhint("EXECUTE FUNCTION neardup_guard('sig', '0.9')")));
  pg_unreachable();
}

double parse_threshold(const char* text) {
  char* end;
  const double threshold = strtod(text, &end);
  if (end == text || *end != '\0')
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("threshold must be above 0 and at most 1: \"%s\"", text)));
  check_threshold(threshold);
  return threshold;
}

// The trigger of which this one is a partition's clone, and its table.
void find_origin(const TriggerData* call, Guard* g) {
  g->trigger = call->tg_trigger->tgoid;
  g->table = RelationGetRelid(call->tg_relation);
  g->is_partition = call->tg_relation->rd_rel->relispartition;
  if (!g->is_partition) return;
  Relation catalog = table_open(TriggerRelationId, AccessShareLock);
  for (Oid next = g->trigger; OidIsValid(next);) {
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(next));
    SysScanDesc scan = systable_beginscan(catalog, TriggerOidIndexId, true, nullptr, 1, &key);
    HeapTuple tuple = systable_getnext(scan);
    if (!HeapTupleIsValid(tuple)) elog(ERROR, "could not find trigger %u", next);
    const Form_pg_trigger form = reinterpret_cast<Form_pg_trigger>(GETSTRUCT(tuple));
    g->trigger = next;
    g->table = form->tgrelid;
    next = form->tgparentid;
    systable_endscan(scan);
  }
  table_close(catalog, AccessShareLock);
}

// The user's expression over the columns of this table or partition. Names in it are PostgreSQL's own or this
// extension's, whatever the search_path of who inserts.
Node* parse_expression(const Guard* g, Relation relation) {
  const CatalogPath path = CatalogPath::begin(psprintf("pg_catalog, %s, pg_temp", g->schema));
  const ResTarget* target = parse_one_expression(g->expression);
  if (target == nullptr)
    ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR),
                    errmsg("the signature must be a column or one expression: %s", g->expression)));
  ParseState* state = make_parsestate(nullptr);
  state->p_sourcetext = g->expression;
  ParseNamespaceItem* item = addRangeTableEntryForRelation(state, relation, AccessShareLock, nullptr, false, true);
  addNSItemToQuery(state, item, false, true, true);
  Node* node = transformExpr(state, target->val, EXPR_KIND_INDEX_EXPRESSION);
  assign_expr_collations(state, node);
  free_parsestate(state);
  path.end();
  return node;
}

// A generated column's expression in its place: BEFORE triggers come before it is computed.
Node* replace_generated(ReplacedVar* var, replace_rte_variables_context* context) {
  Relation relation = static_cast<Relation>(context->callback_arg);
  if (var->varattno > 0 && TupleDescAttr(RelationGetDescr(relation), var->varattno - 1)->attgenerated != '\0')
    return build_column_default(relation, var->varattno);
  return static_cast<Node*>(copyObjectImpl(var));
}

// The signature of a row that is about to be stored, and of a row that is.
void make_expressions(Guard* g, Relation fired) {
  const AttrNumber number = get_attnum(RelationGetRelid(fired), g->expression);
  Node* node;
  if (number > 0) {
    const Form_pg_attribute column = TupleDescAttr(RelationGetDescr(fired), number - 1);
    node = reinterpret_cast<Node*>(makeVar(1, number, column->atttypid, column->atttypmod, column->attcollation, 0));
  } else {
    node = parse_expression(g, fired);
  }
  if (getBaseType(exprType(node)) != g->minhash_type)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s must be a minhash signature: it is %s", g->expression, format_type_be(exprType(node))),
                    errhint("To sign a document, use to_minhash(...).")));
  Node* generated = replace_rte_variables(node, 1, 0, replace_generated, fired, nullptr);
  Expr* of_new = expression_planner(reinterpret_cast<Expr*>(generated));
  if (contain_mutable_functions(reinterpret_cast<Node*>(of_new)))
    ereport(ERROR, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                    errmsg("functions in the signature must be IMMUTABLE: %s", g->expression)));
  g->context = CreateStandaloneExprContext();
  g->of_new = g->of_old = ExecInitExpr(of_new, nullptr);
  // A stored column need not be computed again.
  if (number > 0 && TupleDescAttr(RelationGetDescr(fired), number - 1)->attgenerated == ATTRIBUTE_GENERATED_STORED)
    g->of_old = ExecInitExpr(reinterpret_cast<Expr*>(node), nullptr);
}

AttrNumber demand_column(Relation relation, const char* name) {
  const AttrNumber number = get_attnum(RelationGetRelid(relation), name);
  if (number <= 0)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("column \"%s\" of relation \"%s\" does not exist", name,
                                                              RelationGetRelationName(relation))));
  return number;
}

// Rows that agree in an immediate primary key are the same row: its INSERT will go on as ON CONFLICT says.
void find_primary_key(Guard* g, Relation table, Relation fired) {
  ListCell* cell;
  foreach (cell, RelationGetIndexList(table)) {
    HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(cell)));
    if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for index %u", lfirst_oid(cell));
    const Form_pg_index index = reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple));
    if (index->indisprimary && index->indimmediate && index->indisvalid) {
      for (int i = 0; i < index->indnkeyatts; ++i) {
        KeyColumn* key = &g->keys[i];
        key->name = get_attname(RelationGetRelid(table), index->indkey.values[i], false);
        key->number = demand_column(fired, key->name);
        key->type = get_atttype(RelationGetRelid(table), index->indkey.values[i]);
        key->equals = lookup_type_cache(key->type, TYPECACHE_EQ_OPR)->eq_opr;
      }
      g->nkeys = index->indnkeyatts;
    }
    ReleaseSysCache(tuple);
  }
}

void read_flag_arguments(Guard* g, const Trigger* trigger, Relation fired) {
  g->flag_name = trigger->tgargs[2];
  g->flag_number = demand_column(fired, g->flag_name);
  const Form_pg_attribute column = TupleDescAttr(RelationGetDescr(fired), g->flag_number - 1);
  if (column->attgenerated != '\0')
    ereport(ERROR, (errcode(ERRCODE_GENERATED_ALWAYS), errmsg("column \"%s\" is a generated column", g->flag_name)));
  if (trigger->tgnargs > 3) {
    g->flag_key = trigger->tgargs[3];
  } else if (g->nkeys == 1) {
    g->flag_key = g->keys[0].name;
  } else {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("column \"%s\" cannot be filled: table \"%s\" has no primary key of one column",
                           g->flag_name, get_rel_name(g->table)),
                    errhint("Name the column to fill it from as the fourth argument of neardup_flag().")));
  }
  g->flag_type = column->atttypid;
  g->flag_key_number = demand_column(fired, g->flag_key);
  g->flag_key_type = get_atttype(RelationGetRelid(fired), g->flag_key_number);
  // As an INSERT assigns it, with the column's length.
  auto* key = makeNode(CaseTestExpr);
  key->typeId = g->flag_key_type;
  key->typeMod = -1;
  key->collation = get_typcollation(g->flag_key_type);
  Node* cast = coerce_to_target_type(nullptr, reinterpret_cast<Node*>(key), g->flag_key_type, g->flag_type,
                                     column->atttypmod, COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
  if (cast == nullptr)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("column \"%s\" is %s and cannot be filled from \"%s\", which is %s", g->flag_name,
                           format_type_be(g->flag_type), g->flag_key, format_type_be(g->flag_key_type))));
  g->flag_cast = ExecInitExpr(expression_planner(reinterpret_cast<Expr*>(cast)), nullptr);
}

}  // namespace

Guard* make_guard(FunctionCallInfo fcinfo, bool flags) {
  const TriggerData* call = reinterpret_cast<TriggerData*>(fcinfo->context);
  const Trigger* trigger = call->tg_trigger;
  MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
  Guard* g = static_cast<Guard*>(palloc0(sizeof(Guard)));
  const int least = flags ? 3 : 2;
  if (trigger->tgnargs < least || trigger->tgnargs > least + 1) wrong_arguments(flags, trigger->tgnargs);
  g->action = flags ? GuardAction::flag : GuardAction::refuse;
  g->expression = trigger->tgargs[0];
  g->threshold = parse_threshold(trigger->tgargs[1]);
  if (!flags && trigger->tgnargs > 2) {
    const char* action = trigger->tgargs[2];
    if (strcmp(action, "refuse") != 0 && strcmp(action, "skip") != 0)
      ereport(ERROR,
              (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("action must be refuse or skip: \"%s\"", action)));
    if (strcmp(action, "skip") == 0) g->action = GuardAction::skip;
  }
  const Oid function = fcinfo->flinfo->fn_oid;
  g->minhash_type = own_type(function, "minhash");
  g->query_type = own_type(function, "lsh_query");
  g->schema = pstrdup(quote_identifier(get_namespace_name(extension_namespace(function))));
  find_origin(call, g);
  make_expressions(g, call->tg_relation);
  Relation table = table_open(g->table, AccessShareLock);
  find_primary_key(g, table, call->tg_relation);
  table_close(table, AccessShareLock);
  if (flags) read_flag_arguments(g, trigger, call->tg_relation);
  MemoryContextSwitchTo(old);
  return g;
}

const char* signature_sql(const Guard* g, Relation table) {
  if (get_attnum(g->table, g->expression) > 0) return psprintf("t.%s", quote_identifier(g->expression));
  Node* node = parse_expression(g, table);
  // Where nothing is in the search_path every name that is not PostgreSQL's own is written with its schema.
  const CatalogPath path = CatalogPath::begin("");
  const char* text = deparse_expression(node, deparse_context_for("t", g->table), true, false);
  path.end();
  return psprintf("(%s)", text);
}

}  // namespace neardup
