// Words looked up in a word model that is stored: its two tables are opened once and read as they are.
#include "pg/values/values.h"
#include "pg/word_model/word_table.h"

#include "pg/values/arrays.h"
#include "pg/base/result_row.h"

using namespace neardup;

// neardup_word_model_of(model regclass) -> neardup_word_model: the settings of a model that is finished
SQL_FUNCTION(neardup_word_model_of) {
  const Oid function = fcinfo->flinfo->fn_oid;
  Relation words = open_words(PG_GETARG_OID(0), function);
  Relation settings = open_settings(words, function);
  const AttrNumber counted = column_named(settings, "words");
  const AttrNumber compared = column_named(settings, "compared");
  Datum row = 0;
  bool finished = false;
  scan_table(settings, nullptr, [&](HeapTuple tuple) {
    bool unknown[2];
    const int32 n = DatumGetInt32(heap_getattr(tuple, counted, RelationGetDescr(settings), &unknown[0]));
    const int32 done = DatumGetInt32(heap_getattr(tuple, compared, RelationGetDescr(settings), &unknown[1]));
    finished = !unknown[0] && !unknown[1] && done >= n;
    row = row_value(typed_row(settings, tuple, settings->rd_rel->reloftype));
    return false;
  });
  if (!finished)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("word model %s is not finished", qualified_name(words)),
                    errhint("The same CALL create_word_model(...) continues it.")));
  table_close(settings, NoLock);
  table_close(words, NoLock);
  return row;
}

// neardup_word_of(model regclass, word text) -> features bytea, similar_ids int[], similarities float8[]: of one word;
// NULLs where it is not there
SQL_FUNCTION(neardup_word_of) {
  static constexpr const char* kAsked[] = {"features", "similar_ids", "similarities"};
  Relation words = open_words(PG_GETARG_OID(0), fcinfo->flinfo->fn_oid);
  AttrNumber columns[lengthof(kAsked)];
  for (size_t i = 0; i < lengthof(kAsked); ++i) columns[i] = column_named(words, kAsked[i]);
  const ColumnIs is_word = {column_named(words, "word"), F_TEXTEQ, PG_GETARG_DATUM(1)};
  Datum values[lengthof(kAsked)] = {};
  bool nulls[lengthof(kAsked)] = {true, true, true};
  scan_table(words, &is_word, [&](HeapTuple row) {
    HeapTuple copy = heap_copytuple(row);
    for (size_t i = 0; i < lengthof(kAsked); ++i)
      values[i] = heap_getattr(copy, columns[i], RelationGetDescr(words), &nulls[i]);
    return false;
  });
  const Datum result = row_datum(fcinfo, values, nulls);
  table_close(words, NoLock);
  return result;
}

// neardup_words_at(model regclass, ids int[]) -> text[]: the words of these ids; NULL for one that there is not
SQL_FUNCTION(neardup_words_at) {
  Relation words = open_words(PG_GETARG_OID(0), fcinfo->flinfo->fn_oid);
  const AttrNumber id = column_named(words, "id");
  const AttrNumber word = column_named(words, "word");
  const Elements ids = array_elements(PG_GETARG_ARRAYTYPE_P(1));
  int n = ids.count;
  auto* texts = static_cast<Datum*>(palloc0(sizeof(Datum) * static_cast<size_t>(Max(n, 1))));
  auto* nulls = static_cast<bool*>(palloc(sizeof(bool) * static_cast<size_t>(Max(n, 1))));
  for (int i = 0; i < n; ++i) {
    nulls[i] = true;
    if (ids.nulls[i]) continue;
    const ColumnIs has_id = {id, F_INT4EQ, ids.values[i]};
    scan_table(words, &has_id, [&](HeapTuple row) {
      texts[i] = heap_getattr(row, word, RelationGetDescr(words), &nulls[i]);
      if (!nulls[i]) texts[i] = PointerGetDatum(PG_DETOAST_DATUM_COPY(texts[i]));
      return false;
    });
  }
  table_close(words, NoLock);
  const int lower = 1;
  PG_RETURN_ARRAYTYPE_P(
      construct_md_array(texts, nulls, 1, &n, const_cast<int*>(&lower), TEXTOID, -1, false, TYPALIGN_INT));
}
