// The SQL of a profile: the document that it signs, and the signature. Generated columns of users hold this text: it
// may not change. A row that its owner has emptied gives SQL that is an error when it is run.
#include "pg/profiles/profile.h"
#include "pg/profiles/profile_checks.h"
#include "pg/base/text_equals.h"
#include "pg/profiles/profile_rules.h"

namespace neardup {

namespace {

bool is_other_than(const char* value, const char* excluded) { return value != nullptr && strcmp(value, excluded) != 0; }

// A document in bytes is signed as it is.
bool signs_bytes(const Profile& profile, Oid body_type) {
  return body_type == BYTEAOID && equals(profile.encoding, "bytes");
}

SqlPiece number(std::optional<int64> value) {
  if (!value) return sql("");
  return Literal::number(*value);
}

Sql decoded(const Profile& profile, const Identifier& neardup, Oid body_type, const SqlPiece& body) {
  if (body_type != BYTEAOID) return sql("({body})::pg_catalog.text", {{"body", body}});
  if (!is_other_than(profile.encoding, "bytes")) return sql("{body}", {{"body", body}});
  return sql("{neardup}.neardup_signed_text({body}, {encoding}::pg_catalog.text)",
             {{"neardup", neardup},
              {"body", body},
              {"encoding", Literal::or_null(equals(profile.encoding, "detect") ? nullptr : profile.encoding)}});
}

// A file that came by way of another system has other line ends; words do not see them.
Sql with_one_line_end(const Sql& document) {
  return sql("pg_catalog.replace(pg_catalog.replace({document}, E'\\r\\n', E'\\n'), E'\\r', E'\\n')",
             {{"document", document}});
}

Sql normalized(const Profile& profile, const Sql& document) {
  return sql("pg_catalog.normalize({document}, {form})",
             {{"document", document}, {"form", Literal(profile.normalization)}});
}

Sql in_script(const Profile& profile, const Identifier& neardup, const Sql& document) {
  check_script(profile.script);
  const Identifier to_script(psprintf("neardup_to_%s", profile.script));
  return sql("{neardup}.{to_script}({document})",
             {{"neardup", neardup}, {"to_script", to_script}, {"document", document}});
}

Sql cleaned(const Profile& profile, const Identifier& neardup, const Sql& document) {
  if (equals(profile.rules, kBuiltInRules))
    return sql("({neardup}.neardup_clean({document})).body", {{"neardup", neardup}, {"document", document}});
  return sql(
      "({neardup}.neardup_clean({document}, (SELECT {neardup}.neardup_rules_named({rules}::pg_catalog.text)))).body",
      {{"neardup", neardup}, {"document", document}, {"rules", Literal(profile.rules)}});
}

// The document has any length.
Sql signature_call(const Profile& profile, const Identifier& neardup, bool bytes, const SqlPiece& document) {
  const Placeholder common[] = {{"neardup", neardup},
                                {"document", document},
                                {"k", number(profile.k)},
                                {"unit", Literal::or_null(profile.unit)},
                                {"num_perm", number(profile.num_perm)},
                                {"bits", number(profile.bits)},
                                {"seed", number(profile.seed)}};
  const auto filled = [&](Pattern pattern) { return sql(pattern, {}, common, lengthof(common)); };
  if (equals(profile.signature, "ctph")) return filled("{neardup}.to_ctph({document})");
  if (equals(profile.signature, "simhash"))
    return bytes ? filled("{neardup}.to_simhash({document}, {k})")
                 : filled("{neardup}.to_simhash({document}, {k}, {unit}::pg_catalog.text)");
  return bytes ? filled(
                     "{neardup}.to_minhash({document}, {k}, num_perm => {num_perm}, bits => {bits}, "
                     "seed => '{seed}'::pg_catalog.int8)")
               : filled(
                     "{neardup}.to_minhash({document}, {k}, {unit}::pg_catalog.text, {num_perm}, {bits}, "
                     "'{seed}'::pg_catalog.int8)");
}

// The document has any length; the window is the default of the function.
Sql fingerprints_call(const Profile& profile, const Identifier& neardup, bool bytes, const SqlPiece& document) {
  const SqlPiece k = number(profile.k);
  if (bytes)
    return sql("{neardup}.winnow_hashes({document}, {k})", {{"neardup", neardup}, {"document", document}, {"k", k}});
  return sql("{neardup}.winnow_hashes({document}, {k}, unit => {unit}::pg_catalog.text)",
             {{"neardup", neardup}, {"document", document}, {"k", k}, {"unit", Literal::or_null(profile.unit)}});
}

using Signing = Sql (*)(const Profile&, const Identifier&, bool bytes, const SqlPiece& document);

// The result of `signing` for a document; NULL where it is shorter than min_length.
Sql signed_by(Signing signing, const Profile& profile, const Identifier& neardup, Oid body_type, const SqlPiece& body,
              const CutWindows* windows) {
  const bool bytes = signs_bytes(profile, body_type);
  const Sql document = document_sql(profile, neardup, body_type, body, windows);
  if (profile.min_length.value_or(0) <= 0) return signing(profile, neardup, bytes, document);
  return sql(
      "(SELECT CASE WHEN {neardup}.neardup_characters(d.body) OPERATOR(pg_catalog.>=) {min_length} "
      "THEN {signature} END FROM (SELECT {document} OFFSET 0) d(body))",
      {{"neardup", neardup},
       {"min_length", number(profile.min_length)},
       {"signature", signing(profile, neardup, bytes, sql("d.body"))},
       {"document", document}});
}

// The owner of a row may have changed it by hand.
void demand_cut_fields(const Profile& profile) {
  if (profile.cut_unit == nullptr || !profile.cut_min_units)
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("cut_unit and cut_min_units of a profile with cut_at_least must not be NULL"),
                    errhint("Set them by alter_profile().")));
}

