// Conditions on views that are security barriers.
#pragma once

namespace neardup {

// Puts planner_hook in place; from _PG_init.
void install_view_hook();

}  // namespace neardup
