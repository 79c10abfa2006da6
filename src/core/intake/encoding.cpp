// See encoding.h.
#include "core/intake/encoding.h"

#include <string>

namespace neardup {
namespace {

struct Encoding {
  EncodingKind kind;
  const char* name;
  std::string_view aliases;  // lower case, letters and digits only; a space before and behind each
  UnicodeForm form = UnicodeForm::utf8;
};

// The names that PostgreSQL does not know, or takes for other encodings.
constexpr Encoding kEncodings[] = {
    {EncodingKind::unicode, "UTF8", " utf8 utf8sig utf8bom unicode11utf8 ascii usascii ansix341968 "},
    {EncodingKind::utf16, "UTF16", " utf16 ucs2 unicode "},
    {EncodingKind::unicode, "UTF16LE", " utf16le ucs2le ", UnicodeForm::utf16le},
    {EncodingKind::unicode, "UTF16BE", " utf16be ucs2be ", UnicodeForm::utf16be},
    {EncodingKind::utf32, "UTF32", " utf32 ucs4 "},
    {EncodingKind::unicode, "UTF32LE", " utf32le ucs4le ", UnicodeForm::utf32le},
    {EncodingKind::unicode, "UTF32BE", " utf32be ucs4be ", UnicodeForm::utf32be},
    {EncodingKind::converter, "GB18030", " gb2312 gb231280 cp54936 "},
    {EncodingKind::converter, "GBK", " xgbk cp936 ms936 windows936 "},
    {EncodingKind::converter, "BIG5", " big5hkscs big5eten cnbig5 cp950 ms950 "},
    {EncodingKind::converter, "SJIS", " windows31j xsjis cp932 ms932 "},
    {EncodingKind::converter, "EUC_JP", " xeucjp ujis "},
    {EncodingKind::converter, "UHC", " cp949 ms949 ksc56011987 ksc5601 "},
    {EncodingKind::converter, "EUC_TW", " xeuctw "},
    {EncodingKind::converter, "WIN866", " cp866 ibm866 "},
    {EncodingKind::converter, "WIN874", " cp874 tis620 iso885911 "},
    {EncodingKind::converter, "WIN1250", " cp1250 "},
    {EncodingKind::converter, "WIN1251", " cp1251 "},
    {EncodingKind::converter, "WIN1252", " cp1252 "},
    {EncodingKind::converter, "WIN1253", " cp1253 "},
    {EncodingKind::converter, "WIN1254", " cp1254 "},
    {EncodingKind::converter, "WIN1255", " cp1255 "},
    {EncodingKind::converter, "WIN1256", " cp1256 "},
    {EncodingKind::converter, "WIN1257", " cp1257 "},
    {EncodingKind::converter, "WIN1258", " cp1258 "},
    {EncodingKind::converter, "LATIN1", " l1 "},
    {EncodingKind::converter, "LATIN2", " l2 "},
    {EncodingKind::converter, "LATIN9", " l9 "},
    {EncodingKind::converter, "KOI8R", " koi8 "},
    {EncodingKind::refused, "HZ", " hz hzgb2312 "},
    {EncodingKind::refused, "ISO-2022-JP", " jis iso2022jp iso2022jp1 iso2022jp2 iso2022jp3 "},
    {EncodingKind::refused, "ISO-2022-KR", " iso2022kr "},
    {EncodingKind::refused, "ISO-2022-CN", " iso2022cn "},
    {EncodingKind::refused, "TCVN", " tcvn tcvn3 tcvn5712 vscii "},
    {EncodingKind::refused, "VISCII", " viscii "},
    {EncodingKind::refused, "VIQR", " viqr "},
    {EncodingKind::refused, "VPS", " vps "},
    {EncodingKind::refused, "UTF-7", " utf7 "},
    {EncodingKind::refused, "MULE_INTERNAL", " muleinternal "},
    {EncodingKind::refused, "SQL_ASCII", " sqlascii "},
};

}  // namespace

EncodingName find_encoding(std::string_view name) {
  std::string key = " ";
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') key += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) key += c;
  }
  if (key == " ") return {};
  key += ' ';
  for (const Encoding& e : kEncodings)
    if (e.aliases.find(key) != e.aliases.npos) return {e.kind, e.name, e.form};
  return {};
}

}  // namespace neardup
