// See charset.h.
#include "text/charset.h"

#ifdef NEARDUP_WITH_UCHARDET
#include <algorithm>
#include <memory>
#include <new>
#include <uchardet.h>
#endif

namespace neardup {

#ifdef NEARDUP_WITH_UCHARDET

std::string guess_charset(std::string_view bytes, StopCheck* stop) {
  constexpr size_t kHandedBytes = 8 * 1024;
  struct Delete {
    void operator()(uchardet* detector) const { uchardet_delete(detector); }
  };
  const std::unique_ptr<uchardet, Delete> detector(uchardet_new());
  if (detector == nullptr) throw std::bad_alloc();
  for (size_t i = 0; i < bytes.size(); i += kHandedBytes) {
    if (stop != nullptr) stop->poll();
    // A failure means that memory was short: then there is no guess.
    if (uchardet_handle_data(detector.get(), bytes.data() + i, std::min(kHandedBytes, bytes.size() - i)) != 0)
      return {};
  }
  uchardet_data_end(detector.get());
  return uchardet_get_charset(detector.get());
}

#else

std::string guess_charset(std::string_view, StopCheck*) { return {}; }

#endif

}  // namespace neardup
