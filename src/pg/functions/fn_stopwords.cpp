// Shingles that begin with a stop word, their signature, and lists of stop words.
#include <string>

#include "core/document/stopwords.h"
#include "core/signature/stopword_shingles.h"
#include "pg/base/context.h"
#include "pg/base/stop_dictionary.h"
#include "pg/values/arrays.h"
#include "pg/values/folded_text.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// A text in UTF-8 and as messages show it.
struct Piece {
  Utf8 utf8;
  const char* shown;
  size_t shown_size;
};

Piece* array_pieces(ArrayType* array, int* count) {
  const Elements e = array_elements(array);
  *count = e.count;
  if (*count == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("stopwords must not be empty"),
                    errhint("SELECT neardup_stopwords('english') is a list.")));
  auto* pieces = static_cast<Piece*>(palloc_extended(sizeof(Piece) * *count, MCXT_ALLOC_HUGE));
  for (int i = 0; i < *count; ++i) {
    if (e.nulls[i]) refuse_null_element(i, "stopwords", "stopwords");
    const text* t = DatumGetTextPP(e.values[i]);
    pieces[i] = {to_utf8(t), VARDATA_ANY(t), static_cast<size_t>(VARSIZE_ANY_EXHDR(t))};
  }
  return pieces;
}

Owned<StopWords>* make_stop_words(MemoryContext context, const Piece* pieces, int count) {
  return make_owned<StopWords>(context, [=](PgStop*, PgTempFiles*) {
    auto set = std::make_unique<StopWords>();
    for (int i = 0; i < count; ++i) set->add(pieces[i].utf8.view(), {pieces[i].shown, pieces[i].shown_size});
    return set.release();
  });
}

// The last set of stop words of a call site, in fn_extra with the array that it came from: most calls pass a constant.
struct SetCache {
  MemoryContext context;  // of what follows; null: nothing yet
  struct varlena* array;
  Owned<StopWords>* set;
};

const StopWords* stop_set_arg(FunctionCallInfo fcinfo, int n) {
  FmgrInfo* flinfo = fcinfo->flinfo;
  auto* cache = static_cast<SetCache*>(flinfo->fn_extra);
  if (cache == nullptr)
    flinfo->fn_extra = cache = static_cast<SetCache*>(MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(SetCache)));
  ArrayType* array = PG_GETARG_ARRAYTYPE_P(n);
  if (cache->set != nullptr && VARSIZE(cache->array) == VARSIZE(array) &&
      memcmp(cache->array, array, VARSIZE(array)) == 0)
    return cache->set->object;
  cache->set = nullptr;
  if (cache->context != nullptr) MemoryContextDelete(cache->context);
  cache->context = nullptr;
  int count;
  const Piece* pieces = array_pieces(array, &count);
  cache->context = AllocSetContextCreate(flinfo->fn_mcxt, "neardup stop words", ALLOCSET_SMALL_SIZES);
  cache->array = static_cast<struct varlena*>(MemoryContextAllocHuge(cache->context, VARSIZE(array)));
  memcpy(cache->array, array, VARSIZE(array));
  cache->set = make_stop_words(cache->context, pieces, count);
  return cache->set->object;
}

// The words of one document that a dictionary takes for stop words.
struct Asked {
  std::vector<std::string> words;
  StopWords stop_words;
};

// In `context`, for the document in UTF-8.
Owned<Asked>* asked(MemoryContext context, Oid dictionary, Utf8 doc) {
  const StopDictionary entry = stop_dictionary(dictionary);
  Owned<Asked>* set = make_owned<Asked>(context, [=](PgStop* stop, PgTempFiles*) {
    auto made = std::make_unique<Asked>();
    made->words = distinct_words(doc.data, doc.size, stop);
    return made.release();
  });
  MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "neardup lexemes", ALLOCSET_SMALL_SIZES);
  MemoryContext old = MemoryContextSwitchTo(each);
  Asked* a = set->object;
  for (size_t i = 0; i < a->words.size(); ++i) {
    const char* word = a->words[i].data();
    const size_t size = a->words[i].size();
    CHECK_FOR_INTERRUPTS();
    // A copy: a dictionary may write into what it is given. Outside the database's encoding a word is no stop word.
    size_t bytes;
    char* copy = server_text_of_folded(word, size, &bytes);
    if (copy != nullptr && is_stop_word(entry, copy)) call_core([=] { a->stop_words.add_folded({word, size}); });
    MemoryContextReset(each);
  }
  MemoryContextSwitchTo(old);
  MemoryContextDelete(each);
  return set;
}

int following_arg(FunctionCallInfo fcinfo, int n) {
  const int following = PG_GETARG_INT32(n);
  call_core([&] { check_following(following); });
  return following;
}

