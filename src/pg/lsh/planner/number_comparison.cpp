// See number_comparison.h.
#include "pg/lsh/planner/number_comparison.h"

extern "C" {
#include "nodes/makefuncs.h"
}

namespace neardup {
namespace {

// The functions of two types of numbers, as Comparison has them after none.
#define NEARDUP_COMPARISONS(types) \
  { F_##types##LT, F_##types##LE, F_##types##GT, F_##types##GE, F_##types##EQ }
constexpr Oid kComparisons[][5] = {
    NEARDUP_COMPARISONS(FLOAT8),   NEARDUP_COMPARISONS(FLOAT84), NEARDUP_COMPARISONS(FLOAT48),
    NEARDUP_COMPARISONS(INT4),     NEARDUP_COMPARISONS(INT42),   NEARDUP_COMPARISONS(INT24),
    NEARDUP_COMPARISONS(INT48),    NEARDUP_COMPARISONS(INT84),   NEARDUP_COMPARISONS(INT8),
    NEARDUP_COMPARISONS(NUMERIC_),
};

constexpr struct {
  Oid type;
  Oid function;
} kCastsToFloat8[] = {
    {FLOAT4OID, F_FLOAT8_FLOAT4}, {INT2OID, F_FLOAT8_INT2}, {INT4OID, F_FLOAT8_INT4}, {INT8OID, F_FLOAT8_INT8}};

Node* int4_const(int32 value) {
  return reinterpret_cast<Node*>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false, true));
}

Node* numeric_const(int64 value) {
  return reinterpret_cast<Node*>(
      makeConst(NUMERICOID, -1, InvalidOid, -1, DirectFunctionCall1(int8_numeric, Int64GetDatum(value)), false, false));
}

}  // namespace

Comparison find_comparison(Oid function) {
  for (const auto& functions : kComparisons)
    for (int i = 0; i < static_cast<int>(lengthof(functions)); ++i)
      if (functions[i] == function) return static_cast<Comparison>(i + 1);
  return Comparison::none;
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
  Node* number = exprType(bound) == FLOAT8OID ? bound : nullptr;
  for (const auto& cast : kCastsToFloat8)
    if (exprType(bound) == cast.type) number = call1(cast.function, FLOAT8OID, bound);
  if (number == nullptr) return nullptr;
  if (whole == Whole::below)
    return call2(F_FLOAT8MI, FLOAT8OID, call1(F_CEIL_FLOAT8, FLOAT8OID, number), float8_const(1));
  if (whole == Whole::above)
    return call2(F_FLOAT8PL, FLOAT8OID, call1(F_FLOOR_FLOAT8, FLOAT8OID, number), float8_const(1));
  return number;
}

}  // namespace neardup
