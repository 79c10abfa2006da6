// Counts the code points of a text.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neardup {

class StopCheck;

// Code points in the first `bytes` bytes at text, which end between two of them; a byte that starts no well-formed
// sequence counts as one, as in decode_utf8(). Polls stop (may be null).
size_t count_code_points(const uint8_t* text, size_t bytes, StopCheck* stop = nullptr);

}  // namespace neardup
