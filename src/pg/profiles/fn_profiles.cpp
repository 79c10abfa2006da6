// SQL functions of profiles: made, altered, looked up; the SQL that signs as one says.
#include "pg/base/open_table.h"
#include "pg/base/own_schemas.h"
#include "pg/base/result_row.h"
#include "pg/profiles/profile.h"
#include "pg/profiles/profile_checks.h"
#include "pg/profiles/profile_rules.h"
#include "pg/profiles/profile_table.h"
#include "pg/sql/new_table.h"
#include "pg/sql/statement_scope.h"

extern "C" {
#include "access/xact.h"
#include "common/int.h"
}

namespace {

using namespace neardup;

// A profile is one table, of that very name.
constexpr int kMostNameBytes = NAMEDATALEN - 1;

const char* text_or_null(FunctionCallInfo fcinfo, int n) {
  return PG_ARGISNULL(n) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

Oid row_type_beside(FunctionCallInfo fcinfo) { return own_type(fcinfo->flinfo->fn_oid, "neardup_profile"); }

// cut_at_least that ends the cutting of a profile.
constexpr int32 kCutsNothing = 0;

// The arguments of create_profile() and alter_profile() that are columns of a profile, from `first` on.
class GivenColumns {
 public:
  GivenColumns(FunctionCallInfo fcinfo, int first) : fcinfo_(fcinfo), first_(first) {}

  // A version that differs from p in what is given.
  Profile changed(Profile p, int32 version) const {
    const NullableDatum* at_least = given(ProfileColumn::cut_at_least);
    const bool ends_cutting = at_least != nullptr && DatumGetInt32(at_least->value) == kCutsNothing;
    if (ends_cutting) {
      p.cut_min_units = std::nullopt;
      p.cut_unit = nullptr;
    }
    visit_columns(&p, [&](ProfileColumn c, auto* field) {
      const NullableDatum* value = given(c);
      if (value != nullptr) set_field(field, value->value);
    });
    p.version = version;
    if (given(ProfileColumn::rules) != nullptr) p.rules = stored_rules(p.rules);
    p.made_at = GetCurrentTransactionStartTimestamp();
    if (p.normalization == nullptr) p.normalization = "none";
    if (ends_cutting) p.cut_at_least = std::nullopt;
    complete_cutting(&p);
    return p;
  }

 private:
  // Null where the argument is NULL.
  const NullableDatum* given(ProfileColumn c) const {
    if (c == ProfileColumn::made_at) return nullptr;
    const int n = first_ + static_cast<int>(c) - (c < ProfileColumn::made_at ? 1 : 2);
    return fcinfo_->args[n].isnull ? nullptr : &fcinfo_->args[n];
  }

  FunctionCallInfo fcinfo_;
  int first_;
};

// SQL that its caller gives and gets back: it is not run here.
class CallersSql : public SqlPiece {
 public:
  explicit CallersSql(const char* text) : SqlPiece(text) {}
};

int32 version_after(int32 version) {
  int32 next;
  if (pg_add_s32_overflow(version, 1, &next))
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("integer out of range")));
  return next;
}

}  // namespace

// neardup_default_profiles() -> name text, profile neardup_profile
SQL_FUNCTION(neardup_default_profiles) {
  enum Column { kName, kProfile, kColumns };
  const Oid row_type = row_type_beside(fcinfo);
  ReturnSetInfo* rows = begin_rows(fcinfo);
  for (const BuiltInProfile& b : built_in_profiles) {
    ResultRow<Column> row;
    row.set(kName, CStringGetTextDatum(b.name));
    row.set(kProfile, profile_datum(b.profile, row_type));
    row.put(rows);
  }
  return 0;
}

// neardup_profile_named(name text) -> neardup_profile
SQL_FUNCTION(neardup_profile_named) {
  return profile_datum(profile_named(text_or_null(fcinfo, 0), fcinfo->flinfo->fn_oid), row_type_beside(fcinfo));
}

// neardup_sign_sql(p neardup_profile, body_type regtype, body text) -> text; NULLs have always been taken
SQL_FUNCTION(neardup_sign_sql) {
  const Profile profile = PG_ARGISNULL(0) ? Profile{} : profile_from_row(PG_GETARG_HEAPTUPLEHEADER(0));
  const Oid body_type = PG_ARGISNULL(1) ? BYTEAOID : PG_GETARG_OID(1);
  const char* body = text_or_null(fcinfo, 2);
  const Identifier neardup = extension_schema(fcinfo->flinfo->fn_oid);
  if (profile.cuts())
    ereport(
        ERROR,
        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
         errmsg("a profile with cut_at_least signs in jobs only: a job knows what stands in many documents"),
         errhint("Cut before signing, by repeated_passages() and cut_passages(), or make a profile that cuts nothing: "
                 "create_profile(.., base => .., cut_at_least => 0).")));
  const Sql signature = signing_sql(profile, neardup, body_type, CallersSql(body == nullptr ? "" : body));
  PG_RETURN_TEXT_P(cstring_to_text(signature.text()));
}

// create_profile(name text, base text, signature text, ..) -> regclass
SQL_FUNCTION(neardup_create_profile) {
  const Oid function = fcinfo->flinfo->fn_oid;
  const char* name = text_or_null(fcinfo, 0);
  if (built_in_profile(name) != nullptr)
    ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT), errmsg("profile \"%s\" is built in", name)));
  Oid made = InvalidOid;
  SPI_connect();
  with_fresh_snapshot([&] {
    const NewName table = new_name(name, "a profile", kMostNameBytes);
    const Profile base = profile_named(text_or_null(fcinfo, 1), function);
    made = make_profile(table, GivenColumns(fcinfo, 2).changed(base, 1), function);
  });
  SPI_finish();
  PG_RETURN_OID(made);
}

// alter_profile(name text, signature text, ..) -> int: the number of the version that it adds
SQL_FUNCTION(neardup_alter_profile) {
  const Oid function = fcinfo->flinfo->fn_oid;
  const char* name = text_or_null(fcinfo, 0);
  if (built_in_profile(name) != nullptr)
    ereport(ERROR,
            (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("profile \"%s\" is built in", name),
             errhint("Make your own: create_profile('my_%s', base => %s, ..).", name, quote_literal_cstr(name))));
  if (name == nullptr) no_profile(name);
  int32 version = 0;
  SPI_connect();
  with_fresh_snapshot([&] {
    const Oid table = relation_named(PG_GETARG_TEXT_PP(0));
    const char* path = OidIsValid(table) ? lasting_name(table) : name;
    const std::optional<Profile> newest = newest_version(table, path, function);
    if (!newest) no_profile(path);
    version = version_after(newest->version);
    add_version(table, GivenColumns(fcinfo, 1).changed(*newest, version), function);
  });
  SPI_finish();
  PG_RETURN_INT32(version);
}
