#include "pg/jobs/job_types.h"

extern "C" {
#include "catalog/pg_am.h"
#include "commands/defrem.h"
}

namespace neardup {

namespace {

bool is_range(Oid type) {
  const char kind = get_typtype(type);
  return kind == TYPTYPE_RANGE || kind == TYPTYPE_MULTIRANGE;
}

// Adds the types that a type is made of.
void add_parts(Oid type, const FormData_pg_type* form, List** types) {
  if (form->typtype == TYPTYPE_DOMAIN) *types = list_append_unique_oid(*types, form->typbasetype);
  if (OidIsValid(form->typelem)) *types = list_append_unique_oid(*types, form->typelem);
  if (form->typtype == TYPTYPE_RANGE) *types = list_append_unique_oid(*types, get_range_subtype(type));
  if (form->typtype == TYPTYPE_MULTIRANGE) *types = list_append_unique_oid(*types, get_multirange_range(type));
  if (form->typtype != TYPTYPE_COMPOSITE) return;
  const TupleDesc columns = lookup_rowtype_tupdesc_copy(type, -1);
  for (int i = 0; i < columns->natts; ++i)
    if (!TupleDescAttr(columns, i)->attisdropped)
      *types = list_append_unique_oid(*types, TupleDescAttr(columns, i)->atttypid);
}

}  // namespace

bool is_trusted_type(Oid type) {
  List* types = list_make1_oid(type);
  bool trusted = true;
  for (int i = 0; i < list_length(types) && trusted; ++i) {  // the list grows
    const Oid part = list_nth_oid(types, i);
    HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(part));
    if (!HeapTupleIsValid(tuple)) continue;
    const auto* form = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
    trusted = form->typowner == GetUserId() || superuser_arg(form->typowner);
    if (trusted) add_parts(part, form, &types);
    ReleaseSysCache(tuple);
  }
  return trusted;
}

void check_order(Oid type, const char* what) {
  if (!OidIsValid(GetDefaultOpClass(type, BTREE_AM_OID)))
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("%s is %s, which has no order", what, format_type_be(type))));
  check_range(type, what);
}

void check_range(Oid type, const char* what) {
  if (!is_range(getBaseType(type)) || is_trusted_type(type)) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("%s is a range of another role's type %s", what, format_type_be(type)),
                  errdetail("What its owner has put into the type would run with your rights.")));
}

}  // namespace neardup
