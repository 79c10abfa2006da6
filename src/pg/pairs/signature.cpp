// See signature.h.
#include "core/signature/ctph_compare.h"
#include "core/pairs/bits/bit_pairs.h"
#include "core/pairs/digests/ctph_pairs.h"
#include "core/signature/minhash.h"
#include "core/pairs/minhash/minhash_pairs.h"
#include "core/pairs/sets/set_pairs.h"
#include "core/pairs/simhash/simhash_pairs.h"

#include "pg/base/own_schemas.h"
#include "pg/values/bit_value.h"
#include "pg/values/ctph_value.h"
#include "pg/gpu/gpu_search.h"
#include "pg/pairs/signature.h"
#include "pg/values/int_set_value.h"
#include "pg/values/simhash_value.h"
#include "pg/values/values.h"

namespace neardup {
namespace {

constexpr const char* kTypeNames[] = {"minhash", "simhash", "ctph", "bit", "set"};

}  // namespace

const char* type_name(SignatureType type) noexcept { return kTypeNames[static_cast<int>(type)]; }

SignatureTypes signature_types_of(FunctionCallInfo fcinfo) {
  SignatureTypes types;
  for (int i = 0; i < kSignatureTypes; ++i)
    types.oid[i] =
        static_cast<SignatureType>(i) == SignatureType::bits ? BITOID : own_type(fcinfo->flinfo->fn_oid, kTypeNames[i]);
  return types;
}

namespace {

void read_any(SignatureType type, Datum value, bool strict, Signature* out) {
  *out = Signature{};
  out->type = type;
  switch (type) {
    case SignatureType::minhash: {
      const MinhashView v = minhash_view(PG_DETOAST_DATUM(value));
      out->params = params_of(*v.header);
      out->components = v.components;
      out->empty = v.empty();
      break;
    }
    case SignatureType::simhash:
      out->bits = simhash_of_datum(value);
      break;
    case SignatureType::ctph:
      out->digest = ctph_of_datum(value);
      break;
    case SignatureType::bits:
      out->code = bit_string_of(value);
      if (strict) demand_code(out->code);
      out->is_unfit = !valid_code_bits(out->code.bits);
      break;
    case SignatureType::set: {
      const IntSet set = int_set_of(value, strict);
      out->elements = set.elements;
      out->size = set.n;
      out->is_unfit = set.null_at >= 0;
      out->empty = set.n == 0 && !out->is_unfit;
      break;
    }
  }
}

}  // namespace

void read_signature(SignatureType type, Datum value, Signature* out) { read_any(type, value, true, out); }
void read_signature_quietly(SignatureType type, Datum value, Signature* out) { read_any(type, value, false, out); }

bool fits_shape(SignatureShape* shape, const Signature& s) {
  if (s.is_unfit) return false;
  if (!shape->known) {
    *shape = {true, s.type, s.params, s.digest.length, s.code.bits, SetMeasure::jaccard};
    return true;
  }
  if (s.type == SignatureType::minhash) {
    const MinhashParams& p = shape->params;
    return s.params.kind == p.kind && s.params.k == p.k && s.params.bits == p.bits && s.params.num_perm == p.num_perm &&
           s.params.tokenizer == p.tokenizer && s.params.seed == p.seed;
  }
  if (s.type == SignatureType::bits) return s.code.bits == shape->code_bits;
  if (s.type != SignatureType::ctph) return true;
  CtphView first;
  first.length = shape->length;
  return comparable(first, s.digest);
}

void refuse_shape(const SignatureShape& shape, const Signature& s, const char* which) {
  if (s.type == SignatureType::bits)
    ereport(ERROR,
            (errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
             errmsg("cannot compare bit strings of different lengths: %u and %u bits", shape.code_bits, s.code.bits),
             errdetail("earlier rows: %u bits; %s: %u bits", shape.code_bits, which, s.code.bits)));
  char left[128];
  char right[128];
  const bool digests = s.type == SignatureType::ctph;
  call_core([&] {
    CtphView first;
    first.length = shape.length;
    strlcpy(left, digests ? describe(first).c_str() : describe(shape.params).c_str(), sizeof left);
    strlcpy(right, digests ? describe(s.digest).c_str() : describe(s.params).c_str(), sizeof right);
  });
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("cannot compare signatures made differently"),
                  errdetail("earlier rows: %s; %s: %s", left, which, right),
                  digests ? errhint("Use one of to_ctph() and ctph_long() for all rows.")
                          : errhint("Use minhash_like(document, column).")));
  pg_unreachable();
}

PairSearch* make_pair_search(const SignatureShape& shape, double threshold, const EngineOptions& on_cpu) {
  EngineOptions options = on_cpu;
  options.offload = gpu_join();
  switch (shape.type) {
    case SignatureType::minhash:
      return new MinhashPairs(shape.params.num_perm, shape.params.bits,
                              min_matches(threshold, false, shape.params.num_perm, shape.params.bits), options);
    case SignatureType::simhash:
      return new SimhashPairs(most_simhash_distance(threshold), options);
    case SignatureType::ctph:
      return new CtphPairs(threshold, options);
    case SignatureType::bits:
      return new BitPairs(shape.code_bits, most_bit_distance(shape.code_bits, threshold), on_cpu);
    case SignatureType::set:
      return new SetPairs(shape.measure, threshold, on_cpu);
  }
  throw Error(Errc::invalid_argument, "no such type of signature");
}

bool add_row(PairSearch* search, const Signature& s) {
  switch (s.type) {
    case SignatureType::minhash:
      return static_cast<MinhashPairs*>(search)->add(s.components);
    case SignatureType::simhash:
      static_cast<SimhashPairs*>(search)->add(s.bits);
      return true;
    case SignatureType::ctph:
      static_cast<CtphPairs*>(search)->add(s.digest);
      return true;
    case SignatureType::bits:
      static_cast<BitPairs*>(search)->add(s.code);
      return true;
    case SignatureType::set:
      static_cast<SetPairs*>(search)->add(s.elements, s.size);
      return true;
  }
  return true;
}

Clusterer* make_clusterer(const SignatureShape& shape, Linkage linkage, double threshold,
                          const EngineOptions& options) {
  if (shape.type == SignatureType::minhash)
    return new MinhashClusterer(linkage, shape.params.num_perm, shape.params.bits,
                                min_matches(threshold, false, shape.params.num_perm, shape.params.bits), options);
  EngineOptions marked = options;
  marked.identical = Identical::marked;
  return new PairClusterer(linkage, std::unique_ptr<PairSearch>(make_pair_search(shape, threshold, marked)));
}

void add_row(Clusterer* clusterer, const Signature& s) {
  if (s.empty) {
    clusterer->add_alone();
  } else if (s.type == SignatureType::minhash) {
    static_cast<MinhashClusterer*>(clusterer)->add(s.components);
  } else {
    auto* by_pairs = static_cast<PairClusterer*>(clusterer);
    add_row(by_pairs->search(), s);
    by_pairs->added();
  }
}

double similarity_of(const SignatureShape& shape, uint32_t value, uint32_t size_a, uint32_t size_b) {
  switch (shape.type) {
    case SignatureType::minhash:
      return estimate_jaccard(value, shape.params.num_perm, shape.params.bits);
    case SignatureType::simhash:
      return 1 - value / 64.0;
    case SignatureType::ctph:
      return ctph_similarity(value);
    case SignatureType::bits:
      return 1 - value / static_cast<double>(shape.code_bits);
    case SignatureType::set:
      return set_measure(shape.measure, size_a, size_b, value);
  }
  return 0;
}

}  // namespace neardup
