#include "pg/base/expression.h"

extern "C" {
#include "catalog/pg_operator.h"
#include "parser/parser.h"
}

namespace neardup {

const ResTarget* parse_one_expression(const char* source) {
  List* parsed = raw_parser(source, RAW_PARSE_PLPGSQL_EXPR);
  const SelectStmt* select = castNode(SelectStmt, linitial_node(RawStmt, parsed)->stmt);
  if (list_length(select->targetList) != 1 || select->distinctClause != NIL || select->fromClause != NIL ||
      select->whereClause != nullptr || select->groupClause != NIL || select->havingClause != nullptr ||
      select->windowClause != NIL || select->sortClause != NIL || select->limitOffset != nullptr ||
      select->limitCount != nullptr || select->lockingClause != NIL || select->withClause != nullptr ||
      select->op != SETOP_NONE)
    return nullptr;
  const ResTarget* target = linitial_node(ResTarget, select->targetList);
  // A "*" is expanded before expressions are analysed, which do not expect it.
  if (IsA(target->val, ColumnRef) && IsA(linitial(castNode(ColumnRef, target->val)->fields), A_Star)) return nullptr;
  return target;
}

const char* operator_sql(Oid number) {
  HeapTuple tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(number));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for operator %u", number);
  const auto* form = reinterpret_cast<Form_pg_operator>(GETSTRUCT(tuple));
  const char* text =
      psprintf("OPERATOR(%s.%s)", quote_identifier(get_namespace_name(form->oprnamespace)), NameStr(form->oprname));
  ReleaseSysCache(tuple);
  return text;
}

}  // namespace neardup
