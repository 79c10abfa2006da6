// Word models as they are stored: similar words of the words of a table, block by block.
#include <algorithm>
#include <string>
#include <vector>

#include "core/word_model/word_row.h"
#include "core/word_model/word_rows.h"
#include "pg/base/result_row.h"
#include "pg/base/held_names.h"
#include "pg/base/progress.h"
#include "pg/query/read_query.h"
#include "pg/values/arrays.h"
#include "pg/word_model/word_run.h"
#include "pg/word_model/word_table.h"

extern "C" {
#include "utils/timestamp.h"
}

namespace {

using namespace neardup;

// Rows of the table that are in memory at once.
constexpr int kWordsPerFetch = 64;
// As long as a call goes on at the most, whatever it is asked for: thirty years.
constexpr double kMaxSeconds = 1e9;

struct ModelCall {
  Relation table;    // open and locked
  const char* name;  // of it, quoted
  uint32 words;
  uint32 features;
  int32 k;
  uint32 compared;  // words before are compared with all before them
  uint32* weights;
  const uint32* ranks;  // of the words by their bytes
  Owned<SimilarWords>* engine;
  MemoryContext each;
};

// The words as core needs them, filled while they are read.
struct WordTable {
  std::vector<std::string> words;
  std::vector<uint32_t> ranks;
};

[[noreturn]] void refuse(const ModelCall* call, const char* why) {
  ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("%s is no whole word model: %s", call->name, why),
                  errhint("Remove it by drop_word_model(), and create it again.")));
  pg_unreachable();
}

// A query about the model whose columns have these types, read to its end or until on_row returns false. on_row: of one
// row of SPI_tuptable.
template <int kColumns, typename OnRow>
void read_model(const ModelCall* call, const char* query, const Oid (&types)[kColumns], OnRow on_row) {
  SPIPlanPtr plan = prepare_query(query, 0);
  const TupleDesc result = static_cast<CachedPlanSource*>(linitial(SPI_plan_get_plan_sources(plan)))->resultDesc;
  for (int i = 0; i < kColumns; ++i) {
    if (result == nullptr || i >= result->natts || TupleDescAttr(result, i)->atttypid != types[i])
      refuse(call, psprintf("column %d of \"%s\" is not %s", i + 1, query, format_type_be(types[i])));
  }
  Portal portal = SPI_cursor_open(nullptr, plan, nullptr, nullptr, true);
  for (bool more = true; more;) {
    SPI_cursor_fetch(portal, true, kWordsPerFetch);
    SPITupleTable* table = SPI_tuptable;
    const uint64 n = SPI_processed;
    if (n == 0) break;
    for (uint64 i = 0; i < n && more; ++i) {
      CHECK_FOR_INTERRUPTS();
      MemoryContext old = MemoryContextSwitchTo(call->each);
      more = on_row(table->vals[i], table->tupdesc);
      MemoryContextSwitchTo(old);
      MemoryContextReset(call->each);
    }
    SPI_freetuptable(table);
  }
  SPI_cursor_close(portal);
}

Datum column(const ModelCall* call, HeapTuple row, TupleDesc desc, int n) {
  bool is_null;
  const Datum value = SPI_getbinval(row, desc, n, &is_null);
  if (is_null) refuse(call, psprintf("column \"%s\" holds NULL", SPI_fname(desc, n)));
  return value;
}

void check_id(const ModelCall* call, HeapTuple row, TupleDesc desc, uint32 expected) {
  const int32 id = DatumGetInt32(column(call, row, desc, 1));
  if (static_cast<uint32>(id) != expected) refuse(call, psprintf("it has no word with the id %u", expected));
}

