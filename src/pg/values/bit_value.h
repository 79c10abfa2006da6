// Values of PostgreSQL's type bit as bit codes.
#pragma once

#include "core/signature/bit_code.h"
#include "pg/base/pg.h"

namespace neardup {

// Of any length; points into the datum or its detoasted copy. One of more than kMostCodeBits may have no bytes.
BitCode bit_string_of(Datum value);
inline BitCode bit_string_arg(FunctionCallInfo fcinfo, int n) { return bit_string_of(PG_GETARG_DATUM(n)); }

// The same of a value that is not toasted; no bytes where it is.
BitCode plain_bit_string_of(Datum value) noexcept;

// An error for a bit string that is no code.
void demand_code(const BitCode& code);

// Whether both are codes, and of one length; an error that names both lengths where they are not.
inline bool are_comparable(const BitCode& a, const BitCode& b) { return a.bits == b.bits && valid_code_bits(a.bits); }
void demand_comparable(const BitCode& a, const BitCode& b);

}  // namespace neardup
