// See document_pairs.h.
#include "core/document_pairs.h"

#include <limits>
#include <optional>

#include "core/edit_distance.h"
#include "core/parallel.h"
#include "core/sign.h"

namespace neardup {
namespace {

// A task's sink in the place of a StopCheck, which workers must not ask.
class SinkStop final : public StopCheck {
 public:
  explicit SinkStop(HitSink& sink) : sink_(sink) {}
  bool should_stop() noexcept override {
    try {
      sink_.look();
    } catch (...) {
      return true;
    }
    return false;
  }

 private:
  HitSink& sink_;
};

void take_nothing(const Hit*, size_t) {}

}  // namespace

void compare_documents(const DocumentMeasure& measure, const std::vector<Document>& documents,
                       std::vector<DocumentPair>* pairs, unsigned threads, StopCheck* stop) {
  constexpr double kBelow = std::numeric_limits<double>::quiet_NaN();
  Poller poller(stop);
  const bool jaccard = measure.kind == DocumentMeasure::Kind::jaccard;
  std::vector<std::vector<uint64_t>> shingles(jaccard ? documents.size() : 0);
  if (jaccard) {
    run_tasks(threads, documents.size(), poller,
              [&](unsigned, size_t i, HitSink& sink) {
                SinkStop task_stop(sink);
                shingles[i] = distinct_shingles(measure.unit, measure.k, documents[i].bytes, documents[i].size, &task_stop);
              },
              take_nothing);
  }
  // One pair may cost a thousand times as much as another.
  run_tasks(threads, pairs->size(), poller,
            [&](unsigned, size_t i, HitSink& sink) {
              DocumentPair& p = (*pairs)[i];
              p.similarity = kBelow;
              if (jaccard) {
                sink.spend(2 * (shingles[p.a].size() + shingles[p.b].size()));
                const double similarity = overlap(shingles[p.a], shingles[p.b]).jaccard();
                if (similarity >= measure.threshold) p.similarity = similarity;
                return;
              }
              SinkStop task_stop(sink);
              EditOptions options;
              options.stop = &task_stop;
              const Document& a = documents[p.a];
              const Document& b = documents[p.b];
              // 1 - rate >= threshold as float8 computes it: the bound is a little wide, the result decides.
              const double most = 1 - measure.threshold + 1e-12;
              const std::optional<double> rate =
                  edit_rate(measure.unit, a.bytes, a.size, b.bytes, b.size, most < 1 ? most : 1.0, options);
              if (rate && 1 - *rate >= measure.threshold) p.similarity = 1 - *rate;
            },
            take_nothing);
}

}  // namespace neardup
