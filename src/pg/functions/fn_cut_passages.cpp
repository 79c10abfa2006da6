// cut_passages(): a text without ranges of its characters.
#include <vector>

#include "core/passages/cut.h"
#include "pg/values/values.h"

extern "C" {
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
}

namespace {

using namespace neardup;

// The ranges in order, palloc'd. Multiranges hold no empty range, and int4 ranges no upper bound of their own.
CharacterRange* read_ranges(const MultirangeType* multirange, size_t* count) {
  const TypeCacheEntry* type = lookup_type_cache(MultirangeTypeGetOid(multirange), TYPECACHE_MULTIRANGE_INFO);
  int32 n;
  RangeType** ranges;
  multirange_deserialize(type->rngtype, multirange, &n, &ranges);
  auto* out = static_cast<CharacterRange*>(palloc(static_cast<Size>(Max(n, 1)) * sizeof(CharacterRange)));
  for (int32 i = 0; i < n; ++i) {
    RangeBound lower, upper;
    bool is_empty;
    range_deserialize(type->rngtype, ranges[i], &lower, &upper, &is_empty);
    if (lower.infinite || upper.infinite)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a range of characters must have two bounds")));
    out[i] = {DatumGetInt32(lower.val), DatumGetInt32(upper.val)};
  }
  *count = static_cast<size_t>(n);
  return out;
}

}  // namespace

// cut_passages(body text, ranges int4multirange)
SQL_FUNCTION(neardup_cut_passages) {
  const Utf8 body = to_utf8(PG_GETARG_TEXT_PP(0));
  size_t count = 0;
  const CharacterRange* ranges = read_ranges(PG_GETARG_MULTIRANGE_P(1), &count);
  auto* left = static_cast<char*>(MemoryContextAllocHuge(CurrentMemoryContext, Max(body.size, static_cast<size_t>(1))));
  size_t size = 0;
  call_core([&] {
    PgStop stop;
    const std::string out = cut_ranges(body.data, body.size, {ranges, ranges + count}, &stop);
    size = out.copy(left, out.size());
  });
  return text_datum_of_utf8(left, size);
}
