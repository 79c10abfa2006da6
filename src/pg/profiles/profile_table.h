// Tables of profiles: made, and given a version. SPI must be connected.
#pragma once

#include "pg/profiles/profile.h"
#include "pg/sql/new_table.h"

namespace neardup {

// The table of a profile, with its first version, once that is checked. function: the one of the extension that runs.
Oid make_profile(const NewName& name, const Profile& profile, Oid function);

// One more version, once it is checked; an error where the profile is not the caller's.
void add_version(Oid table, const Profile& version, Oid function);

}  // namespace neardup
