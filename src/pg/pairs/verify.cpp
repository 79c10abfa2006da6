#include "pg/pairs/verify.h"

#include <cmath>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/exact/document_pairs.h"
#include "pg/base/context.h"
#include "pg/base/guc.h"
#include "pg/values/values.h"

namespace neardup {

// The documents of the latest pairs, equal ones once: an open-addressing table by side and rank, another one by what
// they hold. And of the pairs at hand those that differ.
struct Verifier {
  Owned<DocumentComparer>* comparer;
  MemoryContext context;  // for all of the following
  Document* docs;
  uint32 n;
  uint64 bytes;
  struct Slot {
    uint32 rank;
    uint32 number;  // + 1; 0: free
    bool of_b;
  } * slots;
  uint32 slots_taken;
  struct Content {
    uint64 hash;
    uint32 number;  // + 1; 0: free
  } * contents;
  uint32* pair_slots;  // number of a pair + 1; 0: free
  DocumentPair* pairs;
  uint32 pair_count;
  uint32* wanted;  // which of them a pair at hand is
};

namespace {

constexpr uint32 kMaxPairsAtHand = 4096;
constexpr uint32 kMaxRanks = 1 << 14;
constexpr uint32 kRankSlots = 2 * kMaxRanks;
constexpr uint32 kPairSlots = 2 * kMaxPairsAtHand;

// New documents that are held at once: as many as fit in a part of maintenance_work_mem, and one pair at least. With
// those of earlier pairs, and the shingles of all, twice that part.
uint64 most_document_bytes() { return static_cast<uint64>(maintenance_work_mem) * 1024 / 8; }

void start_anew(Verifier* v) {
  DocumentComparer* comparer = v->comparer->object;
  call_core([&] { comparer->clear(); });
  MemoryContextReset(v->context);
  MemoryContext old = MemoryContextSwitchTo(v->context);
  v->docs = static_cast<Document*>(palloc(kMaxRanks * sizeof(Document)));
  v->slots = static_cast<Verifier::Slot*>(palloc0(kRankSlots * sizeof(Verifier::Slot)));
  v->contents = static_cast<Verifier::Content*>(palloc0(kRankSlots * sizeof(Verifier::Content)));
  v->pair_slots = static_cast<uint32*>(palloc(kPairSlots * sizeof(uint32)));
  v->pairs = static_cast<DocumentPair*>(palloc(kMaxPairsAtHand * sizeof(DocumentPair)));
  v->wanted = static_cast<uint32*>(palloc(kMaxPairsAtHand * sizeof(uint32)));
  v->n = v->slots_taken = 0;
  v->bytes = 0;
  MemoryContextSwitchTo(old);
}

Verifier* make_verifier(const PairRows& rows) {
  auto* v = static_cast<Verifier*>(MemoryContextAllocZero(rows.context, sizeof(Verifier)));
  const unsigned threads = search_threads();
  v->comparer = make_owned<DocumentComparer>(
      rows.context, [&](PgStop* stop, PgTempFiles*) { return new DocumentComparer(rows.measure, threads, stop); });
  v->context = AllocSetContextCreate(rows.context, "neardup documents", ALLOCSET_DEFAULT_SIZES);
  start_anew(v);
  return v;
}

// *memory: to be freed when the document is not wanted.
Document load(const PairSide& side, uint32 rank, void** memory) {
  const uint32 row = side.row_of_rank == nullptr ? rank : side.row_of_rank[rank];
  auto* value = reinterpret_cast<struct varlena*>(DatumGetPointer(id_at(side.docs, row)));
  // A copy: what id_at() gives lives until the next call.
  struct varlena* copy = PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
  *memory = copy;
  const Bytes stored = bytea_bytes(copy);
  if (side.source.columns.doc_type == BYTEAOID) return {stored.data, stored.size};
  const Utf8 text = to_utf8(copy);
  if (text.data != stored.data) {  // converted
    pfree(copy);
    *memory = const_cast<uint8_t*>(text.data);
  }
  return {text.data, text.size};
}

uint32 document_number(Verifier* v, const PairSide& side, bool of_b, uint32 rank) {
  uint32 i = (rank * 0x9E3779B1u + of_b) % kRankSlots;
  for (; v->slots[i].number != 0; i = (i + 1) % kRankSlots)
    if (v->slots[i].rank == rank && v->slots[i].of_b == of_b) return v->slots[i].number - 1;
  void* memory;
  const Document doc = load(side, rank, &memory);
  const uint64 hash = XXH3_64bits(doc.bytes, doc.size);
  uint32 at = static_cast<uint32>(hash) % kRankSlots;
  for (; v->contents[at].number != 0; at = (at + 1) % kRankSlots) {
    const Document& other = v->docs[v->contents[at].number - 1];
    if (v->contents[at].hash == hash && other.size == doc.size && memcmp(other.bytes, doc.bytes, doc.size) == 0) break;
  }
  if (v->contents[at].number == 0) {
    v->docs[v->n] = doc;
    v->bytes += doc.size;
    v->contents[at] = {hash, ++v->n};
  } else {
    pfree(memory);
  }
  ++v->slots_taken;
  v->slots[i] = {rank, v->contents[at].number, of_b};
  return v->contents[at].number - 1;
}

// The index in v->pairs of the two documents, in either order.
uint32 note_pair(Verifier* v, uint32 a, uint32 b) {
  if (a > b) std::swap(a, b);
  uint32 i = (a * 0x9E3779B1u ^ b * 0x85EBCA77u) % kPairSlots;
  for (; v->pair_slots[i] != 0; i = (i + 1) % kPairSlots) {
    const DocumentPair& p = v->pairs[v->pair_slots[i] - 1];
    if (p.a == a && p.b == b) return v->pair_slots[i] - 1;
  }
  v->pairs[v->pair_count] = {a, b, 0};
  v->pair_slots[i] = ++v->pair_count;
  return v->pair_count - 1;
}

// Notes the pairs at hand and loads their documents, of the first of n pairs: as many as there is memory for, and one
// at least. Returns how many.
size_t load_pairs(Verifier* v, const PairRows& rows, const RowPair* pairs, size_t n) {
  memset(v->pair_slots, 0, kPairSlots * sizeof(uint32));
  v->pair_count = 0;
  const uint64 enough = v->bytes + most_document_bytes();
  size_t count = 0;
  while (count < n && (count == 0 || v->bytes < enough)) {
    CHECK_FOR_INTERRUPTS();
    const RowPair& p = pairs[count];
    const uint32 a = document_number(v, rows.a, false, p.a);
    v->wanted[count++] = note_pair(v, a, document_number(v, rows.second(), rows.two_sets, p.b));
  }
  return count;
}

}  // namespace

size_t verify_pairs(PairResult* result, RowPair* pairs, double* similarity, size_t n) {
  result->verified += n;
  if (result->verifier == nullptr) result->verifier = make_verifier(*result->rows);
  Verifier* v = result->verifier;
  DocumentComparer* comparer = v->comparer->object;
  MemoryContext old = MemoryContextSwitchTo(v->context);
  size_t kept = 0;
  for (size_t first = 0; first < n;) {
    CHECK_FOR_INTERRUPTS();
    const size_t most = Min(n - first, static_cast<size_t>(kMaxPairsAtHand));
    if (v->slots_taken + 2 * most > kMaxRanks || v->bytes + comparer->held() > 2 * most_document_bytes()) start_anew(v);
    const size_t count = load_pairs(v, *result->rows, pairs + first, most);
    call_core([&] { comparer->compare(v->docs, v->n, v->pairs, v->pair_count); });
    for (size_t i = 0; i < count; ++i) {
      const double of_documents = v->pairs[v->wanted[i]].similarity;
      if (std::isnan(of_documents)) continue;
      pairs[kept] = pairs[first + i];
      similarity[kept++] = of_documents;
    }
    first += count;
  }
  MemoryContextSwitchTo(old);
  return kept;
}

void end_verifying(PairResult* result) {
  Verifier* v = result->verifier;
  if (v == nullptr) return;
  destroy_owned(v->comparer);
  MemoryContextDelete(v->context);
  pfree(v);
  result->verifier = nullptr;
}

}  // namespace neardup
