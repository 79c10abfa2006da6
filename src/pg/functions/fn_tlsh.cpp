// TLSH digests, which are text: their distance, and the bit code for an index.
#include "core/signature/tlsh.h"
#include "pg/values/values.h"
#include "utils/varbit.h"

namespace {

using namespace neardup;

std::string_view digest_text(const text* t) { return {VARDATA_ANY(t), static_cast<size_t>(VARSIZE_ANY_EXHDR(t))}; }

uint32_t distance_of_args(FunctionCallInfo fcinfo, bool with_length) {
  const text* a = PG_GETARG_TEXT_PP(0);
  const text* b = PG_GETARG_TEXT_PP(1);
  uint32_t distance = 0;
  call_core([&] { distance = tlsh_distance(tlsh_of_text(digest_text(a)), tlsh_of_text(digest_text(b)), with_length); });
  return distance;
}

}  // namespace

SQL_FUNCTION(neardup_tlsh_distance) {
  PG_RETURN_INT32(static_cast<int32>(distance_of_args(fcinfo, PG_GETARG_BOOL(2))));
}

SQL_FUNCTION(neardup_tlsh_code) {
  const text* digest = PG_GETARG_TEXT_PP(0);
  constexpr int kCodeBits = kTlshCodeBytes * BITS_PER_BYTE;
  VarBit* out = static_cast<VarBit*>(palloc0(VARBITTOTALLEN(kCodeBits)));
  SET_VARSIZE(out, VARBITTOTALLEN(kCodeBits));
  VARBITLEN(out) = kCodeBits;
  call_core([&] { write_tlsh_code(tlsh_of_text(digest_text(digest)), VARBITS(out)); });
  PG_RETURN_VARBIT_P(out);
}
