#include "pg/pairs/repeated_rows.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "pg/base/reserve.h"
#include "pg/pairs/verify.h"

namespace neardup {
namespace {

constexpr uint32 kOriginals = 1 << 15;
constexpr uint32 kWays = 2;  // places where one original may be
constexpr uint32 kVerifiedAtOnce = 1024;

uint64 hash_value(Oid type, Datum value, uint64 seed) {
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  if (by_value) return XXH3_64bits_withSeed(&value, sizeof value, seed);
  if (length != -1) return XXH3_64bits_withSeed(DatumGetPointer(value), datumGetSize(value, false, length), seed);
  struct varlena* v = PG_DETOAST_DATUM_PACKED(value);
  return XXH3_64bits_withSeed(VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v), seed);
}

// The hash of all that copies have in common beside the document. Values that are equal but not to the byte tell rows
// apart, which only costs time.
uint64 hash_conditions(const Copies* copies, const RowSource& source, const SourceRow& row) {
  uint64 hash = hash_value(source.columns.signature_type, row.value, copies->seed);
  if (source.columns.within != kColumnAbsent) hash = hash_value(source.columns.within_type, row.within, hash);
  if (source.columns.at != kColumnAbsent) hash = XXH3_64bits_withSeed(&row.at, sizeof row.at, hash);
  return hash;
}

void hash_document(const Copies* copies, Datum doc, uint64 hash[2]) {
  struct varlena* value = PG_DETOAST_DATUM_PACKED(doc);
  const XXH128_hash_t h = XXH3_128bits_withSeed(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), copies->seed);
  hash[0] = h.low64;
  hash[1] = h.high64;
}

// The hashes of a row's document, made when they are asked for.
struct RowDocument {
  Datum doc;
  bool known;
  uint64 hash[2];
};

// True if a remembered row and the one at hand, whose conditions are equal, have the same document.
bool same_document(const Copies* copies, const PairSide& side, Copies::Original* original, RowDocument* document) {
  if (!original->document_known) hash_document(copies, id_at(side.docs, original->row), original->document);
  original->document_known = true;
  if (!document->known) hash_document(copies, document->doc, document->hash);
  document->known = true;
  return document->hash[0] == original->document[0] && document->hash[1] == original->document[1];
}

// Where a further original may be remembered: a free place, or that of the one that was repeated least.
Copies::Original* least_used(Copies::Original* ways) {
  Copies::Original* least = ways;
  for (uint32 i = 0; i < kWays; ++i) {
    if (!ways[i].known) return &ways[i];
    if (ways[i].uses < least->uses) least = &ways[i];
  }
  return least;
}

int by_original(const void* x, const void* y, void*) {
  const auto& a = *static_cast<const CopiedRow*>(x);
  const auto& b = *static_cast<const CopiedRow*>(y);
  if (a.of != b.of) return a.of < b.of ? -1 : 1;
  return a.row < b.row ? -1 : a.row > b.row;
}

// Finds, among copies sorted by their originals, from `first` on, a pair (of, of) for each original that stands for
// itself, at most kVerifiedAtOnce of them. *end: the copy after the last that they are for.
size_t original_pairs(const Copies* copies, const uint32* representative, uint64 first, uint64* end, RowPair* pairs) {
  size_t n = 0;
  for (*end = first; *end < copies->count; ++*end) {
    const uint32 of = copies->found[*end].of;
    if (representative[of] != of || (n > 0 && pairs[n - 1].a == of)) continue;
    if (n == kVerifiedAtOnce) break;
    pairs[n++] = {of, of, 0};
  }
  return n;
}

}  // namespace

Copies* make_copies(MemoryContext context) {
  auto* copies = static_cast<Copies*>(MemoryContextAllocZero(context, sizeof(Copies)));
  copies->context = context;
  copies->originals =
      static_cast<Copies::Original*>(MemoryContextAllocZero(context, kOriginals * sizeof(Copies::Original)));
  // Hashes alone decide, so nobody may know in advance what has the same.
  if (!pg_strong_random(&copies->seed, sizeof copies->seed)) elog(ERROR, "could not generate random bytes");
  return copies;
}

bool note_copy(Copies* copies, const PairSide& side, uint64 number, const SourceRow& row) {
  // A digest of nothing is not near its like.
  if (row.signature.kind == Kind::ctph && row.signature.digest.part1.empty()) return false;
  // A row is not near an equal one, either, where a time that is added goes backwards ('1 month -30 days').
  if (side.source.columns.at != kColumnAbsent && row.until < row.at) return false;
  const uint64 conditions = hash_conditions(copies, side.source, row);
  Copies::Original* ways = copies->originals + conditions % (kOriginals / kWays) * kWays;
  RowDocument document = {row.doc, false, {0, 0}};
  for (uint32 i = 0; i < kWays; ++i) {
    Copies::Original& o = ways[i];
    if (!o.known || o.conditions != conditions || !same_document(copies, side, &o, &document)) continue;
    if (o.uses < PG_UINT16_MAX) ++o.uses;
    reserve(copies->context, &copies->found, &copies->capacity, copies->count + 1);
    copies->found[copies->count++] = {static_cast<uint32>(number), o.row};
    return true;
  }
  Copies::Original* least = least_used(ways);
  if (least->known && least->uses > 0) {
    --least->uses;
    return false;
  }
  *least = {conditions, {document.hash[0], document.hash[1]}, static_cast<uint32>(number), 0, true, document.known};
  return false;
}

void join_copies(Copies* copies, PairResult* result, uint32* representative, double* similarity) {
  if (copies->count == 0) return;
  // The document alone decides whether an original that stands for itself is near its copies: an empty one is near
  // nothing.
  auto* to_itself = static_cast<double*>(palloc(kVerifiedAtOnce * sizeof(double)));
  auto* pairs = static_cast<RowPair*>(palloc(kVerifiedAtOnce * sizeof(RowPair)));
  sort_interruptible(copies->found, copies->count, sizeof(CopiedRow), by_original, nullptr);
  for (uint64 first = 0, end = 0; first < copies->count; first = end) {
    CHECK_FOR_INTERRUPTS();
    const size_t originals = original_pairs(copies, representative, first, &end, pairs);
    const size_t n = verify_pairs(result, pairs, to_itself, originals);
    size_t at = 0;
    for (uint64 i = first; i < end; ++i) {
      const CopiedRow& copy = copies->found[i];
      if (representative[copy.of] != copy.of) {
        // A copy is as near to the representative as its original.
        representative[copy.row] = representative[copy.of];
        similarity[copy.row] = similarity[copy.of];
        continue;
      }
      while (at < n && pairs[at].a < copy.of) ++at;
      if (at == n || pairs[at].a != copy.of) continue;
      representative[copy.row] = copy.of;
      similarity[copy.row] = to_itself[at];
    }
  }
  pfree(pairs);
  pfree(to_itself);
}

}  // namespace neardup