Owned<WordTable>* read_words(ModelCall* call) {
  Owned<WordTable>* table =
      make_owned<WordTable>(CurrentMemoryContext, [](PgStop*, PgTempFiles*) { return new WordTable; });
  call->weights =
      static_cast<uint32*>(MemoryContextAllocHuge(CurrentMemoryContext, sizeof(uint32) * Max(call->words, 1u)));
  uint32 next = 0;
  read_model(call, psprintf("SELECT id, weight, word FROM %s ORDER BY id", call->name), {INT4OID, INT8OID, TEXTOID},
             [&](HeapTuple row, TupleDesc desc) {
               if (next == call->words) refuse(call, psprintf("it has more than %u words", call->words));
               check_id(call, row, desc, next);
               const int64 weight = DatumGetInt64(column(call, row, desc, 2));
               if (weight < 0 || weight > kMaxFeatureWeight)
                 refuse(call, psprintf("the word with the id %u has a weight of " INT64_FORMAT, next, weight));
               call->weights[next] = static_cast<uint32>(weight);
               const Utf8 word = to_utf8(DatumGetTextPP(column(call, row, desc, 3)));
               WordTable* t = table->object;
               call_core([=] { t->words.emplace_back(word.view()); });
               ++next;
               return true;
             });
  if (next != call->words) refuse(call, psprintf("it has %u of %u words", next, call->words));
  call_core([=] {
    table->object->ranks = ranks_of_words(table->object->words, table->stop);
    table->object->words = {};
    call->ranks = table->object->ranks.data();
  });
  return table;
}

// Restores the results of earlier blocks.
void restore(const ModelCall* call) {
  if (call->compared == 0) return;
  uint32 next = 0;
  read_model(
      call,
      psprintf("SELECT id, similar_ids, similarities FROM %s WHERE id < %u ORDER BY id", call->name, call->compared),
      {INT4OID, INT4ARRAYOID, FLOAT8ARRAYOID}, [&](HeapTuple row, TupleDesc desc) {
        const uint32 id = next++;
        check_id(call, row, desc, id);
        Datum* words;
        Datum* similarities;
        int n;
        int m;
        deconstruct_array(DatumGetArrayTypeP(column(call, row, desc, 2)), INT4OID, 4, true, TYPALIGN_INT, &words,
                          nullptr, &n);
        deconstruct_array(DatumGetArrayTypeP(column(call, row, desc, 3)), FLOAT8OID, 8, FLOAT8PASSBYVAL,
                          TYPALIGN_DOUBLE, &similarities, nullptr, &m);
        if (n != m || n > call->k)
          refuse(call, psprintf("the similar words of the word with the id %u do not fit", id));
        auto* best = static_cast<SimilarWord*>(palloc(sizeof(SimilarWord) * Max(n, 1)));
        for (int i = 0; i < n; ++i) {
          best[i] = {static_cast<uint32>(DatumGetInt32(words[i])), DatumGetFloat8(similarities[i])};
          bool fits =
              best[i].word < call->compared && best[i].word != id && best[i].similarity > 0 && best[i].similarity <= 1;
          if (fits && i > 0)
            fits = best[i - 1].similarity > best[i].similarity ||
                   (best[i - 1].similarity == best[i].similarity &&
                    call->ranks[best[i - 1].word] < call->ranks[best[i].word]);
          if (!fits) refuse(call, psprintf("the similar words of the word with the id %u do not fit", id));
        }
        SimilarWords* engine = call->engine->object;
        call_core([=] { engine->restore(id, best, static_cast<size_t>(n)); });
        return true;
      });
  if (next != call->compared) refuse(call, psprintf("it has no word with the id %u", next));
}

// Hands over the rows from `first` on, until take(row) returns false; returns the word after the last that was taken.
template <typename Take>
uint32 decode_rows(const ModelCall* call, uint32 first, uint32 end, Take take) {
  uint32 next = first;
  read_model(call,
             psprintf("SELECT id, features FROM %s WHERE id >= %u AND id < %u ORDER BY id", call->name, first, end),
             {INT4OID, BYTEAOID}, [&](HeapTuple row, TupleDesc desc) {
               check_id(call, row, desc, next);
               const Bytes stored = bytea_bytes(DatumGetByteaPP(column(call, row, desc, 2)));
               bool taken = false;
               call_core([&] {
                 std::vector<uint32_t> features;
                 std::vector<uint16_t> values;
                 decode_word_row(stored.data, stored.size, call->features, &features, &values);
                 const WordRow decoded = {features.data(), values.data(), features.size()};
                 if (row_weight(decoded) != call->weights[next])
                   throw Error(Errc::corrupt_data, "the features of a word do not add up to its weight");
                 taken = take(decoded);
               });
               if (taken) ++next;
               return taken;
             });
  return next;
}

