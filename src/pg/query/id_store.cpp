// See id_store.h.
#include "pg/query/id_store.h"

#include "pg/base/reserve.h"

namespace neardup {
namespace {

uint64 id_size(const IdStore* ids, Datum id) {
  return ids->length == -1   ? VARSIZE_ANY(DatumGetPointer(id))
         : ids->length == -2 ? strlen(DatumGetCString(id)) + 1
                             : static_cast<uint64>(ids->length);
}

void file_seek(IdStore* ids, uint64 offset) {
  if (ids->file_position == offset) return;
  if (BufFileSeek(ids->file, 0, static_cast<off_t>(offset), SEEK_SET) != 0)
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not seek in temporary file: %m")));
  ids->file_position = offset;
}

void file_append(IdStore* ids, const void* data, uint64 size) {
  file_seek(ids, ids->bytes_used);
  buffile_write(ids->file, data, size);
  ids->file_position += size;
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
  if (ids->count >= (static_cast<uint64>(1) << 31))
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("more than %u rows in one call", 1u << 31)));
  uint64 capacity = ids->capacity;
  if (ids->by_value) {
    reserve(ids->context, &ids->values, &capacity, ids->count + 1);
    ids->values[ids->count] = id;
  } else {
    reserve(ids->context, &ids->offsets, &capacity, ids->count + 1);
    const void* data = DatumGetPointer(id);
    const uint64 size = MAXALIGN(id_size(ids, id));
    const uint64 real = id_size(ids, id);
    if (ids->file == nullptr && ids->bytes_used + size > ids->bytes_limit) {
      MemoryContext old = MemoryContextSwitchTo(ids->context);
      ids->file = BufFileCreateTemp(false);
      MemoryContextSwitchTo(old);
      const uint64 held = ids->bytes_used;
      ids->bytes_used = 0;
      if (held > 0) file_append(ids, ids->bytes, held);
      if (ids->bytes != nullptr) pfree(ids->bytes);
      ids->bytes = nullptr;
    }
    ids->offsets[ids->count] = ids->bytes_used;
    if (ids->file != nullptr) {
      static const char padding[MAXIMUM_ALIGNOF] = {};
      file_append(ids, data, real);
      if (size > real) file_append(ids, padding, size - real);
    } else {
      reserve(ids->context, &ids->bytes, &ids->bytes_capacity, ids->bytes_used + size);
      memcpy(ids->bytes + ids->bytes_used, data, real);
      memset(ids->bytes + ids->bytes_used + real, 0, size - real);
      ids->bytes_used += size;
    }
  }
  ids->capacity = capacity;
  ++ids->count;
}

Datum id_at(IdStore* ids, uint64 row) {
  if (ids->by_value) return ids->values[row];
  const uint64 begin = ids->offsets[row];
  if (ids->file == nullptr) return PointerGetDatum(ids->bytes + begin);
  const uint64 end = row + 1 < ids->count ? ids->offsets[row + 1] : ids->bytes_used;
  reserve(ids->context, &ids->scratch, &ids->scratch_capacity, end - begin);
  file_seek(ids, begin);
  buffile_read_exact(ids->file, ids->scratch, end - begin);
  ids->file_position = end;
  return PointerGetDatum(ids->scratch);
}

Datum kept_id(IdStore* ids, uint64 row, MemoryContext copies) {
  const Datum id = id_at(ids, row);
  if (ids->file == nullptr) return id;
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
  if (ids->scratch != nullptr) pfree(ids->scratch);
  if (ids->file != nullptr) BufFileClose(ids->file);
  pfree(ids);
}

uint64 ids_memory() { return static_cast<uint64>(maintenance_work_mem) * 1024 / 4; }

int sort_memory() {
  constexpr int kLeast = 64;  // what PostgreSQL demands of work_mem
  return Max(kLeast, maintenance_work_mem / 4);
}

size_t engine_memory() { return static_cast<size_t>(maintenance_work_mem) * 1024 / 4 * 3; }

}  // namespace neardup
