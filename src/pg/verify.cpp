// See verify.h.
#include <cmath>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/document_pairs.h"

#include "pg/guc.h"
#include "pg/values.h"
#include "pg/verify.h"

namespace neardup {
namespace {

// Documents that are held at once: as many as fit in a part of maintenance_work_mem, and one pair at least.
uint64 most_document_bytes() { return static_cast<uint64>(maintenance_work_mem) * 1024 / 8; }

// What compare_documents() takes.
struct Batch {
  Batch(const PairCall* call, const Document* documents, uint32 n, const DocumentPair* first, size_t count)
      : measure(call->measure), docs(documents, documents + n), pairs(first, first + count) {}
  DocumentMeasure measure;
  std::vector<Document> docs;
  std::vector<DocumentPair> pairs;
};

// Documents of the pairs at hand, equal ones once: an open-addressing table by side and rank, another one by what they hold, a third one
// of the pairs of documents.
struct Documents {
  Document* docs;
  uint32 n;
  uint64 bytes;
  struct Slot {
    uint32 rank;
    uint32 number;  // + 1; 0: free
    bool of_b;
  }* slots;
  struct Content {
    uint64 hash;
    uint32 number;  // + 1; 0: free
  }* contents;
  uint32* pair_slots;  // number of a pair + 1; 0: free
  DocumentPair* pairs;
  uint32 pair_count;
  uint32 mask;  // of all three
};

Documents make_documents(size_t pairs) {
  Documents d = {};
  d.mask = pg_nextpower2_32(static_cast<uint32>(4 * pairs + 4)) - 1;
  const Size slots = static_cast<Size>(d.mask) + 1;
  d.slots = static_cast<Documents::Slot*>(palloc0(slots * sizeof(Documents::Slot)));
  d.contents = static_cast<Documents::Content*>(palloc0(slots * sizeof(Documents::Content)));
  d.pair_slots = static_cast<uint32*>(palloc0(slots * sizeof(uint32)));
  d.docs = static_cast<Document*>(palloc(2 * pairs * sizeof(Document)));
  d.pairs = static_cast<DocumentPair*>(palloc(pairs * sizeof(DocumentPair)));
  return d;
}

// *memory: to be freed when the document is not wanted.
Document load(const Side& side, uint32 rank, void** memory) {
  const uint32 row = side.row_of_rank == nullptr ? rank : side.row_of_rank[rank];
  auto* value = reinterpret_cast<struct varlena*>(DatumGetPointer(id_at(side.docs, row)));
  // A copy: what id_at() gives lives until the next call.
  struct varlena* copy = PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
  *memory = copy;
  if (side.source.doc_type == BYTEAOID)
    return {reinterpret_cast<const uint8_t*>(VARDATA_ANY(copy)), static_cast<size_t>(VARSIZE_ANY_EXHDR(copy))};
  const Utf8 text = utf8_of(reinterpret_cast<const struct varlena*>(copy));
  if (text.data != reinterpret_cast<const uint8_t*>(VARDATA_ANY(copy))) {  // converted
    pfree(copy);
    *memory = const_cast<uint8_t*>(text.data);
  }
  return {text.data, text.size};
}

uint32 number_of(Documents* d, const Side& side, bool of_b, uint32 rank) {
  uint32 i = (rank * 0x9E3779B1u + of_b) & d->mask;
  for (; d->slots[i].number != 0; i = (i + 1) & d->mask)
    if (d->slots[i].rank == rank && d->slots[i].of_b == of_b) return d->slots[i].number - 1;
  void* memory;
  const Document doc = load(side, rank, &memory);
  const uint64 hash = XXH3_64bits(doc.bytes, doc.size);
  uint32 at = static_cast<uint32>(hash) & d->mask;
  for (; d->contents[at].number != 0; at = (at + 1) & d->mask) {
    const Document& other = d->docs[d->contents[at].number - 1];
    if (d->contents[at].hash == hash && other.size == doc.size && memcmp(other.bytes, doc.bytes, doc.size) == 0) break;
  }
  if (d->contents[at].number == 0) {
    d->docs[d->n] = doc;
    d->bytes += doc.size;
    d->contents[at] = {hash, ++d->n};
  } else {
    pfree(memory);
  }
  d->slots[i] = {rank, d->contents[at].number, of_b};
  return d->contents[at].number - 1;
}

// Which of d->pairs the two documents are, in either order.
uint32 pair_of(Documents* d, uint32 a, uint32 b) {
  if (a > b) std::swap(a, b);
  uint32 i = (a * 0x9E3779B1u ^ b * 0x85EBCA77u) & d->mask;
  for (; d->pair_slots[i] != 0; i = (i + 1) & d->mask) {
    const DocumentPair& p = d->pairs[d->pair_slots[i] - 1];
    if (p.a == a && p.b == b) return d->pair_slots[i] - 1;
  }
  d->pairs[d->pair_count] = {a, b, 0};
  d->pair_slots[i] = ++d->pair_count;
  return d->pair_count - 1;
}

}  // namespace

size_t verify_pairs(PairCall* call, RowPair* pairs, double* similarity, size_t n) {
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "neardup documents", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  const unsigned threads = search_threads();
  const Side& side_b = call->two_sets ? call->b : call->a;
  size_t kept = 0;
  for (size_t first = 0; first < n;) {
    CHECK_FOR_INTERRUPTS();
    MemoryContextReset(context);
    Documents d = make_documents(n - first);
    auto* wanted = static_cast<uint32*>(palloc((n - first) * sizeof(uint32)));
    size_t count = 0;
    while (first + count < n && (count == 0 || d.bytes < most_document_bytes())) {
      const RowPair& p = pairs[first + count];
      const uint32 a = number_of(&d, call->a, false, p.a);
      wanted[count++] = pair_of(&d, a, number_of(&d, side_b, call->two_sets, p.b));
    }
    call_core([&] {
      PgStop stop;
      Batch batch(call, d.docs, d.n, d.pairs, d.pair_count);
      compare_documents(batch.measure, batch.docs, &batch.pairs, threads, &stop);
      std::copy(batch.pairs.begin(), batch.pairs.end(), d.pairs);
    });
    for (size_t i = 0; i < count; ++i) {
      const double of_documents = d.pairs[wanted[i]].similarity;
      if (std::isnan(of_documents)) continue;
      pairs[kept] = pairs[first + i];
      similarity[kept++] = of_documents;
    }
    first += count;
  }
  MemoryContextSwitchTo(old);
  MemoryContextDelete(context);
  return kept;
}

}  // namespace neardup
