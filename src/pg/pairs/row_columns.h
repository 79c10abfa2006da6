// The columns of a caller's query for all_pairs() and its kin: an id, a signature, a set or keys, and what else pairs
// need.
#pragma once

#include "pg/pairs/signature.h"

#include "pg/base/pg.h"

namespace neardup {

// The columns that a call reads from its query.
struct SourceWants {
  bool keys;              // the columns after the id are keys of any type; there is no signature
  bool document;          // the second column is a document; there is no signature
  bool docs;              // documents are compared: the column doc must be there, and else it must not
  const Interval* apart;  // at_most_apart, which the column at is for; or null
  bool ordered;           // rows come in the order of the query, which matters
};

constexpr int kIdColumn = 0;
constexpr int kSignatureColumn = 1;
constexpr int kFirstKeyColumn = 1;
constexpr int kDocumentColumn = 1;
constexpr int kColumnAbsent = -1;

// The columns of a query. Those after id and signature are found by their names: a position, or kColumnAbsent.
struct SourceColumns {
  Oid id_type;         // the base type
  Kind signature;      // of the second column, unless keys are wanted
  Oid signature_type;  // as an SQL type
  int doc;             // to be verified
  Oid doc_type;        // TEXTOID or BYTEAOID
  int within;          // any ordered type: only rows with equal values are near
  Oid within_type;
  Oid within_collation;
  int at;       // only rows so near in time are near
  Oid at_type;  // TIMESTAMPTZOID, TIMESTAMPOID or DATEOID

  // True if a row may be near only some of the others.
  bool grouped() const { return within != kColumnAbsent || at != kColumnAbsent; }
};

// Checks that there are an id of the wanted type, a signature, a document or keys, and nothing that is not known. what:
// names the query in messages. id_type: that of the result's ids, which may be a domain; InvalidOid: any, for ids are
// not kept.
SourceColumns check_columns(const char* what, TupleDesc desc, Oid id_type, const SignatureTypes& types,
                            const SourceWants& wants);

}  // namespace neardup
