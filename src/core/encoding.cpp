// See encoding.h.
#include "core/encoding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "core/utf8_inline.h"

namespace neardup {
namespace {

constexpr size_t kSample = 1 << 20;

struct Alias {
  const char* alias;  // lower case, letters and digits only
  EncodingKind kind;
  const char* name;
  UnicodeForm form = UnicodeForm::utf8;
};

// What PostgreSQL does not know by this name, or means otherwise.
constexpr Alias kAliases[] = {
    {"utf8", EncodingKind::unicode, "UTF8"},
    {"utf8sig", EncodingKind::unicode, "UTF8"},
    {"utf8bom", EncodingKind::unicode, "UTF8"},
    {"unicode11utf8", EncodingKind::unicode, "UTF8"},
    {"ascii", EncodingKind::unicode, "UTF8"},
    {"usascii", EncodingKind::unicode, "UTF8"},
    {"ansix341968", EncodingKind::unicode, "UTF8"},
    {"utf16", EncodingKind::utf16, "UTF16"},
    {"ucs2", EncodingKind::utf16, "UTF16"},
    {"utf16le", EncodingKind::unicode, "UTF16LE", UnicodeForm::utf16le},
    {"ucs2le", EncodingKind::unicode, "UTF16LE", UnicodeForm::utf16le},
    {"utf16be", EncodingKind::unicode, "UTF16BE", UnicodeForm::utf16be},
    {"ucs2be", EncodingKind::unicode, "UTF16BE", UnicodeForm::utf16be},
    {"utf32", EncodingKind::utf32, "UTF32"},
    {"ucs4", EncodingKind::utf32, "UTF32"},
    {"utf32le", EncodingKind::unicode, "UTF32LE", UnicodeForm::utf32le},
    {"ucs4le", EncodingKind::unicode, "UTF32LE", UnicodeForm::utf32le},
    {"utf32be", EncodingKind::unicode, "UTF32BE", UnicodeForm::utf32be},
    {"ucs4be", EncodingKind::unicode, "UTF32BE", UnicodeForm::utf32be},
    {"gb2312", EncodingKind::converter, "GB18030"},
    {"gb231280", EncodingKind::converter, "GB18030"},
    {"xgbk", EncodingKind::converter, "GBK"},
    {"cp936", EncodingKind::converter, "GBK"},
    {"ms936", EncodingKind::converter, "GBK"},
    {"windows936", EncodingKind::converter, "GBK"},
    {"cp54936", EncodingKind::converter, "GB18030"},
    {"big5hkscs", EncodingKind::converter, "BIG5"},
    {"big5eten", EncodingKind::converter, "BIG5"},
    {"cnbig5", EncodingKind::converter, "BIG5"},
    {"cp950", EncodingKind::converter, "BIG5"},
    {"ms950", EncodingKind::converter, "BIG5"},
    {"windows31j", EncodingKind::converter, "SJIS"},
    {"xsjis", EncodingKind::converter, "SJIS"},
    {"cp932", EncodingKind::converter, "SJIS"},
    {"ms932", EncodingKind::converter, "SJIS"},
    {"xeucjp", EncodingKind::converter, "EUC_JP"},
    {"ujis", EncodingKind::converter, "EUC_JP"},
    {"cp949", EncodingKind::converter, "UHC"},
    {"ms949", EncodingKind::converter, "UHC"},
    {"ksc56011987", EncodingKind::converter, "UHC"},
    {"ksc5601", EncodingKind::converter, "UHC"},
    {"xeuctw", EncodingKind::converter, "EUC_TW"},
    {"cp866", EncodingKind::converter, "WIN866"},
    {"ibm866", EncodingKind::converter, "WIN866"},
    {"cp874", EncodingKind::converter, "WIN874"},
    {"tis620", EncodingKind::converter, "WIN874"},
    {"iso885911", EncodingKind::converter, "WIN874"},
    {"cp1250", EncodingKind::converter, "WIN1250"},
    {"cp1251", EncodingKind::converter, "WIN1251"},
    {"cp1252", EncodingKind::converter, "WIN1252"},
    {"cp1253", EncodingKind::converter, "WIN1253"},
    {"cp1254", EncodingKind::converter, "WIN1254"},
    {"cp1255", EncodingKind::converter, "WIN1255"},
    {"cp1256", EncodingKind::converter, "WIN1256"},
    {"cp1257", EncodingKind::converter, "WIN1257"},
    {"cp1258", EncodingKind::converter, "WIN1258"},
    {"l1", EncodingKind::converter, "LATIN1"},
    {"l2", EncodingKind::converter, "LATIN2"},
    {"l9", EncodingKind::converter, "LATIN9"},
    {"koi8", EncodingKind::converter, "KOI8R"},
    {"unicode", EncodingKind::utf16, "UTF16"},
    {"hz", EncodingKind::refused, "HZ"},
    {"hzgb2312", EncodingKind::refused, "HZ"},
    {"jis", EncodingKind::refused, "ISO-2022-JP"},
    {"iso2022jp", EncodingKind::refused, "ISO-2022-JP"},
    {"iso2022jp1", EncodingKind::refused, "ISO-2022-JP"},
    {"iso2022jp2", EncodingKind::refused, "ISO-2022-JP"},
    {"iso2022jp3", EncodingKind::refused, "ISO-2022-JP"},
    {"iso2022kr", EncodingKind::refused, "ISO-2022-KR"},
    {"iso2022cn", EncodingKind::refused, "ISO-2022-CN"},
    {"tcvn", EncodingKind::refused, "TCVN"},
    {"tcvn3", EncodingKind::refused, "TCVN"},
    {"tcvn5712", EncodingKind::refused, "TCVN"},
    {"vscii", EncodingKind::refused, "TCVN"},
    {"viscii", EncodingKind::refused, "VISCII"},
    {"viqr", EncodingKind::refused, "VIQR"},
    {"vps", EncodingKind::refused, "VPS"},
    {"utf7", EncodingKind::refused, "UTF-7"},
    {"muleinternal", EncodingKind::refused, "MULE_INTERNAL"},
    {"sqlascii", EncodingKind::refused, "SQL_ASCII"},
};

bool is_high(uint8_t b) noexcept { return b >= 0x80; }

// Bytes that no text in an encoding of bytes has: controls other than tab, line ends, form feed and escape; and 0.
bool is_control(uint8_t b) noexcept {
  return b < 0x20 && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != 0x1b;
}

bool is_common_punctuation(uint32_t c) noexcept {
  return (c >= 0xa0 && c < 0xc0) || (c >= 0x2000 && c <= 0x206f) || c == 0x20ac || c == 0x2116 || c == 0x2122 ||
         (c >= 0x2190 && c <= 0x22ff) || (c >= 0x2500 && c <= 0x266f) || (c >= 0x3000 && c <= 0x303f) ||
         (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xffef) || c == 0xd7 || c == 0xf7;
}

bool is_readable(uint32_t c) noexcept {
  if (c < 0x80) return (c >= 0x20 && c < 0x7f) || c == '\t' || c == '\n' || c == '\r' || c == '\f';
  return detail::classify(c).cls != WordClass::none || is_common_punctuation(c);
}

struct Utf8Count {
  uint64_t sequences = 0;
  uint64_t broken = 0;
  bool nul = false;
};

Utf8Count count_utf8(const Sample& s) noexcept {
  Utf8Count count;
  for (size_t i = 0; i < s.size;) {
    const uint8_t b = s.data[i];
    if (!is_high(b)) {
      count.nul |= b == 0;
      ++i;
      continue;
    }
    unsigned length;
    if (detail::decode_utf8(s.data + i, s.data + s.size, &length) == 0xfffd && length == 1) {
      const size_t broken = broken_length(UnicodeForm::utf8, s.data + i, s.size - i);
      if (i + broken == s.size && broken > 1) break;  // cut by the end
      if (i + broken == s.size && b >= 0xc2 && b < 0xf5 && count.sequences > 0) break;
      ++count.broken;
      i += broken;
    } else {
      ++count.sequences;
      i += length;
    }
  }
  return count;
}

struct WideCount {
  uint64_t characters = 0;
  uint64_t broken = 0;
  double readable = 0;  // share of the characters; of scripts that swapped bytes seldom give
  double ascii = 0;     // share
  // Swapped ASCII is readable as Han, so that ASCII counts for more.
  double likelihood() const noexcept { return readable + ascii / 4; }
};

// The characters of one of the wide forms.
WideCount count_wide(UnicodeForm form, const uint8_t* bytes, size_t n) noexcept {
  WideCount count;
  uint64_t readable = 0;
  uint64_t ascii = 0;
  uint8_t out[512];
  for (size_t i = 0; i < n;) {
    size_t written;
    const size_t read = decode_unicode(form, bytes + i, std::min<size_t>(n - i, 256), out, &written);
    for (size_t j = 0; j < written;) {
      unsigned length;
      const uint32_t c = detail::decode_utf8(out + j, out + written, &length);
      j += length;
      ++count.characters;
      const bool likely = c < 0x1200 || (c >= 0x2000 && c < 0x2100) || (c >= 0x3000 && c < 0x3100) ||
                          (c >= 0x4e00 && c < 0xa000) || (c >= 0xac00 && c < 0xd7b0) || c >= 0xff00;
      if (is_readable(c) && likely) ++readable;
      ascii += c < 0x80;
    }
    i += read;
    if (read == 0) {
      if (n - i < 4) break;  // cut by the end
      i += broken_length(form, bytes + i, n - i);
      ++count.broken;
    }
  }
  const uint64_t all = count.characters + count.broken;
  if (all == 0) return count;
  count.readable = static_cast<double>(readable) / static_cast<double>(all);
  count.ascii = static_cast<double>(ascii) / static_cast<double>(all);
  return count;
}

// UTF-16 and UTF-32 without a mark: null unless the bytes hold what no other text does.
EncodingGuess unmarked_wide(const Sample& s) {
  if (s.size < 2) return {};
  size_t control = 0;
  size_t zero = 0;
  for (size_t i = 0; i < s.size; ++i) {
    control += is_control(s.data[i]);
    zero += s.data[i] == 0;
  }
  // A byte in 200 at least: a text of bytes may have one that is damaged.
  if (control == 0 || control * 200 < s.size) return {};
  EncodingGuess best;
  double likelihood = 0;
  for (const UnicodeForm form :
       {UnicodeForm::utf32le, UnicodeForm::utf32be, UnicodeForm::utf16le, UnicodeForm::utf16be}) {
    const bool wide32 = unit_size(form) == 4;
    if (wide32 && zero < s.size / 4) continue;
    const WideCount count = count_wide(form, s.data, s.size);
    // A broken character in a thousand may be damage.
    if (count.characters == 0 || count.broken * 1000 > count.characters || count.readable < 0.9) continue;
    if (count.likelihood() <= likelihood) continue;
    likelihood = count.likelihood();
    best = {unicode_form_name(form), count.readable};
  }
  return best;
}

// ISO-2022 and HZ: seven bits and escapes.
EncodingGuess escaped(const Sample& s) {
  const std::string_view text(reinterpret_cast<const char*>(s.data), s.size);
  for (size_t at = text.find('\x1b'); at != text.npos; at = text.find('\x1b', at + 1)) {
    const std::string_view rest = text.substr(at + 1, 3);
    if (rest.substr(0, 3) == "$)C") return {"ISO-2022-KR", 0.99};
    if (rest.substr(0, 3) == "$)A" || rest.substr(0, 3) == "$)G") return {"ISO-2022-CN", 0.99};
    if (rest.substr(0, 2) == "$@" || rest.substr(0, 2) == "$B" || rest.substr(0, 2) == "(J" ||
        rest.substr(0, 2) == "(I")
      return {"ISO-2022-JP", 0.99};
  }
  size_t runs = 0;
  for (size_t at = text.find("~{"); at != text.npos; at = text.find("~{", at + 1)) {
    size_t i = at + 2;
    bool good = true;
    while (i + 1 < text.size() && !(text[i] == '~' && text[i + 1] == '}')) {
      good = good && text[i] >= 0x21 && text[i] <= 0x77 && text[i + 1] >= 0x21 && text[i + 1] <= 0x7e;
      if (!good) break;
      i += 2;
    }
    if (!good || i == at + 2) continue;
    if (i + 1 < text.size() || !s.whole) ++runs;
    at = i;
  }
  if (runs > 0) return {"HZ", 0.95};
  return {};
}

// One of the multibyte encodings: how long the character at p is, and whether it lies among the common ones.
// Length 0: broken.
struct Step {
  unsigned length;
  bool common;
};
using Stepper = Step (*)(const uint8_t* p, size_t left);

bool in(uint8_t b, uint8_t low, uint8_t high) noexcept { return b >= low && b <= high; }

Step step_gb18030(const uint8_t* p, size_t left) {
  if (!in(p[0], 0x81, 0xfe) || left < 2) return {0, false};
  if (in(p[1], 0x30, 0x39)) return {left >= 4 && in(p[2], 0x81, 0xfe) && in(p[3], 0x30, 0x39) ? 4u : 0u, false};
  if (!in(p[1], 0x40, 0xfe) || p[1] == 0x7f) return {0, false};
  return {2, p[1] >= 0xa1 && (in(p[0], 0xb0, 0xd7) || in(p[0], 0xa1, 0xa3))};
}

Step step_big5(const uint8_t* p, size_t left) {
  if (!in(p[0], 0xa1, 0xf9) || left < 2 || !(in(p[1], 0x40, 0x7e) || in(p[1], 0xa1, 0xfe))) return {0, false};
  return {2, in(p[0], 0xa4, 0xc6) || (p[0] == 0xa1)};
}

Step step_euc_jp(const uint8_t* p, size_t left) {
  if (left < 2) return {0, false};
  if (p[0] == 0x8e) return {in(p[1], 0xa1, 0xdf) ? 2u : 0u, false};
  if (p[0] == 0x8f) return {left >= 3 && in(p[1], 0xa1, 0xfe) && in(p[2], 0xa1, 0xfe) ? 3u : 0u, false};
  if (!in(p[0], 0xa1, 0xfe) || !in(p[1], 0xa1, 0xfe)) return {0, false};
  return {2, in(p[0], 0xa4, 0xa5) || p[0] == 0xa1 || in(p[0], 0xb0, 0xcf)};
}

Step step_sjis(const uint8_t* p, size_t left) {
  if (in(p[0], 0xa1, 0xdf)) return {1, false};
  if (left < 2 || !(in(p[0], 0x81, 0x9f) || in(p[0], 0xe0, 0xfc)) || !in(p[1], 0x40, 0xfc) || p[1] == 0x7f)
    return {0, false};
  return {2, in(p[0], 0x81, 0x83) || in(p[0], 0x88, 0x97)};
}

Step step_uhc(const uint8_t* p, size_t left) {
  if (left < 2 || !in(p[0], 0x81, 0xfe) || !in(p[1], 0x41, 0xfe)) return {0, false};
  return {2, p[1] >= 0xa1 && (in(p[0], 0xb0, 0xc8) || p[0] == 0xa1)};
}

struct Family {
  const char* name;
  Stepper step;
};
constexpr Family kFamilies[] = {
    {"GB18030", step_gb18030}, {"BIG5", step_big5}, {"EUC_JP", step_euc_jp}, {"SJIS", step_sjis}, {"UHC", step_uhc}};

double common_share(const Family& family, const Sample& s) noexcept {
  uint64_t characters = 0;
  uint64_t common = 0;
  for (size_t i = 0; i < s.size;) {
    if (!is_high(s.data[i])) {
      ++i;
      continue;
    }
    const Step step = family.step(s.data + i, s.size - i);
    if (step.length == 0) {
      if (s.size - i < 4) break;  // cut by the end
      return 0;
    }
    ++characters;
    common += step.common;
    i += step.length;
  }
  return characters == 0 ? 0 : static_cast<double>(common) / static_cast<double>(characters);
}

}  // namespace

EncodingName find_encoding(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') key += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) key += c;
  }
  for (const Alias& a : kAliases)
    if (key == a.alias) return {a.kind, a.name, a.form};
  return {};
}

