// The schemas of the extension: the one that CREATE EXTENSION names, for what users call, and neardup_internal for the
// rest. Each is found by the function that is running, never by a search_path.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// The schema of the extension that the function belongs to; that of the function itself where it belongs to none.
Oid extension_namespace(Oid function);

// The schema neardup_internal of that extension. Before an update from 0.2.0 it has none: then extension_namespace().
Oid internal_namespace(Oid function);

// The type of this name in the extension's schema.
Oid own_type(Oid function, const char* name);

// The function of this name without arguments in neardup_internal; an error where the SQL of the extension has none.
Oid own_internal_function(Oid function, const char* name);

}  // namespace neardup
