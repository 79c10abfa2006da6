// The stages of create_word_model().
#pragma once

#include "pg/sql/run_statement.h"

namespace neardup {

// The arguments of a model, as parameters of statements. They lie where a commit leaves them.
struct ModelArguments {
  SqlValue query;
  SqlValue vocabulary;
  SqlValue k;
  SqlValue window;
  SqlValue by_position;
  SqlValue features;
  SqlValue stopwords;
  SqlValue dictionary;
  SqlValue dictionary_name;  // text, with its schema
  SqlValue context;
  SqlValue discount;
};

struct ModelRun {
  Oid function;      // of the extension, the one that runs
  const char* name;  // as the user gives it
  ModelArguments arguments;
  bool commits;    // after each stage, and in the last one
  double seconds;  // between commits of the last one
};

// Makes the model, or goes on with one that was begun. SPI must be connected; nonatomic where it commits.
void make_model(const ModelRun& run);

}  // namespace neardup
