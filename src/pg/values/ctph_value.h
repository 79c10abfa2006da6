// ctph values as arguments.
#pragma once

#include "core/signature/ctph.h"
#include "pg/values/values.h"

namespace neardup {

// The value as a view; points into the datum or its detoasted copy. ERRCODE_INVALID_BINARY_REPRESENTATION for bytes
// that are no digest.
inline CtphView ctph_view(const struct varlena* value) {
  CtphView v;
  call_core([&] { v = view_ctph(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)); });
  return v;
}
inline CtphView ctph_arg(FunctionCallInfo fcinfo, int n) { return ctph_view(PG_GETARG_VARLENA_PP(n)); }
inline CtphView ctph_of_datum(Datum value) {
  return ctph_view(reinterpret_cast<struct varlena*>(PG_DETOAST_DATUM_PACKED(value)));
}

}  // namespace neardup
