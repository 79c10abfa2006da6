// A word model that is being made: its tables, found by name, and how far it is.
#pragma once

#include <optional>

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

// sql() with the placeholders {neardup}, {internal}, {words} and {settings}.
Sql model_sql(const ModelNames& model, Pattern pattern, std::initializer_list<Placeholder> more = {});

// The name of a model as its maker gives it. It has room for what the name of the settings has behind it.
NewName model_name(const char* given);
ModelNames model_names(const NewName& name, Oid function);

// The relation of this name; InvalidOid where there is none.
Oid find_relation(const QualifiedName& name);

// True if a relation, which may be InvalidOid, is such a table of a word model.
bool is_words_table(Oid relation, Oid function);
bool is_settings_table(Oid relation, Oid function);

// The columns of neardup_word_model that change.
struct ModelState {
  std::optional<int32> words;     // that there are; nothing: not counted yet
  std::optional<int32> compared;  // words before this id have been compared with all before them
  std::optional<TimestampTz> started;
  bool finished;
};

// The state, locked until the transaction ends. An error where what has these names is no word model, is another
// role's, or is being made by another session. SPI must be connected, and names mean what they mean in pg_catalog.
ModelState lock_model(const ModelNames& model, Oid function);

}  // namespace neardup
