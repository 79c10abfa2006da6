// Keys of a row as an index stores them, and the parameters that they are made by.
#pragma once

#include "pg/lsh/lsh.h"
#include "pg/lsh/store/lsh_columns.h"

namespace neardup {

// Keys of a row as they are stored: 40 bits, ascending, without repeats. config is bound.
struct StoredKeys {
  uint64_t* keys;
  uint32_t n;
};
StoredKeys stored_keys(Relation index, const IndexedRow& row, const LshConfig* config);
// The same, not in order and perhaps repeated.
StoredKeys unsorted_keys(Relation index, const IndexedRow& row, const LshConfig* config);
uint64_t stored_key(uint64_t key, bool final);
// The key in a row with this salt. The difference of two keys' leading bits stays as it is: prefixes stay prefixes.
inline uint64_t salted_key(uint64_t key, uint64_t salt) { return (key ^ salt) == kRosterKey ? 1 : key ^ salt; }

// An error for options that the family does not take.
void check_options(Relation index);
// Binds the parameters of an unbound config to those of a value, as kProcBind says.
void bind_config(Relation index, Datum value, LshConfig* config);
// Raises an error that names both unless the value was made by the config's parameters; it names the index's only to a
// user with the right to read all of the table.
void check_value(Relation index, Datum value, LshConfig* config);

}  // namespace neardup
