// Values of the type lsh_query: a signature and the least similarity to it.
#pragma once

#include "core/lsh_query.h"
#include "pg/values.h"

namespace neardup {

// The value as a view; points into the datum or its detoasted copy. Raises data_corrupted for other bytes.
LshQueryView lsh_query_view(struct varlena* value);
inline LshQueryView lsh_query_view(Datum value) {
  return lsh_query_view(reinterpret_cast<struct varlena*>(PG_DETOAST_DATUM(value)));
}

Datum lsh_query_datum(double bound, const MinhashView& signature);

}  // namespace neardup
