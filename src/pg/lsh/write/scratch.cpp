// See scratch.h.
#include "pg/lsh/write/scratch.h"

namespace neardup {
namespace {

constexpr Size kLeastKept = 256 * 1024;
constexpr Size kMaxKept = 4 * 1024 * 1024;

char* kept = nullptr;
Size kept_size = 0;
Size asked_for = 0;  // since the last scratch_begin()

}  // namespace

void scratch_begin() {
  if (asked_for > kept_size && asked_for <= kMaxKept) {
    // Doubling: it does not grow by little each time.
    Size size = kLeastKept;
    while (size < asked_for) size *= 2;
    if (kept != nullptr) pfree(kept);
    kept = static_cast<char*>(MemoryContextAllocExtended(TopMemoryContext, size, MCXT_ALLOC_NO_OOM));
    kept_size = kept == nullptr ? 0 : size;
  }
  asked_for = 0;
}

void* scratch_alloc(Size bytes) {
  const Size at = asked_for;
  asked_for += MAXALIGN(bytes);
  return asked_for <= kept_size ? kept + at : MemoryContextAllocHuge(CurrentMemoryContext, bytes);
}

}  // namespace neardup
