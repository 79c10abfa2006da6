// Names of encodings.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/unicode/utf16.h"

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

}  // namespace neardup
