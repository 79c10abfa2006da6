#include "pg/word_model/word_run.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/message_text.h"
#include "core/word_model/word_counts.h"
#include "core/base/named_values.h"
#include "core/signature/stopword_shingles.h"
#include "core/word_model/word_information.h"
#include "pg/base/guc.h"
#include "pg/base/progress.h"
#include "pg/base/stop_dictionary.h"
#include "pg/gpu/gpu_words.h"
#include "pg/query/id_store.h"
#include "pg/query/read_query.h"
#include "pg/values/arrays.h"
#include "pg/values/folded_text.h"
#include "pg/values/old_sql.h"

namespace neardup {

// Words and what counts them. Stop words are folded where documents are texts, else as the caller gives them.
class WordTexts {
 public:
  std::unique_ptr<WordCounts> counts;
  StopWords folded_stops;
  std::unordered_set<std::string> given_stops;
  size_t examined = 0;           // of the candidates
  std::vector<uint32_t> chosen;  // of these, those that are no stop words
  std::vector<std::string> words;
  std::vector<uint64_t> frequencies;
  std::vector<uint32_t> ranks;
  std::unique_ptr<WordRows> rows;
};

namespace {

constexpr int kDocumentsBetweenReports = 256;
// Candidates that are asked for beyond the vocabulary, for stop words of a dictionary.
constexpr size_t kSpareCandidates = 2000;

int32 int_in_range(FunctionCallInfo fcinfo, int n, const char* name, int32 most) {
  const int32 value = DatumGetInt32(argument(fcinfo, n, name));
  if (value < 1 || value > most)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be 1 to %d: %d", name, most, value)));
  return value;
}

struct TextCall {
  const WordArguments* args;
  Owned<WordTexts>* texts;
  int column;  // of documents, from 1
  bool given;  // they are text[]
  MemoryContext each;
  uint64 rows;
};

SPIPlanPtr prepare(TextCall* call, const char* query) {
  refuse_bare_name("query", query);
  return prepare_documents(query, &call->column, &call->given);
}

void add_array(WordCounts* counts, ArrayType* array) {
  const Elements e = array_elements(array);
  constexpr int kWordsPerCall = 1024;
  auto* words = static_cast<Utf8*>(palloc(sizeof(Utf8) * kWordsPerCall));
  call_core([=] { counts->begin_words(); });
  for (int done = 0; done < e.count; done += kWordsPerCall) {
    CHECK_FOR_INTERRUPTS();
    const int piece = Min(kWordsPerCall, e.count - done);
    for (int i = 0; i < piece; ++i)
      words[i] = e.nulls[done + i] ? Utf8{nullptr, 0} : to_utf8(DatumGetTextPP(e.values[done + i]));
    call_core([=] {
      for (int i = 0; i < piece; ++i) counts->add_word(words[i].data == nullptr ? std::string_view() : words[i].view());
    });
  }
}

void add_row(TextCall* call, TupleTableSlot* slot) {
  CHECK_FOR_INTERRUPTS();
  if (++call->rows % kDocumentsBetweenReports == 0) report_rows_read(call->rows);
  bool is_null;
  const Datum value = slot_getattr(slot, call->column, &is_null);
  if (is_null) return;
  MemoryContext old = MemoryContextSwitchTo(call->each);
  WordCounts* counts = nullptr;
  call_core([&] { counts = call->texts->object->counts.get(); });
  if (call->given) {
    add_array(counts, DatumGetArrayTypeP(value));
  } else {
    const Utf8 doc = to_utf8(DatumGetTextPP(value));
    call_core([=] { counts->add_document(doc.data, doc.size); });
  }
  MemoryContextSwitchTo(old);
  MemoryContextReset(call->each);
}

void add_stopwords(const TextCall* call) {
  const Elements e = array_elements(call->args->stopwords);
  for (int i = 0; i < e.count; ++i) {
    if (e.nulls[i]) refuse_null_element(i, "stopwords", "stopwords");
    const text* t = DatumGetTextPP(e.values[i]);
    const Utf8 word = to_utf8(t);
    WordTexts* texts = call->texts->object;
    call_core([&] {
      const std::string_view utf8 = word.view();
      if (call->given) {
        texts->given_stops.emplace(utf8);
      } else {
        texts->folded_stops.add(utf8, {VARDATA_ANY(t), static_cast<size_t>(VARSIZE_ANY_EXHDR(t))});
      }
    });
  }
}

// The most frequent words that are no stop words.
void choose_vocabulary(const TextCall* call) {
  WordTexts* t = call->texts->object;
  const auto wanted = static_cast<size_t>(call->args->vocabulary);
  const bool asks = OidIsValid(call->args->dictionary);
  StopDictionary dictionary = {};
  if (asks) dictionary = stop_dictionary(call->args->dictionary);
  size_t most = 0;
  call_core([&] { most = wanted + t->folded_stops.size() + t->given_stops.size() + kSpareCandidates; });
  for (bool done = false; !done;) {
    size_t candidates = 0;
    size_t i = 0;
    call_core([&] {
      candidates = t->counts->choose(most);
      i = t->examined;
    });
    size_t chosen = 0;
    call_core([&] { chosen = t->chosen.size(); });
    for (; i < candidates && chosen < wanted; ++i) {
      const char* word = nullptr;
      size_t size = 0;
      bool stop = false;
      call_core([&] {
        const std::string_view view = t->counts->word(i);
        word = view.data();
        size = view.size();
        stop = call->given ? t->given_stops.count(std::string(view)) > 0 : t->folded_stops.contains(view);
      });
      // A word that cannot be written in the database's encoding cannot be returned.
      size_t bytes;
      char* server = server_text_of_folded(word, size, &bytes);
      if (server == nullptr || (!stop && asks && is_stop_word(dictionary, pnstrdup(server, bytes)))) stop = true;
      if (!stop) call_core([&] { t->chosen.push_back(static_cast<uint32_t>(i)); });
      chosen += stop ? 0 : 1;
      if (i % 64 == 0) {
        CHECK_FOR_INTERRUPTS();
        MemoryContextReset(call->each);
      }
    }
    call_core([&] { t->examined = i; });
    done = chosen == wanted || candidates < most;
    most *= 2;
  }
  MemoryContextReset(call->each);
}

Owned<WordTexts>* make_texts(const WordArguments& args) {
  return make_owned<WordTexts>(CurrentMemoryContext, [&](PgStop* stop, PgTempFiles* files) {
    auto texts = std::make_unique<WordTexts>();
    WordCountOptions options;
    options.window = args.window;
    options.by_position = args.by_position;
    options.sentences = args.sentences;
    options.discount = args.discount;
    options.memory_limit = engine_memory();
    options.files = files;
    options.stop = stop;
    texts->counts = std::make_unique<WordCounts>(options);
    return texts.release();
  });
}

// Core code copies the words that were chosen, with how often each comes and its rank.
void copy_chosen(WordTexts* t, PgStop* stop) {
  constexpr uint64_t kWordSteps = 100;
  Poller poller(stop);
  for (const uint32_t i : t->chosen) {
    poller.spend(kWordSteps);
    t->words.emplace_back(t->counts->word(i));
    t->frequencies.push_back(t->counts->frequency(i));
  }
  t->ranks = ranks_of_words(t->words, stop);
}

struct CountingStats {
  uint64 entries;
  uint64 pairs;
  uint64 spilled_bytes;
  size_t peak_bytes;
};

// Core code counts the rows of the words that were chosen, over the most frequent of them; features 0: over all.
CountingStats count_features(WordTexts* t, size_t features, PgTempFiles* files, PgStop* stop) {
  const size_t words = t->words.size();
  const size_t counted = features == 0 ? words : std::min(words, features);
  t->counts->count(t->chosen.data(), words, static_cast<uint32_t>(counted));
  t->rows = std::make_unique<WordRows>(t->counts->features(), engine_memory() / 3, files, stop);
  WordRow row;
  while (t->counts->next_row(&row)) t->rows->add(row);
  const CountingStats stats = {t->rows->entries(), t->counts->pairs(), t->counts->spilled_bytes(),
                               t->counts->peak_bytes()};
  t->counts.reset();
  t->chosen = {};
  return stats;
}

}  // namespace

WordArguments word_arguments(FunctionCallInfo fcinfo) {
  // True: a word's context ends with the sentence.
  static constexpr NamedValue<bool> kContexts[] = {{"sentence", true}, {"document", false}};
  demand_arguments(fcinfo, 10);
  WordArguments a = {};
  a.query = DatumGetTextPP(argument(fcinfo, 0, "query"));
  a.vocabulary = int_in_range(fcinfo, 1, "vocabulary", kMaxWords);
  a.k = int_in_range(fcinfo, 2, "k", kMaxSimilar);
  a.window = int_in_range(fcinfo, 3, "window", kMaxWordWindow);
  a.by_position = DatumGetBool(argument(fcinfo, 4, "by_position"));
  if (!PG_ARGISNULL(5)) {
    a.features = PG_GETARG_INT32(5);
    if (a.features < 1 || a.features > a.vocabulary)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("features must be 1 to the vocabulary's %d: %d", a.vocabulary, a.features)));
  }
  if (!PG_ARGISNULL(6)) a.stopwords = PG_GETARG_ARRAYTYPE_P(6);
  if (!PG_ARGISNULL(7)) a.dictionary = PG_GETARG_OID(7);
  const char* context = text_to_cstring(DatumGetTextPP(argument(fcinfo, 8, "context")));
  const std::optional<bool> sentences = value_named(kContexts, context);
  if (!sentences)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown context: \"%s\"", context),
                    errhint("It is %s.", list_names(kContexts, "'", "or").text)));
  a.sentences = *sentences;
  const double discount = DatumGetFloat8(argument(fcinfo, 9, "discount"));
  if (!(discount >= 0 && discount <= 0.999))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("discount must be between 0 and 0.999: %s", shown(discount).text)));
  a.discount = static_cast<uint32>(std::lround(discount * kDiscountUnits));
  return a;
}

