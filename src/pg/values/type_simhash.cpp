// The type simhash: text and binary forms, order and hash, casts.
#include "pg/values/simhash_value.h"

extern "C" {
#include "common/hashfn.h"
#include "utils/varbit.h"
}

namespace {

using namespace neardup;

struct Text {
  char digits[17];
};
Text hex_text(uint64_t v) {
  Text t;
  call_core([&] { memcpy(t.digits, simhash_to_text(v).c_str(), sizeof t.digits); });
  return t;
}

}  // namespace

SQL_FUNCTION(simhash_in) {
  const char* text = PG_GETARG_CSTRING(0);
  uint64_t value = 0;
  call_core([&] { value = simhash_from_text(text); });
  return simhash_datum(value);
}

SQL_FUNCTION(simhash_out) { PG_RETURN_CSTRING(pstrdup(hex_text(simhash_arg(fcinfo, 0)).digits)); }

SQL_FUNCTION(simhash_recv) {
  const Bytes message = message_arg(fcinfo);
  uint64_t value = 0;
  call_core([&] { value = simhash_from_wire(message.data, message.size); });
  return simhash_datum(value);
}

SQL_FUNCTION(simhash_send) {
  StringInfoData out;
  pq_begintypsend(&out);
  pq_sendint64(&out, simhash_arg(fcinfo, 0));
  PG_RETURN_BYTEA_P(pq_endtypsend(&out));
}

#define COMPARISON(name, op) \
  SQL_FUNCTION(name) { PG_RETURN_BOOL(simhash_arg(fcinfo, 0) op simhash_arg(fcinfo, 1)); }
COMPARISON(simhash_eq, ==)
COMPARISON(simhash_ne, !=)
COMPARISON(simhash_lt, <)
COMPARISON(simhash_le, <=)
COMPARISON(simhash_gt, >)
COMPARISON(simhash_ge, >=)
#undef COMPARISON

SQL_FUNCTION(simhash_cmp) {
  const uint64_t a = simhash_arg(fcinfo, 0);
  const uint64_t b = simhash_arg(fcinfo, 1);
  PG_RETURN_INT32(a < b ? -1 : a > b);
}

SQL_FUNCTION(simhash_hash) {
  const uint64_t v = simhash_arg(fcinfo, 0);
  return hash_any(reinterpret_cast<const unsigned char*>(&v), sizeof v);
}

SQL_FUNCTION(simhash_hash_extended) {
  const uint64_t v = simhash_arg(fcinfo, 0);
  return hash_any_extended(reinterpret_cast<const unsigned char*>(&v), sizeof v, PG_GETARG_INT64(1));
}

SQL_FUNCTION(simhash_to_bigint) { return PG_GETARG_DATUM(0); }

SQL_FUNCTION(simhash_from_bigint) { return PG_GETARG_DATUM(0); }

SQL_FUNCTION(simhash_to_bit) {
  const uint64_t v = simhash_arg(fcinfo, 0);
  VarBit* bits = static_cast<VarBit*>(palloc0(VARBITTOTALLEN(kSimhashBits)));
  SET_VARSIZE(bits, VARBITTOTALLEN(kSimhashBits));
  VARBITLEN(bits) = kSimhashBits;
  for (int i = 0; i < 8; ++i) VARBITS(bits)[i] = static_cast<uint8>(v >> (56 - 8 * i));
  PG_RETURN_VARBIT_P(bits);
}

SQL_FUNCTION(simhash_from_bit) {
  const VarBit* bits = PG_GETARG_VARBIT_P(0);
  if (VARBITLEN(bits) != kSimhashBits)
    ereport(ERROR, (errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
                    errmsg("a simhash has 64 bits: %d", static_cast<int>(VARBITLEN(bits)))));
  uint64_t v = 0;
  for (int i = 0; i < 8; ++i) v = v << 8 | VARBITS(bits)[i];
  return simhash_datum(v);
}
