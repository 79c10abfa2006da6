// See find_windows.h.
#include "core/passages/find_windows.h"

#include <cassert>

namespace neardup {

// Units that are in no window of interest are not hashed.
void WindowFinder::skip(UnitScanner* units, uint64_t to) {
  TextUnit unused;
  for (; read_ < to; ++read_) units->next(&unused);
  held_ = 0;
}

void WindowFinder::read_unit(UnitScanner* units) {
  TextUnit unit;
  std::string_view key;
  const bool any = units->next(&unit, &key);
  assert(any);
  static_cast<void>(any);
  if (ring_.empty()) ring_.resize(shape_.units);
  const WindowHash hash = hasher_.unit(key);
  HeldUnit& place = held(read_);
  if (held_ == shape_.units) {
    hasher_.slide(&window_, place.hash, hash);
  } else {
    if (held_ == 0) window_ = {};
    hasher_.extend(&window_, hash);
    ++held_;
  }
  place = {hash, unit.begin, static_cast<uint32_t>(unit.position)};
  ++read_;
}

}  // namespace neardup
