// Cache lines that will be needed, asked for ahead: a query reads some thirty leaves and the hits' heap pages, all of
// them at random places, and waits for memory most of its time. All here is a hint: buffers that lie in `Buffer`s
// remembered from before are neither pinned nor locked and may hold another page by now; what is read from them only
// says which lines to ask for, never beyond their page.
#pragma once

#include "pg/base/pg.h"

#if NEARDUP_READS_HINTS
extern "C" {
#include "storage/buf_internals.h"
}
#endif

namespace neardup {

inline constexpr size_t kCacheLine = 64;

inline void prefetch_line(const void* p) { __builtin_prefetch(p); }

inline void prefetch_bytes(const char* p, size_t n) {
  for (size_t at = 0; at < n; at += kCacheLine) prefetch_line(p + at);
}

// The page in a shared buffer; null for local ones, for none, and where pages are only read as PostgreSQL's interfaces
// say (NEARDUP_READS_HINTS).
inline const char* page_hint(Buffer recent) {
  return NEARDUP_READS_HINTS && recent > 0 && recent <= NBuffers ? static_cast<const char*>(BufferGetBlock(recent))
                                                                 : nullptr;
}

inline void prefetch_descriptor(Buffer recent) {
#if NEARDUP_READS_HINTS
  prefetch_line(GetBufferDescriptor(recent - 1));
#endif
}

// The lines that locking a page and looking at its head and tail takes.
inline void prefetch_page(Buffer recent) {
  const char* page = page_hint(recent);
  if (page == nullptr) return;
  prefetch_descriptor(recent);
  prefetch_line(page);
  prefetch_line(page + BLCKSZ - kCacheLine);
}

}  // namespace neardup
