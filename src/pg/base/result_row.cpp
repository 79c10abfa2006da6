#include "pg/base/result_row.h"

namespace neardup {

ReturnSetInfo* begin_rows(FunctionCallInfo fcinfo) {
  InitMaterializedSRF(fcinfo, 0);
  return reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
}

Datum row_datum(FunctionCallInfo fcinfo, const Datum* values, const bool* nulls) {
  TupleDesc desc;
  if (get_call_result_type(fcinfo, nullptr, &desc) != TYPEFUNC_COMPOSITE) elog(ERROR, "return type must be a row type");
  return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), const_cast<Datum*>(values), const_cast<bool*>(nulls)));
}

}  // namespace neardup
