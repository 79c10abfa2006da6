// Bytes to text: neardup_detect_encoding(), neardup_to_utf8(), neardup_decode().
#include <string>

#include "core/encoding.h"
#include "core/utf8.h"
#include "pg/values.h"
#include "text/charset.h"

namespace {

using namespace neardup;

constexpr size_t kPiece = 16 * 1024;           // bytes converted in one step
constexpr size_t kPieceRoom = 4 * kPiece + 8;  // what they can become, MAX_CONVERSION_GROWTH
constexpr size_t kMeasured = 64 * 1024;        // bytes that are decoded to compare candidates
constexpr double kGood = 0.95;                 // readable share at which a candidate is taken without looking on
constexpr double kTolerable = 0.8;             // below it, Western Europe's encodings are tried

// How a document is decoded. converter: PostgreSQL's, for kind `converter`.
struct Source {
  EncodingKind kind = EncodingKind::unknown;
  UnicodeForm form = UnicodeForm::utf8;
  const char* name = nullptr;
  int encoding = -1;
  Oid converter = InvalidOid;
};

struct Bytes {
  const uint8_t* data;
  size_t size;
};

Bytes bytes_arg(FunctionCallInfo fcinfo, int n) {
  const bytea* document = PG_GETARG_BYTEA_PP(n);
  return {reinterpret_cast<const uint8_t*>(VARDATA_ANY(document)), static_cast<size_t>(VARSIZE_ANY_EXHDR(document))};
}

// The source for a name that find_encoding() gave or PostgreSQL knows; converter missing: refused.
Source source_of(const char* wanted, const EncodingName& found) {
  Source s{found.kind, found.form, found.name, -1, InvalidOid};
  if (s.kind == EncodingKind::converter || s.kind == EncodingKind::unknown) {
    s.encoding = pg_char_to_encoding(s.kind == EncodingKind::converter ? found.name : wanted);
    if (s.encoding < 0) return s;
    s.name = pg_encoding_to_char(s.encoding);
    s.converter = FindDefaultConversionProc(s.encoding, PG_UTF8);
    s.kind = OidIsValid(s.converter) ? EncodingKind::converter : EncodingKind::refused;
  }
  return s;
}

Source named_source(const char* wanted) {
  EncodingName found;
  call_core([&] { found = find_encoding(wanted); });
  return source_of(wanted, found);
}

// Decodes from the front of `bytes` as decode_unicode() does.
size_t decode_step(const Source& s, const uint8_t* bytes, size_t n, uint8_t* out, size_t* written) {
  if (s.kind == EncodingKind::unicode) return decode_unicode(s.form, bytes, n, out, written);
  const int read = pg_do_encoding_conversion_buf(s.converter, s.encoding, PG_UTF8, const_cast<uint8_t*>(bytes),
                                                 static_cast<int>(n), out, static_cast<int>(kPieceRoom), true);
  *written = strlen(reinterpret_cast<char*>(out));
  return static_cast<size_t>(read);
}

enum class Trouble { nul, broken, untranslatable };

// What decode_step() stopped at, n > 0 bytes before the end, and how long that is.
Trouble trouble_at(const Source& s, const uint8_t* bytes, size_t n, size_t* length) {
  if (s.kind == EncodingKind::unicode) {
    const size_t unit = unit_size(s.form);
    *length = broken_length(s.form, bytes, n);
    for (size_t i = 0; i < unit; ++i)
      if (i >= n || bytes[i] != 0) return Trouble::broken;
    return Trouble::nul;
  }
  *length = 1;
  if (bytes[0] == 0) return Trouble::nul;
  const int whole =
      pg_encoding_verifymbchar(s.encoding, reinterpret_cast<const char*>(bytes), static_cast<int>(Min(n, 16)));
  if (whole <= 0) {
    // A character that the end cuts is one. Its length may depend on a byte behind the end: read as 0.
    char padded[8] = {};
    memcpy(padded, bytes, Min(n, 4));
    if (n < 4 && static_cast<size_t>(pg_encoding_mblen(s.encoding, padded)) > n) *length = n;
    return Trouble::broken;
  }
  *length = Min(static_cast<size_t>(whole), n);
  return Trouble::untranslatable;
}

[[noreturn]] void report_trouble(const Source& s, Trouble trouble, size_t at, const uint8_t* bytes, size_t length) {
  char shown[16];
  for (size_t i = 0; i < Min(length, 4); ++i) snprintf(shown + 2 * i, 3, "%02x", bytes[i]);
  const char* hint = "With invalid => 'drop' it is left out.";
  if (trouble == Trouble::nul)
    ereport(ERROR, (errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
                    errmsg("byte %zu of the document is a NUL character, which text cannot hold", at + 1),
                    errhint("%s", hint)));
  if (trouble == Trouble::broken)
    ereport(ERROR, (errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
                    errmsg("byte %zu of the document begins no character of %s: 0x%s", at + 1, s.name, shown),
                    errhint("%s", hint)));
  ereport(ERROR, (errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
                  errmsg("the character of %s at byte %zu of the document has no equivalent in Unicode: 0x%s", s.name,
                         at + 1, shown),
                  errhint("%s", hint)));
  pg_unreachable();
}

// A text under construction, in the server encoding; data begins with room for the header.
struct Output {
  StringInfoData text;
  Oid converter;  // from UTF-8 to the server encoding; none: as it is
  bool drop;
  int64 dropped;
};

void begin_output(Output* out, size_t expected, bool drop) {
  initStringInfo(&out->text);
  // Nearly right at once for one-byte and Unicode text; doubling does the rest.
  enlargeStringInfo(&out->text, static_cast<int>(Min(expected + VARHDRSZ, MaxAllocSize / 2)));
  memset(out->text.data, 0, VARHDRSZ);
  out->text.len = VARHDRSZ;
  out->drop = drop;
  out->dropped = 0;
  const int server = GetDatabaseEncoding();
  out->converter = InvalidOid;
  if (server != PG_UTF8 && server != PG_SQL_ASCII) {
    out->converter = FindDefaultConversionProc(PG_UTF8, server);
    if (!OidIsValid(out->converter))
      ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                      errmsg("no converter from UTF8 to the encoding of the database, %s", GetDatabaseEncodingName())));
  }
}

