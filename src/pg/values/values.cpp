#include "pg/values/values.h"

#include <cmath>

#include "core/base/message_text.h"
#include "core/signature/sign.h"
#include "core/signature/simhash.h"

#include "pg/base/guc.h"

extern "C" {
#include "access/xact.h"
#include "optimizer/optimizer.h"
}

namespace neardup {
namespace {

constexpr double kLeastAsPercent = 1.1;  // what is a little above 1 was no percentage
constexpr int kMaxCachedArgs = 6;
constexpr Size kMaxCachedBytes = 64 * 1024 * 1024;  // of one argument: a copy is held while the statement runs

struct ResultCache {
  bool usable;  // no argument names a column
  bool valid;
  int nargs;
  Datum args[kMaxCachedArgs];
  Datum result;
};

// True if an argument may be the same in many calls: it names no column. Parameters of all kinds count, those that a
// subquery or the outer side of a join sets as well, and what is made of them.
bool is_steady(const FmgrInfo* flinfo, int i) {
  const auto* expr = reinterpret_cast<const Node*>(flinfo->fn_expr);
  if (expr == nullptr || !IsA(expr, FuncExpr)) return get_fn_expr_arg_stable(const_cast<FmgrInfo*>(flinfo), i);
  List* args = reinterpret_cast<const FuncExpr*>(expr)->args;
  return i < list_length(args) && !contain_var_clause(static_cast<Node*>(list_nth(args, i)));
}

// True if an argument of this call may be compared byte by byte: by value, in line, or a pointer into a TOAST table.
// Such a pointer stands for what it leads to: the number in it is not given again before four billion others were.
bool plain(FunctionCallInfo fcinfo, int i, bool* by_value, int16* length) {
  char align;
  bool by_val;
  get_typlenbyvalalign(get_fn_expr_argtype(fcinfo->flinfo, i), length, &by_val, &align);
  *by_value = by_val;
  if (by_val || *length != -1) return by_val;
  const char* value = reinterpret_cast<const char*>(DatumGetPointer(fcinfo->args[i].value));
  return (!VARATT_IS_EXTERNAL(value) || VARATT_IS_EXTERNAL_ONDISK(value)) && VARSIZE_ANY(value) <= kMaxCachedBytes;
}

ResultCache* usable_cache(FunctionCallInfo fcinfo) {
  FmgrInfo* flinfo = fcinfo->flinfo;
  if (flinfo == nullptr) return nullptr;
  auto* cache = static_cast<ResultCache*>(flinfo->fn_extra);
  if (cache == nullptr) {
    cache = static_cast<ResultCache*>(MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(ResultCache)));
    cache->nargs = fcinfo->nargs;
    cache->usable = fcinfo->nargs <= kMaxCachedArgs;
    for (int i = 0; cache->usable && i < fcinfo->nargs; ++i) {
      const Oid type = get_fn_expr_argtype(flinfo, i);
      // A model of the result is asked for its parameters alone, which are those of all its column.
      const bool model = OidIsValid(type) && getBaseType(type) == get_func_rettype(flinfo->fn_oid);
      cache->usable = OidIsValid(type) && (model || is_steady(flinfo, i));
    }
    flinfo->fn_extra = cache;
  }
  return cache->usable ? cache : nullptr;
}

// A hint for ereport(): the likely meaning of a threshold above 1.
int hint_at_fraction(double threshold, bool of_bits) {
  if (!(threshold >= kLeastAsPercent && threshold <= 100)) return 0;  // NaN, too
  const NumberText given = shown(threshold);
  if (of_bits && threshold < kSimhashBits && threshold == std::floor(threshold))
    return errhint("For %s %%, write %.15g. For a distance of %s bits, write 1 - %s.0 / n; n is %d for a simhash.",
                   given.text, threshold / 100, given.text, given.text, kSimhashBits);
  return errhint("For %s %%, write %.15g.", given.text, threshold / 100);
}

}  // namespace

Utf8 to_utf8(const char* data, size_t size) {
  const char* utf8 = pg_server_to_any(data, static_cast<int>(size), PG_UTF8);
  return {reinterpret_cast<const uint8_t*>(utf8), utf8 == data ? size : strlen(utf8)};
}

