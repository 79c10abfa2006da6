// Paths by an lsh index for comparisons of a measure.
#pragma once

namespace neardup {

// Puts set_rel_pathlist_hook in place; from _PG_init. The library is loaded, at the latest, when the planner opens the
// first lsh index of a query, which is before it makes paths.
void install_planner_hook();

}  // namespace neardup
