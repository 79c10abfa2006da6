// Scores of pairs of records: how alike two fields are, and what share of a class of pairs is true.
#include "core/exact/text_score.h"
#include "pg/values/values.h"

// neardup_text_score(a text, b text) -> int
SQL_FUNCTION(text_score_text) {
  using namespace neardup;
  const Utf8 a = to_utf8(PG_GETARG_TEXT_PP(0));
  const Utf8 b = to_utf8(PG_GETARG_TEXT_PP(1));
  std::optional<int> score;
  call_core([&] {
    PgStop stop;
    score = text_score(a.data, a.size, b.data, b.size, &stop);
  });
  if (!score) PG_RETURN_NULL();
  PG_RETURN_INT32(*score);
}

// neardup_score_precision(observed float8, gold float8, random float8) -> float8
SQL_FUNCTION(score_precision_float8) {
  using namespace neardup;
  const double observed = PG_GETARG_FLOAT8(0), gold = PG_GETARG_FLOAT8(1), random = PG_GETARG_FLOAT8(2);
  double share = 0;
  call_core([&] { share = score_precision(observed, gold, random); });
  PG_RETURN_FLOAT8(share);
}
