// Bytes to text: neardup_detect_encoding(), neardup_to_utf8(), neardup_decode().
#include <string>

#include "core/base/named_values.h"
#include "core/intake/detect_encoding.h"
#include "core/intake/encoding.h"
#include "core/unicode/utf8.h"
#include "pg/base/result_row.h"
#include "pg/base/context.h"
#include "pg/values/values.h"
#include "text/charset.h"

namespace {

using namespace neardup;

constexpr size_t kDecodedPiece = 16 * 1024;           // bytes converted in one step
constexpr size_t kPieceRoom = 4 * kDecodedPiece + 8;  // what they can become, MAX_CONVERSION_GROWTH
constexpr size_t kShortEvidence = 1024;               // bytes that are decoded to compare all encodings
constexpr size_t kLongEvidence = 8 * 1024;            // ... those that are left then
constexpr size_t kMaxEncodings = 64;

// The decoder of a document. converter: PostgreSQL's, for kind `converter`.
struct Source {
  EncodingKind kind = EncodingKind::unknown;
  UnicodeForm form = UnicodeForm::utf8;
  const char* name = nullptr;
  int encoding = -1;
  Oid converter = InvalidOid;
};

// The source for a name that find_encoding() gave or PostgreSQL knows; converter missing: refused.
Source make_source(const char* wanted, const EncodingName& found) {
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
  return make_source(wanted, found);
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

// The trouble that decode_step() stopped at, n > 0 bytes before the end, and its length.
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

// True if decode_step() may have stopped at a character whose end is missing.
bool is_cut(const Source& s, const uint8_t* bytes, size_t n) {
  size_t length;
  if (trouble_at(s, bytes, n, &length) != Trouble::broken || length != n) return false;
  return s.kind == EncodingKind::unicode ? bytes[0] >= 0xc2
                                         : pg_encoding_max_length(s.encoding) > 1 && bytes[0] >= 0x80;
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
  bool spell;  // characters that the encoding lacks are written as words, such as u4e2d
  int64 dropped;
  int64 dropped_bytes;  // of the document
};

void begin_output(Output* out, size_t expected, bool drop) {
  initStringInfo(&out->text);
  // Nearly right at once for one-byte and Unicode text; doubling does the rest.
  enlargeStringInfo(&out->text, static_cast<int>(Min(expected + VARHDRSZ, MaxAllocSize / 2)));
  memset(out->text.data, 0, VARHDRSZ);
  out->text.len = VARHDRSZ;
  out->drop = drop;
  out->spell = false;
  out->dropped = out->dropped_bytes = 0;
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
    const int read = pg_do_encoding_conversion_buf(
        out->converter, PG_UTF8, GetDatabaseEncoding(), const_cast<uint8_t*>(utf8 + i),
        static_cast<int>(Min(n - i, kDecodedPiece)), room, static_cast<int>(kPieceRoom), true);
    append(out, room, strlen(reinterpret_cast<char*>(room)));
    i += static_cast<size_t>(read);
    if (read > 0 || i == n) continue;
    unsigned length;
    const uint32_t c = decode_utf8(utf8 + i, utf8 + n, &length);
    if (out->spell) {
      char word[16];
      append(out, reinterpret_cast<const uint8_t*>(word),
             static_cast<size_t>(snprintf(word, sizeof word, " u%04x ", c)));
    } else if (!out->drop) {
      ereport(ERROR,
              (errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
               errmsg("the character U+%04X of the document has no equivalent in the encoding of the database, %s", c,
                      GetDatabaseEncodingName()),
               errhint("With invalid => 'drop' it is left out.")));
    } else {
      ++out->dropped;
    }
    i += length;
  }
}

// Decodes all of it. cut: the bytes are the beginning of more, so that a character that their end cuts is no trouble;
// how long it is, is returned.
size_t decode_all(const Source& s, const uint8_t* bytes, size_t size, bool cut, Output* out) {
  auto* piece = static_cast<uint8_t*>(palloc(kPieceRoom));
  auto* room = static_cast<uint8_t*>(palloc(kPieceRoom));
  bool first = true;
  size_t left = 0;
  for (size_t at = 0; at < size;) {
    CHECK_FOR_INTERRUPTS();
    size_t written;
    const size_t read = decode_step(s, bytes + at, Min(kDecodedPiece, size - at), piece, &written);
    const size_t mark = first && written >= 3 && memcmp(piece, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (read > 0) first = false;
    append_utf8(out, piece + mark, written - mark, room);
    at += read;
    if (read > 0) continue;
    if (cut && is_cut(s, bytes + at, size - at)) {
      left = size - at;
      break;
    }
    // Broken bytes mostly come in runs.
    for (uint32 run = 0; at < size && run < kDecodedPiece; ++run) {
      size_t length;
      const Trouble trouble = trouble_at(s, bytes + at, size - at, &length);
      if (!out->drop) report_trouble(s, trouble, at, bytes + at, length);
      ++out->dropped;
      out->dropped_bytes += static_cast<int64>(length);
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
  return left;
}

// Supersets under the same name: what decodes in the smaller one decodes alike in the greater.
const char* superset_name(const char* name) {
  if (strcmp(name, "GBK") == 0 || strcmp(name, "EUC_CN") == 0) return "GB18030";
  if (strcmp(name, "EUC_KR") == 0) return "UHC";
  return name;
}

void enter(Contest* contest, const Candidate& candidate, bool guessed) {
  const Source s = make_source(candidate.name, {EncodingKind::converter, candidate.name});
  if (s.kind == EncodingKind::refused) return;
  Output out;
  const std::string& evidence = contest->evidence();
  begin_output(&out, evidence.size(), true);
  out.converter = InvalidOid;  // UTF-8 is what is measured
  const size_t cut = decode_all(s, reinterpret_cast<const uint8_t*>(evidence.data()), evidence.size(), true, &out);
  const Decoded decoded{{out.text.data + VARHDRSZ, static_cast<size_t>(out.text.len) - VARHDRSZ},
                        static_cast<uint64_t>(out.dropped),
                        static_cast<uint64_t>(out.dropped_bytes),
                        cut};
  call_core([&] { contest->enter(candidate, decoded, guessed); });
  pfree(out.text.data);
}

struct Entrants {
  Candidate list[kMaxEncodings];
  size_t size;
};

// Has the entrants decode `most` bytes of the sample; leaves those worth a longer look.
EncodingGuess hold_round(const Sample& sample, size_t most, const char* guess, Entrants* entrants) {
  Owned<Contest>* contest =
      make_owned<Contest>(CurrentMemoryContext, [&](PgStop*, PgTempFiles*) { return new Contest(sample, most); });
  for (size_t i = 0; i < entrants->size; ++i)
    enter(contest->object, entrants->list[i], strcmp(entrants->list[i].name, guess) == 0);
  EncodingGuess winner;
  call_core([&] {
    winner = contest->object->winner();
    entrants->size = 0;
    for (const Candidate& c : contest->object->leaders()) entrants->list[entrants->size++] = c;
  });
  destroy_owned(contest);
  return winner;
}

// Short evidence is enough to leave most encodings behind.
EncodingGuess hold_contest(const Sample& sample, const char* guess) {
  Entrants entrants{};
  for (const Candidate& c : encoding_candidates())
    if (entrants.size < kMaxEncodings) entrants.list[entrants.size++] = c;
  const EncodingGuess first = hold_round(sample, kShortEvidence, guess, &entrants);
  return sample.size <= kShortEvidence ? first : hold_round(sample, kLongEvidence, guess, &entrants);
}

EncodingGuess detect(const uint8_t* document, size_t size) {
  Sample sample{};
  EncodingGuess certain;
  char guess[64] = "";
  call_core([&] {
    PgStop stop;
    sample = encoding_sample(document, size, &stop);
    certain = certain_encoding(sample);
    if (certain.name != nullptr) return;
    strlcpy(guess, guess_charset(encoding_evidence(sample, kLongEvidence), &stop).c_str(), sizeof guess);
  });
  if (certain.name != nullptr) return certain;
  const Source guessed = named_source(guess);
  MemoryContext own = AllocSetContextCreate(CurrentMemoryContext, "neardup detection", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(own);
  const EncodingGuess winner =
      hold_contest(sample, guessed.kind == EncodingKind::converter ? superset_name(guessed.name) : "");
  MemoryContextSwitchTo(old);
  MemoryContextDelete(own);
  return winner;
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

Datum decode_document(const uint8_t* document, size_t size, const text* encoding, bool drop) {
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

SQL_FUNCTION(neardup_detect_encoding) {
  const Bytes document = bytes_arg(fcinfo, 0);
  const EncodingGuess guess = detect(document.data, document.size);
  enum Column { kEncoding, kConfidence, kColumns };
  ResultRow<Column> row;
  row.set(kEncoding, CStringGetTextDatum(guess.name));
  row.set(kConfidence, Float8GetDatum(guess.confidence));
  return row.datum(fcinfo);
}

SQL_FUNCTION(neardup_to_utf8_detected) {
  const Bytes document = bytes_arg(fcinfo, 0);
  return decode_document(document.data, document.size, nullptr, false);
}

SQL_FUNCTION(neardup_to_utf8) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(2)) PG_RETURN_NULL();
  // True: invalid bytes are dropped.
  static constexpr NamedValue<bool> kInvalid[] = {{"error", false}, {"drop", true}};
  const char* invalid = text_to_cstring(PG_GETARG_TEXT_PP(2));
  const std::optional<bool> drop = value_named(kInvalid, invalid);
  if (!drop)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("invalid must be %s: %.*s", list_names(kInvalid, "'", "or").text,
                           pg_mbcliplen(invalid, static_cast<int>(strlen(invalid)), 64), invalid)));
  const Bytes document = bytes_arg(fcinfo, 0);
  return decode_document(document.data, document.size, PG_ARGISNULL(1) ? nullptr : PG_GETARG_TEXT_PP(1), *drop);
}

SQL_FUNCTION(neardup_decode) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const Bytes document = bytes_arg(fcinfo, 0);
  enum Column { kBody, kEncoding, kConfidence, kDropped, kColumns };
  ResultRow<Column> row;
  Source s{};
  if (PG_ARGISNULL(1)) {
    const EncodingGuess guess = detect(document.data, document.size);
    s = named_source(guess.name);
    row.set(kConfidence, Float8GetDatum(guess.confidence));
  } else {
    s = source_arg(PG_GETARG_TEXT_PP(1));
    if (s.kind == EncodingKind::refused) refuse(s, false);
  }
  if (s.kind != EncodingKind::refused) {
    settle(&s, document.data, document.size);
    Output out;
    begin_output(&out, document.size, true);
    decode_all(s, document.data, document.size, false, &out);
    row.set(kBody, finish_output(&out));
    row.set(kDropped, Int64GetDatum(out.dropped));
  }
  row.set(kEncoding, CStringGetTextDatum(s.name));
  return row.datum(fcinfo);
}

// neardup_signed_text(document bytea, encoding text) -> text: broken characters are left out, those that the database's
// encoding lacks are spelled
SQL_FUNCTION(neardup_signed_text) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const Bytes document = bytes_arg(fcinfo, 0);
  Source s =
      PG_ARGISNULL(1) ? named_source(detect(document.data, document.size).name) : source_arg(PG_GETARG_TEXT_PP(1));
  if (s.kind == EncodingKind::refused) {
    if (!PG_ARGISNULL(1)) refuse(s, false);
    PG_RETURN_NULL();
  }
  settle(&s, document.data, document.size);
  Output out;
  begin_output(&out, document.size, true);
  out.spell = true;
  decode_all(s, document.data, document.size, false, &out);
  return finish_output(&out);
}
