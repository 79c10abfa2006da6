// SQL values of any kind: how they are read, and whether they are comparable.
#pragma once

#include "core/kinds/kind.h"
#include "pg/base/pg.h"

namespace neardup {

// The value points into the datum, or into what is detoasted here in the current context. False for one that no measure
// takes: a set with a NULL element, whose other elements are read, or a bit string that is no code.
bool read_value(Kind kind, Datum datum, AnyValue* value);

// The same for a value that a measure needs: a set with a NULL element is an error. A bit string is checked by
// demand_comparable().
AnyValue value_arg(FunctionCallInfo fcinfo, int n, Kind kind);

// The error for a value that no measure takes.
[[noreturn]] void refuse_unfit(Kind kind, Datum datum, const AnyValue& value);

// An error that names both values' parameters unless they are comparable.
void demand_comparable(Kind kind, const AnyValue& a, const AnyValue& b);

}  // namespace neardup
