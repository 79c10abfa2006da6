// Values of PostgreSQL's type bit as bit codes.
#pragma once

#include "core/signature/bit_code.h"
#include "pg/base/pg.h"

namespace neardup {

// A bit string of any length; points into the datum or its detoasted copy. One of more than kMostCodeBits may have no
// bytes.
BitCode read_bit_string(Datum value);

// The same of a value that is not toasted; no bytes where it is.
BitCode read_plain_bit_string(Datum value) noexcept;

// An error for a bit string that is no code.
void demand_code(const BitCode& code);

// An error that names both lengths unless both are codes, and of one length.
void demand_comparable(const BitCode& a, const BitCode& b);

}  // namespace neardup
