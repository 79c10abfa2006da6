// The patterns of cleaning rules, compiled by RE2: time linear in the text whatever the pattern.
#pragma once

#include <memory>
#include <vector>

#include "core/intake/clean.h"

namespace neardup {

// True if this build has RE2.
bool has_patterns() noexcept;

// Checks and compiles rules. Error{invalid_argument} names a rule whose pattern RE2 refuses, and says why; patterns
// that are too large to be searched within moments are refused, too. Memory: about 100 MB at most, when all rules have
// been driven into all their states; some MB for the built-in set. Error{unsupported} where this build is without RE2.
std::unique_ptr<Patterns> compile_patterns(const std::vector<Rule>& rules);

}  // namespace neardup
