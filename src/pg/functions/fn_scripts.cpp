// Chinese scripts and titles of files.
#include <algorithm>
#include <string>

#include "core/intake/title.h"
#include "pg/values/values.h"
#include "text/script.h"

namespace {

using namespace neardup;

// Opened on first use, kept for the session.
ScriptConverter* converters[2] = {};

bool keeps_utf8() { return GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII; }

// Appended in the server's encoding; false, and nothing appended, where that lacks a character.
bool append_fitting(StringInfo out, std::string_view piece) {
  size_t size = piece.size();
  const char* server = keeps_utf8() ? piece.data() : server_text_if_fits(piece.data(), piece.size(), &size);
  if (server == nullptr) return false;
  if (static_cast<size_t>(out->len) + size >= MaxAllocSize)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the converted text would be larger than 1 GB")));
  appendBinaryStringInfo(out, server, static_cast<int>(size));
  return true;
}

std::string_view convert_piece(ScriptConverter* converter, std::string_view piece) {
  std::string_view out;
  call_core([&] { out = converter->convert(piece); });
  return out;
}

// Character by character: one whose other form the encoding lacks stays, as it came from that encoding.
void append_characters(StringInfo out, ScriptConverter* converter, std::string_view piece) {
  MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "neardup characters", ALLOCSET_SMALL_SIZES);
  for (size_t at = 0; at < piece.size();) {
    CHECK_FOR_INTERRUPTS();
    const size_t n =
        std::min<size_t>(static_cast<size_t>(pg_utf_mblen(reinterpret_cast<const unsigned char*>(piece.data() + at))),
                         piece.size() - at);
    const std::string_view character = piece.substr(at, n);
    MemoryContext old = MemoryContextSwitchTo(each);
    if (!append_fitting(out, convert_piece(converter, character))) append_fitting(out, character);
    MemoryContextSwitchTo(old);
    MemoryContextReset(each);
    at += n;
  }
  MemoryContextDelete(each);
}

Datum converted(FunctionCallInfo fcinfo, ChineseScript to) {
  text* argument = PG_GETARG_TEXT_PP(0);
  const Utf8 u = to_utf8(argument);
  const std::string_view all = u.view();
  ScriptConverter** converter = &converters[to == ChineseScript::simplified ? 0 : 1];
  StringInfoData out;
  initStringInfo(&out);
  // Both scripts take three bytes a character, mostly.
  enlargeStringInfo(&out, static_cast<int>(Min(all.size() + VARHDRSZ + 64, MaxAllocSize / 2)));
  memset(out.data, 0, VARHDRSZ);
  out.len = VARHDRSZ;
  if (*converter == nullptr) call_core([&] { *converter = ScriptConverter::open(to).release(); });
  for (size_t at = 0; at < all.size();) {
    CHECK_FOR_INTERRUPTS();
    const size_t n = script_piece(all.substr(at));
    if (!append_fitting(&out, convert_piece(*converter, all.substr(at, n))))
      append_characters(&out, *converter, all.substr(at, n));
    at += n;
  }
  SET_VARSIZE(out.data, out.len);
  return PointerGetDatum(out.data);
}

// The title in the server's encoding; null where it has characters that this encoding lacks.
char* server_title(const Utf8& filename, bool percent_decoding, size_t* out_size) {
  char* title = static_cast<char*>(palloc(Min(filename.size, kMaxFilename) + 1));
  size_t size = 0;
  call_core([&] {
    const std::string found = make_title(filename.view(), percent_decoding);
    size = found.copy(title, found.size());
  });
  return server_text_if_fits(title, size, out_size);
}

}  // namespace

SQL_FUNCTION(neardup_to_simplified) { return converted(fcinfo, ChineseScript::simplified); }

SQL_FUNCTION(neardup_to_traditional) { return converted(fcinfo, ChineseScript::traditional); }

SQL_FUNCTION(neardup_title) {
  const Utf8 filename = to_utf8(PG_GETARG_TEXT_PP(0));
  size_t size = 0;
  const char* title = server_title(filename, true, &size);
  if (title == nullptr) title = server_title(filename, false, &size);
  if (title == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
                    errmsg("the title cannot be written in the database's encoding")));
  PG_RETURN_TEXT_P(cstring_to_text_with_len(title, static_cast<int>(size)));
}
