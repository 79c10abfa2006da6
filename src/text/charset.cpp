// See charset.h.
#include "text/charset.h"

#ifdef NEARDUP_WITH_UCHARDET
#include <uchardet.h>

#include <algorithm>
#include <memory>
#include <new>
#endif

namespace neardup {

#ifdef NEARDUP_WITH_UCHARDET

std::string guess_charset(const uint8_t* bytes, size_t n, StopCheck* stop) {
  constexpr size_t kEnough = 128 * 1024;
  constexpr size_t kPiece = 8 * 1024;
  struct Delete {
    void operator()(uchardet* detector) const { uchardet_delete(detector); }
  };
  const std::unique_ptr<uchardet, Delete> detector(uchardet_new());
  if (detector == nullptr) throw std::bad_alloc();
  n = std::min(n, kEnough);
  for (size_t i = 0; i < n; i += kPiece) {
    if (stop != nullptr) stop->poll();
    // A failure means that memory was short: then there is no guess.
    if (uchardet_handle_data(detector.get(), reinterpret_cast<const char*>(bytes + i), std::min(kPiece, n - i)) != 0)
      return {};
  }
  uchardet_data_end(detector.get());
  return uchardet_get_charset(detector.get());
}

#else

std::string guess_charset(const uint8_t*, size_t, StopCheck*) {
  throw Error(Errc::unsupported, "this build of neardup cannot detect encodings other than Unicode's", {},
              "Name the encoding, or install libuchardet-dev and build and install neardup again.");
}

#endif

}  // namespace neardup
