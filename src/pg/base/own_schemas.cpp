#include "pg/base/own_schemas.h"

extern "C" {
#include "catalog/dependency.h"
}

namespace neardup {
namespace {

constexpr const char* kInternalSchema = "neardup_internal";

Oid function_extension(Oid function) { return getExtensionOfObject(ProcedureRelationId, function); }

// There is no syscache of extensions before PostgreSQL 18.
Oid schema_of_extension(Oid extension) {
  Relation extensions = table_open(ExtensionRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(extension));
  SysScanDesc scan = systable_beginscan(extensions, ExtensionOidIndexId, true, nullptr, 1, &key);
  HeapTuple tuple = systable_getnext(scan);
  const Oid schema =
      HeapTupleIsValid(tuple) ? reinterpret_cast<Form_pg_extension>(GETSTRUCT(tuple))->extnamespace : InvalidOid;
  systable_endscan(scan);
  table_close(extensions, AccessShareLock);
  return schema;
}

bool is_internal(Oid schema) {
  const char* name = get_namespace_name(schema);
  return name != nullptr && strcmp(name, kInternalSchema) == 0;
}

}  // namespace

Oid extension_namespace(Oid function) {
  const Oid own = get_func_namespace(function);
  if (!is_internal(own)) return own;
  const Oid extension = function_extension(function);
  const Oid schema = OidIsValid(extension) ? schema_of_extension(extension) : InvalidOid;
  return OidIsValid(schema) ? schema : own;
}

Oid internal_namespace(Oid function) {
  const Oid own = get_func_namespace(function);
  if (is_internal(own)) return own;
  // Anybody may make a schema of that name before the extension does.
  const Oid schema = get_namespace_oid(kInternalSchema, true);
  if (!OidIsValid(schema)) return own;
  const Oid extension = function_extension(function);
  const bool is_ours = OidIsValid(extension) && getExtensionOfObject(NamespaceRelationId, schema) == extension;
  return is_ours ? schema : own;
}

Oid own_type(Oid function, const char* name) {
  const Oid type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, PointerGetDatum(name),
                                   ObjectIdGetDatum(extension_namespace(function)));
  if (!OidIsValid(type))
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("the schema of extension neardup has no type \"%s\"", name)));
  return type;
}

Oid own_internal_function(Oid function, const char* name) {
  const Oid found =
      GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, PointerGetDatum(name),
                      PointerGetDatum(buildoidvector(nullptr, 0)), ObjectIdGetDatum(internal_namespace(function)));
  if (!OidIsValid(found))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION), errmsg("extension neardup has no function %s()", name),
                    errhint("Run ALTER EXTENSION neardup UPDATE.")));
  return found;
}

}  // namespace neardup
