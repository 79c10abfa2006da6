// Measures of two signatures or sets, and what explains them.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/sign.h"
#include "pg/explain.h"
#include "pg/guc.h"
#include "pg/values.h"

namespace {

using namespace neardup;

// The two arguments, made alike; else an error that names both.
void comparable_args(FunctionCallInfo fcinfo, MinhashView* a, MinhashView* b) {
  *a = minhash_arg(fcinfo, 0);
  *b = minhash_arg(fcinfo, 1);
  demand_comparable(*a, *b);
}

// Containment and set size need the order of the values.
void check_ordered(const MinhashView& v, const char* function) {
  if (v.bits() == 8)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s needs signatures of 16 or 32 bits: this one has 8", function),
                    errdetail("The 8-bit form keeps no order of its values.")));
}

// The distinct elements of an array of text or bigint, ascending; text compares by its bytes.
template <typename T>
struct ArraySet {
  Datum* values;
  int count;

  void read(ArrayType* array, Oid type) {
    const bool is_text = type == TEXTOID;
    bool* nulls;
    deconstruct_array(array, type, is_text ? -1 : static_cast<int>(sizeof(int64)), is_text ? false : FLOAT8PASSBYVAL,
                      is_text ? TYPALIGN_INT : TYPALIGN_DOUBLE, &values, &nulls, &count);
    for (int i = 0; i < count; ++i) {
      if (nulls[i])
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("element %d of the set is NULL", i + 1),
                        errhint("Use array_remove(elements, NULL).")));
      if (is_text) values[i] = PointerGetDatum(DatumGetTextPP(values[i]));
    }
  }

  std::vector<T> distinct(StopCheck* stop) const {
    std::vector<T> out;
    out.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<T, int64>) {
        out.push_back(DatumGetInt64(values[i]));
      } else {
        const text* t = reinterpret_cast<const text*>(DatumGetPointer(values[i]));
        out.emplace_back(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
      }
    }
    sort_unique(&out, stop);
    return out;
  }
};

template <typename T>
Datum exact_jaccard(FunctionCallInfo fcinfo, Oid type) {
  ArraySet<T> a;
  ArraySet<T> b;
  a.read(PG_GETARG_ARRAYTYPE_P(0), type);
  b.read(PG_GETARG_ARRAYTYPE_P(1), type);
  double j = 0;
  call_core([&] {
    PgStop stop;
    j = overlap(a.distinct(&stop), b.distinct(&stop)).jaccard();
  });
  PG_RETURN_FLOAT8(j);
}

Datum row_datum(FunctionCallInfo fcinfo, const Datum* values, const bool* nulls) {
  TupleDesc desc;
  if (get_call_result_type(fcinfo, nullptr, &desc) != TYPEFUNC_COMPOSITE) elog(ERROR, "return type must be a row type");
  return HeapTupleGetDatum(
      heap_form_tuple(BlessTupleDesc(desc), const_cast<Datum*>(values), const_cast<bool*>(nulls)));
}

}  // namespace

