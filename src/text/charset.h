// What libuchardet makes of a document: statistics of languages, for encodings that cannot be told otherwise.
#pragma once

#include <string>
#include <string_view>

#include "core/base/stop.h"

namespace neardup {

// The name of an encoding as libuchardet spells it; empty when it has no guess, and where this build is without the
// library. It reads some MB/s: give it little.
std::string guess_charset(std::string_view bytes, StopCheck* stop);

}  // namespace neardup
