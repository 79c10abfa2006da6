// The bits that a text takes by a rough model of what people write: the measure that decides between encodings.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/intake/scripts.h"

namespace neardup {

// The model, a character at a time. A letter costs by its frequency in a language
// (letter_frequencies.h), else by the size of its script, and more where script or case change; spaces, digits and
// punctuation have a price each; controls, unassigned code points and broken bytes a high one. The languages are those
// that make the text cheapest, one a script. Prices are logarithms to base 2 of probabilities, roughly: of two readings
// of the same bytes the one with fewer bits is the likelier one, by a factor of 2 a bit.
class TextBits {
 public:
  TextBits();

  void add(uint32_t c) noexcept;                              // any 32-bit value
  uint64_t add_utf8(const uint8_t* text, size_t n) noexcept;  // how many characters
  void add_byte(uint8_t byte) noexcept;  // ASCII as add(); above it, a byte of an encoding that nobody knows
  void add_broken(uint64_t characters, uint64_t bytes) noexcept;  // that are none, and how long they are together
  void add_cut() noexcept;                                        // one whose end is missing
  double bits() const;

 private:
  enum class Kind : uint8_t { start, letter, space, digit, sign, inner_sign, other };

  double letter(uint32_t c, Script script) noexcept;
  double letter_alone(uint32_t c, Script script) noexcept;
  double change_of_script(Script script) noexcept;
  double change_of_case(bool upper) noexcept;
  double common(uint32_t c) noexcept;
  double space(uint32_t c) noexcept;
  double control(uint32_t c) noexcept;
  double sign(uint32_t c) noexcept;

  double bits_ = 0;
  bool broken_ = false;                      // whether anything was
  std::vector<uint32_t> counts_;             // of folded letters of scripts with known frequencies, priced at the end
  std::array<uint32_t, kScripts> basic_{};   // of them, a to z by script
  std::array<uint32_t, kScripts> others_{};  // the rest
  std::bitset<kScripts> seen_;               // scripts
  std::array<uint32_t, 128> controls_{};     // how often they were
  bool east_asian_ = false;                  // whether one of them is
  Script script_ = kNoScript;                // of the last letter
  Kind kind_ = Kind::start;                  // of the last character
  uint32_t last_ = 0;                        // character
  uint32_t last_but_one_ = 0;
  uint32_t changes_ = 0;   // of script within words
  uint32_t capitals_ = 0;  // of the word so far
  uint32_t small_ = 0;
};

}  // namespace neardup
