// neardup_version(): what is installed, and whether the parts fit.
#include "core/kernels/kernels.h"
#include "core/signature/minhash_encode.h"
#include "core/unicode/utf8.h"
#include "pg/base/result_row.h"

#ifndef NEARDUP_VERSION
#error "the Makefile and CMakeLists.txt define NEARDUP_VERSION from neardup.control"
#endif

namespace {

// The version of the SQL objects in this database.
char* sql_version() {
  Relation extensions = table_open(ExtensionRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ, CStringGetDatum("neardup"));
  SysScanDesc scan = systable_beginscan(extensions, ExtensionNameIndexId, true, nullptr, 1, &key);
  char* version = nullptr;
  HeapTuple tuple = systable_getnext(scan);
  if (HeapTupleIsValid(tuple)) {
    bool is_null;
    const Datum d = heap_getattr(tuple, Anum_pg_extension_extversion, RelationGetDescr(extensions), &is_null);
    if (!is_null) version = TextDatumGetCString(d);
  }
  systable_endscan(scan);
  table_close(extensions, AccessShareLock);
  return version;
}

// major * 10^6 + minor * 10^3 + patch, to tell which is newer.
int64 version_number(const char* text) {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sscanf(text, "%d.%d.%d", &major, &minor, &patch);
  return (static_cast<int64>(major) * 1000 + minor) * 1000 + patch;
}

}  // namespace

SQL_FUNCTION(neardup_version) {
  char* sql = sql_version();
  if (sql != nullptr && version_number(sql) > version_number(NEARDUP_VERSION))
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("the SQL objects of neardup are of version %s, the loaded library of %s", sql, NEARDUP_VERSION),
             errhint("Install the newer library and start a new session.")));
  enum Column { kSql, kLibrary, kFormat, kTokenizer, kUnicode, kKernels, kColumns };
  neardup::ResultRow<Column> row;
  if (sql != nullptr) row.set(kSql, CStringGetTextDatum(sql));
  row.set(kLibrary, CStringGetTextDatum(NEARDUP_VERSION));
  row.set(kFormat, Int32GetDatum(neardup::kMinhashFormat));
  row.set(kTokenizer, Int32GetDatum(neardup::kTokenizerVersion));
  row.set(kUnicode, CStringGetTextDatum(neardup::kUnicodeVersion));
  row.set(kKernels, CStringGetTextDatum(neardup::kernels().name));
  return row.datum(fcinfo);
}