// The shingles of a text, returned row by row.
struct Rows {
  Rows(const StopWords& stop_words, int following, const uint8_t* text, size_t size, StopCheck* stop)
      : shingles(stop_words, following, text, size, stop) {}
  StopwordShingles shingles;
  std::string current;
};

// The document lives as long as the scan.
void start_rows(FuncCallContext* context, const StopWords* stop_words, int following, Utf8 doc) {
  context->user_fctx = make_owned<Rows>(context->multi_call_memory_ctx, [=](PgStop* stop, PgTempFiles*) {
    return new Rows(*stop_words, following, doc.data, doc.size, stop);
  });
}

Datum next_row(FunctionCallInfo fcinfo) {
  FuncCallContext* context = SRF_PERCALL_SETUP();
  auto* rows = static_cast<Owned<Rows>*>(context->user_fctx);
  Rows* r = rows->object;
  bool any = false;
  call_core([&] { any = r->shingles.next(&r->current); });
  if (!any) {
    destroy_owned(rows);
    SRF_RETURN_DONE(context);
  }
  SRF_RETURN_NEXT(context, text_datum_of_folded(r->current.data(), r->current.size()));
}

Datum signed_shingles(FunctionCallInfo fcinfo, const StopWords* stop_words, Utf8 doc) {
  const int following = PG_GETARG_INT32(2);
  const MinhashParams params = set_params_args(fcinfo, MinhashKind::text_set, 3);
  return signed_datum(params, [&](StopCheck* stop, uint32_t* components) {
    return sign_stopword_shingles(params, *stop_words, following, doc.data, doc.size, stop, components);
  });
}

}  // namespace

SQL_FUNCTION(stopword_shingles) {
  if (SRF_IS_FIRSTCALL()) {
    FuncCallContext* context = SRF_FIRSTCALL_INIT();
    const int following = following_arg(fcinfo, 2);
    int count;
    const Piece* pieces = array_pieces(PG_GETARG_ARRAYTYPE_P(1), &count);
    Owned<StopWords>* set = make_stop_words(context->multi_call_memory_ctx, pieces, count);
    const Utf8 doc = copy_bytes(to_utf8(PG_GETARG_TEXT_PP(0)), context->multi_call_memory_ctx);
    start_rows(context, set->object, following, doc);
  }
  return next_row(fcinfo);
}

SQL_FUNCTION(stopword_shingles_dictionary) {
  if (SRF_IS_FIRSTCALL()) {
    FuncCallContext* context = SRF_FIRSTCALL_INIT();
    const int following = following_arg(fcinfo, 2);
    const Utf8 doc = copy_bytes(to_utf8(PG_GETARG_TEXT_PP(0)), context->multi_call_memory_ctx);
    Owned<Asked>* set = asked(context->multi_call_memory_ctx, PG_GETARG_OID(1), doc);
    start_rows(context, &set->object->stop_words, following, doc);
  }
  return next_row(fcinfo);
}

SQL_FUNCTION(stopword_minhash) {
  return signed_shingles(fcinfo, stop_set_arg(fcinfo, 1), to_utf8(PG_GETARG_TEXT_PP(0)));
}

SQL_FUNCTION(stopword_minhash_dictionary) {
  const Utf8 doc = to_utf8(PG_GETARG_TEXT_PP(0));
  following_arg(fcinfo, 2);
  Owned<Asked>* set = asked(CurrentMemoryContext, PG_GETARG_OID(1), doc);
  const Datum result = signed_shingles(fcinfo, &set->object->stop_words, doc);
  destroy_owned(set);
  return result;
}

SQL_FUNCTION(neardup_stopwords) {
  const text* language = PG_GETARG_TEXT_PP(0);
  using List = std::vector<std::string_view>;
  Owned<List>* owned = make_owned<List>(CurrentMemoryContext, [=](PgStop*, PgTempFiles*) {
    return new List(list_stopwords({VARDATA_ANY(language), static_cast<size_t>(VARSIZE_ANY_EXHDR(language))}));
  });
  const std::string_view* words = owned->object->data();
  const size_t count = owned->object->size();
  auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * count));
  int fitting = 0;
  for (size_t i = 0; i < count; ++i) {
    size_t size;
    const char* word = server_text_of_folded(words[i].data(), words[i].size(), &size);
    if (word != nullptr) values[fitting++] = PointerGetDatum(cstring_to_text_with_len(word, static_cast<int>(size)));
  }
  // A language that the encoding does not write is an error of the conversion.
  if (fitting == 0) values[fitting++] = text_datum_of_utf8(words[0].data(), words[0].size());
  const Datum array = array_datum(values, static_cast<size_t>(fitting), TEXTOID);
  destroy_owned(owned);
  return array;
}
