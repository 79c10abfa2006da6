// See near_pairs.h.
#include "core/suggest/near_pairs.h"

#include <algorithm>
#include <cmath>

#include "core/pairs/minhash/minhash_pairs.h"
#include "core/signature/sign.h"
#include "core/work/parallel.h"

namespace neardup {
namespace {

constexpr uint32_t kNumPerm = 128;
constexpr uint32_t kComponentBits = 32;

constexpr uint64_t kLeastPairs = 300;
constexpr uint64_t kMostPairs = 5000;
constexpr uint64_t kComparedBytes = 15'000'000;  // of the first documents of pairs, about

// The time to sign a byte of text.
constexpr size_t kSigningNanoseconds = 20;

struct SignedDocuments {
  std::vector<uint32_t> components;  // kNumPerm of each
  std::vector<uint8_t> has_any;      // those without shingles are near nothing
};

SignedDocuments sign_all(const Document* documents, size_t n, const MinhashParams& params,
                         const EngineOptions& options) {
  SignedDocuments all = {std::vector<uint32_t>(n * kNumPerm), std::vector<uint8_t>(n)};
  Poller poller(options.stop);
  run_tasks(options.threads, n, poller, [&](unsigned, size_t i, HitSink& sink) {
    SinkStop stop(sink);
    sink.spend(kSigningNanoseconds * documents[i].size);
    all.has_any[i] = sign_document(params, documents[i].bytes, documents[i].size, &stop, &all.components[i * kNumPerm]);
  });
  return all;
}

// b above a
size_t place(uint32_t a, uint32_t b) noexcept { return size_t{b} * (b - 1) / 2 + a; }

}  // namespace

uint64_t most_compared_pairs(uint64_t bytes, uint64_t n) noexcept {
  return std::clamp(kComparedBytes / (1 + bytes / n), kLeastPairs, kMostPairs);
}

NearPairs::NearPairs(uint32_t documents, size_t forms)
    : documents_(documents), forms_(static_cast<unsigned>(forms)), cells_(place(0, documents)) {}

void NearPairs::add_form(const Document* documents, const ShingleForm& form, const EngineOptions& options) {
  const MinhashParams params = document_params(form.unit, form.k, kNumPerm, kComponentBits, 0);
  const SignedDocuments all = sign_all(documents, documents_, params, options);
  MinhashPairs engine(kNumPerm, kComponentBits, min_matches(form.near, false, kNumPerm, kComponentBits), options);
  std::vector<uint32_t> document_of;  // by row
  for (uint32_t i = 0; i < documents_; ++i) {
    if (!all.has_any[i]) continue;
    engine.add(&all.components[size_t{i} * kNumPerm]);
    document_of.push_back(i);
  }
  engine.run(document_of.data());
  engine.for_each_next([this](const RowPair& pair) {
    Cell& cell = cells_[place(pair.a, pair.b)];
    const unsigned part = std::max(1U, static_cast<unsigned>(pair.value) * kFullSum / kNumPerm / forms_);
    cell.sum = static_cast<uint8_t>(std::min(kFullSum, cell.sum + part)) & 0x7f;
    if (pair.value >= kAlike * kNumPerm) cell.alike = 1;
  });
}

// f(a, b, cell) for each pair that was found, in order.
template <typename F>
void NearPairs::for_each(StopCheck* stop, F f) const {
  for (uint32_t a = 0; a < documents_; ++a) {
    if (stop != nullptr) stop->poll();
    for (uint32_t b = a + 1; b < documents_; ++b)
      if (const Cell cell = cells_[place(a, b)]; cell.sum > 0) f(a, b, cell);
  }
}

// The mean similarity over all forms, cubed.
double NearPairs::affinity(Cell cell) const noexcept { return std::pow(static_cast<double>(cell.sum) / kFullSum, 3.0); }

// Counts for each document the others that are alike, at least 1.
std::vector<uint32_t> NearPairs::count_alike(StopCheck* stop) const {
  std::vector<uint32_t> alike(documents_);
  for_each(stop, [&](uint32_t a, uint32_t b, Cell cell) {
    alike[a] += cell.alike;
    alike[b] += cell.alike;
  });
  for (uint32_t& n : alike) n = std::max(n, 1U);
  return alike;
}

std::vector<SamplePair> NearPairs::thinned(uint64_t most, PairChance chance, StopCheck* stop, uint64_t* count) const {
  *count = 0;
  double total = 0;
  for_each(stop, [&](uint32_t, uint32_t, Cell cell) {
    ++*count;
    total += affinity(cell);
  });
  const bool all = *count <= most;
  const std::vector<uint32_t> alike = count_alike(stop);
  std::vector<SamplePair> kept;
  for_each(stop, [&](uint32_t a, uint32_t b, Cell cell) {
    const double stands_for = all ? 1 : std::max(1.0, total / (static_cast<double>(most) * affinity(cell)));
    if (stands_for > 1 && chance(a, b) >= 1 / stands_for) return;
    // d + 1 documents that are all alike: (d + 1) d / 2 pairs, of which each weighs 1 / d^2
    const double d = std::sqrt(static_cast<double>(alike[a]) * alike[b]);
    kept.push_back({.a = a, .b = b, .weight = stands_for, .share = stands_for / (d * d), .family = (d + 1) / (2 * d)});
  });
  return kept;
}

}  // namespace neardup
