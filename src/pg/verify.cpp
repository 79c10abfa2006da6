// See verify.h.
#include <cmath>
#include <vector>

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

// Documents of the pairs at hand, each once: an open-addressing table by side and rank.
struct Documents {
  Document* docs;
  uint32 n;
  uint64 bytes;
  struct Slot {
    uint32 rank;
    uint32 number;  // + 1; 0: free
    bool of_b;
  }* slots;
  uint32 mask;
};

Document load(const Side& side, uint32 rank) {
  const uint32 row = side.row_of_rank == nullptr ? rank : side.row_of_rank[rank];
  auto* value = reinterpret_cast<struct varlena*>(DatumGetPointer(id_at(side.docs, row)));
  // A copy: what id_at() gives lives until the next call.
  struct varlena* copy = PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
  if (side.source.doc_type == BYTEAOID)
    return {reinterpret_cast<const uint8_t*>(VARDATA_ANY(copy)), static_cast<size_t>(VARSIZE_ANY_EXHDR(copy))};
  const Utf8 text = utf8_of(reinterpret_cast<const struct varlena*>(copy));
  return {text.data, text.size};
}

uint32 number_of(Documents* d, const Side& side, bool of_b, uint32 rank) {
  uint32 i = (rank * 0x9E3779B1u + of_b) & d->mask;
  for (; d->slots[i].number != 0; i = (i + 1) & d->mask)
    if (d->slots[i].rank == rank && d->slots[i].of_b == of_b) return d->slots[i].number - 1;
  d->docs[d->n] = load(side, rank);
  d->bytes += d->docs[d->n].size;
  d->slots[i] = {rank, ++d->n, of_b};
  return d->n - 1;
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
    Documents d = {};
    d.mask = pg_nextpower2_32(static_cast<uint32>(4 * n + 4)) - 1;
    d.slots = static_cast<Documents::Slot*>(palloc0((static_cast<Size>(d.mask) + 1) * sizeof(Documents::Slot)));
    d.docs = static_cast<Document*>(palloc(2 * n * sizeof(Document)));
    auto* wanted = static_cast<DocumentPair*>(palloc(n * sizeof(DocumentPair)));
    size_t count = 0;
    while (first + count < n && (count == 0 || d.bytes < most_document_bytes())) {
      const RowPair& p = pairs[first + count];
      const uint32 a = number_of(&d, call->a, false, p.a);
      wanted[count++] = {a, number_of(&d, side_b, call->two_sets, p.b), 0};
    }
    DocumentPair* results = wanted;
    call_core([&] {
      PgStop stop;
      Batch batch(call, d.docs, d.n, wanted, count);
      compare_documents(batch.measure, batch.docs, &batch.pairs, threads, &stop);
      std::copy(batch.pairs.begin(), batch.pairs.end(), results);
    });
    for (size_t i = 0; i < count; ++i) {
      if (std::isnan(results[i].similarity)) continue;
      pairs[kept] = pairs[first + i];
      similarity[kept++] = results[i].similarity;
    }
    first += count;
  }
  MemoryContextSwitchTo(old);
  MemoryContextDelete(context);
  return kept;
}

}  // namespace neardup
