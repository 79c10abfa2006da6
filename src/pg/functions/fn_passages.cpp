// shared_passages() and copied_share(): what stands in one document and in another.
#include <vector>

#include "core/passages/shared/shared_passages.h"
#include "pg/base/result_row.h"
#include "pg/base/context.h"
#include "pg/values/arrays.h"
#include "pg/values/old_sql.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

struct Arguments {
  Utf8 a;
  Utf8 b;
  int64_t least;
  Unit unit;
  const Utf8* ignore;
  int ignored;
};

// The limit of both documents together: their memory lies beyond work_mem, at up to 200 bytes a unit.
constexpr size_t kMaxBytesByWords = size_t{128} << 20;
// Where a byte may be a unit.
constexpr size_t kMaxCharBytes = size_t{32} << 20;

// The argument `ignore`.
void read_ignored(FunctionCallInfo fcinfo, int n, Arguments* g) {
  demand_arguments(fcinfo, n + 1);
  const Elements texts = array_elements(PG_GETARG_ARRAYTYPE_P(n));
  Utf8* const ignore = static_cast<Utf8*>(palloc(sizeof(Utf8) * (static_cast<size_t>(texts.count) + 1)));
  for (int i = 0; i < texts.count; ++i) {
    if (texts.nulls[i])
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("text %d to ignore is NULL", i + 1),
                      errhint("Leave NULLs out, as in array_remove(texts, NULL).")));
    ignore[i] = to_utf8(DatumGetTextPP(texts.values[i]));
  }
  g->ignore = ignore;
  g->ignored = texts.count;
}

IgnoredTexts texts_to_ignore(const Arguments& g) {
  IgnoredTexts out;
  for (int i = 0; i < g.ignored; ++i) out.push_back(g.ignore[i].view());
  return out;
}

Arguments read_arguments(FunctionCallInfo fcinfo) {
  Arguments g = {to_utf8(PG_GETARG_TEXT_PP(0)),
                 to_utf8(PG_GETARG_TEXT_PP(1)),
                 PG_GETARG_INT32(2),
                 unit_arg(fcinfo, 3),
                 nullptr,
                 0};
  read_ignored(fcinfo, 4, &g);
  const size_t most = g.unit == Unit::character || g.unit == Unit::code ? kMaxCharBytes : kMaxBytesByWords;
  if (g.a.size + g.b.size > most)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("both documents together may have at most %zu MB, they have %zu bytes", most >> 20,
                           g.a.size + g.b.size),
                    errhint("Compare parts of them, or words instead of characters.")));
  size_t ignored = 0;
  for (int i = 0; i < g.ignored; ++i) ignored += g.ignore[i].size;
  if (ignored > most)
    ereport(ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
             errmsg("texts to ignore may have at most %zu MB together, they have %zu bytes", most >> 20, ignored),
             errhint("Ignore parts of them, or compare words instead of characters.")));
  return g;
}

}  // namespace

SQL_FUNCTION(neardup_shared_passages) {
  enum Column { kStartA, kStartB, kLength, kText, kColumns };
  const Arguments g = read_arguments(fcinfo);
  ReturnSetInfo* rows = begin_rows(fcinfo);
  // An error below leaves the passages to the memory context.
  Owned<std::vector<Passage>>* passages =
      make_owned<std::vector<Passage>>(CurrentMemoryContext, [=](PgStop* stop, PgTempFiles*) {
        return new std::vector<Passage>(
            shared_passages(g.unit, g.a.data, g.a.size, g.b.data, g.b.size, g.least, texts_to_ignore(g), stop));
      });
  const Passage* const begin = passages->object->data();
  const Passage* const end = begin + passages->object->size();
  for (const Passage* p = begin; p != end; ++p) {
    CHECK_FOR_INTERRUPTS();
    ResultRow<Column> row;
    row.set(kStartA, Int32GetDatum(static_cast<int32>(p->start_a) + 1));
    row.set(kStartB, Int32GetDatum(static_cast<int32>(p->start_b) + 1));
    row.set(kLength, Int32GetDatum(static_cast<int32>(p->length_a)));
    const char* passage = reinterpret_cast<const char*>(g.a.data) + p->begin;
    row.set(kText, text_datum_of_utf8(passage, p->end - p->begin));
    row.put(rows);
    pfree(DatumGetPointer(row.value(kText)));
  }
  destroy_owned(passages);
  return 0;
}

SQL_FUNCTION(neardup_copied_share) {
  const Arguments g = read_arguments(fcinfo);
  double share = 0;
  call_core([&] {
    PgStop stop;
    share = copied_share(g.unit, g.a.data, g.a.size, g.b.data, g.b.size, g.least, texts_to_ignore(g), &stop);
  });
  PG_RETURN_FLOAT8(share);
}
