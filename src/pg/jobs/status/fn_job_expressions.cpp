// neardup_expression_type(), which databases call that have the SQL of 0.2.0.
#include "pg/jobs/job_expressions.h"

extern "C" {

// neardup_expression_type(source regclass, expression text) -> regtype
PG_FUNCTION_INFO_V1(neardup_expression_type);
Datum neardup_expression_type(PG_FUNCTION_ARGS) {
  PG_RETURN_OID(neardup::expression_type(PG_GETARG_OID(0), text_to_cstring(PG_GETARG_TEXT_PP(1))));
}

}  // extern "C"
