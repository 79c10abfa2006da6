// The columns of an lsh index: values in the last, equality in those before it.
#include "core/base/hash.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/family.h"

extern "C" {
#include "catalog/index.h"
}

namespace neardup {
namespace {

// The hash functions are PostgreSQL's extended ones, which its own hash partitions store, too.
uint64_t add_to_salt(uint64_t salt, int column, Datum hash) {
  return mix64(salt ^ mix64(static_cast<uint64_t>(DatumGetInt64(hash)) + static_cast<uint64_t>(column)));
}

uint64_t cut(uint64_t salt) { return salt >> (64 - kKeyBits); }

Datum hash_value(FmgrInfo* function, Oid collation, Datum value) {
  return FunctionCall2Coll(function, collation, value, Int64GetDatum(0));
}

Datum column_hash(Relation index, int column, Datum value) {
  return hash_value(index_getprocinfo(index, static_cast<AttrNumber>(column + 1), kProcHash),
                    index->rd_indcollation[column], value);
}

// True if the column's collation takes different bytes for equal.
bool folds(Relation index, int column) {
  const Oid collation = index->rd_indcollation[column];
  return OidIsValid(collation) && !get_collation_isdeterministic(collation);
}

bool has_proc(Relation index, int column, LshProc proc) {
  return OidIsValid(index_getprocid(index, static_cast<AttrNumber>(column + 1), static_cast<uint16>(proc)));
}

}  // namespace

void check_columns(Relation index) {
  const int last = value_column(index);
  for (int i = 0; i < last; ++i)
    if (!has_proc(index, i, kProcHash))
      ereport(ERROR,
              (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
               errmsg("an lsh index has one column of values, its last: column %d of index \"%s\" is not compared "
                      "for equality",
                      i + 1, RelationGetRelationName(index)),
               errhint("Columns before the last are those that similar rows have to share, as in "
                       "USING lsh (tenant_id, sig).")));
  for (int i = 0; i < last; ++i)
    if (index->rd_opcintype[i] == NAMEOID && folds(index, i))
      ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                      errmsg("column %d of index \"%s\" is a name with a nondeterministic collation", i + 1,
                             RelationGetRelationName(index)),
                      errhint("Index it as text.")));
  if (!has_proc(index, last, kProcKeys))
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the last column of an lsh index must hold values to compare: type %s of index \"%s\" is "
                           "compared for equality only",
                           format_type_be(index->rd_opcintype[last]), RelationGetRelationName(index)),
                    errhint("Index a signature, as in USING lsh (to_minhash(column)).")));
}

bool indexed_row(Relation index, const Datum* values, const bool* nulls, IndexedRow* row) {
  const int last = value_column(index);
  row->value = nulls[last] ? 0 : values[last];
  row->has_value = !nulls[last];
  row->has_salt = true;
  row->salt = 0;
  if (last == 0) return row->has_value;
  uint64_t salt = 0;
  for (int i = 0; i < last && row->has_salt; ++i) {
    row->has_salt = !nulls[i];
    if (row->has_salt) salt = add_to_salt(salt, i, column_hash(index, i, values[i]));
  }
  row->salt = cut(salt);
  return true;
}

bool salt_of_keys(Relation index, const ScanKeyData* keys, int n, uint64_t* out) {
  uint64_t salt = 0;
  for (int i = 0; i < value_column(index); ++i) {
    const ScanKeyData* key = nullptr;
    for (int k = 0; k < n && key == nullptr; ++k)
      if (keys[k].sk_attno == i + 1 && keys[k].sk_strategy == kStrategyEqual) key = &keys[k];
    if (key == nullptr || (key->sk_flags & SK_ISNULL) != 0) return false;
    const Oid type = index->rd_opcintype[i];
    // Names hash by their bytes, and compare by the collation.
    if (key->sk_subtype == NAMEOID && folds(index, i)) return false;
    // A value for anyarray and such is of the column's own type.
    if (!OidIsValid(key->sk_subtype) || key->sk_subtype == type || get_typtype(key->sk_subtype) == TYPTYPE_PSEUDO) {
      salt = add_to_salt(salt, i, column_hash(index, i, key->sk_argument));
      continue;
    }
    // It is of another type of the family, whose equal values have equal hashes.
    const Oid proc = get_opfamily_proc(index->rd_opfamily[i], key->sk_subtype, key->sk_subtype, kProcHash);
    if (!OidIsValid(proc))
      elog(ERROR, "missing support function %d for type %u in index \"%s\"", kProcHash, key->sk_subtype,
           RelationGetRelationName(index));
    FmgrInfo function;
    fmgr_info(proc, &function);
    salt = add_to_salt(salt, i, hash_value(&function, index->rd_indcollation[i], key->sk_argument));
  }
  *out = cut(salt);
  return true;
}

IndexInfo* info_for_reading(Relation index) {
  IndexInfo* info = BuildIndexInfo(index);
  info->ii_Concurrent = true;  // an MVCC snapshot
  info->ii_Unique = false;
  info->ii_ExclusionOps = nullptr;
  info->ii_ExclusionProcs = nullptr;
  info->ii_ExclusionStrats = nullptr;
  return info;
}

IndexInfo* info_of_columns(Relation index, const Bitmapset* columns) {
  IndexInfo* info = info_for_reading(index);
  List* expressions = NIL;
  const ListCell* next = list_head(info->ii_Expressions);
  for (int i = 0; i < info->ii_NumIndexAttrs; ++i) {
    const ListCell* expression = nullptr;
    if (info->ii_IndexAttrNumbers[i] == 0) {
      expression = next;
      next = lnext(info->ii_Expressions, next);
    }
    if (!bms_is_member(i, columns))
      info->ii_IndexAttrNumbers[i] = TableOidAttributeNumber;  // stands in its place, and costs nothing
    else if (expression != nullptr)
      expressions = lappend(expressions, lfirst(expression));
  }
  info->ii_Expressions = expressions;
  info->ii_Predicate = NIL;
  return info;
}

}  // namespace neardup