void count_words(const WordArguments& args, CountedWords* counted, Stages* stages) {
  counted->texts = make_texts(args);
  TextCall call = {};
  call.args = &args;
  call.texts = counted->texts;
  call.each = AllocSetContextCreate(CurrentMemoryContext, "neardup document", ALLOCSET_DEFAULT_SIZES);
  SPIPlanPtr plan = prepare(&call, text_to_cstring(args.query));
  if (args.stopwords != nullptr) add_stopwords(&call);
  report_phase(Phase::reading);
  for_each_row(plan, [&](TupleTableSlot* slot) {
    add_row(&call, slot);
    return true;
  });
  report_rows_read(call.rows);
  end_stage(stages, "rows read", psprintf(UINT64_FORMAT " rows", call.rows));

  report_phase(Phase::counting);
  MemoryContext old = MemoryContextSwitchTo(call.each);
  choose_vocabulary(&call);
  MemoryContextSwitchTo(old);
  WordTexts* texts = counted->texts->object;
  PgStop* stop = counted->texts->stop;
  PgTempFiles* files = counted->texts->files;
  CountingStats stats = {};
  call_core([&] {
    copy_chosen(texts, stop);
    stats = count_features(texts, static_cast<size_t>(args.features), files, stop);
    counted->words = static_cast<uint32>(texts->words.size());
    counted->rows = texts->rows.get();
    counted->ranks = texts->ranks.data();
  });
  end_stage(stages, "words counted",
            psprintf("%u words, " UINT64_FORMAT " pairs, " UINT64_FORMAT " features, %zu MB in memory, " UINT64_FORMAT
                     " MB on disk",
                     counted->words, stats.pairs, stats.entries, stats.peak_bytes >> 20, stats.spilled_bytes >> 20));
  MemoryContextDelete(call.each);
}

void forget_words(CountedWords* counted) { destroy_owned(counted->texts); }

ModelWord model_word(const CountedWords& counted, uint32 word) {
  ModelWord out = {};
  call_core([&] {
    const WordTexts& t = *counted.texts->object;
    out = {t.words[word].data(), t.words[word].size(), static_cast<int64>(t.frequencies[word])};
  });
  return out;
}

bool words_are_given(const char* query) {
  TextCall call = {};
  prepare(&call, query);
  return call.given;
}

Owned<SimilarWords>* make_similar_words(uint32 words, const uint32* weights, const uint32* ranks, uint32 features,
                                        int32 k) {
  return make_owned<SimilarWords>(CurrentMemoryContext, [=](PgStop* stop, PgTempFiles*) {
    SimilarOptions options;
    options.k = static_cast<uint32>(k);
    options.memory_limit = engine_memory();
    options.stop = stop;
    options.threads = search_threads();
    options.offload = gpu_words();
    return new SimilarWords(words, weights, ranks, features, options);
  });
}

}  // namespace neardup
