#include "pg/join/join_keys.h"

extern "C" {
#include "common/hashfn.h"
#include "optimizer/clauses.h"
}

namespace neardup {
namespace {

// True if it is an equality of a hash join between the two sides, either way round.
bool is_equality(const RestrictInfo* clause, const RelOptInfo* outer, const RelOptInfo* inner, bool* straight) {
  if (!clause->can_join || !OidIsValid(clause->hashjoinoperator) || !op_strict(clause->hashjoinoperator)) return false;
  if (contain_subplans(reinterpret_cast<Node*>(clause->clause))) return false;
  *straight = bms_is_subset(clause->left_relids, outer->relids) && bms_is_subset(clause->right_relids, inner->relids);
  return *straight ||
         (bms_is_subset(clause->left_relids, inner->relids) && bms_is_subset(clause->right_relids, outer->relids));
}

}  // namespace

JoinKeys find_join_keys(const RelOptInfo* outer, const RelOptInfo* inner, List* clauses) {
  JoinKeys keys = {};
  ListCell* cell;
  foreach (cell, clauses) {
    auto* clause = static_cast<RestrictInfo*>(lfirst(cell));
    bool straight;
    Oid left_hash;
    Oid right_hash;
    if (!is_equality(clause, outer, inner, &straight) ||
        !get_op_hash_functions(clause->hashjoinoperator, &left_hash, &right_hash))
      continue;
    auto* equality = reinterpret_cast<OpExpr*>(clause->clause);
    void* left = linitial(equality->args);
    void* right = lsecond(equality->args);
    keys.outer = lappend(keys.outer, straight ? left : right);
    keys.inner = lappend(keys.inner, straight ? right : left);
    keys.outer_hash = lappend_oid(keys.outer_hash, straight ? left_hash : right_hash);
    keys.inner_hash = lappend_oid(keys.inner_hash, straight ? right_hash : left_hash);
    keys.collations = lappend_oid(keys.collations, equality->inputcollid);
    keys.conditions = lappend(keys.conditions, equality);
  }
  return keys;
}

KeyHasher* make_hasher(List* keys, List* functions, List* collations, PlanState* parent) {
  auto* hasher = static_cast<KeyHasher*>(palloc0(sizeof(KeyHasher)));
  hasher->count = list_length(keys);
  const auto count = static_cast<Size>(hasher->count);
  hasher->keys = static_cast<ExprState**>(palloc(count * sizeof(ExprState*)));
  hasher->functions = static_cast<FmgrInfo*>(palloc(count * sizeof(FmgrInfo)));
  hasher->collations = static_cast<Oid*>(palloc(count * sizeof(Oid)));
  for (int i = 0; i < hasher->count; ++i) {
    hasher->keys[i] = ExecInitExpr(static_cast<Expr*>(list_nth(keys, i)), parent);
    fmgr_info(list_nth_oid(functions, i), &hasher->functions[i]);
    hasher->collations[i] = list_nth_oid(collations, i);
  }
  return hasher;
}

bool hash_keys(const KeyHasher* hasher, ExprContext* context, uint32* hash) {
  MemoryContext old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
  *hash = 0;
  bool is_null = false;
  for (int i = 0; i < hasher->count && !is_null; ++i) {
    const Datum key = ExecEvalExpr(hasher->keys[i], context, &is_null);
    if (is_null) break;
    *hash = hash_combine(*hash, DatumGetUInt32(FunctionCall1Coll(&hasher->functions[i], hasher->collations[i], key)));
  }
  MemoryContextSwitchTo(old);
  return !is_null;
}

}  // namespace neardup
