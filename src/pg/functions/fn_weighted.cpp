// Weighted sets: their signature and exact measures; the exact cosine of vectors.
#include <optional>
#include <vector>

#include "core/exact/cosine.h"
#include "core/exact/weights.h"
#include "core/signature/weighted_minhash.h"
#include "pg/values/arrays.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// Two arrays of one length without NULLs: features and their weights.
struct Features {
  int n;
  Datum* feature;  // text, not compressed
  Datum* weight;

  void read(ArrayType* features, ArrayType* weights, const char* which) {
    int weight_count;
    feature = elements(features, "feature", which, &n);
    weight = elements(weights, "weight", which, &weight_count);
    if (n != weight_count)
      ereport(ERROR,
              (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
               errmsg("%sfeatures and %sweights must have the same length: %d and %d", which, which, n, weight_count)));
    for (int i = 0; i < n; ++i) {
      if (i % 65536 == 0) CHECK_FOR_INTERRUPTS();
      feature[i] = PointerGetDatum(DatumGetTextPP(feature[i]));
    }
  }

  // which: "a_" or "b_" where there are two sets.
  static Datum* elements(ArrayType* array, const char* name, const char* which, int* n) {
    const Elements e = array_elements(array);
    for (int i = 0; i < e.count; ++i)
      if (e.nulls[i])
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        *which == '\0' ? errmsg("%s %d is NULL", name, i + 1)
                                       : errmsg("%s %d of %c is NULL", name, i + 1, *which)));
    *n = e.count;
    return e.values;
  }

  std::vector<TextWeight> list(StopCheck* stop) const {
    std::vector<TextWeight> out;
    out.reserve(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) {
      if (i % 65536 == 0) stop->poll();
      const text* t = reinterpret_cast<const text*>(DatumGetPointer(feature[i]));
      out.push_back({{VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t)},
                     weight_units(DatumGetFloat8(weight[i]), static_cast<size_t>(i) + 1)});
    }
    return out;
  }
};

// The overlap of (a_features, a_weights, b_features, b_weights); *cosine: null, or where it goes.
double overlap_args(FunctionCallInfo fcinfo, std::optional<double>* cosine) {
  Features a;
  Features b;
  a.read(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_ARRAYTYPE_P(1), "a_");
  b.read(PG_GETARG_ARRAYTYPE_P(2), PG_GETARG_ARRAYTYPE_P(3), "b_");
  double jaccard = 0;
  call_core([&] {
    PgStop stop;
    std::vector<TextWeight> left = a.list(&stop);
    std::vector<TextWeight> right = b.list(&stop);
    const WeightedOverlap o = weighted_overlap(&left, &right, &stop);
    jaccard = o.jaccard();
    if (cosine != nullptr) *cosine = o.cosine;
  });
  return jaccard;
}

// The numbers of an array of float8 without NULLs, in place.
const double* numbers(ArrayType* array, const char* name, int* n) {
  *n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
  if (array_contains_nulls(array)) {
    const uint8* bitmap = ARR_NULLBITMAP(array);
    int i = 0;
    while ((bitmap[i / 8] & (1 << i % 8)) != 0) ++i;
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("component %d of vector %s is NULL", i + 1, name)));
  }
  return reinterpret_cast<const double*>(ARR_DATA_PTR(array));
}

}  // namespace

SQL_FUNCTION(minhash_from_weighted_set) {
  return cached_result(fcinfo, [&] {
    const MinhashParams params = set_params_args(fcinfo, MinhashKind::weighted, 2);
    Features set;
    set.read(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_ARRAYTYPE_P(1), "");
    auto* hashes =
        static_cast<uint64_t*>(palloc_extended(sizeof(uint64_t) * (static_cast<size_t>(set.n) + 1), MCXT_ALLOC_HUGE));
    for (int i = 0; i < set.n; ++i) {
      if (i % 65536 == 0) CHECK_FOR_INTERRUPTS();
      const Utf8 u = to_utf8(DatumGetTextPP(set.feature[i]));
      hashes[i] = element_hash(u.data, u.size);
    }
    return signed_datum(params, [&](StopCheck* stop, uint32_t* components) {
      std::vector<WeightedElement> elements;
      elements.reserve(static_cast<size_t>(set.n));
      for (int i = 0; i < set.n; ++i) {
        if (i % 65536 == 0) stop->poll();
        elements.push_back({hashes[i], weight_units(DatumGetFloat8(set.weight[i]), static_cast<size_t>(i) + 1)});
      }
      return sign_weighted(params.num_perm, static_cast<uint64_t>(params.seed), &elements, stop, components);
    });
  });
}

SQL_FUNCTION(weighted_jaccard_exact) { PG_RETURN_FLOAT8(overlap_args(fcinfo, nullptr)); }

SQL_FUNCTION(weighted_cosine_exact) {
  std::optional<double> cosine;
  overlap_args(fcinfo, &cosine);
  if (!cosine) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*cosine);
}

SQL_FUNCTION(cosine_exact) {
  int n;
  int other;
  const double* a = numbers(PG_GETARG_ARRAYTYPE_P(0), "a", &n);
  const double* b = numbers(PG_GETARG_ARRAYTYPE_P(1), "b", &other);
  if (n != other)
    ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
                    errmsg("vectors a and b must have the same length: %d and %d", n, other)));
  std::optional<double> cosine;
  call_core([&] {
    PgStop stop;
    cosine = cosine_similarity(a, b, static_cast<size_t>(n), &stop);
  });
  if (!cosine) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*cosine);
}
