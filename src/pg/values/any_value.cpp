#include "pg/values/any_value.h"

#include "core/signature/ctph_compare.h"
#include "pg/values/bit_value.h"
#include "pg/values/ctph_value.h"
#include "pg/values/int_set_value.h"
#include "pg/values/simhash_value.h"
#include "pg/values/values.h"

namespace neardup {
namespace {

bool read_minhash(Datum datum, AnyValue* value) {
  *value = minhash_view(PG_DETOAST_DATUM(datum));
  return true;
}

bool read_simhash(Datum datum, AnyValue* value) {
  *value = AnyValue(simhash_of_datum(datum));
  return true;
}

bool read_ctph(Datum datum, AnyValue* value) {
  *value = ctph_of_datum(datum);
  return true;
}

bool read_bits(Datum datum, AnyValue* value) {
  const BitCode code = read_bit_string(datum);
  *value = code;
  return valid_code_bits(code.bits);
}

bool read_set(Datum datum, AnyValue* value) {
  const IntSet set = read_int_set(datum, false);
  *value = set_view(set.elements, set.n);
  return set.null_at < 0;
}

struct Reader {
  bool (*read)(Datum datum, AnyValue* value);
  void (*refuse)(const AnyValue& a, const AnyValue& b);  // raises the error for two that are not comparable
};

void refuse_minhashes(const AnyValue& a, const AnyValue& b) { demand_comparable(a.signature, b.signature); }
void refuse_digests(const AnyValue& a, const AnyValue& b) {
  call_core([&] { check_comparable(a.digest, b.digest); });
}
void refuse_codes(const AnyValue& a, const AnyValue& b) { demand_comparable(a.code, b.code); }

constexpr Reader kReaders[] = {{read_minhash, refuse_minhashes},
                               {read_simhash, nullptr},
                               {read_ctph, refuse_digests},
                               {read_bits, refuse_codes},
                               {read_set, nullptr}};
static_assert(lengthof(kReaders) == kKinds);

}  // namespace

bool read_value(Kind kind, Datum datum, AnyValue* value) {
  return kReaders[static_cast<size_t>(kind)].read(datum, value);
}

AnyValue value_arg(FunctionCallInfo fcinfo, int n, Kind kind) {
  AnyValue value;
  if (!read_value(kind, PG_GETARG_DATUM(n), &value) && kind == Kind::set) refuse_unfit(kind, PG_GETARG_DATUM(n), value);
  return value;
}

void refuse_unfit(Kind kind, Datum datum, const AnyValue& value) {
  if (kind == Kind::set) {
    read_int_set(datum, true);
  } else if (kind == Kind::bits) {
    demand_code(value.code);
  }
  elog(ERROR, "a value of kind %s is fit", info(kind).name);
  pg_unreachable();
}

void demand_comparable(Kind kind, const AnyValue& a, const AnyValue& b) {
  if (!info(kind).comparable(a, b)) kReaders[static_cast<size_t>(kind)].refuse(a, b);
}

}  // namespace neardup
