// Memory that a library is about to take.
#include "cli/input/memory.h"

#include <fstream>
#include <malloc.h>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>

namespace neardup::cli {
namespace {

bool is_limited(int what) {
  rlimit limit = {};
  return getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// True if the system gives no more memory than it has, for all processes together.
bool commits_strictly() {
  constexpr char kNoOvercommit = '2';
  return std::ifstream("/proc/sys/vm/overcommit_memory").get() == kNoOvercommit;
}

// It is not touched, so that it costs two system calls. Compilers would leave malloc() and free() out.
bool is_there(std::size_t bytes) {
  void* const there = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (there == MAP_FAILED) return false;
  munmap(there, bytes);
  return true;
}

}  // namespace

void need_memory(std::size_t bytes) {
  static const bool can_fail = is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA) || commits_strictly();
  if (!can_fail || is_there(bytes)) return;
  malloc_trim(0);  // what was freed counts, too
  if (!is_there(bytes)) throw std::bad_alloc();
}

}  // namespace neardup::cli
