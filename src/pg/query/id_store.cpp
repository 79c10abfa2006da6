#include "pg/query/id_store.h"

#include "pg/base/reserve.h"

namespace neardup {
namespace {

// The engines number rows from 0 to 2^31 - 1.
constexpr uint64 kMostRows = uint64{1} << 31;

uint64 id_size(const IdStore* ids, Datum id) {
  return ids->length == -1   ? VARSIZE_ANY(DatumGetPointer(id))
         : ids->length == -2 ? strlen(DatumGetCString(id)) + 1
                             : static_cast<uint64>(ids->length);
}

// The next id begins behind `size` bytes.
void append_id(IdStore* ids, const void* data, uint64 real, uint64 size) {
  static const char padding[MAXIMUM_ALIGNOF] = {};
  append_scratch(&ids->scratch, ids->context, data, real);
  if (size > real) append_scratch(&ids->scratch, ids->context, padding, size - real);
}

void hold_id(IdStore* ids, const void* data, uint64 real, uint64 size) {
  reserve(ids->context, &ids->bytes, &ids->bytes_capacity, ids->bytes_used + size);
  memcpy(ids->bytes + ids->bytes_used, data, real);
  memset(ids->bytes + ids->bytes_used + real, 0, size - real);
}

void move_to_file(IdStore* ids) {
  append_scratch(&ids->scratch, ids->context, ids->bytes, ids->bytes_used);
  if (ids->bytes != nullptr) pfree(ids->bytes);
  ids->bytes = nullptr;
}

void add_by_reference(IdStore* ids, Datum id) {
  const uint64 real = id_size(ids, id);
  const uint64 size = MAXALIGN(real);
  if (ids->scratch.file == nullptr && ids->bytes_used + size > ids->bytes_limit) move_to_file(ids);
  if (ids->scratch.file != nullptr)
    append_id(ids, DatumGetPointer(id), real, size);
  else
    hold_id(ids, DatumGetPointer(id), real, size);
  ids->offsets[ids->count] = ids->bytes_used;
  ids->bytes_used += size;
}

}  // namespace

IdStore* make_ids(MemoryContext context, Oid type, Oid collation, uint64 bytes_limit) {
  auto* ids = static_cast<IdStore*>(MemoryContextAllocZero(context, sizeof(IdStore)));
  ids->type = type;
  ids->collation = collation;
  ids->context = context;
  ids->bytes_limit = bytes_limit;
  get_typlenbyval(type, &ids->length, &ids->by_value);
  return ids;
}

void add_id(IdStore* ids, Datum id) {
  if (ids->count >= kMostRows)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("more than " UINT64_FORMAT " rows in one call", kMostRows)));
  uint64 capacity = ids->capacity;
  if (ids->by_value) {
    reserve(ids->context, &ids->values, &capacity, ids->count + 1);
    ids->values[ids->count] = id;
  } else {
    reserve(ids->context, &ids->offsets, &capacity, ids->count + 1);
    add_by_reference(ids, id);
  }
  ids->capacity = capacity;
  ++ids->count;
}

Datum id_at(IdStore* ids, uint64 row) {
  if (ids->by_value) return ids->values[row];
  const uint64 begin = ids->offsets[row];
  if (ids->scratch.file == nullptr) return PointerGetDatum(ids->bytes + begin);
  const uint64 end = row + 1 < ids->count ? ids->offsets[row + 1] : ids->bytes_used;
  reserve(ids->context, &ids->one, &ids->one_capacity, end - begin);
  read_scratch(&ids->scratch, begin, ids->one, end - begin);
  return PointerGetDatum(ids->one);
}

Datum kept_id(IdStore* ids, uint64 row, MemoryContext copies) {
  const Datum id = id_at(ids, row);
  if (ids->scratch.file == nullptr) return id;
  MemoryContextReset(copies);
  MemoryContext old = MemoryContextSwitchTo(copies);
  const Datum copy = datumCopy(id, ids->by_value, ids->length);
  MemoryContextSwitchTo(old);
  return copy;
}

void free_ids(IdStore* ids) {
  if (ids->values != nullptr) pfree(ids->values);
  if (ids->offsets != nullptr) pfree(ids->offsets);
  if (ids->bytes != nullptr) pfree(ids->bytes);
  if (ids->one != nullptr) pfree(ids->one);
  if (ids->scratch.file != nullptr) BufFileClose(ids->scratch.file);
  pfree(ids);
}

uint64 ids_memory() { return static_cast<uint64>(maintenance_work_mem) * 1024 / 4; }

int sort_memory() {
  constexpr int kLeast = 64;  // what PostgreSQL demands of work_mem
  return Max(kLeast, maintenance_work_mem / 4);
}

size_t engine_memory() { return static_cast<size_t>(maintenance_work_mem) * 1024 / 4 * 3; }

}  // namespace neardup
