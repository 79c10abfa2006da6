// See known_query.h.
#include "pg/lsh/planner/facts/known_query.h"

#include "pg/base/guc.h"
#include "pg/lsh/family.h"
#include "pg/values/lsh_query_value.h"

namespace neardup {
namespace {

Datum signature_datum(const MinhashView& v) {
  return minhash_datum(reinterpret_cast<const uint8_t*>(v.header), v.size);
}

Datum detoasted(Datum value, Oid type) {
  return get_typlen(type) == -1 ? PointerGetDatum(PG_DETOAST_DATUM(value)) : value;
}

bool has_row_value(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Var) || IsA(node, PlaceHolderVar) || IsA(node, SubPlan)) return true;
  if (IsA(node, Param)) return reinterpret_cast<Param*>(node)->paramkind != PARAM_EXTERN;
  return walk_expression(node, has_row_value, context);
}

void read_bound(const Const* bound, KnownQuery* known) {
  known->none = bound->constisnull;
  known->has_bound = !bound->constisnull;
  if (known->has_bound) known->bound = DatumGetFloat8(bound->constvalue);
}

}  // namespace

bool comes_from_row(Node* value) { return has_row_value(value, nullptr); }

KnownQuery known_operand(PlannerInfo* root, uint16_t strategy, Node* operand, bool ours) {
  KnownQuery known{};
  known.strategy = strategy;
  known.measure = Measure::jaccard;
  if (ours && strategy == kStrategySimilar) {
    known.has_bound = true;
    known.bound = guc_jaccard_threshold;
  }
  Node* node = estimate_expression_value(root, operand);
  known.of_row = comes_from_row(node);
  if (IsA(node, Const)) {
    const Const* value = reinterpret_cast<Const*>(node);
    if (value->constisnull) {
      known.none = true;
      return known;
    }
    known.has_query = true;
    known.type = value->consttype;
    known.query = value->constvalue;
    if (!ours) return known;
    // It is read as an lsh_query below: it must be a varlena at the least, whatever the operator's operands are.
    if (strategy != kStrategySimilar && get_typlen(value->consttype) != -1) return known;
    known.query = detoasted(value->constvalue, known.type);
    if (strategy == kStrategySimilar) {
      known.value = known.query;
    } else {
      const LshQueryView view = lsh_query_view(known.query);
      known.has_bound = true;
      known.measure = view.measure;
      known.bound = view.bound;
      if (measure_kind(view.measure) == Kind::minhash)
        known.value = strategy == kStrategyAtLeast ? signature_datum(view.signature) : known.query;
    }
  } else if (ours && IsA(node, FuncExpr) && strategy != kStrategySimilar) {
    // with_threshold(query, bound), or what the planner derives: the bound alone says much.
    const auto* call = reinterpret_cast<FuncExpr*>(node);
    List* args = call->args;
    if (list_length(args) == 2 && IsA(lsecond(args), Const) && lsecond_node(Const, args)->consttype == FLOAT8OID &&
        makes_lsh_query(call->funcid, &known.measure))
      read_bound(lsecond_node(Const, args), &known);
  }
  known.none = known.none || (known.has_bound && beyond_reach(known.measure, known.bound));
  return known;
}

KnownQuery known_arguments(PlannerInfo* root, Measure measure, Oid make_query, Node* value, Node* bound) {
  KnownQuery known{};
  known.strategy = kStrategyAtLeast;
  known.measure = measure;
  Node* v = estimate_expression_value(root, value);
  Node* b = estimate_expression_value(root, bound);
  if (IsA(b, Const)) {
    read_bound(reinterpret_cast<Const*>(b), &known);
    known.none = known.none || beyond_reach(measure, known.bound);
  }
  known.of_row = comes_from_row(v);
  if (IsA(v, Const)) {
    const Const* c = reinterpret_cast<Const*>(v);
    known.none = known.none || c->constisnull;
    if (!c->constisnull && known.has_bound && OidIsValid(make_query)) {
      known.has_query = true;
      known.type = get_func_rettype(make_query);
      const Datum argument = detoasted(c->constvalue, c->consttype);
      if (measure_kind(measure) == Kind::minhash) known.value = argument;
      known.query = OidFunctionCall2(make_query, argument, Float8GetDatum(known.bound));
    }
  }
  return known;
}

double query_closeness(const KnownQuery& query) {
  if (query.has_bound) return closeness(query.measure, query.bound);
  return info(query.measure).usual_closeness;
}

}  // namespace neardup
