#include "pg/values/bit_value.h"

extern "C" {
#include "access/detoast.h"
}

namespace neardup {
namespace {

// The value has a header of one byte or four. A short header leaves the number of bits unaligned.
BitCode read_bit_string(const struct varlena* value) {
  int32 bits;
  memcpy(&bits, VARDATA_ANY(value), sizeof bits);
  return {reinterpret_cast<const uint8_t*>(VARDATA_ANY(value)) + sizeof bits, static_cast<uint32_t>(bits)};
}

}  // namespace

// Only the length of a string that is too long is read: what is leakproof must not run out of memory.
BitCode read_bit_string(Datum value) {
  constexpr Size kMaxCodeDatum = VARHDRSZ + sizeof(int32) + kMostCodeBytes;
  if (toast_raw_datum_size(value) <= kMaxCodeDatum) return read_bit_string(PG_DETOAST_DATUM_PACKED(value));
  return {nullptr, read_bit_string(PG_DETOAST_DATUM_SLICE(value, 0, sizeof(int32))).bits};
}

BitCode read_plain_bit_string(Datum value) noexcept {
  const auto* varlena = reinterpret_cast<const struct varlena*>(DatumGetPointer(value));
  if (VARATT_IS_EXTERNAL(varlena) || VARATT_IS_COMPRESSED(varlena)) return {};
  return read_bit_string(varlena);
}

void demand_code(const BitCode& code) {
  if (!valid_code_bits(code.bits))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("a bit string must have %u to %u bits to be compared: this one has %u", kFewestCodeBits,
                           kMostCodeBits, code.bits),
                    code.bits < kFewestCodeBits ? errhint("A cast pads it: value::bit(%u).", kFewestCodeBits) : 0));
}

void demand_comparable(const BitCode& a, const BitCode& b) {
  if (a.bits != b.bits)
    ereport(ERROR, (errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
                    errmsg("cannot compare bit strings of different lengths: %u and %u bits", a.bits, b.bits)));
  demand_code(a);
}

}  // namespace neardup
