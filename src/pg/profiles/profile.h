// Profiles: how a document becomes a signature. A user's profile is a table of type neardup_profile, a row a version;
// the built-in ones are constants.
#pragma once

#include <optional>
#include <type_traits>

#include "pg/sql/statement.h"

namespace neardup {

// A version of a profile, the columns of neardup_profile in their order. Text is null where the column is NULL.
struct Profile {
  int32 version;
  const char* signature;  // "minhash", "simhash" or "ctph"
  const char* unit;
  std::optional<int32> k;
  std::optional<int32> num_perm;
  std::optional<int32> bits;
  std::optional<int64> seed;
  const char* encoding;
  const char* script;
  const char* rules;
  std::optional<int32> min_length;
  std::optional<TimestampTz> made_at;
  const char* normalization;  // null: none, made by 0.2.0
  // Windows of cut_min_units units in a row that stand in cut_at_least documents or more are cut out of a document
  // before it is signed. All or none of these is given.
  std::optional<int32> cut_at_least = std::nullopt;
  std::optional<int32> cut_min_units = std::nullopt;
  const char* cut_unit = nullptr;

  bool cuts() const { return cut_at_least.has_value(); }
};
// Errors would leave it by longjmp.
static_assert(std::is_trivially_destructible_v<std::optional<Profile>>);

// The columns of neardup_profile; made_at alone is no argument of create_profile() and alter_profile().
enum class ProfileColumn : uint8_t {
  version,
  signature,
  unit,
  k,
  num_perm,
  bits,
  seed,
  encoding,
  script,
  rules,
  min_length,
  made_at,
  normalization,
  cut_at_least,
  cut_min_units,
  cut_unit,
  kColumns
};

// Calls visit(column, &field) for each column but the version.
template <typename AnyProfile, typename Visit>
void visit_columns(AnyProfile* p, Visit visit) {
  visit(ProfileColumn::signature, &p->signature);
  visit(ProfileColumn::unit, &p->unit);
  visit(ProfileColumn::k, &p->k);
  visit(ProfileColumn::num_perm, &p->num_perm);
  visit(ProfileColumn::bits, &p->bits);
  visit(ProfileColumn::seed, &p->seed);
  visit(ProfileColumn::encoding, &p->encoding);
  visit(ProfileColumn::script, &p->script);
  visit(ProfileColumn::rules, &p->rules);
  visit(ProfileColumn::min_length, &p->min_length);
  visit(ProfileColumn::made_at, &p->made_at);
  visit(ProfileColumn::normalization, &p->normalization);
  visit(ProfileColumn::cut_at_least, &p->cut_at_least);
  visit(ProfileColumn::cut_min_units, &p->cut_min_units);
  visit(ProfileColumn::cut_unit, &p->cut_unit);
}
inline void set_field(const char** field, Datum value) { *field = TextDatumGetCString(value); }
inline void set_field(std::optional<int32>* field, Datum value) { *field = DatumGetInt32(value); }
inline void set_field(std::optional<int64>* field, Datum value) { *field = DatumGetInt64(value); }

struct BuiltInProfile {
  const char* name;
  Profile profile;
};
inline constexpr int kBuiltInProfiles = 6;
extern const BuiltInProfile built_in_profiles[kBuiltInProfiles];

// Null where none has this name, which may be null.
const Profile* built_in_profile(const char* name);

// The built-in profile of this name, or the newest version of the profile table of this name, looked up in the current
// search_path; an error where there is none. function: the one of the extension that runs.
Profile profile_named(const char* name, Oid function);

// A profile's name, which may be null, with the schema of its table where it has one: as the row of a job keeps it.
const char* lasting_profile_name(const char* name);

// The newest version of the profile that this relation is; nothing where it is none. name: of it, for errors.
std::optional<Profile> newest_version(Oid table, const char* name, Oid function);

[[noreturn]] void no_profile(const char* name);

// As a value of type neardup_profile, and back.
Datum profile_datum(const Profile& profile, Oid row_type);
Profile profile_from_row(HeapTupleHeader row);

// The windows that a profile which cuts takes out of documents: a table that a job has filled.
struct CutWindows {
  Identifier internal;  // the schema of functions that users do not call
  Oid table;
  int64 key;
  Sql team;  // of the row, bigint: windows are counted among the rows of one team
};

// SQL of the document that a profile signs, over `body`, an expression of type body_type (text, varchar or bytea). A
// profile may be another role's: nothing in it, nor its rules, runs what that role has put there. neardup: the
// extension's schema. windows: cut out of it; null: nothing is.
Sql document_sql(const Profile& profile, const Identifier& neardup, Oid body_type, const SqlPiece& body,
                 const CutWindows* windows = nullptr);

// SQL of its signature; NULL for a document below min_length.
Sql signing_sql(const Profile& profile, const Identifier& neardup, Oid body_type, const SqlPiece& body,
                const CutWindows* windows = nullptr);

// SQL of its fingerprints, a set, where the profile has a unit and k of shingles: those of winnow_hashes() with its
// window. NULL as above.
Sql fingerprints_sql(const Profile& profile, const Identifier& neardup, Oid body_type, const SqlPiece& body,
                     const CutWindows* windows = nullptr);

// A query of the windows that a profile cuts: rows (number, windows) from `query`, whose columns are an id, a document
// and perhaps within, the team. $1: the key
Sql frequent_windows_sql(const Profile& profile, const Identifier& internal, const Sql& query);

}  // namespace neardup
