// See document_pairs.h.
#include "core/exact/document_pairs.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/exact/edit_distance.h"
#include "core/exact/shingle_set.h"
#include "core/work/parallel.h"

namespace neardup {
namespace {

// To cut a byte of text into shingles, and to sort these.
constexpr size_t kCompareByteCost = 30;

}  // namespace

void DocumentComparer::clear() noexcept {
  shingles_ = {};
  held_ = 0;
}

void DocumentComparer::compare(const Document* documents, size_t count, DocumentPair* pairs, size_t n) {
  constexpr double kTooFar = std::numeric_limits<double>::quiet_NaN();
  Poller poller(stop_);
  const bool jaccard = measure_.kind == DocumentMeasure::Kind::jaccard;
  if (jaccard && count > shingles_.size()) {
    const size_t known = shingles_.size();
    shingles_.resize(count);
    run_tasks(threads_, count - known, poller, [&](unsigned, size_t i, HitSink& sink) {
      SinkStop task_stop(sink);
      const Document& d = documents[known + i];
      sink.spend(kCompareByteCost * d.size);  // a short one asks nobody
      shingles_[known + i] = distinct_shingles(measure_.unit, measure_.k, d.bytes, d.size, &task_stop);
      shingles_[known + i].shrink_to_fit();
    });
    for (size_t i = known; i < count; ++i) held_ += shingles_[i].capacity() * sizeof(uint64_t);
  }
  // One pair may cost a thousand times as much as another.
  run_tasks(threads_, n, poller, [&](unsigned, size_t i, HitSink& sink) {
    DocumentPair& p = pairs[i];
    p.similarity = kTooFar;
    if (jaccard) {
      const double sizes[] = {static_cast<double>(shingles_[p.a].size()), static_cast<double>(shingles_[p.b].size())};
      // At most the lesser one is shared.
      if (std::min(sizes[0], sizes[1]) / std::max({sizes[0], sizes[1], 1.0}) < measure_.threshold) return;
      sink.spend(2 * (shingles_[p.a].size() + shingles_[p.b].size()));
      const double similarity = overlap(shingles_[p.a], shingles_[p.b]).jaccard();
      if (similarity >= measure_.threshold) p.similarity = similarity;
      return;
    }
    SinkStop task_stop(sink);
    EditOptions options;
    options.stop = &task_stop;
    const Document& a = documents[p.a];
    const Document& b = documents[p.b];
    // 1 - rate >= threshold as float8 computes it: the bound is a little wide, the result decides.
    const double most = 1 - measure_.threshold + 1e-12;
    const std::optional<double> rate =
        edit_rate(measure_.unit, a.bytes, a.size, b.bytes, b.size, most < 1 ? most : 1.0, options);
    if (rate && 1 - *rate >= measure_.threshold) p.similarity = 1 - *rate;
  });
}

}  // namespace neardup