Sample sample_of(const uint8_t* document, size_t n, StopCheck* stop) {
  size_t first = 0;
  while (first < n && n > kSample) {
    if (first % (1 << 20) == 0 && stop != nullptr) stop->poll();
    if (first % 8 == 0 && n - first >= 8) {
      uint64_t word;
      std::memcpy(&word, document + first, 8);
      if (((word | (word - 0x0101010101010101ULL)) & 0x8080808080808080ULL) == 0) {
        first += 8;
        continue;
      }
    }
    if (is_high(document[first]) || document[first] == 0) break;
    ++first;
  }
  // What lies before is ASCII, so that a character begins there in every encoding; a wide one would have had zeros.
  const size_t begin = first < kSample / 2 || first == n ? 0 : first;
  const size_t size = std::min(kSample, n - begin);
  return {document + begin, size, begin + size == n};
}

EncodingGuess certain_encoding(const Sample& s) {
  UnicodeForm form;
  if (const size_t mark = byte_order_mark(s.data, s.size, &form); mark != 0) {
    if (form == UnicodeForm::utf8) {
      const Utf8Count count = count_utf8(s);
      return {"UTF8", static_cast<double>(count.sequences) / static_cast<double>(count.sequences + count.broken)};
    }
    const WideCount count = count_wide(form, s.data + mark, s.size - mark);
    const uint64_t all = count.characters + count.broken;
    return {unicode_form_name(form), all == 0 ? 1 : static_cast<double>(count.characters) / static_cast<double>(all)};
  }
  if (const EncodingGuess wide = unmarked_wide(s); wide.name != nullptr) return wide;
  const Utf8Count count = count_utf8(s);
  if (count.sequences == 0 && count.broken == 0) {
    const EncodingGuess guess = escaped(s);
    return guess.name != nullptr ? guess : EncodingGuess{"UTF8", count.nul ? readable_share(s.data, s.size, 0) : 1.0};
  }
  if (count.broken * 9 > count.sequences) return {};
  const double sequences = static_cast<double>(count.sequences);
  return {"UTF8", (1 - std::pow(0.25, sequences)) * sequences / (sequences + static_cast<double>(count.broken))};
}