Sql without_windows(const Profile& profile, const CutWindows& windows, const Sql& document) {
  demand_cut_fields(profile);
  return sql(
      "{internal}.neardup_without_windows({document}, {table}::pg_catalog.regclass, {min_units}, "
      "{unit}::pg_catalog.text, {key}::pg_catalog.int8, {team})",
      {{"internal", windows.internal},
       {"document", document},
       {"table", Literal::number(int64{windows.table})},
       {"min_units", Literal::number(int64{*profile.cut_min_units})},
       {"unit", Literal(profile.cut_unit)},
       {"key", Literal(psprintf(INT64_FORMAT, windows.key))},
       {"team", windows.team}});
}

}  // namespace

Sql document_sql(const Profile& profile, const Identifier& neardup, Oid body_type, const SqlPiece& body,
                 const CutWindows* windows) {
  const bool is_text = is_other_than(profile.encoding, "bytes");
  Sql document = decoded(profile, neardup, body_type, body);
  if (is_text && equals(profile.unit, "char")) document = with_one_line_end(document);
  if (is_text && (equals(profile.normalization, "NFC") || equals(profile.normalization, "NFKC")))
    document = normalized(profile, document);
  if (is_other_than(profile.script, "keep")) document = in_script(profile, neardup, document);
  if (is_other_than(profile.rules, kNoRules)) document = cleaned(profile, neardup, document);
  if (windows != nullptr) document = without_windows(profile, *windows, document);
  return document;
}

Sql signing_sql(const Profile& profile, const Identifier& neardup, Oid body_type, const SqlPiece& body,
                const CutWindows* windows) {
  return signed_by(signature_call, profile, neardup, body_type, body, windows);
}

Sql fingerprints_sql(const Profile& profile, const Identifier& neardup, Oid body_type, const SqlPiece& body,
                     const CutWindows* windows) {
  return signed_by(fingerprints_call, profile, neardup, body_type, body, windows);
}

Sql frequent_windows_sql(const Profile& profile, const Identifier& internal, const Sql& query) {
  demand_cut_fields(profile);
  return sql(
      "SELECT w.number, w.windows FROM {internal}.neardup_frequent_windows({query}, {min_units}, "
      "{unit}::pg_catalog.text, {documents}, $1) w",
      {{"internal", internal},
       {"query", Literal(query.text())},
       {"min_units", Literal::number(int64{*profile.cut_min_units})},
       {"unit", Literal(profile.cut_unit)},
       {"documents", Literal::number(int64{profile.cut_at_least.value_or(0)})}});
}

}  // namespace neardup
