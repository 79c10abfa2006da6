// Measures of two signatures or sets.
#include <string_view>
#include <vector>

#include "core/base/sort_unique.h"
#include "core/exact/shingle_set.h"
#include "core/signature/weighted_minhash.h"
#include "pg/values/arrays.h"
#include "pg/values/values.h"

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

// The distinct elements of an array of text, ascending by their bytes.
struct TextSet {
  Datum* values;
  int count;

  void read(ArrayType* array) {
    const Elements elements = array_elements(array);
    values = elements.values;
    count = elements.count;
    for (int i = 0; i < count; ++i) {
      if (elements.nulls[i]) refuse_null_element(i, "the set", "elements");
      values[i] = PointerGetDatum(DatumGetTextPP(values[i]));
    }
  }

  std::vector<std::string_view> distinct(StopCheck* stop) const {
    std::vector<std::string_view> out;
    out.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      const text* t = reinterpret_cast<const text*>(DatumGetPointer(values[i]));
      out.emplace_back(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
    }
    sort_unique(&out, stop);
    return out;
  }
};

}  // namespace

SQL_FUNCTION(minhash_jaccard) {
  MinhashView a;
  MinhashView b;
  comparable_args(fcinfo, &a, &b);
  PG_RETURN_FLOAT8(estimate_jaccard(a, b));
}

SQL_FUNCTION(minhash_jaccard_distance) {
  MinhashView a;
  MinhashView b;
  comparable_args(fcinfo, &a, &b);
  PG_RETURN_FLOAT8(1.0 - estimate_jaccard(a, b));
}

SQL_FUNCTION(minhash_similar) {
  MinhashView a;
  MinhashView b;
  comparable_args(fcinfo, &a, &b);
  PG_RETURN_BOOL(is_similar(a, b));
}

SQL_FUNCTION(minhash_containment) {
  MinhashView a;
  MinhashView b;
  comparable_args(fcinfo, &a, &b);
  check_ordered(a, "containment");
  if (a.empty() || b.empty()) PG_RETURN_FLOAT8(0);
  PG_RETURN_FLOAT8(estimate_containment(a.components, b.components, a.num_perm(), a.bits()));
}

SQL_FUNCTION(minhash_set_size) {
  const MinhashView v = minhash_arg(fcinfo, 0);
  check_ordered(v, "set_size");
  if (static_cast<MinhashKind>(v.header->kind) == MinhashKind::imported)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("set_size is not known for an imported signature"),
                    errdetail("How large its values are depends on the program that made them.")));
  if (v.empty()) PG_RETURN_FLOAT8(0);
  if (static_cast<MinhashKind>(v.header->kind) == MinhashKind::weighted)
    PG_RETURN_FLOAT8(estimate_total_weight(v.components, v.num_perm(), v.bits()));
  PG_RETURN_FLOAT8(estimate_set_size(v.components, v.num_perm(), v.bits()));
}

SQL_FUNCTION(jaccard_exact_text) {
  TextSet a;
  TextSet b;
  a.read(PG_GETARG_ARRAYTYPE_P(0));
  b.read(PG_GETARG_ARRAYTYPE_P(1));
  double j = 0;
  call_core([&] {
    PgStop stop;
    j = overlap(a.distinct(&stop), b.distinct(&stop)).jaccard();
  });
  PG_RETURN_FLOAT8(j);
}