namespace neardup {

void explain_minhash_pair(const MinhashView& a, const MinhashView& b, double threshold, PairExplanation* out) {
  *out = PairExplanation{};
  out->comparable = comparable(*a.header, *b.header);
  if (!out->comparable) {
    call_core([&] {
      snprintf(out->verdict, sizeof out->verdict,
               "not comparable, made differently: left: %s; right: %s; use minhash_like()",
               describe(params_of(*a.header)).c_str(), describe(params_of(*b.header)).c_str());
    });
    return;
  }
  const uint32_t matches = matches_of(a, b);
  const uint32_t needed = min_matches(threshold, false, a.num_perm(), a.bits());
  const double j = estimate_jaccard(matches, a.num_perm(), a.bits());
  // Binomial, with half a match and half a mismatch added: 128 of 128 is no certainty. Of 8-bit components a share
  // of 1/256 agrees by chance (minhash.h).
  const double chance = a.bits() == 8 ? 1.0 / 256 : 0.0;
  const double agree = (matches + 0.5) / (a.num_perm() + 1.0);
  const double error = std::sqrt(agree * (1 - agree) / a.num_perm()) / (1 - chance);
  out->matches = matches;
  out->needed = needed;
  out->jaccard = j;
  out->standard_error = error;
  out->similar = !a.empty() && !b.empty() && matches >= needed;
  if (a.empty() || b.empty())
    snprintf(out->verdict, sizeof out->verdict, "not similar: %s empty, and an empty document is similar to nothing",
             a.empty() && b.empty() ? "both are" : "one is");
  else if (matches >= needed)
    snprintf(out->verdict, sizeof out->verdict, "similar: %u of %u components agree, %u are needed for %g", matches,
             a.num_perm(), needed, threshold);
  else if (threshold - j <= 2 * error)
    snprintf(out->verdict, sizeof out->verdict,
             "not similar, but within two standard errors: %u of %u components agree, %u are needed for %g; compare "
             "the documents with compare_texts()",
             matches, a.num_perm(), needed, threshold);
  else
    snprintf(out->verdict, sizeof out->verdict, "not similar: %u of %u components agree, %u are needed for %g", matches,
             a.num_perm(), needed, threshold);
}

}  // namespace neardup

extern "C" {

PG_FUNCTION_INFO_V1(minhash_jaccard);
Datum minhash_jaccard(PG_FUNCTION_ARGS) {
  MinhashView a;
  MinhashView b;
  comparable_args(fcinfo, &a, &b);
  PG_RETURN_FLOAT8(jaccard_of(a, b));
}

PG_FUNCTION_INFO_V1(minhash_jaccard_distance);
Datum minhash_jaccard_distance(PG_FUNCTION_ARGS) {
  MinhashView a;
  MinhashView b;
  comparable_args(fcinfo, &a, &b);
  PG_RETURN_FLOAT8(1.0 - jaccard_of(a, b));
}

PG_FUNCTION_INFO_V1(minhash_similar);
Datum minhash_similar(PG_FUNCTION_ARGS) {
  MinhashView a;
  MinhashView b;
  comparable_args(fcinfo, &a, &b);
  PG_RETURN_BOOL(!a.empty() && !b.empty() && jaccard_of(a, b) >= guc_jaccard_threshold);
}

PG_FUNCTION_INFO_V1(minhash_containment);
Datum minhash_containment(PG_FUNCTION_ARGS) {
  MinhashView a;
  MinhashView b;
  comparable_args(fcinfo, &a, &b);
  check_ordered(a, "containment");
  if (a.empty() || b.empty()) PG_RETURN_FLOAT8(0);
  PG_RETURN_FLOAT8(estimate_containment(a.components, b.components, a.num_perm(), a.bits()));
}

PG_FUNCTION_INFO_V1(minhash_set_size);
Datum minhash_set_size(PG_FUNCTION_ARGS) {
  const MinhashView v = minhash_arg(fcinfo, 0);
  check_ordered(v, "set_size");
  if (static_cast<MinhashKind>(v.header->kind) == MinhashKind::imported)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("set_size is not known for an imported signature"),
                    errdetail("How large its values are depends on the program that made them.")));
  PG_RETURN_FLOAT8(v.empty() ? 0.0 : estimate_set_size(v.components, v.num_perm(), v.bits()));
}

PG_FUNCTION_INFO_V1(jaccard_exact_text);
Datum jaccard_exact_text(PG_FUNCTION_ARGS) { return exact_jaccard<std::string_view>(fcinfo, TEXTOID); }

PG_FUNCTION_INFO_V1(jaccard_exact_bigint);
Datum jaccard_exact_bigint(PG_FUNCTION_ARGS) { return exact_jaccard<int64>(fcinfo, INT8OID); }

