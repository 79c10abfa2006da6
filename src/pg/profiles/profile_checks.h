// Checks of a profile when it is made.
#pragma once

#include "pg/profiles/profile.h"

namespace neardup {

// An error for a profile that cannot be used: its functions check unit, k and the rest, its rules are compiled. SPI
// must be connected, and names mean what they mean in pg_catalog. neardup: the extension's schema.
void check_profile(const Profile& profile, const Identifier& neardup);

// Where a profile cuts, but does not say by how many of which unit: the default for both.
void complete_cutting(Profile* profile);

// An error for a script, not null, that is none of those of profiles.
void check_script(const char* script);

}  // namespace neardup
