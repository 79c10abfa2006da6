// A temporary file: bytes are appended to it, and read at any place.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// Zeroed before its first use.
struct ScratchFile {
  BufFile* file;  // null until the first bytes come
  uint64 size;
  uint64 position;  // of PostgreSQL in it
};

inline void seek_scratch(ScratchFile* scratch, uint64 offset) {
  if (scratch->position == offset) return;
  if (BufFileSeek(scratch->file, 0, static_cast<off_t>(offset), SEEK_SET) != 0)
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not seek in temporary file: %m")));
  scratch->position = offset;
}

// context: of the file.
inline void append_scratch(ScratchFile* scratch, MemoryContext context, const void* data, uint64 n) {
  if (scratch->file == nullptr) {
    MemoryContext old = MemoryContextSwitchTo(context);
    scratch->file = BufFileCreateTemp(false);
    MemoryContextSwitchTo(old);
  }
  seek_scratch(scratch, scratch->size);
  buffile_write(scratch->file, data, n);
  scratch->position = scratch->size += n;
}

// Only bytes that were appended.
inline void read_scratch(ScratchFile* scratch, uint64 offset, void* out, uint64 n) {
  seek_scratch(scratch, offset);
  buffile_read_exact(scratch->file, out, n);
  scratch->position = offset + n;
}

}  // namespace neardup
