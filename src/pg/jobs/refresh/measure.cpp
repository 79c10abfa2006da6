// See measure.h.
#include "pg/jobs/refresh/measure.h"

#include <cmath>

namespace neardup {

namespace {

// Estimated Jaccard similarity of minhash signatures

// The least that an lsh index serves.
constexpr double kLeastJaccard = 0.5;

bool is_jaccard_searchable(const RefreshStep& step) { return step.row().search_threshold >= kLeastJaccard; }

Sql jaccard_class(const RefreshStep& step, double slack) {
  return sql("(signature) WITH (threshold = {threshold})",
             {{"threshold", Literal::decimal(step.row().search_threshold - slack)}});
}

Sql jaccard_near(const RefreshStep& step, Pattern a, Pattern b) {
  return step_sql(step, "{neardup}.jaccard({a}, {b}) OPERATOR(pg_catalog.>=) {bound}",
                  {{"a", sql(a)}, {"b", sql(b)}, {"bound", Literal::number(step.row().search_threshold)}});
}

// Hamming distance of simhash signatures

// The greatest that an lsh index serves, in bits of 64.
constexpr int kMaxHamming = 10;
constexpr double kSimhashBits = 64;

bool is_hamming_searchable(const RefreshStep& step) {
  return step.row().search_threshold >= 1 - kMaxHamming / kSimhashBits;
}

Sql hamming_class(const RefreshStep&, double) { return sql("(signature)"); }

int max_hamming(double threshold) {
  int distance = 0;
  while (distance < kMaxHamming && 1 - (distance + 1) / kSimhashBits >= threshold) ++distance;
  return distance;
}

Sql hamming_near(const RefreshStep& step, Pattern a, Pattern b) {
  const int bound = max_hamming(step.row().search_threshold);
  return step_sql(step, "{neardup}.hamming({a}, {b}) OPERATOR(pg_catalog.<=) {bound}",
                  {{"a", sql(a)}, {"b", sql(b)}, {"bound", Literal::number(int64{bound})}});
}

// Edit rate of ctph digests

// The greatest that an lsh index serves.
constexpr double kMaxEditRate = 0.15;
// So that a rate that is as large as the threshold allows is not lost to rounding.
constexpr double kRateSlack = 1e-9;
// Places after the point of max_rate, an option of the index.
constexpr double kRateSteps = 100000;

bool is_edit_rate_searchable(const RefreshStep& step) { return step.row().search_threshold >= 1 - kMaxEditRate; }

Sql edit_rate_class(const RefreshStep& step, double) {
  const double rate = std::ceil(std::round((1 - step.row().search_threshold) * kRateSteps * 1000) / 1000) / kRateSteps;
  return sql("(signature {neardup}.ctph_ops (max_rate = {rate}))",
             {{"neardup", step.job.neardup}, {"rate", Literal::decimal(Min(rate, kMaxEditRate))}});
}

Sql edit_rate_near(const RefreshStep& step, Pattern a, Pattern b) {
  const double bound = Min(1 - step.row().search_threshold + kRateSlack, kMaxEditRate);
  return step_sql(step, "{neardup}.ctph_edit_rate({a}, {b}) OPERATOR(pg_catalog.<=) {bound}",
                  {{"a", sql(a)}, {"b", sql(b)}, {"bound", Literal::number(bound)}});
}

// Sets, exactly

bool is_set_searchable(const RefreshStep&) { return true; }

Sql set_class(const RefreshStep&, double) { return sql("(signature)"); }

Sql set_jaccard_near(const RefreshStep& step, Pattern a, Pattern b) {
  return step_sql(step, "{neardup}.jaccard_exact({a}, {b}) OPERATOR(pg_catalog.>=) {bound}",
                  {{"a", sql(a)}, {"b", sql(b)}, {"bound", Literal::number(step.row().search_threshold)}});
}

// Either way round: a changed row may be in a larger one, or have smaller ones in it. Of two rows the smaller one comes
// later, and has the greater share in the other: where any of the two is contained, it is the later one.
Sql containment_near(const RefreshStep& step, Pattern a, Pattern b) {
  return step_sql(step,
                  "({neardup}.containment_exact({a}, {b}) OPERATOR(pg_catalog.>=) {bound}"
                  " OR {neardup}.containment_exact({b}, {a}) OPERATOR(pg_catalog.>=) {bound})",
                  {{"a", sql(a)}, {"b", sql(b)}, {"bound", Literal::number(step.row().search_threshold)}});
}

constexpr Measure kJaccard = {is_jaccard_searchable, jaccard_class, jaccard_near};
constexpr Measure kHamming = {is_hamming_searchable, hamming_class, hamming_near};
constexpr Measure kEditRate = {is_edit_rate_searchable, edit_rate_class, edit_rate_near};
constexpr Measure kSetJaccard = {is_set_searchable, set_class, set_jaccard_near};
constexpr Measure kContainment = {is_set_searchable, set_class, containment_near};

}  // namespace

const Measure& measure_of(const RefreshStep& step) {
  switch (step.source.kind) {
    case SignatureKind::minhash:
      return kJaccard;
    case SignatureKind::simhash:
      return kHamming;
    case SignatureKind::ctph:
      return kEditRate;
    case SignatureKind::set:
      return step.row().compares_containment() ? kContainment : kSetJaccard;
  }
  pg_unreachable();
}

}  // namespace neardup
