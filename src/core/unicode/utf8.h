// UTF-8 decoding, simple case folding and word classes, by one frozen table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

class StopCheck;

// Version of the word rules and of the Unicode table (15.0.0) behind them. It is stored in every signature
// over words, so that signatures made by different rules are never compared silently.
inline constexpr uint8_t kTokenizerVersion = 1;
inline constexpr const char* kUnicodeVersion = "15.0.0";

enum class WordClass : uint8_t {
  none = 0,  // separates words
  word = 1,  // letter, number or '_': part of a run
  solo = 2,  // letter of a script written without spaces: a word of its own
  mark = 3,  // combining mark: extends the word before it, or starts a run
};

struct CodePoint {
  uint32_t folded;  // after simple case folding (CaseFolding.txt, status C and S)
  WordClass cls;
};

// c: any 32-bit value; beyond U+10FFFF it is folded to itself and separates words.
CodePoint classify(uint32_t c) noexcept;

// A code point and another one that it folds to.
struct Folding {
  uint32_t folded;
  uint32_t from;
};

// All of them, in order; made at the first call, some 100 microseconds.
const std::vector<Folding>& foldings();

// Decodes the code point at p (p < end) and stores its length, 1..4, in *length. Never reads at or beyond end.
// A byte that starts no well-formed sequence (RFC 3629: no surrogates, no overlong forms) is U+FFFD of length 1.
uint32_t decode_utf8(const uint8_t* p, const uint8_t* end, unsigned* length) noexcept;

// Writes c (a Unicode scalar value) as 1..4 bytes and returns how many.
unsigned encode_utf8(uint32_t c, uint8_t* out) noexcept;

// True when all n bytes are well-formed UTF-8 without NUL.
bool valid_utf8_text(const uint8_t* text, size_t n) noexcept;

// Code points in the first `bytes` bytes at text, which end between two of them; a byte that starts no well-formed
// sequence counts as one, as in decode_utf8(). Polls stop (may be null).
size_t count_code_points(const uint8_t* text, size_t bytes, StopCheck* stop = nullptr);

}  // namespace neardup
