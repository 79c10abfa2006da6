// minhash_agg: the signature of a set that comes one element a row. The state is plain data in the aggregate's context.
#include <vector>

#include "core/base/hash.h"
#include "core/signature/sign.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// components are complete after every element, so states merge by minima and travel between workers as they are.
struct AggregateState {
  MinhashParams params;
  bool any;
  IncrementalSketch* sketch;  // over components; owned by the context's callback
  MemoryContextCallback callback;
  uint32_t components[FLEXIBLE_ARRAY_MEMBER];
};

AggregateState* make_state(MemoryContext context, const MinhashParams& params) {
  auto* s = static_cast<AggregateState*>(
      MemoryContextAllocZero(context, offsetof(AggregateState, components) + sizeof(uint32_t) * params.num_perm));
  s->params = params;
  for (uint32_t i = 0; i < params.num_perm; ++i) s->components[i] = kEmptyComponent32;
  s->callback.arg = s;
  s->callback.func = [](void* arg) {
    delete static_cast<AggregateState*>(arg)->sketch;
    static_cast<AggregateState*>(arg)->sketch = nullptr;
  };
  MemoryContextRegisterResetCallback(context, &s->callback);
  return s;
}

IncrementalSketch* need_sketch(AggregateState* s) {
  if (s->sketch == nullptr)
    call_core([&] {
      s->sketch = new IncrementalSketch(s->params.num_perm, static_cast<uint64_t>(s->params.seed), s->components);
    });
  return s->sketch;
}

// The merged sketch's rounds are counted anew at the next element.
void forget_sketch(AggregateState* s) {
  IncrementalSketch* sketch = s->sketch;
  s->sketch = nullptr;
  call_core([&] { delete sketch; });
}

MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
  MemoryContext context;
  if (!AggCheckCallContext(fcinfo, &context)) elog(ERROR, "minhash_agg called outside an aggregate");
  return context;
}

// num_perm, bits and seed are arguments of every row, and every worker goes by the first row that it sees: they must
// agree throughout a group, or the result would depend on the plan.
void check_same(const char* name, int64 earlier, int64 now) {
  if (earlier != now)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s must be the same in all rows of a group: " INT64_FORMAT " and " INT64_FORMAT, name,
                           earlier, now)));
}

AggregateState* state_for(FunctionCallInfo fcinfo, MinhashKind kind) {
  MemoryContext context = aggregate_context(fcinfo);
  int64 number[3] = {128, 32, 0};  // num_perm, bits, seed
  static const char* const name[3] = {"num_perm", "bits", "seed"};
  for (int i = 0; i < 3 && PG_NARGS() > i + 2; ++i) {
    if (PG_ARGISNULL(i + 2))
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be NULL", name[i])));
    number[i] = i == 2 ? PG_GETARG_INT64(i + 2) : PG_GETARG_INT32(i + 2);
  }
  if (!PG_ARGISNULL(0)) {
    auto* s = reinterpret_cast<AggregateState*>(PG_GETARG_POINTER(0));
    check_same(name[0], s->params.num_perm, number[0]);
    check_same(name[1], s->params.bits, number[1]);
    check_same(name[2], s->params.seed, number[2]);
    return s;
  }
  MinhashParams params;
  call_core([&] { params = set_params(kind, number[0], number[1], number[2]); });
  return make_state(context, params);
}

}  // namespace

SQL_FUNCTION(minhash_agg_text) {
  AggregateState* s = state_for(fcinfo, MinhashKind::text_set);
  if (!PG_ARGISNULL(1)) {
    const Utf8 u = to_utf8(PG_GETARG_TEXT_PP(1));
    need_sketch(s)->add(element_hash(u.data, u.size));
    s->any = true;
  }
  PG_RETURN_POINTER(s);
}

SQL_FUNCTION(minhash_agg_bigint) {
  AggregateState* s = state_for(fcinfo, MinhashKind::bigint_set);
  if (!PG_ARGISNULL(1)) {
    need_sketch(s)->add(static_cast<uint64_t>(PG_GETARG_INT64(1)));
    s->any = true;
  }
  PG_RETURN_POINTER(s);
}

SQL_FUNCTION(minhash_agg_combine) {
  MemoryContext context = aggregate_context(fcinfo);
  auto* a = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<AggregateState*>(PG_GETARG_POINTER(0));
  const auto* b = PG_ARGISNULL(1) ? nullptr : reinterpret_cast<const AggregateState*>(PG_GETARG_POINTER(1));
  if (b == nullptr) {
    if (a == nullptr) PG_RETURN_NULL();
    PG_RETURN_POINTER(a);
  }
  if (a == nullptr) a = make_state(context, b->params);
  check_same("num_perm", a->params.num_perm, b->params.num_perm);
  check_same("bits", a->params.bits, b->params.bits);
  check_same("seed", a->params.seed, b->params.seed);
  if (a->sketch != nullptr) forget_sketch(a);
  for (uint32_t i = 0; i < a->params.num_perm; ++i) a->components[i] = Min(a->components[i], b->components[i]);
  a->any = a->any || b->any;
  PG_RETURN_POINTER(a);
}

// Partial states travel as: any, then the 32-bit stored form.
SQL_FUNCTION(minhash_agg_serialize) {
  aggregate_context(fcinfo);
  const auto* s = reinterpret_cast<const AggregateState*>(PG_GETARG_POINTER(0));
  const size_t size = sizeof(MinhashParams) + 1 + sizeof(uint32_t) * s->params.num_perm;
  auto* out = static_cast<bytea*>(palloc(VARHDRSZ + size));
  SET_VARSIZE(out, VARHDRSZ + size);
  char* p = VARDATA(out);
  memcpy(p, &s->params, sizeof s->params);
  p += sizeof s->params;
  *p++ = s->any;
  memcpy(p, s->components, sizeof(uint32_t) * s->params.num_perm);
  PG_RETURN_BYTEA_P(out);
}

SQL_FUNCTION(minhash_agg_deserialize) {
  aggregate_context(fcinfo);
  const bytea* in = PG_GETARG_BYTEA_PP(0);
  const char* p = VARDATA_ANY(in);
  const size_t size = VARSIZE_ANY_EXHDR(in);
  MinhashParams params;
  if (size < sizeof params + 1) elog(ERROR, "minhash_agg: short partial state");
  memcpy(&params, p, sizeof params);
  if (size != sizeof params + 1 + sizeof(uint32_t) * params.num_perm) elog(ERROR, "minhash_agg: bad partial state");
  AggregateState* s = make_state(CurrentMemoryContext, params);
  s->any = p[sizeof params] != 0;
  memcpy(s->components, p + sizeof params + 1, sizeof(uint32_t) * params.num_perm);
  PG_RETURN_POINTER(s);
}

SQL_FUNCTION(minhash_agg_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto* s = reinterpret_cast<const AggregateState*>(PG_GETARG_POINTER(0));
  if (!s->any) PG_RETURN_NULL();
  return minhash_datum(s->params, s->components);
}