void append(Output* out, const uint8_t* data, size_t n) {
  if (static_cast<size_t>(out->text.len) + n >= MaxAllocSize)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the decoded document would be larger than 1 GB")));
  appendBinaryStringInfo(&out->text, reinterpret_cast<const char*>(data), static_cast<int>(n));
}

// Whole characters of UTF-8.
void append_utf8(Output* out, const uint8_t* utf8, size_t n, uint8_t* room) {
  if (!OidIsValid(out->converter)) {
    append(out, utf8, n);
    return;
  }
  for (size_t i = 0; i < n;) {
    const int read =
        pg_do_encoding_conversion_buf(out->converter, PG_UTF8, GetDatabaseEncoding(), const_cast<uint8_t*>(utf8 + i),
                                      static_cast<int>(Min(n - i, kPiece)), room, static_cast<int>(kPieceRoom), true);
    append(out, room, strlen(reinterpret_cast<char*>(room)));
    i += static_cast<size_t>(read);
    if (read > 0 || i == n) continue;
    unsigned length;
    const uint32_t c = decode_utf8(utf8 + i, utf8 + n, &length);
    if (!out->drop)
      ereport(ERROR,
              (errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
               errmsg("the character U+%04X of the document has no equivalent in the encoding of the database, %s", c,
                      GetDatabaseEncodingName()),
               errhint("With invalid => 'drop' it is left out.")));
    ++out->dropped;
    i += length;
  }
}

