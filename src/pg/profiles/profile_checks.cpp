#include "core/passages/passage_search.h"
#include "pg/profiles/profile_checks.h"

#include "pg/base/boundary.h"
#include "pg/base/text_equals.h"
#include "pg/profiles/profile_rules.h"
#include "pg/sql/run_statement.h"

namespace neardup {

namespace {

// The default of what is cut. Lines and paragraphs are cut one by one; so many words in a row are no chance.
constexpr const char* kCutUnit = "word";
constexpr int32 kCutWords = 10;
constexpr int32 kCutCharacters = 50;
constexpr int32 kCutLines = 1;

bool is_ctph(const Profile& profile) { return equals(profile.signature, "ctph"); }

// NULL is the form of profiles that 0.2.0 made.
bool is_normalized(const Profile& profile) {
  return profile.normalization != nullptr && !equals(profile.normalization, "none");
}

void check_normalization(const char* normalization) {
  if (normalization == nullptr) return;
  if (!equals_any(normalization, {"none", "NFC", "NFKC"}))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("normalization must be 'none', 'NFC' or 'NFKC': %s", quote_literal_cstr(normalization))));
  if (!equals(normalization, "none") && GetDatabaseEncoding() != PG_UTF8)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("normalization => %s needs a database in UTF8: this one is in %s",
                           quote_literal_cstr(normalization), GetDatabaseEncodingName())));
}

void check_document(const Profile& profile) {
  if (profile.encoding == nullptr || profile.script == nullptr || profile.rules == nullptr || !profile.min_length)
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("encoding, script, rules and min_length of a profile must not be NULL")));
  check_script(profile.script);
  if (*profile.min_length < 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("min_length must be at least 0: %d", *profile.min_length)));
  check_normalization(profile.normalization);
  const bool as_it_is =
      equals(profile.script, "keep") && equals_any(profile.rules, {kNoRules}) && !is_normalized(profile);
  if (equals(profile.encoding, "bytes") && !as_it_is)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("documents of encoding 'bytes' have no script, no rules and no normal form")));
}

void check_signature(const Profile& profile) {
  if (!is_ctph(profile) && (profile.unit == nullptr || !profile.k))
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("unit and k of a profile of %s signatures must not be NULL", profile.signature)));
  if (equals(profile.signature, "minhash") && (!profile.num_perm || !profile.bits || !profile.seed))
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("num_perm, bits and seed of a profile of minhash signatures must not be NULL"),
                    errhint("Give them, or another base.")));
}

void check_cutting(const Profile& profile) {
  if (!profile.cuts()) {
    if (profile.cut_min_units || profile.cut_unit != nullptr)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("cut_min_units and cut_unit are given without cut_at_least")));
    return;
  }
  if (*profile.cut_at_least < 2)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("cut_at_least must be 0 or at least 2: %d", *profile.cut_at_least),
                    errhint("Passages that stand in so many documents are cut; 0 cuts nothing.")));
  if (equals(profile.encoding, "bytes"))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("documents of encoding 'bytes' are no text to cut passages from: cut_at_least is %d",
                           *profile.cut_at_least)));
  const char* unit = profile.cut_unit;
  const int32 units = *profile.cut_min_units;
  call_core([&] { check_window_units(parse_text_unit(unit), units, "cut_min_units"); });
}

Sql nothing_decoded(const Identifier& neardup) {
  return sql("SELECT {neardup}.neardup_decode(''::pg_catalog.bytea, $1)", {{"neardup", neardup}});
}

Sql text_signed(const Profile& profile, const Identifier& neardup) {
  const Sql text = sql("'one two three four'::pg_catalog.text");
  return sql("SELECT {signature}", {{"signature", signing_sql(profile, neardup, TEXTOID, text)}});
}

}  // namespace

void complete_cutting(Profile* profile) {
  if (!profile->cuts()) return;
  if (profile->cut_unit == nullptr) profile->cut_unit = kCutUnit;
  if (profile->cut_min_units) return;
  profile->cut_min_units = equals_any(profile->cut_unit, {"line", "paragraph"}) ? kCutLines
                           : equals(profile->cut_unit, "char")                  ? kCutCharacters
                                                                                : kCutWords;
}

void check_script(const char* script) {
  if (!equals_any(script, {"keep", "simplified", "traditional"}))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("script must be 'keep', 'simplified' or 'traditional': %s", quote_literal_cstr(script))));
}

void check_profile(const Profile& profile, const Identifier& neardup) {
  if (!equals_any(profile.signature, {"minhash", "simhash", "ctph"}))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("signature must be 'minhash', 'simhash' or 'ctph': %s",
                           profile.signature == nullptr ? "NULL" : quote_literal_cstr(profile.signature))));
  check_document(profile);
  check_signature(profile);
  check_cutting(profile);
  if (!equals_any(profile.encoding, {"detect", "bytes"}))
    run_statement(nothing_decoded(neardup), {value(profile.encoding)});
  run_statement(text_signed(profile, neardup));
}

}  // namespace neardup
