// See stored_windows.h.
#include "core/passages/stored_windows.h"

#include <algorithm>

#include "core/base/hash.h"

namespace neardup {
namespace {

// Mixes both numbers of the hash, and the group.
uint64_t window_number(const WindowHash& run, uint64_t group, uint64_t key) noexcept {
  return mix64(run[0] + mix64(run[1] + mix64(group + key)));
}

}  // namespace

NumberedWindows::NumberedWindows(const StoredShape& shape)
    : shape_(shape), hasher_(shape.key, shape.units), reader_(shape.units, hasher_) {}

void NumberedWindows::start(uint64_t group, const uint8_t* text, size_t size, StopCheck* stop) {
  group_ = group;
  reader_.start();
  scanner_.emplace(shape_.unit, text, size, stop);
}

bool NumberedWindows::next(Window* out) {
  do {
    if (!reader_.read(&*scanner_)) return false;
  } while (!reader_.has_window());
  *out = {window_number(reader_.run(), group_, shape_.key), reader_.first().begin, reader_.last().end()};
  return true;
}

FrequentWindows::FrequentWindows(PassageSearch* search, const StoredShape& shape, uint64_t documents,
                                 const uint32_t* group_of, const uint64_t* groups, StopCheck* stop)
    : search_(search), documents_(documents), group_of_(group_of), groups_(groups), stop_(stop), windows_(shape) {}

// All windows of a passage stand in equally many documents.
bool FrequentWindows::enter_passage() {
  CommonPassage passage;
  do {
    if (search_->next(&passage, 1) == 0) return false;
  } while (passage.documents < documents_);
  text_.resize(static_cast<size_t>(passage.bytes));
  search_->read_text(passage.byte, text_.data(), text_.size());
  windows_.start(group_of_ == nullptr ? 0 : groups_[group_of_[passage.row]], text_.data(), text_.size(), stop_);
  return true;
}

size_t FrequentWindows::next(uint64_t* out, size_t most) {
  size_t n = 0;
  while (n < most) {
    if (!within_ && !enter_passage()) break;
    NumberedWindows::Window window;
    within_ = windows_.next(&window);
    if (within_) out[n++] = window.number;
  }
  return n;
}

std::string WindowCutter::cut(uint64_t group, const uint8_t* text, size_t size) {
  std::string left;
  uint64_t kept_from = 0;
  windows_.start(group, text, size, stop_);
  for (NumberedWindows::Window window; windows_.next(&window);) {
    if (!set_->has(window.number)) continue;
    if (window.begin > kept_from)
      left.append(reinterpret_cast<const char*>(text) + kept_from, static_cast<size_t>(window.begin - kept_from));
    kept_from = window.end;
  }
  left.append(reinterpret_cast<const char*>(text) + kept_from, static_cast<size_t>(size - kept_from));
  return left;
}

}  // namespace neardup
