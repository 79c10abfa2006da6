// The table and the arguments of the triggers neardup_guard() and neardup_flag(), for fn_guard.cpp.
#pragma once

#include "pg/values/lsh_query_value.h"

extern "C" {
#include "commands/trigger.h"
#include "executor/executor.h"
}

namespace neardup {

enum class GuardAction { refuse, skip, flag };

// A column of the table's primary key.
struct KeyColumn {
  const char* name;
  AttrNumber number;  // in the table or partition that the trigger fires for
  Oid type;
  Oid equals;
};

// A trigger as a statement needs it, for one table or partition. Kept in fn_extra.
struct Guard {
  GuardAction action;
  double threshold;
  Oid trigger;        // the one that the user created, also where a partition's clone of it fires
  Oid table;          // its table
  bool is_partition;  // what fires it is one: an INSERT may be of a row that an UPDATE moves
  Oid minhash_type;
  Oid query_type;
  const char* schema;      // the extension's, quoted
  const char* expression;  // the signature, as the user wrote it
  ExprContext* context;
  ExprState* of_new;
  ExprState* of_old;
  const char* flag_name;
  AttrNumber flag_number;
  Oid flag_type;
  const char* flag_key;
  AttrNumber flag_key_number;
  Oid flag_key_type;
  ExprState* flag_cast;  // of the context's case value, one of flag_key_type: what the column is assigned
  int nkeys;
  KeyColumn keys[INDEX_MAX_KEYS];
};

// True if rows that are marked as copies of the row that is stored are no originals of it: it may have been there
// before.
inline bool passes_own_copies(const Guard* g, bool update) {
  return g->action == GuardAction::flag && (update || g->is_partition);
}

// The guard of a trigger's fn_extra: reads the arguments and looks up the table. Errors for arguments that are wrong,
// and for a table whose later changes made them so.
Guard* make_guard(FunctionCallInfo fcinfo, bool flags);

// SQL text of the signature of a row t of the whole table.
const char* signature_sql(const Guard* g, Relation table);

}  // namespace neardup