char* server_text_if_fits(const char* data, size_t size, size_t* out_size) {
  const int encoding = GetDatabaseEncoding();
  if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII) {
    *out_size = size;
    return pnstrdup(data, size);
  }
  const Oid conversion = FindDefaultConversionProc(PG_UTF8, encoding);
  if (!OidIsValid(conversion)) return nullptr;
  const size_t most = size * MAX_CONVERSION_GROWTH + 1;
  char* out = static_cast<char*>(palloc(most));
  char* source = pnstrdup(data, size);
  const int taken = pg_do_encoding_conversion_buf(conversion, PG_UTF8, encoding,
                                                  reinterpret_cast<unsigned char*>(source), static_cast<int>(size),
                                                  reinterpret_cast<unsigned char*>(out), static_cast<int>(most), true);
  pfree(source);
  if (taken != static_cast<int>(size)) {
    pfree(out);
    return nullptr;
  }
  *out_size = strlen(out);
  return out;
}

Bytes message_arg(FunctionCallInfo fcinfo) {
  StringInfo buffer = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const int size = buffer->len - buffer->cursor;
  return {reinterpret_cast<const uint8_t*>(pq_getmsgbytes(buffer, size)), static_cast<size_t>(size)};
}

Bytes copy_bytes(const Bytes& bytes, MemoryContext context) {
  auto* copy = static_cast<uint8_t*>(MemoryContextAllocExtended(context, bytes.size + 1, MCXT_ALLOC_HUGE));
  memcpy(copy, bytes.data, bytes.size);
  return {copy, bytes.size};
}

Datum varlena_datum(const void* data, size_t size) {
  auto* value = static_cast<struct varlena*>(palloc(VARHDRSZ + size));
  SET_VARSIZE(value, VARHDRSZ + size);
  memcpy(VARDATA(value), data, size);
  return PointerGetDatum(value);
}

Datum text_datum_of_utf8(const char* data, size_t size) {
  const char* server = pg_any_to_server(data, static_cast<int>(size), PG_UTF8);
  return PointerGetDatum(cstring_to_text_with_len(server, static_cast<int>(server == data ? size : strlen(server))));
}

const char* aligned_bytes(struct varlena* value) {
  const char* data = VARDATA_ANY(value);
  if (!VARATT_IS_SHORT(value)) return data;
  const size_t size = VARSIZE_ANY_EXHDR(value);
  return static_cast<const char*>(memcpy(palloc(size), data, size));
}

MinhashView minhash_view(struct varlena* value) {
  const char* data = aligned_bytes(value);
  const size_t size = VARSIZE_ANY_EXHDR(value);
  const auto* h = reinterpret_cast<const MinhashHeader*>(data);
  if (size >= sizeof *h && is_known(*h)) {
    const bool empty = (h->flags & kMinhashEmpty) != 0;
    const MinhashView v{h, empty ? nullptr : h + 1, size};
    if (size == sizeof *h + (empty ? 0 : v.components_size())) return v;
  }
  MinhashView v{};
  call_core([&] { v = view_minhash(data, size); });
  return v;
}

bool is_similar(const MinhashView& a, const MinhashView& b) { return estimate_jaccard(a, b) >= guc_jaccard_threshold; }

Datum minhash_datum(const MinhashParams& params, const uint32_t* components) {
  const size_t size = minhash_size(params, components == nullptr);
  auto* value = static_cast<struct varlena*>(palloc(VARHDRSZ + size));
  SET_VARSIZE(value, VARHDRSZ + size);
  write_minhash(params, components, VARDATA(value));
  return PointerGetDatum(value);
}

Datum argument(FunctionCallInfo fcinfo, int n, const char* name) {
  if (PG_ARGISNULL(n)) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be NULL", name)));
  return PG_GETARG_DATUM(n);
}

