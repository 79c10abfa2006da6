// Word similarity: of the words of a query, and the stages of a stored word model.
#include <algorithm>
#include <string>
#include <vector>

#include "core/word_model/word_places.h"
#include "core/word_model/word_row.h"
#include "core/document/words.h"
#include "pg/base/result_row.h"
#include "pg/values/folded_text.h"
#include "pg/base/progress.h"
#include "pg/word_model/word_run.h"

namespace {

using namespace neardup;

constexpr uint32 kTuplesChecked = 1024;

Datum stored_row(const uint8_t* bytes, size_t size) {
  if (size > MaxAllocSize - VARHDRSZ)
    ereport(ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the row of a word is too large: %zu bytes", size)));
  return varlena_datum(bytes, size);
}

// A line for neardup.log_stages.
const char* engine_story(const SimilarWords* engine) {
  SimilarWords::Stats s;
  call_core([&] { s = engine->stats(); });
  return psprintf(UINT64_FORMAT " pairs of words, %u blocks, " UINT64_FORMAT " dense features, " UINT64_FORMAT
                                " additions%s, %zu MB in memory",
                  s.pairs, s.blocks, s.dense, s.additions, s.offloaded ? ", on the GPU" : "", s.peak_bytes >> 20);
}

// The words of the vocabulary as they are returned, by their numbers.
Datum* word_texts(const CountedWords& counted) {
  auto* texts =
      static_cast<Datum*>(MemoryContextAllocHuge(CurrentMemoryContext, sizeof(Datum) * Max(counted.words, 1u)));
  for (uint32 i = 0; i < counted.words; ++i) {
    const ModelWord word = model_word(counted, i);
    texts[i] = text_datum_of_folded(word.utf8, word.size);
    if (i % kTuplesChecked == 0) CHECK_FOR_INTERRUPTS();
  }
  return texts;
}

// The rows of word_similarities(), k for each word at most; returns how many.
uint64 put_similar(ReturnSetInfo* out, const CountedWords& counted, SimilarWords* engine, int32 k) {
  enum Column { kWord, kSimilarWord, kSimilarity, kRank, kColumns };
  auto* best = static_cast<SimilarWord*>(palloc(sizeof(SimilarWord) * static_cast<size_t>(k)));
  const Datum* texts = word_texts(counted);
  uint64 returned = 0;
  for (uint32 i = 0; i < counted.words; ++i) {
    size_t n = 0;
    call_core([&] { n = engine->best(i, best); });
    for (size_t b = 0; b < n; ++b) {
      ResultRow<Column> row;
      row.set(kWord, texts[i]);
      row.set(kSimilarWord, texts[best[b].word]);
      row.set(kSimilarity, Float8GetDatum(best[b].similarity));
      row.set(kRank, Int32GetDatum(static_cast<int32>(b + 1)));
      row.put(out);
    }
    returned += n;
    CHECK_FOR_INTERRUPTS();
  }
  return returned;
}

}  // namespace

// word_similarities(query text, vocabulary int, k int, window int, by_position boolean, features int, stopwords text[],
//                   dictionary regdictionary, context text, discount float8)
SQL_FUNCTION(word_similarities) {
  const WordArguments args = word_arguments(fcinfo);
  ReturnSetInfo* out = begin_rows(fcinfo);
  Stages stages;
  begin_stages(&stages);
  begin_progress(Searching::word_similarities);
  SPI_connect();
  CountedWords counted;
  count_words(args, &counted, &stages);
  report_phase(Phase::searching);
  WordRows* rows = counted.rows;
  uint32 features = 0;
  const uint32* weights = nullptr;
  call_core([&] {
    features = rows->features();
    weights = rows->weights();
  });
  Owned<SimilarWords>* owned = make_similar_words(counted.words, weights, counted.ranks, features, args.k);
  SimilarWords* engine = owned->object;
  call_core([=] { compare_all(*rows, *engine); });
  end_stage(&stages, "words compared", engine_story(engine));

  report_phase(Phase::returning);
  const uint64 returned = put_similar(out, counted, engine, args.k);
  end_stage(&stages, "rows returned", psprintf(UINT64_FORMAT " rows", returned));
  end_progress();
  destroy_owned(owned);
  forget_words(&counted);
  SPI_finish();
  return 0;
}

// The words of a model with their rows; arguments as above.
SQL_FUNCTION(neardup_count_words) {
  enum Column { kId, kWord, kFrequency, kWeight, kFeatures, kColumns };
  const WordArguments args = word_arguments(fcinfo);
  ReturnSetInfo* out = begin_rows(fcinfo);
  Stages stages;
  begin_stages(&stages);
  begin_progress(Searching::word_model);
  SPI_connect();
  CountedWords counted;
  count_words(args, &counted, &stages);
  report_phase(Phase::returning);
  WordRows* rows = counted.rows;
  const uint32 words = counted.words;
  MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "neardup word", ALLOCSET_DEFAULT_SIZES);
  Owned<std::vector<uint8_t>>* stored = make_owned<std::vector<uint8_t>>(
      CurrentMemoryContext, [](PgStop*, PgTempFiles*) { return new std::vector<uint8_t>; });
  for (uint32 i = 0; i < words; ++i) {
    MemoryContext old = MemoryContextSwitchTo(each);
    const ModelWord word = model_word(counted, i);
    const uint8_t* bytes = nullptr;
    size_t size = 0;
    uint32 weight = 0;
    call_core([&] {
      stored->object->clear();
      encode_word_row(rows->read(i), stored->object);
      bytes = stored->object->data();
      size = stored->object->size();
      weight = rows->weights()[i];
    });
    ResultRow<Column> row;
    row.set(kId, Int32GetDatum(static_cast<int32>(i)));
    row.set(kWord, text_datum_of_folded(word.utf8, word.size));
    row.set(kFrequency, Int64GetDatum(word.frequency));
    row.set(kWeight, Int64GetDatum(weight));
    row.set(kFeatures, stored_row(bytes, size));
    row.put(out);
    MemoryContextSwitchTo(old);
    MemoryContextReset(each);
    CHECK_FOR_INTERRUPTS();
  }
  end_progress();
  destroy_owned(stored);
  forget_words(&counted);
  SPI_finish();
  return 0;
}

