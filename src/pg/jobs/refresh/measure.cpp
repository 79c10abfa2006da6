// The measure by which a job searches: see refresh_statements.h.
#include "pg/jobs/refresh/refresh_statements.h"

#include <cmath>

#include "core/signature/ctph_compare.h"
#include "core/signature/simhash.h"

namespace neardup {

namespace {

// Places after the point of max_rate, an option of the index.
constexpr double kRateSteps = 100000;

// A job's way to search by a kind of signature.
struct KindSearch {
  Measure measure;  // of sets the one that a job names
  // The bound of the measure for a search threshold, which is a similarity from 0 to 1.
  double (*bound)(double threshold);
  // The least threshold that is searched by an index; below it a refresh clusters all rows.
  double least_threshold;
  Sql (*index_class)(const RefreshStep& step, double slack);
};

constexpr double kLeastJaccard = 0.5;
constexpr double kMostHamming = 10;  // an index of three blocks serves it, as large tables have
constexpr double kMostEditRate = 0.15;

double same(double threshold) { return threshold; }

double greatest_distance(double threshold) {
  return Min(static_cast<double>(most_simhash_distance(threshold)), kMostHamming);
}

double greatest_rate(double threshold) { return Min(1 - threshold + kEditRateSlack, kMostEditRate); }

Sql minhash_class(const RefreshStep& step, double slack) {
  return sql("(signature) WITH (threshold = {threshold})",
             {{"threshold", Literal::decimal(step.row().search_threshold - slack)}});
}

Sql ctph_class(const RefreshStep& step, double) {
  const double rate = std::ceil(std::round((1 - step.row().search_threshold) * kRateSteps * 1000) / 1000) / kRateSteps;
  return sql("(signature {neardup}.ctph_ops (max_rate = {rate}))",
             {{"neardup", step.job.neardup}, {"rate", Literal::decimal(Min(rate, kMostEditRate))}});
}

Sql plain_class(const RefreshStep&, double) { return sql("(signature)"); }

// One entry for each Kind. No job has bit codes.
constexpr KindSearch kSearches[] = {{Measure::jaccard, same, kLeastJaccard, minhash_class},
                                    {Measure::hamming, greatest_distance, 1 - kMostHamming / kSimhashBits, plain_class},
                                    {Measure::ctph_edit_rate, greatest_rate, 1 - kMostEditRate, ctph_class},
                                    {},
                                    {Measure::set_jaccard, same, 0, plain_class}};
static_assert(lengthof(kSearches) == kKinds);

const KindSearch& kind_search(const RefreshStep& step) {
  const KindSearch& search = kSearches[static_cast<size_t>(step.source.kind)];
  if (search.bound == nullptr) elog(ERROR, "no job has signatures of kind %s", info(step.source.kind).name);
  return search;
}

const MeasureInfo& job_measure(const RefreshStep& step) {
  const char* name = step.row().measure;
  return info(name == nullptr ? kind_search(step).measure
                              : value_named(kJobMeasures, name).value_or(kind_search(step).measure));
}

Sql is_within_bound(const RefreshStep& step, Pattern a, Pattern b) {
  const MeasureInfo& measure = job_measure(step);
  return step_sql(step, "{neardup}.{measure}({a}, {b}) OPERATOR(pg_catalog.{sign}) {bound}",
                  {{"measure", Identifier(measure.function)},
                   {"a", sql(a)},
                   {"b", sql(b)},
                   {"sign", measure.is_similarity ? sql(">=") : sql("<=")},
                   {"bound", Literal::number(kind_search(step).bound(step.row().search_threshold))}});
}

}  // namespace

bool is_searchable(const RefreshStep& step) { return step.row().search_threshold >= kind_search(step).least_threshold; }

Sql index_class(const RefreshStep& step, double slack) { return kind_search(step).index_class(step, slack); }

// Containment is checked either way round: a changed row may be in a larger one, or have smaller ones in it. The
// smaller of two rows comes later, and has the greater share in the other: where any of the two is contained, it is the
// later one.
Sql near_condition(const RefreshStep& step, Pattern a, Pattern b) {
  if (!is_directed(job_measure(step).measure)) return is_within_bound(step, a, b);
  return sql("({forth} OR {back})", {{"forth", is_within_bound(step, a, b)}, {"back", is_within_bound(step, b, a)}});
}

}  // namespace neardup