// The arguments of neardup_similar_words() but the last, checked; the model's table is open.
ModelCall model_call(FunctionCallInfo fcinfo, Oid model) {
  ModelCall call = {};
  call.table = open_words(model, fcinfo->flinfo->fn_oid);
  call.name = held_name(model, StatementKind::query);
  call.words = static_cast<uint32>(PG_GETARG_INT32(1));
  call.features = static_cast<uint32>(PG_GETARG_INT32(2));
  call.k = PG_GETARG_INT32(3);
  call.compared = static_cast<uint32>(PG_GETARG_INT32(4));
  if (call.words > kMaxWords || call.compared > call.words || call.k < 1 || call.features > kMaxWordFeatures)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("no word model has %u words, %u of them compared, %u features and a k of %d", call.words,
                           call.compared, call.features, call.k)));
  return call;
}

// Compares block by block until the time is over, one block at least; returns the word after the last that is compared.
uint32 compare_blocks(const ModelCall* call, double seconds) {
  SimilarWords* engine = call->engine->object;
  const TimestampTz until = GetCurrentTimestamp() + static_cast<int64>(Min(seconds, kMaxSeconds) * USECS_PER_SEC);
  uint32 end = call->compared;
  while (end < call->words && (end == call->compared || GetCurrentTimestamp() < until)) {
    const uint32 first = end;
    call_core([=] { engine->begin_block(first); });
    end = decode_rows(call, first, call->words, [=](const WordRow& row) { return engine->load(row); });
    if (end == first) refuse(call, psprintf("it has no word with the id %u", first));
    decode_rows(call, 0, end, [=](const WordRow& row) {
      engine->probe(row);
      return true;
    });
    call_core([=] { engine->end_block(); });
  }
  return end;
}

// A line for neardup.log_stages.
const char* comparing_story(const ModelCall& call, uint32 end) {
  SimilarWords::Stats stats;
  call_core([&] { stats = call.engine->object->stats(); });
  return psprintf("%u to %u of %u words, %u blocks%s, %zu MB in memory", call.compared, end, call.words, stats.blocks,
                  stats.offloaded ? ", on the GPU" : "", stats.peak_bytes >> 20);
}

// The words before `end` with the best of each.
void put_similar(ReturnSetInfo* rows, const ModelCall& call, uint32 end) {
  enum Column { kId, kSimilarIds, kSimilarities, kColumns };
  auto* best = static_cast<SimilarWord*>(palloc(sizeof(SimilarWord) * static_cast<size_t>(call.k)));
  for (uint32 i = 0; i < end; ++i) {
    MemoryContext old = MemoryContextSwitchTo(call.each);
    size_t n = 0;
    call_core([&] { n = call.engine->object->best(i, best); });
    ResultRow<Column> row;
    row.set(kId, Int32GetDatum(static_cast<int32>(i)));
    row.set(kSimilarIds,
            array_datum(n, INT4OID, [&](size_t i) { return Int32GetDatum(static_cast<int32>(best[i].word)); }));
    row.set(kSimilarities, array_datum(n, FLOAT8OID, [&](size_t i) { return Float8GetDatum(best[i].similarity); }));
    row.put(rows);
    MemoryContextSwitchTo(old);
    MemoryContextReset(call.each);
    CHECK_FOR_INTERRUPTS();
  }
}

}  // namespace

// neardup_similar_words(model regclass, words int, features int, k int, compared int, seconds float8): goes on for
// about so long, one block at least; the words before the end of the last block, with the best of them.
SQL_FUNCTION(neardup_similar_words) {
  const Oid model = PG_GETARG_OID(0);
  ModelCall call = model_call(fcinfo, model);
  const double seconds = PG_GETARG_FLOAT8(5);
  ReturnSetInfo* rows = begin_rows(fcinfo);
  Stages stages;
  begin_stages(&stages);
  begin_progress(Searching::word_model);
  report_phase(Phase::reading);
  SPI_connect();
  call.each = AllocSetContextCreate(CurrentMemoryContext, "neardup word", ALLOCSET_DEFAULT_SIZES);
  Owned<WordTable>* table = read_words(&call);
  call.engine = make_similar_words(call.words, call.weights, call.ranks, call.features, call.k);
  restore(&call);
  destroy_owned(table);
  end_stage(&stages, "words read");

  report_phase(Phase::searching);
  const uint32 end = compare_blocks(&call, seconds);
  end_stage(&stages, "words compared", comparing_story(call, end));

  report_phase(Phase::returning);
  put_similar(rows, call, end);
  end_progress();
  destroy_owned(call.engine);
  SPI_finish();
  release_name(model);
  table_close(call.table, NoLock);
  return 0;
}
