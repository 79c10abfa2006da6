#include "pg/word_model/word_table.h"
#include "pg/base/own_schemas.h"

namespace neardup {

namespace {

[[noreturn]] void no_model(Oid model) {
  const char* name = qualified_name(model);
  if (name == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("word model with OID %u does not exist", model)));
  ereport(ERROR,
          (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("%s is no word model", name),
           errdetail("A word model is two plain tables of one owner, neither of them with row security for you."),
           errhint("create_word_model() makes one.")));
  pg_unreachable();
}

// One of the tables of a model; `model` in messages.
Relation open_part(Oid table, Oid function, const char* type, Oid model) {
  const OpenTable opened =
      OidIsValid(table) ? open_typed_table(table, own_type(function, type)) : OpenTable{nullptr, Refusal::missing};
  if (opened.refusal == Refusal::privilege)
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for table %s", get_rel_name(table))));
  if (opened.refusal != Refusal::none) no_model(model);
  return opened.relation;
}

}  // namespace

Relation open_words(Oid model, Oid function) { return open_part(model, function, "neardup_word", model); }

Relation open_settings(Relation words, Oid function) {
  const Oid found = relation_in(RelationGetNamespace(words), RelationGetRelationName(words), kSettingsSuffix);
  Relation settings = open_part(found, function, "neardup_word_model", RelationGetRelid(words));
  if (settings->rd_rel->relowner != words->rd_rel->relowner) no_model(RelationGetRelid(words));
  return settings;
}

}  // namespace neardup
