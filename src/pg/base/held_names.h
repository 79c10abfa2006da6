// Names that statements are made of. A lock keeps the name of a relation, but not that of its schema: between the look
// at a relation and the statement that names it, the name may come to be another's. So what a name stood for is
// remembered, and each statement of the transaction that names it is asked, once it is analysed and before anything of
// it runs, what it has found.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// "schema.name" for a statement. Until the transaction ends, a statement that names it so and finds another relation,
// since the name or that of the schema has changed hands, ends in an error before anything of it runs. Locked in
// AccessShareLock where the caller may read anything of it.
// Statements that are not analysed before they run (ALTER, TRUNCATE, CREATE INDEX, DROP) are only safe because the
// schema keeps its name meanwhile: who wants to rename it waits, since its row is locked. A query alone needs no such
// lock.
enum class StatementKind : uint8_t { query, any };
const char* held_name(Oid relation, StatementKind kind = StatementKind::any);

// After the last statement that names it, so that the session may give the name to another relation.
void release_name(Oid relation);

// The relation of this name, which this transaction has made: an error where the name is that of another by now. Held
// as above.
Oid made_here(const text* name);

}  // namespace neardup