// Decodes all of it. cut: the bytes are the beginning of more, so that a character that their end cuts is no trouble.
void decode_all(const Source& s, const uint8_t* bytes, size_t size, bool cut, Output* out) {
  auto* piece = static_cast<uint8_t*>(palloc(kPieceRoom));
  auto* room = static_cast<uint8_t*>(palloc(kPieceRoom));
  bool first = true;
  for (size_t at = 0; at < size;) {
    CHECK_FOR_INTERRUPTS();
    size_t written;
    const size_t read = decode_step(s, bytes + at, Min(kPiece, size - at), piece, &written);
    const size_t mark = first && written >= 3 && memcmp(piece, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (read > 0) first = false;
    append_utf8(out, piece + mark, written - mark, room);
    at += read;
    if (read > 0) continue;
    if (cut && size - at < 4) break;
    // Broken bytes mostly come in runs.
    for (uint32 run = 0; at < size && run < kPiece; ++run) {
      size_t length;
      const Trouble trouble = trouble_at(s, bytes + at, size - at, &length);
      if (!out->drop) report_trouble(s, trouble, at, bytes + at, length);
      ++out->dropped;
      at += length;
      first = false;
      // Where the next one is whole, decode_step() goes on.
      if (s.kind == EncodingKind::unicode || trouble != Trouble::broken || at == size ||
          pg_encoding_verifymbchar(s.encoding, reinterpret_cast<const char*>(bytes + at),
                                   static_cast<int>(Min(size - at, 16))) > 0)
        break;
    }
  }
  pfree(piece);
  pfree(room);
}

// How readable the beginning of a sample is when it is decoded so, and whether nothing in it is broken.
double measure(const Source& s, const Sample& sample, bool* clean) {
  const size_t size = Min(sample.size, kMeasured);
  Output out;
  begin_output(&out, size, true);
  out.converter = InvalidOid;                    // UTF-8 is what is measured
  decode_all(s, sample.data, size, true, &out);  // documents are cut inside characters, too
  double share = 0;
  const auto* text = reinterpret_cast<const uint8_t*>(out.text.data) + VARHDRSZ;
  const size_t length = static_cast<size_t>(out.text.len) - VARHDRSZ;
  call_core([&] { share = readable_share(text, length, static_cast<uint64_t>(out.dropped)); });
  *clean = out.dropped == 0;
  pfree(out.text.data);
  return share;
}

// Supersets under the same name: what decodes in the smaller one decodes alike in the greater.
const char* superset_of(const char* name) {
  if (strcmp(name, "GBK") == 0 || strcmp(name, "EUC_CN") == 0) return "GB18030";
  if (strcmp(name, "EUC_KR") == 0) return "UHC";
  return name;
}

// Encodings of Latin letters.
bool is_latin(const char* name) {
  for (const char* latin : {"WIN1250", "WIN1252", "WIN1254", "WIN1257", "WIN1258"})
    if (strcmp(name, latin) == 0) return true;
  return strncmp(name, "LATIN", 5) == 0;
}

// The first candidate that decodes without a broken character to what people read, else the most readable one.
struct Choice {
  EncodingGuess best;
  bool good = false;
};

void consider(const Source& s, const Sample& sample, Choice* choice) {
  if (choice->good || s.kind != EncodingKind::converter) return;
  bool clean;
  const double share = measure(s, sample, &clean);
  choice->good = clean && share >= kGood;
  if (choice->good || choice->best.name == nullptr || share > choice->best.confidence) choice->best = {s.name, share};
}

EncodingGuess detect(const uint8_t* document, size_t size) {
  constexpr int kMost = 8;
  Sample sample{};
  EncodingGuess certain;
  char guess[64] = "";
  EncodingGuess frequent[kMost];
  bool no_latin = false;
  int n = 0;
  call_core([&] {
    PgStop stop;
    sample = sample_of(document, size, &stop);
    certain = certain_encoding(sample);
    if (certain.name != nullptr) return;
    strlcpy(guess, guess_charset(sample.data, sample.size, &stop).c_str(), sizeof guess);
    for (const EncodingGuess& g : frequent_encodings(sample))
      if (n < kMost) frequent[n++] = g;
    no_latin = mostly_high(sample);
  });
  if (certain.name != nullptr) return certain;
  Choice choice;
  Source guessed{};
  if (guess[0] != '\0') guessed = named_source(guess);
  if (guessed.kind == EncodingKind::converter) guessed = named_source(superset_of(guessed.name));
  // No Latin text is mostly bytes above ASCII, and others of one byte a character have words of an odd length, which
  // are broken in the encodings of East Asia.
  const bool doubtful = no_latin && guessed.kind == EncodingKind::converter &&
                        (is_latin(guessed.name) || (pg_encoding_max_length(guessed.encoding) == 1 && n > 0 &&
                                                    frequent[0].confidence >= kTolerable));
  if (!doubtful) consider(guessed, sample, &choice);
  for (int i = 0; i < n; ++i) consider(named_source(frequent[i].name), sample, &choice);
  if (doubtful) consider(guessed, sample, &choice);
  // Any bytes are readable as Latin, so that it is the last resort. Guesses that nobody converts (Macintosh, DOS) are
  // Latin mostly.
  if (choice.best.confidence < kTolerable) {
    choice = {};
    if (no_latin) consider(named_source("WIN1251"), sample, &choice);
    consider(named_source("WIN1252"), sample, &choice);
    consider(named_source("LATIN1"), sample, &choice);
  }
  return choice.best;
}

// The source for a name of the user's; errors for names that nobody knows or converts.
Source source_arg(const text* name) {
  const Source s = named_source(text_to_cstring(name));
  if (s.kind == EncodingKind::unknown)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("unknown encoding: %.*s",
                    pg_mbcliplen(VARDATA_ANY(name), static_cast<int>(VARSIZE_ANY_EXHDR(name)), 64), VARDATA_ANY(name)),
             errhint("PostgreSQL's names are accepted, and UTF-16, UTF-32 and common aliases such as gb2312, "
                     "cp1252 and iso-8859-1.")));
  return s;
}

