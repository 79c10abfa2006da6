// See seeds.h.
#include "core/passages/seeds.h"

#include <algorithm>

namespace neardup {
namespace {

constexpr size_t kFirstQueue = 64;  // a power of two

int shingle_units(uint32_t units) { return static_cast<int>(std::clamp<uint32_t>(units / 2, 1, kMaxK)); }

}  // namespace

SeedStream::SeedStream(Unit unit, uint32_t units, const uint8_t* text, size_t size, StopCheck* stop)
    : width_(units - static_cast<uint32_t>(shingle_units(units)) + 1),
      shingles_(unit, shingle_units(units), text, size, stop),
      queue_(kFirstQueue) {}

bool SeedStream::read(Candidate* out) {
  uint64_t hash;
  if (!shingles_.next(&hash)) return false;
  *out = {hash, count_++};
  return true;
}

void SeedStream::push(const Candidate& c) {
  while (back_ != front_ && at(back_ - 1).hash >= c.hash) --back_;
  if (back_ - front_ == queue_.size()) {
    std::vector<Candidate> larger(2 * queue_.size());
    for (size_t i = front_; i < back_; ++i) larger[i & (larger.size() - 1)] = at(i);
    queue_.swap(larger);
  }
  at(back_++) = c;
}

// A document of fewer units than a shingle has one shingle, and no window: width_ is then at least 2.
bool SeedStream::next(Seed* out) {
  for (Candidate c; read(&c);) {
    push(c);
    if (c.shingle + 1 < width_) continue;
    const uint64_t window = c.shingle + 1 - width_;
    while (at(front_).shingle < window) ++front_;
    const Candidate& least = at(front_);
    if (seed_.end != 0 && chosen_ == least.shingle) {
      seed_.end = window + 1;
      continue;
    }
    const Seed done = seed_;
    seed_ = {least.hash, window, window + 1};
    chosen_ = least.shingle;
    if (done.end == 0) continue;
    *out = done;
    return true;
  }
  *out = seed_;
  seed_.end = 0;
  return out->end != 0;
}

}  // namespace neardup
