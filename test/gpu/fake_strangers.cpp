// Libraries in the module's place that are not this build's: -DWRONG_ABI has another interface number, and behind it
// nothing that may be called; without it some other library.
#include <cstdint>

#ifdef WRONG_ABI
namespace {
// Longer than any table there was, and full of null pointers.
struct {
  uint32_t abi, size;
  void* functions[32];
} const api = {999, sizeof api, {}};
}  // namespace

extern "C" const void* neardup_gpu_get_api(void) { return &api; }
#else
extern "C" int some_other_function(void) { return 1; }
#endif