// Byte order of a form that leaves it open.
void settle(Source* s, const uint8_t* document, size_t size) {
  if (s->kind != EncodingKind::utf16 && s->kind != EncodingKind::utf32) return;
  s->form = unicode_order(document, size, s->kind == EncodingKind::utf32);
  s->kind = EncodingKind::unicode;
  s->name = unicode_form_name(s->form);
}

[[noreturn]] void refuse(const Source& s, bool detected) {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  detected ? errmsg("the document seems to be in %s, for which there is no converter", s.name)
                           : errmsg("there is no converter for the encoding %s", s.name),
                  errhint("Convert the document outside, for example by iconv.")));
  pg_unreachable();
}

Datum finish_output(Output* out) {
  SET_VARSIZE(out->text.data, out->text.len);
  return PointerGetDatum(out->text.data);
}

Datum to_utf8(const uint8_t* document, size_t size, const text* encoding, bool drop) {
  Source s{};
  if (encoding != nullptr) {
    s = source_arg(encoding);
  } else {
    s = named_source(detect(document, size).name);
  }
  if (s.kind == EncodingKind::refused) refuse(s, encoding == nullptr);
  settle(&s, document, size);
  Output out;
  begin_output(&out, size, drop);
  decode_all(s, document, size, false, &out);
  return finish_output(&out);
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(neardup_detect_encoding);
Datum neardup_detect_encoding(PG_FUNCTION_ARGS) {
  const Bytes document = bytes_arg(fcinfo, 0);
  const EncodingGuess guess = detect(document.data, document.size);
  Datum values[2] = {CStringGetTextDatum(guess.name), Float8GetDatum(guess.confidence)};
  bool nulls[2] = {false, false};
  return row_datum(fcinfo, values, nulls);
}

PG_FUNCTION_INFO_V1(neardup_to_utf8_detected);
Datum neardup_to_utf8_detected(PG_FUNCTION_ARGS) {
  const Bytes document = bytes_arg(fcinfo, 0);
  return to_utf8(document.data, document.size, nullptr, false);
}

PG_FUNCTION_INFO_V1(neardup_to_utf8);
Datum neardup_to_utf8(PG_FUNCTION_ARGS) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(2)) PG_RETURN_NULL();
  char* invalid = text_to_cstring(PG_GETARG_TEXT_PP(2));
  const bool drop = strcmp(invalid, "drop") == 0;
  if (!drop && strcmp(invalid, "error") != 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("invalid must be 'error' or 'drop': %.*s",
                           pg_mbcliplen(invalid, static_cast<int>(strlen(invalid)), 64), invalid)));
  const Bytes document = bytes_arg(fcinfo, 0);
  return to_utf8(document.data, document.size, PG_ARGISNULL(1) ? nullptr : PG_GETARG_TEXT_PP(1), drop);
}

PG_FUNCTION_INFO_V1(neardup_decode);
Datum neardup_decode(PG_FUNCTION_ARGS) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const Bytes document = bytes_arg(fcinfo, 0);
  Datum values[4] = {};
  bool nulls[4] = {};
  Source s{};
  if (PG_ARGISNULL(1)) {
    const EncodingGuess guess = detect(document.data, document.size);
    s = named_source(guess.name);
    values[2] = Float8GetDatum(guess.confidence);
  } else {
    s = source_arg(PG_GETARG_TEXT_PP(1));
    if (s.kind == EncodingKind::refused) refuse(s, false);
    nulls[2] = true;
  }
  if (s.kind == EncodingKind::refused) {
    nulls[0] = nulls[3] = true;
  } else {
    settle(&s, document.data, document.size);
    Output out;
    begin_output(&out, document.size, true);
    decode_all(s, document.data, document.size, false, &out);
    values[0] = finish_output(&out);
    values[3] = Int64GetDatum(out.dropped);
  }
  values[1] = CStringGetTextDatum(s.name);
  return row_datum(fcinfo, values, nulls);
}

}  // extern "C"
