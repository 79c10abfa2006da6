#include "pg/suggest/measure.h"

#include <cmath>

#include "core/base/message_text.h"
#include "core/signature/sign.h"
#include "core/suggest/proposals.h"
#include "pg/sql/run_statement.h"
#include "pg/values/values.h"

namespace neardup {
namespace {

constexpr uint32 kMostTimed = 500;
constexpr size_t kMostTimedBytes = 2'000'000;
// The least time of so many runs counts.
constexpr int kRuns = 2;

// Raised to undo what was made for measuring.
constexpr int kMeasured = MAKE_SQLSTATE('N', 'D', 'R', 'B', 'K');

// Microseconds that f() takes for each of n documents.
template <typename F>
double least_time(uint32 n, F f) {
  double least = HUGE_VAL;
  for (int run = 0; run < kRuns; ++run) {
    instr_time begin;
    instr_time end;
    INSTR_TIME_SET_CURRENT(begin);
    f();
    INSTR_TIME_SET_CURRENT(end);
    INSTR_TIME_SUBTRACT(end, begin);
    least = Min(least, INSTR_TIME_GET_DOUBLE(end) * 1'000'000 / n);
  }
  return least;
}

Datum text_array(const Document* documents, uint32 n) {
  auto* texts = static_cast<Datum*>(palloc(n * sizeof(Datum)));
  for (uint32 i = 0; i < n; ++i)
    texts[i] = text_datum_of_utf8(reinterpret_cast<const char*>(documents[i].bytes), documents[i].size);
  return PointerGetDatum(construct_array(texts, static_cast<int>(n), TEXTOID, -1, false, TYPALIGN_INT));
}

// Core: to the bytes that would be stored.
void sign_all(const TimedDocuments& timed, const MinhashParams& params) {
  PgStop stop;
  uint32_t components[kMaxNumPerm];
  uint8_t stored[kMaxMinhashSize];
  for (uint32 i = 0; i < timed.count; ++i) {
    stop.poll();
    const Document& document = timed.documents[i];
    const bool any = sign_document(params, document.bytes, document.size, &stop, components);
    write_minhash(params, any ? components : nullptr, stored);
  }
}

void make_index(const TimedDocuments& timed, const ShingleForm& form, uint32 num_perm, double threshold,
                const Identifier& neardup) {
  run_statement(
      sql("CREATE TEMP TABLE neardup_suggest_sample AS"
          " SELECT {neardup}.to_minhash(d, {k}, {unit}, {num_perm}, {bits}) AS sig FROM pg_catalog.unnest($1) d",
          {{"neardup", neardup},
           {"k", Literal::number(static_cast<int64>(form.k))},
           {"unit", Literal(unit_name(form.unit))},
           {"num_perm", Literal::number(static_cast<int64>(num_perm))},
           {"bits", Literal::number(static_cast<int64>(kProposedBits))}}),
      {value(TEXTARRAYOID, timed.texts)});
  run_statement(
      sql("CREATE INDEX ON pg_temp.neardup_suggest_sample USING lsh (sig {neardup}.minhash_ops)"
          " WITH (threshold = {threshold})",
          {{"neardup", neardup}, {"threshold", Literal(shown(threshold).text)}}));
}

}  // namespace

TimedDocuments timed_documents(const Sample& sample) {
  uint32 n = 1;
  size_t bytes = sample.documents[0].size;
  for (; n < Min(sample.count, kMostTimed); ++n) {
    bytes += sample.documents[n].size;
    if (bytes > kMostTimedBytes) break;
  }
  return {sample.documents, n, text_array(sample.documents, n)};
}

double signing_us(const TimedDocuments& timed, const ShingleForm& form, uint32 num_perm) {
  MinhashParams params;
  call_core([&] { params = document_params(form.unit, form.k, num_perm, kProposedBits, 0); });
  return least_time(timed.count, [&] { call_core([&] { sign_all(timed, params); }); });
}

LookUpTime look_up_us(const TimedDocuments& timed, const ShingleForm& form, uint32 num_perm, double threshold,
                      const Identifier& neardup) {
  double us = 0;
  const ErrorData* error = run_undoing([&] {
    CatalogPath::begin();  // to the end of the subtransaction
    run_statement(sql("SELECT pg_catalog.set_config('enable_seqscan', 'off', true)"));
    make_index(timed, form, num_perm, threshold, neardup);
    const Sql look_up_all =
        sql("SELECT pg_catalog.sum((SELECT pg_catalog.count(*) FROM pg_temp.neardup_suggest_sample b"
            " WHERE {neardup}.jaccard_at_least(b.sig, a.sig, $1))) FROM pg_temp.neardup_suggest_sample a",
            {{"neardup", neardup}});
    us = least_time(timed.count, [&] { run_statement(look_up_all, {value(threshold)}); });
    ereport(ERROR, (errcode(kMeasured), errmsg_internal("measured")));
  });
  return {us, error->sqlerrcode == kMeasured ? nullptr : error->message};
}

}  // namespace neardup
