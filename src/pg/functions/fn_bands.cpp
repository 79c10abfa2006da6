// band_keys() and lsh_probability(): banding for those who do their own joins.
#include "core/base/message_text.h"
#include "core/lsh/minhash_keys.h"
#include "pg/values/values.h"

using namespace neardup;

SQL_FUNCTION(minhash_band_keys) {
  if (SRF_IS_FIRSTCALL()) {
    FuncCallContext* first = SRF_FIRSTCALL_INIT();
    const double threshold = PG_GETARG_FLOAT8(1);
    check_threshold(threshold);
    MemoryContext old = MemoryContextSwitchTo(first->multi_call_memory_ctx);
    const MinhashView v = minhash_arg(fcinfo, 0);
    BandLayout layout{};
    call_core([&] { layout = choose_bands(v.num_perm(), v.bits(), threshold, 1); });
    if (!v.empty()) {
      auto* keys = static_cast<uint64_t*>(palloc(layout.bands * sizeof(uint64_t)));
      band_keys(layout, v.components, keys);
      first->max_calls = layout.bands;
      first->user_fctx = keys;
    }
    MemoryContextSwitchTo(old);
  }
  FuncCallContext* context = SRF_PERCALL_SETUP();
  if (context->call_cntr >= context->max_calls) SRF_RETURN_DONE(context);
  // The macro counts the call before it looks at its argument.
  const uint64_t key = static_cast<const uint64_t*>(context->user_fctx)[context->call_cntr];
  SRF_RETURN_NEXT(context, Int64GetDatum(static_cast<int64>(key)));
}

SQL_FUNCTION(neardup_lsh_probability) {
  const double similarity = PG_GETARG_FLOAT8(0);
  const int32 bands = PG_GETARG_INT32(1);
  const int32 rows = PG_GETARG_INT32(2);
  if (!(similarity >= 0 && similarity <= 1))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("similarity must be between 0 and 1: %s", shown(similarity).text)));
  call_core([&] { check_bands(bands, rows); });
  PG_RETURN_FLOAT8(lsh_probability(similarity, static_cast<uint32_t>(bands), static_cast<uint32_t>(rows)));
}
