// Names of encodings, and what can be said about a document's encoding without statistics of languages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/stop.h"
#include "core/utf16.h"

namespace neardup {

enum class EncodingKind : uint8_t {
  unicode,    // `form` says which; decoded by us
  utf16,      // the byte order is the document's to say
  utf32,      // likewise
  converter,  // `name` in PostgreSQL's spelling, which converts it
  refused,    // `name` is known, and nobody here converts it
  unknown,    // PostgreSQL may know it
};

struct EncodingName {
  EncodingKind kind = EncodingKind::unknown;
  const char* name = nullptr;  // static
  UnicodeForm form = UnicodeForm::utf8;
};

// A name in any case, with or without - and _: `utf-8`, `GB2312`, `Shift_JIS`, `cp936`. GB2312 is read as GB18030, of
// which it is a part, as web pages mean it; KS C 5601 as UHC.
EncodingName find_encoding(std::string_view name);

// A guess; name null: none. confidence is in [0, 1].
struct EncodingGuess {
  const char* name = nullptr;  // static
  double confidence = 0;
};

// The part of a document that decides: up to 1 MiB from its start, or from its first byte that is not ASCII where
// that comes late. Polls stop (may be null).
struct Sample {
  const uint8_t* data;
  size_t size;
  bool whole;  // to the document's end
};
Sample sample_of(const uint8_t* document, size_t n, StopCheck* stop);

// What needs no statistics: a byte order mark, plain ASCII (which is UTF8), UTF-8, the escapes of ISO-2022 and HZ,
// UTF-16 and UTF-32 without a mark. Linear in the sample.
//   UTF-8: at most a tenth of its sequences above ASCII broken; confidence 1 - 1/4^sequences, times the share unbroken
//   UTF-16 without a mark: zero or control bytes, which no other text has; confidence: readable_share()
EncodingGuess certain_encoding(const Sample& sample);

// Multibyte encodings of East Asia in which the whole sample is well-formed, the likeliest first: by the share of its
// characters that lie where that standard has its common ones (level 1 of JIS and GB 2312, hangul, kana). Below a half:
// left out.
std::vector<EncodingGuess> frequent_encodings(const Sample& sample);

// Whether most letters would be above ASCII in an encoding of one byte a character: no Latin script is written so.
bool mostly_high(const Sample& sample) noexcept;

// The share of characters that are letters, marks, digits, white space or common punctuation; `broken` ones count as
// others. Of no characters: 1. text: UTF-8.
double readable_share(const uint8_t* text, size_t n, uint64_t broken);

// LE or BE, for UTF-16 and UTF-32 of unknown order: its mark's, else the more readable one; LE in doubt.
UnicodeForm unicode_order(const uint8_t* document, size_t n, bool utf32);

}  // namespace neardup
