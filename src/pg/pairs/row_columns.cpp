#include "pg/pairs/row_columns.h"

#include "pg/values/values.h"

namespace neardup {
namespace {

// The columns that come first: the id, and a signature or a key.
constexpr int kLeastColumns = 2;

// True if a column of type `from` can be taken as `to`: as it is, or int2/int4 widened to int8.
bool id_fits(Oid from, Oid to) {
  from = getBaseType(from);
  return from == to || (to == INT8OID && (from == INT4OID || from == INT2OID)) || (to == TEXTOID && from == VARCHAROID);
}

Oid check_id(Form_pg_attribute column, Oid wanted, const SourceWants& wants) {
  const Oid id = column->atttypid;
  const Oid base = getBaseType(wanted);
  // A domain's constraint is the query's to check: its column must be of the domain itself.
  const bool fits = wanted == base ? id_fits(id, base) : id == wanted;
  if (!fits)
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("id is %s, not %s", format_type_be(id), format_type_be(wanted)),
             wants.keys || wants.document
                 ? errhint("Name the type of the ids: id => NULL::%s.", format_type_be(id))
                 : errhint("Name the type of the ids by a first argument: NULL::%s.", format_type_be(id))));
  return getBaseType(id);
}

Kind check_signature(const char* what, Form_pg_attribute column, const SignatureTypes& types) {
  const Oid signature = column->atttypid;
  const Oid base = getBaseType(signature);
  if (base == VARBITOID) return Kind::bits;
  for (int type = 0; type < static_cast<int>(kKinds); ++type)
    if (types.oid[type] == base) return static_cast<Kind>(type);
  if (base == INT4ARRAYOID || base == INT8ARRAYOID) return Kind::set;
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("the second column of %s must be a signature (minhash, simhash, ctph or bit) or a set (int[] "
                         "or bigint[]): it is %s",
                         what, format_type_be(signature)),
                  errhint("To sign a document, use to_minhash(...).")));
  pg_unreachable();
}

Oid check_doc(const char* what, Form_pg_attribute column, const SourceWants& wants) {
  if (!wants.docs)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s returns a column \"doc\", but verify is not given", what)));
  const Oid type = getBaseType(column->atttypid);
  if (type != TEXTOID && type != VARCHAROID && type != BYTEAOID)
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the column \"doc\" of %s must be text or bytea: it is %s",
                                                        what, format_type_be(column->atttypid))));
  return type == BYTEAOID ? BYTEAOID : TEXTOID;
}

void check_within(const char* what, Form_pg_attribute column) {
  const TypeCacheEntry* type = lookup_type_cache(column->atttypid, TYPECACHE_CMP_PROC | TYPECACHE_LT_OPR);
  if (!OidIsValid(type->cmp_proc) || !OidIsValid(type->lt_opr))
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_FUNCTION), errmsg("the column \"within\" of %s cannot be put in order: it is %s",
                                                         what, format_type_be(column->atttypid))));
}

Oid check_at(const char* what, Form_pg_attribute column, const SourceWants& wants) {
  if (wants.apart == nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s returns a column \"at\", but at_most_apart is not given", what),
                    errhint("Add at_most_apart => interval '1 day', or leave the column out.")));
  const Oid type = getBaseType(column->atttypid);
  if (type != TIMESTAMPTZOID && type != TIMESTAMPOID && type != DATEOID)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the column \"at\" of %s must be timestamptz, timestamp or date: it is %s", what,
                           format_type_be(column->atttypid))));
  return type;
}

void check_document(const char* what, Form_pg_attribute column) {
  const Oid type = getBaseType(column->atttypid);
  if (type != TEXTOID && type != VARCHAROID)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the second column of %s must be a document of type text: it is %s", what,
                           format_type_be(column->atttypid)),
                    hint_at_text(type)));
}

// A query for documents has one named column, within.
void find_within(const char* what, TupleDesc desc, SourceColumns* columns) {
  for (int i = kDocumentColumn + 1; i < desc->natts; ++i) {
    const char* name = NameStr(TupleDescAttr(desc, i)->attname);
    if (strcmp(name, "within") != 0)
      ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                      errmsg("%s returns a column \"%s\", which has no meaning here", what, name),
                      errhint("After id and document there may be a column named within.")));
    if (columns->within != kColumnAbsent)
      ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN), errmsg("%s returns more than one column \"%s\"", what, name)));
    columns->within = i;
  }
}

// Finds the columns after id and signature by their names.
void find_named(const char* what, TupleDesc desc, SourceColumns* columns) {
  columns->doc = columns->within = columns->at = kColumnAbsent;
  for (int i = kSignatureColumn + 1; i < desc->natts; ++i) {
    const char* name = NameStr(TupleDescAttr(desc, i)->attname);
    int* known = strcmp(name, "doc") == 0      ? &columns->doc
                 : strcmp(name, "within") == 0 ? &columns->within
                 : strcmp(name, "at") == 0     ? &columns->at
                                               : nullptr;
    if (known == nullptr)
      ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                      errmsg("%s returns a column \"%s\", which has no meaning here", what, name),
                      errhint("After id and signature there may be columns named doc, within and at.")));
    if (*known != kColumnAbsent)
      ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN), errmsg("%s returns more than one column \"%s\"", what, name)));
    *known = i;
  }
}

void check_named(const char* what, TupleDesc desc, const SourceWants& wants, SourceColumns* columns) {
  if (columns->doc != kColumnAbsent) columns->doc_type = check_doc(what, TupleDescAttr(desc, columns->doc), wants);
  if (columns->within != kColumnAbsent) {
    const Form_pg_attribute column = TupleDescAttr(desc, columns->within);
    check_within(what, column);
    columns->within_type = column->atttypid;
    columns->within_collation = column->attcollation;
  }
  if (columns->at != kColumnAbsent) columns->at_type = check_at(what, TupleDescAttr(desc, columns->at), wants);
  if (wants.docs && columns->doc == kColumnAbsent)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s returns no column \"doc\", which verify compares", what),
                    errhint("Write SELECT id, signature, body AS doc.")));
  if (wants.apart != nullptr && columns->at == kColumnAbsent)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s returns no column \"at\", which at_most_apart is about", what)));
}

}  // namespace

SourceColumns check_columns(const char* what, TupleDesc desc, Oid id_type, const SignatureTypes& types,
                            const SourceWants& wants) {
  const int count = desc == nullptr ? 0 : desc->natts;
  if (count < kLeastColumns && wants.keys)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s must return an id and at least one key: number of columns is %d", what, count)));
  if (count < kLeastColumns && wants.document)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s must return two columns, id and document: it returns %d", what, count)));
  if (count < kLeastColumns)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s must return two columns, id and signature: it returns %d", what, count)));
  SourceColumns columns = {};
  columns.doc = columns.within = columns.at = kColumnAbsent;
  if (OidIsValid(id_type)) columns.id_type = check_id(TupleDescAttr(desc, kIdColumn), id_type, wants);
  if (wants.keys) return columns;
  if (wants.document) {
    check_document(what, TupleDescAttr(desc, kDocumentColumn));
    find_within(what, desc, &columns);
    check_named(what, desc, wants, &columns);
    return columns;
  }
  columns.signature = check_signature(what, TupleDescAttr(desc, kSignatureColumn), types);
  columns.signature_type = getBaseType(TupleDescAttr(desc, kSignatureColumn)->atttypid);
  find_named(what, desc, &columns);
  check_named(what, desc, wants, &columns);
  return columns;
}

}  // namespace neardup
