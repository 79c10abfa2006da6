#include "pg/profiles/profile.h"

#include "pg/base/open_table.h"
#include "pg/base/own_schemas.h"
#include "pg/base/result_row.h"
#include "pg/profiles/profile_rules.h"

namespace neardup {

namespace {

constexpr std::nullopt_t kUnset = std::nullopt;

}  // namespace

// Version 2 reads CR LF as LF (units of characters), or has other rules.
const BuiltInProfile built_in_profiles[kBuiltInProfiles] = {
    {"default", {1, "minhash", "word", 3, 128, 32, 0, "detect", "keep", "none", 0, kUnset, "none"}},
    {"web", {2, "minhash", "word", 3, 128, 32, 0, "detect", "keep", "default", 50, kUnset, "none"}},
    {"code", {2, "minhash", "char", 8, 128, 32, 0, "detect", "keep", "none", 0, kUnset, "none"}},
    {"chinese", {2, "minhash", "char", 3, 128, 32, 0, "detect", "simplified", "none", 0, kUnset, "none"}},
    {"simhash", {1, "simhash", "word", 3, kUnset, kUnset, kUnset, "detect", "keep", "none", 0, kUnset, "none"}},
    {"ctph", {1, "ctph", nullptr, kUnset, kUnset, kUnset, kUnset, "bytes", "keep", "none", 0, kUnset, "none"}},
};

namespace {

Profile profile_from_columns(const Datum* values, const bool* nulls) {
  const auto has = [&](ProfileColumn c) { return !nulls[static_cast<int>(c)]; };
  Profile p = {};
  if (has(ProfileColumn::version)) p.version = DatumGetInt32(values[static_cast<int>(ProfileColumn::version)]);
  visit_columns(&p, [&](ProfileColumn c, auto* field) {
    if (has(c)) set_field(field, values[static_cast<int>(c)]);
  });
  return p;
}

using ProfileRow = ResultRow<ProfileColumn>;

void put(ProfileRow* row, ProfileColumn column, const char* value) {
  if (value != nullptr) row->set(column, CStringGetTextDatum(value));
}
void put(ProfileRow* row, ProfileColumn column, std::optional<int32> value) {
  if (value) row->set(column, Int32GetDatum(*value));
}
void put(ProfileRow* row, ProfileColumn column, std::optional<int64> value) {
  if (value) row->set(column, Int64GetDatum(*value));
}

// The table of a profile, or null where the relation is none.
Relation open_profile(Oid table, const char* name, Oid row_type) {
  const OpenTable opened = open_typed_table(table, row_type);
  if (opened.refusal == Refusal::privilege)
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for profile \"%s\"", name)));
  if (opened.refusal == Refusal::row_security)
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("profile \"%s\" of another role has row security", name)));
  return opened.relation;
}

// The row with the highest version; null where there is none.
HeapTuple newest_row(Relation table) {
  const AttrNumber version = column_named(table, "version");
  HeapTuple newest = nullptr;
  int32 highest = 0;
  scan_table(table, nullptr, [&](HeapTuple row) {
    bool is_null;
    const int32 number = DatumGetInt32(heap_getattr(row, version, RelationGetDescr(table), &is_null));
    if (!is_null && (newest == nullptr || number > highest)) {
      newest = heap_copytuple(row);
      highest = number;
    }
    return true;
  });
  return newest;
}

// "default, web, ..", for a message.
const char* built_in_names() {
  StringInfoData names;
  initStringInfo(&names);
  for (const BuiltInProfile& b : built_in_profiles)
    appendStringInfo(&names, "%s%s", names.len == 0 ? "" : ", ", b.name);
  return names.data;
}

}  // namespace

const Profile* built_in_profile(const char* name) {
  for (const BuiltInProfile& b : built_in_profiles)
    if (name != nullptr && strcmp(b.name, name) == 0) return &b.profile;
  return nullptr;
}

void no_profile(const char* name) {
  ereport(ERROR,
          (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("there is no profile \"%s\"", name == nullptr ? "<NULL>" : name),
           errhint("Built in are %s; make your own with create_profile().", built_in_names())));
  pg_unreachable();
}

Profile profile_named(const char* name, Oid function) {
  const Profile* built_in = built_in_profile(name);
  if (built_in != nullptr) return *built_in;
  std::optional<Profile> found;
  if (name != nullptr) found = newest_version(relation_named(cstring_to_text(name)), name, function);
  if (!found) no_profile(name);
  return *found;
}

const char* lasting_profile_name(const char* name) {
  if (name == nullptr || built_in_profile(name) != nullptr) return name;
  const char* lasting = lasting_name(relation_named(cstring_to_text(name)));
  return lasting == nullptr ? name : lasting;
}

std::optional<Profile> newest_version(Oid table, const char* name, Oid function) {
  if (!OidIsValid(table)) return std::nullopt;
  const Oid row_type = own_type(function, "neardup_profile");
  Relation relation = open_profile(table, name, row_type);
  if (relation == nullptr) return std::nullopt;
  HeapTuple row = newest_row(relation);
  if (row == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("profile \"%s\" has no version", name)));
  const TypedRow typed = typed_row(relation, row, row_type);
  Profile profile = profile_from_columns(typed.values, typed.nulls);
  profile.rules = rules_of_profile(profile.rules, RelationGetNamespace(relation));
  table_close(relation, NoLock);
  return profile;
}

Datum profile_datum(const Profile& profile, Oid row_type) {
  ProfileRow row;
  put(&row, ProfileColumn::version, std::optional(profile.version));
  visit_columns(&profile, [&](ProfileColumn c, const auto* field) { put(&row, c, *field); });
  return HeapTupleGetDatum(row.tuple(BlessTupleDesc(lookup_rowtype_tupdesc_copy(row_type, -1))));
}

Profile profile_from_row(HeapTupleHeader row) {
  TupleDesc desc = lookup_rowtype_tupdesc_copy(HeapTupleHeaderGetTypeId(row), HeapTupleHeaderGetTypMod(row));
  HeapTupleData tuple = {};
  tuple.t_len = HeapTupleHeaderGetDatumLength(row);
  tuple.t_data = row;
  auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<size_t>(desc->natts)));
  auto* nulls = static_cast<bool*>(palloc(sizeof(bool) * static_cast<size_t>(desc->natts)));
  heap_deform_tuple(&tuple, desc, values, nulls);
  return profile_from_columns(values, nulls);
}

}  // namespace neardup
