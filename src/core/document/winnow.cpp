// See winnow.h.
#include "core/document/winnow.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <string>

#include "core/base/sort_unique.h"

namespace neardup {
namespace {

uint64_t checked_window(int64_t window) {
  if (window < kMinWinnowWindow || window > kMaxWinnowWindow)
    throw Error(Errc::invalid_argument, "window must be between 1 and 10000: " + std::to_string(window), {},
                "One of so many shingles in a row becomes a fingerprint.");
  return static_cast<uint64_t>(window);
}

}  // namespace

WinnowStream::WinnowStream(Unit unit, int64_t k, int64_t window, const uint8_t* text, size_t size, StopCheck* stop)
    : window_(checked_window(window)),
      units_(unit, text, size, stop),
      shingles_(unit, k, text, size, stop),
      queue_(std::bit_ceil(window_)),
      mask_(queue_.size() - 1) {}

// The shingle with the number i begins with unit i.
bool WinnowStream::read(Candidate* out) {
  uint64_t hash;
  if (!shingles_.next(&hash)) return false;
  TextUnit unit;
  const bool any = units_.next(&unit);
  assert(any);
  static_cast<void>(any);
  *out = {hash, count_++, unit.position};
  return true;
}

bool WinnowStream::next(WinnowFingerprint* out) {
  Candidate c;
  while (!finished_) {
    if (!read(&c)) {
      finished_ = true;
      if (has_chosen_ || front_ == back_) return false;
      chosen_ = at(front_);  // all of a short document
      *out = {chosen_.hash, chosen_.position};
      return true;
    }
    while (front_ != back_ && at(back_ - 1).hash >= c.hash) --back_;
    while (front_ != back_ && at(front_).shingle + window_ <= c.shingle) ++front_;
    at(back_++) = c;
    if (c.shingle + 1 < window_) continue;
    const bool stays = has_chosen_ && chosen_.shingle + window_ > c.shingle && chosen_.hash <= at(front_).hash;
    if (stays) continue;
    has_chosen_ = true;
    chosen_ = at(front_);
    *out = {chosen_.hash, chosen_.position};
    return true;
  }
  return false;
}

IgnoredHashes::IgnoredHashes(const int64_t* hashes, size_t n, StopCheck* stop) : sorted_(hashes, hashes + n) {
  if (!std::is_sorted(sorted_.begin(), sorted_.end())) sort_unique(&sorted_, stop);
}

bool IgnoredHashes::contains(uint64_t hash) const noexcept {
  return std::binary_search(sorted_.begin(), sorted_.end(), static_cast<int64_t>(hash));
}

std::vector<int64_t> winnow_hashes(Unit unit, int64_t k, int64_t window, const uint8_t* text, size_t size,
                                   const IgnoredHashes& ignore, StopCheck* stop) {
  WinnowStream stream(unit, k, window, text, size, stop);
  std::vector<int64_t> hashes;
  for (WinnowFingerprint f; stream.next(&f);)
    if (!ignore.contains(f.hash)) hashes.push_back(static_cast<int64_t>(f.hash));
  sort_unique(&hashes, stop);
  return hashes;
}

}  // namespace neardup
