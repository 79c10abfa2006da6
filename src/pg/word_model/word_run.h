// The common part of the functions of word similarity: the words of a query with their rows, and which are similar.
#pragma once

#include "core/word_model/similar_words.h"
#include "core/word_model/word_rows.h"
#include "pg/base/context.h"
#include "pg/base/progress.h"
#include "pg/values/values.h"

#include "pg/base/pg.h"

namespace neardup {

// Arguments of word_similarities(), in its order.
struct WordArguments {
  text* query;
  int32 vocabulary;
  int32 k;
  int32 window;
  bool by_position;
  int32 features;        // 0: all words
  ArrayType* stopwords;  // may be null
  Oid dictionary;        // may be InvalidOid
  bool sentences;
  uint32 discount;  // thousandths
};
WordArguments word_arguments(FunctionCallInfo fcinfo);

// A word of the vocabulary, as the core has it.
struct ModelWord {
  const char* utf8;
  size_t size;
  int64 frequency;
};

// Reads the query and counts; keeps the vocabulary and its rows.
class WordTexts;
struct CountedWords {
  Owned<WordTexts>* texts;
  uint32 words;
  WordRows* rows;
  const uint32* ranks;  // of the words in the order of their bytes
};
void count_words(const WordArguments& args, CountedWords* counted, Stages* stages);

void forget_words(CountedWords* counted);

ModelWord model_word(const CountedWords& counted, uint32 word);

// True if the documents of a query are text[]. SPI must be connected.
bool words_are_given(const char* query);

// An engine that minds neardup.threads, neardup.device and the caller's limit of memory. Weights and ranks are copied.
Owned<SimilarWords>* make_similar_words(uint32 words, const uint32* weights, const uint32* ranks, uint32 features,
                                        int32 k);

}  // namespace neardup
