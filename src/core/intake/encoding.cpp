// See encoding.h.
#include "core/intake/encoding.h"

#include <string>

namespace neardup {
namespace {

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

}  // namespace neardup
