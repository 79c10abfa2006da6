// Comparisons of numbers in a query, and the expressions that bounds are made of.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "nodes/primnodes.h"
}

namespace neardup {

enum class Comparison { none, less, less_or_equal, greater, greater_or_equal, equal };

// The comparison of two numbers that a function is; none: it is another function.
Comparison find_comparison(Oid function);

Comparison turned(Comparison c);

// A whole number is below x where it is at most ceil(x) - 1, and above x where it is at least floor(x) + 1.
enum class Whole { as_it_is, below, above };

// The number as float8, without an error whatever it is; null for other types. Rounding is monotone and leaves whole
// numbers of a measure's size as they are, so that a comparison with `or equal` loses no row by it.
Node* as_float8(Node* bound, Whole whole);

Node* call1(Oid function, Oid result, Node* argument);
Node* call2(Oid function, Oid result, Node* a, Node* b);
Node* float8_const(double value);
Node* extreme(MinMaxOp op, Oid type, Node* a, Node* b);

}  // namespace neardup