// The word as texts give it, or NULL for what is not one word.
SQL_FUNCTION(neardup_folded_word) {
  const Utf8 word = to_utf8(PG_GETARG_TEXT_PP(0));
  char* folded = nullptr;
  size_t size = 0;
  char buffer[kMaxWordBytes];
  call_core([&] {
    const std::string only = single_word(word.view());
    if (only.size() > sizeof buffer) return;
    size = only.size();
    memcpy(buffer, only.data(), size);
  });
  if (size > 0) folded = server_text_of_folded(buffer, size, &size);
  if (folded == nullptr) PG_RETURN_NULL();
  PG_RETURN_TEXT_P(cstring_to_text_with_len(folded, static_cast<int>(size)));
}

// Similarity of two stored rows, NULL where both are empty.
SQL_FUNCTION(neardup_row_similarity) {
  const Bytes stored[2] = {bytes_arg(fcinfo, 0), bytes_arg(fcinfo, 1)};
  double similarity = 0;
  bool any = false;
  call_core([&] {
    std::vector<uint32_t> features[2];
    std::vector<uint16_t> values[2];
    WordRow rows[2];
    for (int i = 0; i < 2; ++i) {
      decode_word_row(stored[i].data, stored[i].size, kMaxWordFeatures, &features[i], &values[i]);
      rows[i] = {features[i].data(), values[i].data(), features[i].size()};
    }
    const uint64_t weight = row_weight(rows[0]) + row_weight(rows[1]);
    any = weight > 0;
    if (any) similarity = static_cast<double>(common_information(rows[0], rows[1])) / static_cast<double>(weight);
  });
  if (!any) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(similarity);
}