PG_FUNCTION_INFO_V1(neardup_compare_texts);
Datum neardup_compare_texts(PG_FUNCTION_ARGS) {
  const Utf8 a = utf8_of(PG_GETARG_TEXT_PP(0));
  const Utf8 b = utf8_of(PG_GETARG_TEXT_PP(1));
  const int k = PG_GETARG_INT32(2);
  const Unit unit = unit_arg(fcinfo, 3);
  Overlap o;
  double estimate = 0;
  char note[256];
  call_core([&] {
    PgStop stop;
    const MinhashParams params = document_params(unit, k, 128, 32, 0);
    const auto sa = distinct_shingles(unit, k, a.data, a.size, &stop);
    const auto sb = distinct_shingles(unit, k, b.data, b.size, &stop);
    o = overlap(sa, sb);
    std::vector<uint32_t> ca(params.num_perm);
    std::vector<uint32_t> cb(params.num_perm);
    const bool any_a = sign_set(params, sa.data(), sa.size(), &stop, ca.data());
    const bool any_b = sign_set(params, sb.data(), sb.size(), &stop, cb.data());
    if (any_a && any_b)
      estimate = estimate_jaccard(count_matches(ca.data(), cb.data(), params.num_perm, 32), params.num_perm, 32);
    const double j = o.jaccard();
    const bool same = a.size == b.size && std::equal(a.data, a.data + a.size, b.data);
    const char* what = unit == Unit::word ? "words" : "characters";
    if (o.a == 0 || o.b == 0)
      snprintf(note, sizeof note, "%s has no %s, so nothing is similar to it",
               o.a == 0 && o.b == 0 ? "neither text" : o.a == 0 ? "the first text" : "the second text", what);
    else if (same)
      snprintf(note, sizeof note, "the texts are equal");
    else if (j == 1)
      snprintf(note, sizeof note, "the same shingles of %d %s: copies but for what shingling leaves out", k, what);
    else if (j >= 0.8)
      snprintf(note, sizeof note, "near copies: %.0f %% of their shingles are shared", 100 * j);
    else if (std::max(o.shared / static_cast<double>(o.a), o.shared / static_cast<double>(o.b)) >= 0.8)
      snprintf(note, sizeof note, "one holds most of the other: %.0f %% of the shorter one's shingles",
               100 * std::max(o.shared / static_cast<double>(o.a), o.shared / static_cast<double>(o.b)));
    else if (o.shared > 0)
      snprintf(note, sizeof note, "some passages are shared; below the usual threshold of 0.8");
    else
      snprintf(note, sizeof note, "no shingle of %d %s is shared", k, what);
  });
  const auto share = [&](uint64_t n) { return n == 0 ? 0.0 : static_cast<double>(o.shared) / static_cast<double>(n); };
  const Datum values[8] = {
      Float8GetDatum(o.jaccard()),
      Float8GetDatum(estimate),
      Float8GetDatum(share(o.a)),
      Float8GetDatum(share(o.b)),
      Int64GetDatum(static_cast<int64>(o.shared)),
      Int64GetDatum(static_cast<int64>(o.a - o.shared)),
      Int64GetDatum(static_cast<int64>(o.b - o.shared)),
      CStringGetTextDatum(note),
  };
  const bool nulls[8] = {};
  return row_datum(fcinfo, values, nulls);
}

PG_FUNCTION_INFO_V1(minhash_explain_pair);
Datum minhash_explain_pair(PG_FUNCTION_ARGS) {
  const MinhashView a = minhash_arg(fcinfo, 0);
  const MinhashView b = minhash_arg(fcinfo, 1);
  const double threshold = PG_GETARG_FLOAT8(2);
  check_threshold(threshold);
  PairExplanation pair;
  explain_minhash_pair(a, b, threshold, &pair);
  const Datum values[6] = {
      BoolGetDatum(pair.comparable),
      Int32GetDatum(static_cast<int32>(pair.matches)),
      Int32GetDatum(static_cast<int32>(pair.needed)),
      Float8GetDatum(pair.jaccard),
      Float8GetDatum(pair.standard_error),
      CStringGetTextDatum(pair.verdict),
  };
  const bool unknown = !pair.comparable;
  const bool nulls[6] = {false, unknown, unknown, unknown, unknown, false};
  return row_datum(fcinfo, values, nulls);
}

}  // extern "C"
