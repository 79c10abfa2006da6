// The scripts of code points, as Unicode 15.0.0 has them, and how common Han characters and hangul are.
#pragma once

#include <cstdint>

namespace neardup {

#include "core/intake/script_table.inc"

// c: any 32-bit value. kNoScript where nothing is assigned.
Script character_script(uint32_t c) noexcept;

// Logarithm to base 2 of the number of characters that Unicode assigns to a script; 0 for the first three.
double script_size_bits(Script script) noexcept;

enum class Frequency : uint8_t { frequent, level_one, rare };

// frequent: of the 1460 Han characters or 300 hangul that make four fifths of a text or more. level_one: of the first
// level of GB 2312, Big5 or JIS X 0208, or in KS X 1001. c: a Han character or hangul, else rare.
Frequency character_frequency(uint32_t c) noexcept;

}  // namespace neardup
