// See join_rows.h.
#include "pg/join/join_rows.h"

#include <cmath>

#include "pg/base/guc.h"
#include "pg/base/reserve.h"
#include "pg/join/join_plan.h"
#include "pg/values/lsh_query_value.h"

namespace neardup {
namespace {

constexpr double kSimhashBits = 64;
// A rate that is as large as the bound allows is not lost to rounding.
constexpr double kRateSlack = 1e-9;
// A varlena header, and what keeps the tuple behind it aligned.
constexpr Size kTupleOffset = MAXALIGN(VARHDRSZ);

// The least similarity of the engine for the bound; not above 0 where the bound is met by all pairs.
double least_similarity(const JoinRows& rows) {
  switch (rows.measure) {
    case LshMeasure::jaccard:
      return rows.bound;
    case LshMeasure::hamming:
      return 1 - std::floor(rows.bound) / kSimhashBits;
    default:
      return 1 - rows.bound - kRateSlack;
  }
}

SignatureType type_of(LshMeasure measure) {
  if (measure == LshMeasure::jaccard) return SignatureType::minhash;
  return measure == LshMeasure::hamming ? SignatureType::simhash : SignatureType::ctph;
}

// Where a pair raises an error, all pairs are checked, as in a nested loop. Of NaN neither comparison is true.
void set_bound(JoinRows* rows, JoinBound from, double bound) {
  rows->bound = bound;
  const bool is_error = from == JoinBound::argument && !valid_bound(rows->measure, bound);
  rows->every_pair = is_error || !(least_similarity(*rows) > 0);
  rows->no_pair = !rows->every_pair && beyond_reach(rows->measure, bound);
}

void make_engine(JoinRows* rows) {
  const unsigned threads = search_threads();
  const double least = least_similarity(*rows);
  const size_t memory = join_memory() / 2;
  rows->engine = make_owned<PairSearch>(rows->context, [&](PgStop* stop, PgTempFiles* files) {
    stop->be_quiet();
    return make_pair_search(rows->shape, least, {memory, files, stop, threads, Identical::all});
  });
}

// From now on engine rows and rows have other numbers.
void note_numbers(JoinRows* rows, JoinSide* side) {
  if (side->row_of != nullptr) return;
  reserve(rows->context, &side->row_of, &side->capacity, side->engine_rows + 1);
  for (uint64 i = 0; i < side->engine_rows; ++i) side->row_of[i] = static_cast<uint32>(i);
}

void add_signature(JoinRows* rows, JoinSide* side, const Signature& signature) {
  if (rows->engine == nullptr) make_engine(rows);
  if (side->row_of != nullptr) {
    reserve(rows->context, &side->row_of, &side->capacity, side->engine_rows + 1);
    side->row_of[side->engine_rows] = static_cast<uint32>(side->tuples->count - 1);
  }
  ++side->engine_rows;
  call_core([&] { add_row(rows->engine->object, signature); });
}

// Of one set the engine finds each pair once, and no row with itself.
void collect_both_ways(JoinRows* rows) {
  const size_t memory = join_memory() / 8;
  rows->both_ways = make_owned<PairCollector>(rows->context, [&](PgStop* stop, PgTempFiles* files) {
    stop->be_quiet();
    return new PairCollector({memory, files, stop});
  });
  const JoinSide& side = rows->outer;
  call_core([&] {
    PairSearch* engine = rows->engine->object;
    PairCollector* pairs = rows->both_ways->object;
    engine->run(side.row_of);
    while (const size_t n = engine->next(rows->pairs, lengthof(rows->pairs)))
      for (const RowPair* p = rows->pairs; p < rows->pairs + n; ++p) {
        pairs->add(*p);
        pairs->add({p->b, p->a, p->value});
      }
    for (uint64 i = 0; i < side.engine_rows; ++i) {
      const uint32 row = side.row_of == nullptr ? static_cast<uint32>(i) : side.row_of[i];
      pairs->add({row, row, 0});
    }
    pairs->finish();
  });
}

void fetch_pairs(JoinRows* rows) {
  rows->next = 0;
  rows->count = 0;
  if (rows->engine == nullptr || rows->outer.engine_rows == 0 || inner_side(rows)->engine_rows == 0) return;
  if (rows->is_self) {
    if (!rows->searched) collect_both_ways(rows);
    call_core([&] { rows->count = rows->both_ways->object->next(rows->pairs, lengthof(rows->pairs)); });
  } else {
    call_core([&] {
      PairSearch* engine = rows->engine->object;
      if (!rows->searched) engine->run(rows->outer.row_of, rows->inner.row_of);
      rows->count = engine->next(rows->pairs, lengthof(rows->pairs));
    });
  }
  rows->searched = true;
}

MinimalTuple tuple_of(Datum kept) { return reinterpret_cast<MinimalTuple>(DatumGetPointer(kept) + kTupleOffset); }

}  // namespace

JoinRows* begin_join_rows(MemoryContext context, LshMeasure measure, JoinBound bound_from, const double* bound,
                          bool is_self) {
  auto* rows = static_cast<JoinRows*>(MemoryContextAllocZero(context, sizeof(JoinRows)));
  rows->context = context;
  rows->is_self = is_self;
  rows->copies = AllocSetContextCreate(context, "neardup join row", ALLOCSET_SMALL_SIZES);
  rows->measure = measure;
  rows->type = type_of(measure);
  rows->no_pair = bound == nullptr;
  if (bound != nullptr) set_bound(rows, bound_from, *bound);
  for (JoinSide* side : {&rows->outer, &rows->inner})
    side->tuples = make_ids(context, BYTEAOID, InvalidOid, join_memory() / 4);
  return rows;
}

void end_join_rows(JoinRows* rows) {
  if (rows->engine != nullptr) destroy_owned(rows->engine);
  if (rows->both_ways != nullptr) destroy_owned(rows->both_ways);
  for (JoinSide* side : {&rows->outer, &rows->inner}) free_ids(side->tuples);
}

JoinSide* inner_side(JoinRows* rows) { return rows->is_self ? &rows->outer : &rows->inner; }

void add_join_row(JoinRows* rows, JoinSide* side, MinimalTuple tuple, const Datum* value) {
  auto* kept = static_cast<char*>(palloc(kTupleOffset + tuple->t_len));
  SET_VARSIZE(kept, kTupleOffset + tuple->t_len);
  memcpy(kept + kTupleOffset, tuple, tuple->t_len);
  add_id(side->tuples, PointerGetDatum(kept));
  pfree(kept);
  if (rows->every_pair) return;
  if (value == nullptr) {
    note_numbers(rows, side);
    return;
  }
  Signature signature;
  read_signature(rows->type, *value, &signature);
  if (!fits_shape(&rows->shape, signature)) {
    rows->every_pair = true;
  } else if (signature.empty || rows->no_pair) {
    note_numbers(rows, side);
  } else {
    add_signature(rows, side, signature);
  }
}

void start_inner_rows(JoinRows* rows) {
  if (rows->engine != nullptr) call_core([&] { rows->engine->object->start_set_b(); });
}

bool next_partner(JoinRows* rows, uint32 outer, uint64* inner) {
  if (rows->every_pair) {
    if (rows->next == inner_side(rows)->tuples->count) {
      rows->next = 0;
      return false;
    }
    *inner = rows->next++;
    return true;
  }
  if (rows->next == rows->count && (rows->count > 0 || !rows->searched)) fetch_pairs(rows);
  if (rows->next == rows->count || rows->pairs[rows->next].a != outer) return false;
  *inner = rows->pairs[rows->next++].b;
  return true;
}

void pass_partners(JoinRows* rows, uint32 outer) {
  uint64 inner;
  if (rows->every_pair)
    rows->next = 0;
  else
    while (next_partner(rows, outer, &inner)) continue;
}

MinimalTuple outer_tuple(JoinRows* rows, uint64 row) {
  return tuple_of(kept_id(rows->outer.tuples, row, rows->copies));
}

MinimalTuple inner_tuple(JoinRows* rows, uint64 row) { return tuple_of(id_at(inner_side(rows)->tuples, row)); }

}  // namespace neardup
