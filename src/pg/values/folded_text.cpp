#include "pg/values/folded_text.h"

#include "core/unicode/utf8_inline.h"

namespace neardup {
namespace {

// A folded letter that the encoding lacks, and what is written for it.
struct StandIn {
  uint32_t folded;
  uint32_t shown;
};

bool keeps_utf8() {
  const int encoding = GetDatabaseEncoding();
  return encoding == PG_UTF8 || encoding == PG_SQL_ASCII;
}

bool fits(uint32_t c) {
  uint8_t bytes[4];
  const unsigned n = detail::encode_utf8(c, bytes);
  size_t size;
  char* server = server_text_if_fits(reinterpret_cast<const char*>(bytes), n, &size);
  if (server == nullptr) return false;
  pfree(server);
  return true;
}

// Those of the database's encoding, found at the first call of a session: some hundred conversions of a letter.
const StandIn* stand_ins(int* count) {
  static StandIn* found = nullptr;
  static int found_count = -1;
  if (found_count < 0 && keeps_utf8()) found_count = 0;
  if (found_count < 0) {
    const Folding* all = nullptr;
    size_t n = 0;
    call_core([&] {
      all = foldings().data();
      n = foldings().size();
    });
    if (found == nullptr) found = static_cast<StandIn*>(MemoryContextAlloc(TopMemoryContext, n * sizeof(StandIn)));
    int used = 0;
    for (size_t i = 0; i < n; ++i) {
      const bool known = used > 0 && found[used - 1].folded == all[i].folded;
      if (!known && fits(all[i].from) && !fits(all[i].folded)) found[used++] = {all[i].folded, all[i].from};
    }
    found_count = used;
  }
  *count = found_count;
  return found;
}

// UTF-8 with each letter of one side of the table as that of the other; the argument where there is none.
Utf8 exchanged(const char* data, size_t size, bool to_shown) {
  int count;
  const StandIn* table = stand_ins(&count);
  const auto* text = reinterpret_cast<const uint8_t*>(data);
  if (count == 0) return {text, size};
  // A letter has at most twice as many bytes as what it is exchanged with.
  auto* out = static_cast<uint8_t*>(palloc_extended(2 * size + 4, MCXT_ALLOC_HUGE));
  size_t n = 0;
  for (const uint8_t* p = text; p < text + size;) {
    unsigned length;
    uint32_t c = detail::decode_utf8(p, text + size, &length);
    p += length;
    for (int i = 0; i < count; ++i) {
      if (c != (to_shown ? table[i].folded : table[i].shown)) continue;
      c = to_shown ? table[i].shown : table[i].folded;
      break;
    }
    n += detail::encode_utf8(c, out + n);
  }
  return {out, n};
}

void append_escape(StringInfo out, uint32_t c) { appendStringInfo(out, c > 0xffff ? "\\U%08X" : "\\u%04X", c); }

// Appends the rest character by character, as far as it fits.
void append_fitting(StringInfo out, const uint8_t* p, const uint8_t* end) {
  while (p < end) {
    CHECK_FOR_INTERRUPTS();
    unsigned length;
    const uint32_t c = detail::decode_utf8(p, end, &length);
    size_t size;
    const char* server = server_text_if_fits(reinterpret_cast<const char*>(p), length, &size);
    if (server == nullptr)
      append_escape(out, c);
    else
      appendBinaryStringInfo(out, server, static_cast<int>(size));
    p += length;
  }
}

}  // namespace

char* server_text_of_folded(const char* data, size_t size, size_t* out_size) {
  const Utf8 shown = exchanged(data, size, true);
  return server_text_if_fits(reinterpret_cast<const char*>(shown.data), shown.size, out_size);
}

Datum text_datum_of_folded(const char* data, size_t size) {
  if (keeps_utf8() || !OidIsValid(FindDefaultConversionProc(PG_UTF8, GetDatabaseEncoding())))
    return text_datum_of_utf8(data, size);
  const Utf8 shown = exchanged(data, size, true);
  size_t bytes;
  const char* server = server_text_if_fits(reinterpret_cast<const char*>(shown.data), shown.size, &bytes);
  if (server != nullptr) return PointerGetDatum(cstring_to_text_with_len(server, static_cast<int>(bytes)));
  StringInfoData out;
  initStringInfo(&out);
  append_fitting(&out, shown.data, shown.data + shown.size);
  return PointerGetDatum(cstring_to_text_with_len(out.data, out.len));
}

Utf8 folded_of_server(const text* word) {
  const Utf8 utf8 = to_utf8(word);
  return exchanged(reinterpret_cast<const char*>(utf8.data), utf8.size, false);
}

}  // namespace neardup
