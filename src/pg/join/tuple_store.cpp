#include "pg/join/tuple_store.h"

#include "pg/base/reserve.h"

namespace neardup {
namespace {

// Rows have numbers of 32 bits, as in the engines, which take 2^31.
constexpr uint64 kMostRows = uint64{1} << 31;
// Tuples are copied into chunks of memory, each twice as large as the one before.
constexpr Size kFirstChunk = 64 * 1024;
constexpr Size kLargestChunk = 32 * 1024 * 1024;

void append(TupleStore* store, MinimalTuple tuple) {
  const uint64 row = store->count - store->num_held;
  reserve(store->context, &store->offsets, &store->offsets_capacity, row + 1);
  store->offsets[row] = store->scratch.size;
  append_scratch(&store->scratch, store->context, tuple, tuple->t_len);
}

void start_chunk(TupleStore* store, Size least) {
  const Size next = store->chunk_bytes == 0 ? kFirstChunk : Min(2 * store->chunk_bytes, kLargestChunk);
  store->chunk_bytes = next;
  store->chunk_left = Max(next, least);
  store->chunk = static_cast<char*>(MemoryContextAllocHuge(store->context, store->chunk_left));
}

// False where there is no room.
bool hold(TupleStore* store, MinimalTuple tuple, uint64 limit) {
  const Size size = MAXALIGN(tuple->t_len);
  if (store->bytes_held + size + sizeof(MinimalTuple) > limit) return false;
  if (size > store->chunk_left) start_chunk(store, size);
  reserve(store->context, &store->held, &store->held_capacity, store->num_held + 1);
  store->held[store->num_held++] = static_cast<MinimalTuple>(memcpy(store->chunk, tuple, tuple->t_len));
  store->chunk += size;
  store->chunk_left -= size;
  store->bytes_held += size + sizeof(MinimalTuple);
  return true;
}

}  // namespace

TupleStore* make_tuples(MemoryContext parent) {
  auto* store = static_cast<TupleStore*>(MemoryContextAllocZero(parent, sizeof(TupleStore)));
  store->context = AllocSetContextCreate(parent, "neardup join rows", ALLOCSET_DEFAULT_SIZES);
  return store;
}

void free_tuples(TupleStore* store) {
  if (store->scratch.file != nullptr) BufFileClose(store->scratch.file);
  MemoryContextDelete(store->context);
  pfree(store);
}

void add_tuple(TupleStore* store, TupleTableSlot* slot, uint64 limit) {
  if (store->count == kMostRows)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("more than " UINT64_FORMAT " rows on one side of a similarity join", kMostRows),
                    errhint("Set neardup.enable_join to off.")));
  bool is_copy;
  MinimalTuple tuple = ExecFetchSlotMinimalTuple(slot, &is_copy);
  if (store->scratch.file != nullptr || !hold(store, tuple, limit)) append(store, tuple);
  if (is_copy) pfree(tuple);
  ++store->count;
}

MinimalTuple tuple_at(TupleStore* store, uint64 row, TupleBuffer* buffer) {
  if (row < store->num_held) return store->held[row];
  const uint64 offset = store->offsets[row - store->num_held];
  uint32 length;
  read_scratch(&store->scratch, offset, &length, sizeof length);
  reserve(store->context, &buffer->bytes, &buffer->capacity, length);
  memcpy(buffer->bytes, &length, sizeof length);
  read_scratch(&store->scratch, offset + sizeof length, buffer->bytes + sizeof length, length - sizeof length);
  return reinterpret_cast<MinimalTuple>(buffer->bytes);
}

}  // namespace neardup
