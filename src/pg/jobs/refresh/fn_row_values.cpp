// The functions that the statements of a refresh call for a row: hashes of its document and its version, the similarity
// at which the index is searched, the distinct elements of a set.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/signature/margin.h"
#include "core/signature/minhash.h"
#include "pg/values/arrays.h"
#include "pg/values/int_set_value.h"
#include "pg/values/values.h"

extern "C" {
#include "access/xact.h"
#include "utils/uuid.h"
}

namespace {

using namespace neardup;

Datum hash_as_uuid(const void* data, size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  auto* uuid = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
  static_assert(sizeof canonical.digest == UUID_LEN);
  memcpy(uuid->data, canonical.digest, UUID_LEN);
  return UUIDPGetDatum(uuid);
}

}  // namespace

SQL_FUNCTION(content_hash_text) {
  const Utf8 doc = to_utf8(PG_GETARG_TEXT_PP(0));
  return hash_as_uuid(doc.data, doc.size);
}

SQL_FUNCTION(content_hash_bytea) {
  const bytea* bytes = PG_GETARG_BYTEA_PP(0);
  return hash_as_uuid(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
}

// neardup_row_version(xmin xid) -> xid: which version of its row a place holds. NULL for one that this transaction has
// written: the transaction may yet write another one in its place.
SQL_FUNCTION(neardup_row_version) {
  const TransactionId writer = PG_GETARG_TRANSACTIONID(0);
  if (TransactionIdIsCurrentTransactionId(writer)) PG_RETURN_NULL();
  PG_RETURN_TRANSACTIONID(writer);
}

// neardup_version_hash(origin oid, place tid, version xid, seed bigint) -> bigint: of a place and the version that it
// holds
SQL_FUNCTION(neardup_version_hash) {
  const ItemPointerData place = *reinterpret_cast<ItemPointer>(PG_GETARG_POINTER(1));
  const uint64 parts[] = {
      (uint64{PG_GETARG_OID(0)} << 32) | ItemPointerGetBlockNumberNoCheck(&place),
      (uint64{ItemPointerGetOffsetNumberNoCheck(&place)} << 32) | PG_GETARG_TRANSACTIONID(2),
  };
  PG_RETURN_INT64(
      static_cast<int64>(XXH3_64bits_withSeed(parts, sizeof parts, static_cast<uint64>(PG_GETARG_INT64(3)))));
}

SQL_FUNCTION(neardup_search_threshold) {
  const MinhashView signature = minhash_arg(fcinfo, 0);
  const double threshold = PG_GETARG_FLOAT8(1);
  check_threshold(threshold);
  double bound = 0;
  call_core([&] {
    const uint32_t need = matches_with_recall(threshold, kVerifyRecall, signature.num_perm(), signature.bits());
    bound = estimate_jaccard(need, signature.num_perm(), signature.bits());
  });
  PG_RETURN_FLOAT8(Max(bound, 0.01));
}

SQL_FUNCTION(neardup_distinct_elements) {
  const IntSet set = int_set_arg(fcinfo, 0, true);
  PG_RETURN_DATUM(bigint_array_datum(set.elements, set.n));
}