std::vector<EncodingGuess> frequent_encodings(const Sample& sample) {
  std::vector<EncodingGuess> out;
  for (const Family& family : kFamilies) {
    const double share = common_share(family, sample);
    if (share >= 0.5) out.push_back({family.name, share});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const EncodingGuess& a, const EncodingGuess& b) { return a.confidence > b.confidence; });
  return out;
}

bool mostly_high(const Sample& sample) noexcept {
  size_t high = 0;
  size_t letters = 0;
  for (size_t i = 0; i < sample.size; ++i) {
    high += sample.data[i] >= 0xc0;
    letters += (sample.data[i] | 0x20) >= 'a' && (sample.data[i] | 0x20) <= 'z';
  }
  return high > letters;
}

double readable_share(const uint8_t* text, size_t n, uint64_t broken) {
  uint64_t all = broken;
  uint64_t readable = 0;
  for (size_t i = 0; i < n;) {
    unsigned length;
    const uint32_t c = detail::decode_utf8(text + i, text + n, &length);
    i += length;
    ++all;
    readable += is_readable(c);
  }
  return all == 0 ? 1 : static_cast<double>(readable) / static_cast<double>(all);
}

UnicodeForm unicode_order(const uint8_t* document, size_t n, bool utf32) {
  const UnicodeForm little = utf32 ? UnicodeForm::utf32le : UnicodeForm::utf16le;
  const UnicodeForm big = utf32 ? UnicodeForm::utf32be : UnicodeForm::utf16be;
  UnicodeForm form;
  if (byte_order_mark(document, n, &form) != 0 && (form == little || form == big)) return form;
  const size_t size = std::min<size_t>(n, 64 * 1024);
  return count_wide(big, document, size).likelihood() > count_wide(little, document, size).likelihood() ? big : little;
}

}  // namespace neardup
