// See window_reader.h.
#include "core/passages/window_reader.h"

namespace neardup {

void WindowReader::skip(UnitScanner* scanner, uint64_t to) {
  TextUnit unused;
  for (; read_ < to; ++read_) scanner->next(&unused);
  held_ = 0;
}

bool WindowReader::read(UnitScanner* scanner) {
  TextUnit unit;
  std::string_view key;
  if (!scanner->next(&unit, &key)) return false;
  if (ring_.empty()) ring_.resize(units_);
  const WindowHash hash = hasher_.unit(key);
  Held& held = ring_[read_ % ring_.size()];
  if (held_ == units_) {
    hasher_.slide(&run_, held.hash, hash);
  } else {
    if (held_ == 0) run_ = {};
    hasher_.extend(&run_, hash);
    ++held_;
  }
  held = {hash, {unit.begin, static_cast<uint32_t>(unit.end - unit.begin), static_cast<uint32_t>(unit.position)}};
  ++read_;
  return true;
}

}  // namespace neardup
