// See near_pairs.h.
#include "core/suggest/near_pairs.h"

#include <algorithm>
#include <cmath>

#include "core/pairs/minhash_pairs.h"
#include "core/signature/sign.h"

namespace neardup {
namespace {

constexpr uint32_t kNumPerm = 128;
constexpr uint32_t kBits = 32;

constexpr uint64_t kLeastPairs = 300;
constexpr uint64_t kMostPairs = 5000;
constexpr uint64_t kComparedBytes = 15'000'000;  // of the first documents of pairs, about

// b above a
size_t place(uint32_t a, uint32_t b) noexcept { return size_t{b} * (b - 1) / 2 + a; }

}  // namespace

uint64_t most_compared_pairs(uint64_t bytes, uint64_t n) noexcept {
  return std::clamp(kComparedBytes / (1 + bytes / n), kLeastPairs, kMostPairs);
}

NearPairs::NearPairs(uint32_t documents) : documents_(documents), matches_(place(0, documents)) {}

void NearPairs::add_form(const Document* documents, const ShingleForm& form, const EngineOptions& options) {
  const MinhashParams params = document_params(form.unit, form.k, kNumPerm, kBits, 0);
  MinhashPairs engine(kNumPerm, kBits, min_matches(form.near, false, kNumPerm, kBits), options);
  std::vector<uint32_t> document_of;  // by row: those without shingles are near nothing
  for (uint32_t i = 0; i < documents_; ++i) {
    if (options.stop != nullptr) options.stop->poll();
    uint32_t components[kNumPerm];
    if (!sign_document(params, documents[i].bytes, documents[i].size, options.stop, components)) continue;
    engine.add(components);
    document_of.push_back(i);
  }
  engine.run(document_of.data());
  RowPair pairs[1024];
  while (const size_t n = engine.next(pairs, std::size(pairs)))
    for (const RowPair& pair : std::span(pairs, n)) {
      uint16_t& matches = matches_[place(pair.a, pair.b)];
      matches = static_cast<uint16_t>(matches + pair.value);
    }
  ++forms_;
}

// f(a, b, matches) for each pair that was found, in order.
template <typename F>
void NearPairs::for_each(StopCheck* stop, F f) const {
  for (uint32_t a = 0; a < documents_; ++a) {
    if (stop != nullptr) stop->poll();
    for (uint32_t b = a + 1; b < documents_; ++b)
      if (const uint16_t found = matches_[place(a, b)]; found > 0) f(a, b, found);
  }
}

// The mean similarity over all forms, cubed.
double NearPairs::affinity(uint16_t matches) const noexcept {
  return std::pow(static_cast<double>(matches) / kNumPerm / forms_, 3.0);
}

std::vector<SamplePair> NearPairs::thinned(uint64_t most, PairChance chance, StopCheck* stop, uint64_t* count) const {
  *count = 0;
  double total = 0;
  for_each(stop, [&](uint32_t, uint32_t, uint16_t matches) {
    ++*count;
    total += affinity(matches);
  });
  const bool all = *count <= most;
  std::vector<SamplePair> kept;
  for_each(stop, [&](uint32_t a, uint32_t b, uint16_t matches) {
    const double weight = all ? 1 : std::max(1.0, total / (static_cast<double>(most) * affinity(matches)));
    if (weight == 1 || chance(a, b) < 1 / weight) kept.push_back({.a = a, .b = b, .weight = weight});
  });
  return kept;
}

}  // namespace neardup
