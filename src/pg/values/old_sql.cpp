// See old_sql.h. The stubs are the symbols that only the SQL of 0.1.0 and 0.2.0 names: CREATE FUNCTION looks a symbol
// up at once, in a step of ALTER EXTENSION UPDATE and in pg_upgrade.
#include "pg/values/old_sql.h"

namespace neardup {

void refuse_old_sql(FunctionCallInfo fcinfo) {
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("function %s() of neardup 0.2.0 or earlier is not supported by this version of the library",
                  get_func_name(fcinfo->flinfo->fn_oid)),
           errhint("Run ALTER EXTENSION neardup UPDATE, then create again the views and functions that call it.")));
  pg_unreachable();
}

}  // namespace neardup

#define STUB(symbol)           \
  PG_FUNCTION_INFO_V1(symbol); \
  Datum symbol(PG_FUNCTION_ARGS) { neardup::refuse_old_sql(fcinfo); }

extern "C" {

STUB(neardup_all_clusters)
STUB(neardup_all_pairs)
STUB(neardup_cluster_bridges)
STUB(neardup_expression_type)
STUB(neardup_pairs_between)
STUB(neardup_words_given)

}  // extern "C"
