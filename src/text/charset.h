// Guesses of libuchardet, by statistics of languages, for encodings that nothing else distinguishes.
#pragma once

#include <string>
#include <string_view>

#include "core/base/stop.h"

namespace neardup {

// The name of an encoding as libuchardet spells it; empty when it has no guess, and where this build is without the
// library. It reads some MB/s: give it little.
std::string guess_charset(std::string_view bytes, StopCheck* stop);

}  // namespace neardup