Unit unit_arg(FunctionCallInfo fcinfo, int n) {
  const text* name = PG_GETARG_TEXT_PP(n);
  Unit unit = Unit::word;
  const char* data = VARDATA_ANY(name);
  // An unknown name is quoted in the error: cut it between characters.
  const size_t size = static_cast<size_t>(pg_mbcliplen(data, static_cast<int>(VARSIZE_ANY_EXHDR(name)), 64));
  call_core([&] { unit = parse_text_unit({data, size}); });
  return unit;
}

MinhashParams set_params_args(FunctionCallInfo fcinfo, MinhashKind kind, int n) {
  const int64 num_perm = PG_GETARG_INT32(n);
  const int64 bits = PG_GETARG_INT32(n + 1);
  const int64 seed = PG_GETARG_INT64(n + 2);
  MinhashParams params;
  call_core([&] { params = set_params(kind, num_perm, bits, seed); });
  return params;
}

bool may_commit(FunctionCallInfo fcinfo) {
  const auto* call = reinterpret_cast<const CallContext*>(fcinfo->context);
  return call != nullptr && IsA(call, CallContext) && !call->atomic && !IsSubTransaction();
}

void refuse_null_element(int i, const char* what, const char* argument) {
  ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("element %d of %s is NULL", i + 1, what),
                  errhint("Use array_remove(%s, NULL).", argument)));
  pg_unreachable();
}

int hint_at_text(Oid type) {
  // A cast would write the bytes as digits.
  if (type == BYTEAOID)
    return errhint("neardup_decode() makes text of bytes, as in SELECT id, (neardup_decode(document)).body.");
  return errhint("Cast it to text.");
}

void check_not_negative(const char* argument, const Interval* value) {
  const Interval none = {};
  const Datum given = IntervalPGetDatum(value);
  if (!DatumGetBool(DirectFunctionCall2(interval_lt, given, IntervalPGetDatum(&none)))) return;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("%s must not be negative: %s", argument, DatumGetCString(DirectFunctionCall1(interval_out, given)))));
}

void check_threshold(double threshold, bool of_bits) {
  if (threshold > 0 && threshold <= 1) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("threshold must be above 0 and at most 1: %s", shown(threshold).text),
                  hint_at_fraction(threshold, of_bits)));
}

Datum cached_result(FunctionCallInfo fcinfo, bool* found) {
  *found = false;
  ResultCache* cache = usable_cache(fcinfo);
  if (cache == nullptr || !cache->valid) return 0;
  for (int i = 0; i < cache->nargs; ++i) {
    bool by_value;
    int16 length;
    if (!plain(fcinfo, i, &by_value, &length)) return 0;
    const Datum now = fcinfo->args[i].value;
    if (by_value
            ? now != cache->args[i]
            : VARSIZE_ANY(DatumGetPointer(now)) != VARSIZE_ANY(DatumGetPointer(cache->args[i])) ||
                  memcmp(DatumGetPointer(now), DatumGetPointer(cache->args[i]), VARSIZE_ANY(DatumGetPointer(now))) != 0)
      return 0;
  }
  *found = true;
  return cache->result;
}

void cache_result(FunctionCallInfo fcinfo, Datum result, bool by_value_result) {
  ResultCache* cache = usable_cache(fcinfo);
  if (cache == nullptr) return;
  if (cache->valid) {
    cache->valid = false;
    if (!by_value_result) pfree(DatumGetPointer(cache->result));
    for (int i = 0; i < cache->nargs; ++i) {
      int16 length;
      bool by_value;
      char align;
      get_typlenbyvalalign(get_fn_expr_argtype(fcinfo->flinfo, i), &length, &by_value, &align);
      if (!by_value) pfree(DatumGetPointer(cache->args[i]));
    }
  }
  bool by_value[kMaxCachedArgs];
  int16 length[kMaxCachedArgs];
  for (int i = 0; i < cache->nargs; ++i)
    if (!plain(fcinfo, i, &by_value[i], &length[i])) return;
  MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
  for (int i = 0; i < cache->nargs; ++i) cache->args[i] = datumCopy(fcinfo->args[i].value, by_value[i], length[i]);
  cache->result = by_value_result ? result : datumCopy(result, false, -1);
  cache->valid = true;
  MemoryContextSwitchTo(old);
}

}  // namespace neardup
