// Tables of rules that profiles name.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// Values of a profile's rules that name no table.
inline constexpr const char* kNoRules = "none";
inline constexpr const char* kBuiltInRules = "default";

// A name that stands for this relation whatever the search_path; null where there is none.
const char* lasting_name(Oid relation);

// The rules that a user gives to a profile, as they are stored: with the schema of the table, where there is one.
const char* stored_rules(const char* rules);

// The rules of a profile that is stored, which may be null. Rules that were named without their schema, by 0.2.0, are
// looked for in the search_path, then beside the profile.
const char* rules_of_profile(const char* rules, Oid profile_schema);

}  // namespace neardup
