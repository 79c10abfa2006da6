#include "core/pairs/bits/bit_pairs.h"
#include "core/pairs/digests/ctph_pairs.h"
#include "core/pairs/minhash/minhash_pairs.h"
#include "core/pairs/sets/set_pairs.h"
#include "core/pairs/simhash/simhash_pairs.h"
#include "core/signature/minhash.h"
#include "core/signature/simhash.h"

#include "pg/base/own_schemas.h"
#include "pg/gpu/gpu_search.h"
#include "pg/pairs/signature.h"
#include "pg/values/any_value.h"
#include "pg/values/values.h"

namespace neardup {
namespace {

uint32_t needed_components(const SignatureShape& shape, double threshold) {
  return min_matches(threshold, false, shape.header.num_perm, shape.header.bits);
}

// The engine of a kind, and what the value of its pairs means; in the order of Kind.
struct EngineOfKind {
  PairSearch* (*make)(const SignatureShape& shape, double threshold, const EngineOptions& options);
  double (*similarity)(const SignatureShape& shape, uint32_t value, uint32_t size_a, uint32_t size_b);
  bool has_offload;
};

constexpr EngineOfKind kEngines[] = {
    {[](const SignatureShape& shape, double threshold, const EngineOptions& options) -> PairSearch* {
       return new MinhashPairs(shape.header.num_perm, shape.header.bits, needed_components(shape, threshold), options);
     },
     [](const SignatureShape& shape, uint32_t matches, uint32_t, uint32_t) {
       return estimate_jaccard(matches, shape.header.num_perm, shape.header.bits);
     },
     true},
    {[](const SignatureShape&, double threshold, const EngineOptions& options) -> PairSearch* {
       return new SimhashPairs(most_simhash_distance(threshold), options);
     },
     [](const SignatureShape&, uint32_t distance, uint32_t, uint32_t) {
       return 1 - distance / static_cast<double>(kSimhashBits);
     },
     true},
    {[](const SignatureShape&, double threshold, const EngineOptions& options) -> PairSearch* {
       return new CtphPairs(threshold, options);
     },
     [](const SignatureShape&, uint32_t value, uint32_t, uint32_t) { return ctph_similarity(value); }, true},
    {[](const SignatureShape& shape, double threshold, const EngineOptions& options) -> PairSearch* {
       return new BitPairs(shape.code_bits, most_bit_distance(shape.code_bits, threshold), options);
     },
     [](const SignatureShape& shape, uint32_t distance, uint32_t, uint32_t) {
       return 1 - distance / static_cast<double>(shape.code_bits);
     },
     false},
    {[](const SignatureShape& shape, double threshold, const EngineOptions& options) -> PairSearch* {
       return new SetPairs(shape.measure, threshold, options);
     },
     [](const SignatureShape& shape, uint32_t common, uint32_t size_a, uint32_t size_b) {
       return measure_sets(shape.measure, size_a, size_b, common);
     },
     false}};
static_assert(lengthof(kEngines) == kKinds);

const EngineOfKind& kind_engine(const SignatureShape& shape) { return kEngines[static_cast<size_t>(shape.kind)]; }

// A value that is comparable with those of the shape.
AnyValue example_value(const SignatureShape& shape) {
  if (shape.kind == Kind::minhash) return MinhashView{&shape.header, nullptr, 0};
  if (shape.kind == Kind::ctph) return CtphView{0, shape.length, {}, {}};
  return BitCode{nullptr, shape.code_bits};
}

}  // namespace

SignatureTypes function_signature_types(FunctionCallInfo fcinfo) {
  SignatureTypes types = {};
  for (const Kind kind : {Kind::minhash, Kind::simhash, Kind::ctph})
    types.oid[static_cast<size_t>(kind)] = own_type(fcinfo->flinfo->fn_oid, info(kind).name);
  types.oid[static_cast<size_t>(Kind::bits)] = BITOID;
  return types;
}

void read_signature_quietly(Kind kind, Datum value, Signature* out) {
  *out = {};
  out->kind = kind;
  out->is_unfit = !read_value(kind, value, out);
  out->is_empty = !out->is_unfit && info(kind).is_empty(*out);
}

void read_signature(Kind kind, Datum value, Signature* out) {
  read_signature_quietly(kind, value, out);
  if (out->is_unfit) refuse_unfit(kind, value, *out);
}

bool fits_shape(SignatureShape* shape, const Signature& s) {
  if (s.is_unfit) return false;
  if (shape->known) return info(s.kind).comparable(example_value(*shape), s);
  *shape = {true, s.kind, {}, 0, 0, Measure::set_jaccard};
  if (s.kind == Kind::minhash) shape->header = *s.signature.header;
  if (s.kind == Kind::ctph) shape->length = s.digest.length;
  if (s.kind == Kind::bits) shape->code_bits = s.code.bits;
  return true;
}

void refuse_shape(const SignatureShape& shape, const Signature& s, const char* which) {
  char left[128];
  char right[128];
  call_core([&] {
    strlcpy(left, info(s.kind).describe(example_value(shape)).c_str(), sizeof left);
    strlcpy(right, info(s.kind).describe(s).c_str(), sizeof right);
  });
  if (s.kind == Kind::bits)
    ereport(ERROR, (errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
                    errmsg("cannot compare bit strings of different lengths: %u and %s", shape.code_bits, right),
                    errdetail("earlier rows: %s; %s: %s", left, which, right)));
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("cannot compare signatures made differently"),
                  errdetail("earlier rows: %s; %s: %s", left, which, right),
                  s.kind == Kind::ctph ? errhint("Use one of to_ctph() and ctph_long() for all rows.")
                                       : errhint("Use minhash_like(document, column).")));
  pg_unreachable();
}

PairSearch* make_pair_search(const SignatureShape& shape, double threshold, const EngineOptions& on_cpu) {
  const EngineOfKind& engine = kind_engine(shape);
  EngineOptions options = on_cpu;
  if (engine.has_offload) options.offload = gpu_join();
  return engine.make(shape, threshold, options);
}

Clusterer* make_clusterer(const SignatureShape& shape, Linkage linkage, double threshold,
                          const EngineOptions& options) {
  EngineOptions marked = options;
  marked.identical = Identical::marked;
  PairSearch* const search = shape.kind == Kind::minhash ? kind_engine(shape).make(shape, threshold, marked)
                                                         : make_pair_search(shape, threshold, marked);
  return new Clusterer(linkage, std::unique_ptr<PairSearch>(search));
}

double pair_similarity(const SignatureShape& shape, uint32_t value, uint32_t size_a, uint32_t size_b) {
  return kind_engine(shape).similarity(shape, value, size_a, size_b);
}

}  // namespace neardup
