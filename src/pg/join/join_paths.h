// Paths for joins by similarity.
#pragma once

namespace neardup {

// Puts set_join_pathlist_hook in place; from _PG_init.
void install_join_hook();

}  // namespace neardup
