// compare_texts() and explain_pair(): how alike two documents are, and why a pair is found or not.
#include <cstdio>

#include "core/signature/compare_texts.h"
#include "pg/base/result_row.h"
#include "pg/values/explain.h"
#include "pg/values/lsh_query_value.h"
#include "pg/values/simhash_value.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// A TextComparison as plain data, for a frame that calls PostgreSQL.
struct PlainComparison {
  Overlap shingles;
  double estimate;
  bool has_hamming;
  int hamming;
  bool has_edit_rate;
  double edit_rate;
  char note[256];
};

PlainComparison plain(const TextComparison& c) {
  PlainComparison out = {c.shingles,
                         c.estimate,
                         c.hamming.has_value(),
                         c.hamming.value_or(0),
                         c.edit_rate.has_value(),
                         c.edit_rate.value_or(0),
                         {}};
  snprintf(out.note, sizeof out.note, "%s", c.note.c_str());
  return out;
}

}  // namespace

SQL_FUNCTION(neardup_compare_texts) {
  const Utf8 a = to_utf8(PG_GETARG_TEXT_PP(0));
  const Utf8 b = to_utf8(PG_GETARG_TEXT_PP(1));
  const int k = PG_GETARG_INT32(2);
  const Unit unit = unit_arg(fcinfo, 3);
  PlainComparison c;
  call_core([&] {
    PgStop stop;
    c = plain(compare_texts(unit, k, a.data, a.size, b.data, b.size, &stop));
  });
  const Overlap& o = c.shingles;
  const auto share = [&](uint64_t n) { return n == 0 ? 0.0 : static_cast<double>(o.shared) / static_cast<double>(n); };
  enum Column { kJaccard, kEstimate, kAInB, kBInA, kShared, kOnlyA, kOnlyB, kHamming, kEditRate, kNote, kColumns };
  ResultRow<Column> row;
  row.set(kJaccard, Float8GetDatum(o.jaccard()));
  row.set(kEstimate, Float8GetDatum(c.estimate));
  row.set(kAInB, Float8GetDatum(share(o.a)));
  row.set(kBInA, Float8GetDatum(share(o.b)));
  row.set(kShared, Int64GetDatum(static_cast<int64>(o.shared)));
  row.set(kOnlyA, Int64GetDatum(static_cast<int64>(o.a - o.shared)));
  row.set(kOnlyB, Int64GetDatum(static_cast<int64>(o.b - o.shared)));
  if (c.has_hamming) row.set(kHamming, Int32GetDatum(c.hamming));
  if (c.has_edit_rate) row.set(kEditRate, Float8GetDatum(c.edit_rate));
  row.set(kNote, CStringGetTextDatum(c.note));
  return row.datum(fcinfo);
}

SQL_FUNCTION(minhash_explain_pair) {
  const MinhashView a = minhash_arg(fcinfo, 0);
  const MinhashView b = minhash_arg(fcinfo, 1);
  const double threshold = PG_GETARG_FLOAT8(2);
  check_threshold(threshold);
  PairExplanation pair;
  explain_minhash_pair(a, b, threshold, &pair);
  enum Column { kComparable, kMatches, kNeeded, kJaccard, kStandardError, kVerdict, kColumns };
  ResultRow<Column> row;
  row.set(kComparable, BoolGetDatum(pair.comparable));
  if (pair.comparable) {
    row.set(kMatches, Int32GetDatum(static_cast<int32>(pair.matches)));
    row.set(kNeeded, Int32GetDatum(static_cast<int32>(pair.needed)));
    row.set(kJaccard, Float8GetDatum(pair.jaccard));
    row.set(kStandardError, Float8GetDatum(pair.standard_error));
  }
  row.set(kVerdict, CStringGetTextDatum(pair.verdict));
  return row.datum(fcinfo);
}

SQL_FUNCTION(simhash_explain_pair) {
  const double distance = bound_arg(fcinfo, 2, Measure::hamming);
  SimhashExplanation pair;
  explain_simhash_pair(simhash_arg(fcinfo, 0), simhash_arg(fcinfo, 1), distance, &pair);
  enum Column { kHamming, kCosine, kVerdict, kColumns };
  ResultRow<Column> row;
  row.set(kHamming, Int32GetDatum(pair.hamming));
  row.set(kCosine, Float8GetDatum(pair.cosine));
  row.set(kVerdict, CStringGetTextDatum(pair.verdict));
  return row.datum(fcinfo);
}

SQL_FUNCTION(ctph_explain_pair) {
  const CtphView a = ctph_arg(fcinfo, 0);
  const CtphView b = ctph_arg(fcinfo, 1);
  const double score = bound_arg(fcinfo, 2, Measure::ctph_score);
  const double rate = bound_arg(fcinfo, 3, Measure::ctph_edit_rate);
  CtphExplanation pair;
  explain_ctph_pair(a, b, score, rate, &pair);
  enum Column { kComparable, kBlockSize, kScore, kEditRate, kVerdict, kColumns };
  ResultRow<Column> row;
  row.set(kComparable, BoolGetDatum(pair.comparable));
  if (pair.block_size != 0) row.set(kBlockSize, Int64GetDatum(static_cast<int64>(pair.block_size)));
  if (pair.comparable) {
    row.set(kScore, Int32GetDatum(pair.score));
    row.set(kEditRate, Float8GetDatum(pair.edit_rate));
  }
  row.set(kVerdict, CStringGetTextDatum(pair.verdict));
  return row.datum(fcinfo);
}
