// What libuchardet makes of a document: statistics of languages, for encodings that cannot be told otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/stop.h"

namespace neardup {

// The name of an encoding as libuchardet spells it; empty when it has no guess. Looks at 128 KiB at most.
// Error{unsupported} where this build is without the library.
std::string guess_charset(const uint8_t* bytes, size_t n, StopCheck* stop);

}  // namespace neardup
