// The SQL of word models that are made and dropped, a function a statement.
#pragma once

#include "pg/sql/new_table.h"

namespace neardup {

// The names in statements: the extension's two schemas, and the two tables of a model. The one of words has a row for
// each word; the one of settings has one row, which says how the model is made and how far it is.
struct ModelNames {
  Identifier neardup;
  Identifier internal;
  QualifiedName words;
  QualifiedName settings;
};

// $1 to $10: query, vocabulary, k, window, by_position, features, stopwords, dictionary, context, discount. They name
// nothing without its schema: the query of a user runs with his search_path.
Sql count_nothing(const ModelNames& model);  // refuses bad arguments where the query has no rows
Sql count_words(const ModelNames& model);

Sql create_words(const ModelNames& model);
Sql store_features_as_they_are(const ModelNames& model);
Sql create_settings(const ModelNames& model);
// A publication of all tables lets none be updated that has no key.
Sql identify_settings_by_all(const ModelNames& model);

// $1 to $10: as above, but the dictionary by its name.
Sql insert_settings(const ModelNames& model, bool words_are_given);
Sql find_made_alike(const ModelNames& model);  // a row where the model is made by these arguments

Sql lock_settings(const ModelNames& model);
Sql read_settings(const ModelNames& model);

// $1: how many words
Sql mark_counted(const ModelNames& model);
// $1: the table of words; $2: how many words; $3: features; $4: k; $5: compared so far; $6: seconds. The word after the
// last that is compared now.
Sql compare_words(const ModelNames& model);
// $1: the word after the last that is compared
Sql mark_compared(const ModelNames& model);
Sql mark_finished(const ModelNames& model);
Sql analyze_words(const ModelNames& model);

}  // namespace neardup
