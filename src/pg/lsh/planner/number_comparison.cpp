// See number_comparison.h.
#include "pg/lsh/planner/number_comparison.h"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
}

namespace neardup {
namespace {

Node* int4_const(int32 value) {
  return reinterpret_cast<Node*>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false, true));
}

Node* numeric_const(int64 value) {
  return reinterpret_cast<Node*>(
      makeConst(NUMERICOID, -1, InvalidOid, -1, DirectFunctionCall1(int8_numeric, Int64GetDatum(value)), false, false));
}

}  // namespace

// Long: it is a table.
Comparison find_comparison(Oid function) {
  switch (function) {
    case F_FLOAT8GT:
    case F_FLOAT84GT:
    case F_FLOAT48GT:
    case F_INT4GT:
    case F_INT42GT:
    case F_INT24GT:
    case F_INT48GT:
    case F_INT84GT:
    case F_INT8GT:
    case F_NUMERIC_GT:
      return Comparison::greater;
    case F_FLOAT8GE:
    case F_FLOAT84GE:
    case F_FLOAT48GE:
    case F_INT4GE:
    case F_INT42GE:
    case F_INT24GE:
    case F_INT48GE:
    case F_INT84GE:
    case F_INT8GE:
    case F_NUMERIC_GE:
      return Comparison::greater_or_equal;
    case F_FLOAT8LT:
    case F_FLOAT84LT:
    case F_FLOAT48LT:
    case F_INT4LT:
    case F_INT42LT:
    case F_INT24LT:
    case F_INT48LT:
    case F_INT84LT:
    case F_INT8LT:
    case F_NUMERIC_LT:
      return Comparison::less;
    case F_FLOAT8LE:
    case F_FLOAT84LE:
    case F_FLOAT48LE:
    case F_INT4LE:
    case F_INT42LE:
    case F_INT24LE:
    case F_INT48LE:
    case F_INT84LE:
    case F_INT8LE:
    case F_NUMERIC_LE:
      return Comparison::less_or_equal;
    case F_FLOAT8EQ:
    case F_FLOAT84EQ:
    case F_FLOAT48EQ:
    case F_INT4EQ:
    case F_INT42EQ:
    case F_INT24EQ:
    case F_INT48EQ:
    case F_INT84EQ:
    case F_INT8EQ:
    case F_NUMERIC_EQ:
      return Comparison::equal;
    default:
      return Comparison::none;
  }
}

Comparison turned(Comparison c) {
  switch (c) {
    case Comparison::less:
      return Comparison::greater;
    case Comparison::less_or_equal:
      return Comparison::greater_or_equal;
    case Comparison::greater:
      return Comparison::less;
    case Comparison::greater_or_equal:
      return Comparison::less_or_equal;
    default:
      return c;
  }
}

Node* call1(Oid function, Oid result, Node* argument) {
  return reinterpret_cast<Node*>(
      makeFuncExpr(function, result, list_make1(argument), InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST));
}

Node* call2(Oid function, Oid result, Node* a, Node* b) {
  return reinterpret_cast<Node*>(
      makeFuncExpr(function, result, list_make2(a, b), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

Node* float8_const(double value) {
  return reinterpret_cast<Node*>(
      makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(value), false, FLOAT8PASSBYVAL));
}

Node* extreme(MinMaxOp op, Oid type, Node* a, Node* b) {
  auto* node = makeNode(MinMaxExpr);
  node->minmaxtype = type;
  node->op = op;
  node->args = list_make2(a, b);
  node->location = -1;
  return reinterpret_cast<Node*>(node);
}

Node* as_float8(Node* bound, Whole whole) {
  if (exprType(bound) == NUMERICOID) {
    // Beyond the range of float8 a cast fails, and so near 0. LEAST and GREATEST pass over NULL, which has to stay one.
    constexpr int64 kLargestBound = 1000000;
    constexpr int32 kDecimals = 20;
    Node* number = extreme(IS_LEAST, NUMERICOID, extreme(IS_GREATEST, NUMERICOID, bound, numeric_const(-kLargestBound)),
                           numeric_const(kLargestBound));
    if (whole == Whole::below)
      number = call2(F_NUMERIC_SUB, NUMERICOID, call1(F_CEIL_NUMERIC, NUMERICOID, number), numeric_const(1));
    if (whole == Whole::above)
      number = call2(F_NUMERIC_ADD, NUMERICOID, call1(F_FLOOR_NUMERIC, NUMERICOID, number), numeric_const(1));
    number = call2(F_ROUND_NUMERIC_INT4, NUMERICOID, number, int4_const(kDecimals));
    auto* is_null = makeNode(NullTest);
    is_null->arg = reinterpret_cast<Expr*>(bound);
    is_null->nulltesttype = IS_NULL;
    is_null->location = -1;
    auto* when = makeNode(CaseWhen);
    when->expr = reinterpret_cast<Expr*>(is_null);
    when->result = reinterpret_cast<Expr*>(makeNullConst(FLOAT8OID, -1, InvalidOid));
    when->location = -1;
    auto* choice = makeNode(CaseExpr);
    choice->casetype = FLOAT8OID;
    choice->args = list_make1(when);
    choice->defresult = reinterpret_cast<Expr*>(call1(F_FLOAT8_NUMERIC, FLOAT8OID, number));
    choice->location = -1;
    return reinterpret_cast<Node*>(choice);
  }
  Node* number;
  switch (exprType(bound)) {
    case FLOAT8OID:
      number = bound;
      break;
    case FLOAT4OID:
      number = call1(F_FLOAT8_FLOAT4, FLOAT8OID, bound);
      break;
    case INT2OID:
      number = call1(F_FLOAT8_INT2, FLOAT8OID, bound);
      break;
    case INT4OID:
      number = call1(F_FLOAT8_INT4, FLOAT8OID, bound);
      break;
    case INT8OID:
      number = call1(F_FLOAT8_INT8, FLOAT8OID, bound);
      break;
    default:
      return nullptr;
  }
  if (whole == Whole::below)
    return call2(F_FLOAT8MI, FLOAT8OID, call1(F_CEIL_FLOAT8, FLOAT8OID, number), float8_const(1));
  if (whole == Whole::above)
    return call2(F_FLOAT8PL, FLOAT8OID, call1(F_FLOOR_FLOAT8, FLOAT8OID, number), float8_const(1));
  return number;
}

}  // namespace neardup
