// neardup_s_curve(): lines to look at.
#include <string>
#include <vector>

#include "core/suggest/s_curve.h"
#include "pg/base/context.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

using Lines = std::vector<std::string>;

std::optional<int64_t> optional_argument(FunctionCallInfo fcinfo, int n) {
  if (PG_ARGISNULL(n)) return std::nullopt;
  return PG_GETARG_INT32(n);
}

}  // namespace

// neardup_s_curve(threshold float8, num_perm int, bands int, rows int)
SQL_FUNCTION(neardup_s_curve) {
  if (SRF_IS_FIRSTCALL()) {
    FuncCallContext* first = SRF_FIRSTCALL_INIT();
    const CurveOptions options = {.threshold = DatumGetFloat8(argument(fcinfo, 0, "threshold")),
                                  .num_perm = DatumGetInt32(argument(fcinfo, 1, "num_perm")),
                                  .bands = optional_argument(fcinfo, 2),
                                  .rows = optional_argument(fcinfo, 3)};
    auto* lines = make_owned<Lines>(first->multi_call_memory_ctx,
                                    [=](PgStop*, PgTempFiles*) { return new Lines(s_curve(options)); });
    first->user_fctx = lines;
    first->max_calls = lines->object->size();
  }
  FuncCallContext* context = SRF_PERCALL_SETUP();
  if (context->call_cntr >= context->max_calls) SRF_RETURN_DONE(context);
  const Lines& lines = *static_cast<Owned<Lines>*>(context->user_fctx)->object;
  const std::string& line = lines[context->call_cntr];
  // The macro counts the call before it looks at its argument.
  const Datum text = text_datum_of_utf8(line.data(), line.size());
  SRF_RETURN_NEXT(context, text);
}
