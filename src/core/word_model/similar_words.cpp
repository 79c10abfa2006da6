// See similar_words.h.
#include "core/word_model/similar_words.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace neardup {
namespace {

// Rows that are probed at once. The bounds of the words are those of before, so it begins with few.
constexpr uint32_t kFirstProbeRows = 64;
constexpr uint32_t kMaxProbeRows = 2048;
constexpr uint32_t kMaxOffloadedRows = 8192;

}  // namespace

SimilarWords::SimilarWords(uint32_t words, const uint32_t* weights, const uint32_t* tie, uint32_t features,
                           const SimilarOptions& options)
    : ws_(options.memory_limit, nullptr, options.stop),
      words_(words),
      k_(options.k),
      features_(features),
      threads_(std::max(1u, options.threads)),
      offload_(options.offload),
      block_(ws_),
      set_(ws_.ledger, features),
      probes_(ws_) {
  if (k_ < 1 || k_ > kMaxSimilar)
    throw Error(Errc::invalid_argument, "k must be 1 to " + std::to_string(kMaxSimilar) + ": " + std::to_string(k_));
  if (words > kMaxWords || features > kMaxWordFeatures)
    throw Error(Errc::invalid_argument, "the model has too many words");
  Ledger& l = ws_.ledger;
  weights_ = {l, words};
  float_weights_ = {l, words};
  tie_ = {l, words};
  similarity_ = {l, size_t{words} * k_};
  similar_ = {l, size_t{words} * k_};
  held_ = {l, words};
  least_ = {l, words};
  bounds_ = {l, words};
  for (uint32_t i = 0; i < words; ++i) {
    if (weights[i] > kMaxFeatureWeight)
      throw Error(Errc::too_large, "the features of word number " + std::to_string(i) + " weigh too much");
    weights_[i] = weights[i];
    float_weights_[i] = static_cast<float>(weights[i]);
    tie_[i] = tie[i];
    held_[i] = 0;
    least_[i] = 0;
    ws_.poller.spend(10);
  }
  // Memory of all words is taken off, as far as that leaves a quarter for blocks.
  if (options.memory_limit != SIZE_MAX)
    ws_.limit =
        std::max(options.memory_limit - std::min(options.memory_limit, l.peak()), options.memory_limit / kQuarter);
  workers_.resize(threads_);
}

void SimilarWords::offer(uint32_t word, uint32_t other, double similarity) {
  double* s = similarity_.data() + size_t{word} * k_;
  uint32_t* who = similar_.data() + size_t{word} * k_;
  uint32_t at;
  if (held_[word] < k_) {
    at = held_[word]++;
    while (at > 0) {
      const uint32_t up = (at - 1) / 2;
      if (!before(s[up], who[up], similarity, other)) break;
      s[at] = s[up];
      who[at] = who[up];
      at = up;
    }
  } else {
    if (!before(similarity, other, s[0], who[0])) return;
    at = 0;
    for (;;) {
      uint32_t down = 2 * at + 1;
      if (down >= k_) break;
      if (down + 1 < k_ && before(s[down], who[down], s[down + 1], who[down + 1])) ++down;
      if (!before(similarity, other, s[down], who[down])) break;
      s[at] = s[down];
      who[at] = who[down];
      at = down;
    }
  }
  s[at] = similarity;
  who[at] = other;
  if (held_[word] == k_) least_[word] = static_cast<float>(s[0]) * kLoweredBound;
}

size_t SimilarWords::best(uint32_t word, SimilarWord* out) const {
  const size_t n = held_[word];
  for (size_t i = 0; i < n; ++i) out[i] = {similar_[size_t{word} * k_ + i], similarity_[size_t{word} * k_ + i]};
  std::sort(out, out + n, [this](const SimilarWord& a, const SimilarWord& b) {
    return before(a.similarity, a.word, b.similarity, b.word);
  });
  return n;
}

// ---------------------------------------------------------------- the course of a search

void SimilarWords::begin_block(uint32_t first) {
  first_ = first;
  width_ = 0;
  loading_ = true;
  offloaded_ = false;
  block_.clear();
  set_.clear();
  counts_ = {};
  places_ = {};
  offsets_ = {};
  entries_ = {};
  values_ = {};
  next_row_ = 0;
  rows_at_once_ = kFirstProbeRows;
}

void SimilarWords::probe(const WordRow& row) {
  if (loading_) prepare();
  probes_.add(row);
  ws_.poller.spend(row.size / 2 + 20);
  const uint64_t most_entries = ws_.limit == SIZE_MAX ? kMaxBlockEntries : ws_.limit / kEighth / 14;
  if (probes_.size() >= rows_at_once_ || probes_.entries() >= most_entries) flush();
}

void SimilarWords::end_block() {
  if (loading_) prepare();
  flush();
  block_.clear();
}

void SimilarWords::flush() {
  const uint32_t n = probes_.size();
  if (n == 0) return;
  std::memcpy(bounds_.data(), least_.data(), words_ * sizeof(float));
  if (offloaded_) {
    std::vector<Hit> hits;
    offloaded_ =
        offload_->probe(probes_.matrix(next_row_), bounds_.data(), ws_, [&](uint32_t i, uint32_t j, uint32_t sum) {
          hits.push_back({i, j, sum});
        });
    if (offloaded_) {
      for (const Hit& h : hits) {
        found(h.x, h.y, h.value);
        ws_.poller.spend(40);
      }
    } else {
      build();
    }
  }
  if (!offloaded_) run();
  const uint64_t end = uint64_t{first_} + width_;
  for (uint32_t i = next_row_; i < next_row_ + n && i + 1 < end; ++i) stats_.pairs += end - std::max(first_, i + 1);
  next_row_ += n;
  rows_at_once_ = std::min(offloaded_ ? kMaxOffloadedRows : kMaxProbeRows, rows_at_once_ * 2);
  probes_.clear();
  ws_.poller.steps(stats_.pairs, uint64_t{words_} * (words_ - 1) / 2);
}

}  // namespace neardup
