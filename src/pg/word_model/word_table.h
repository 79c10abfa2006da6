// The two tables of a word model that is stored.
#pragma once

#include "pg/base/open_table.h"

namespace neardup {

// The suffix of the settings' name behind that of the model.
inline constexpr const char* kSettingsSuffix = "_model";

// <model>, of type neardup_word, and <model>_model, of type neardup_word_model: open, as open_typed_table() says.
// `function`: the one that is running. Errors say what is wrong with the model.
Relation open_words(Oid model, Oid function);
Relation open_settings(Relation words, Oid function);

}  // namespace neardup
