#include "pg/join/join_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "pg/base/guc.h"
#include "pg/base/reserve.h"
#include "pg/join/join_plan.h"
#include "pg/values/lsh_query_value.h"

namespace neardup {
namespace {

// Sixteenths of the join's memory.
enum MemoryShare : size_t { kEngineShare = 8, kTupleShare = 4, kPairShare = 1, kGroupShare = 1 };

size_t share_of_memory(MemoryShare share) { return join_memory() / 16 * share; }

// Where a pair raises an error, all pairs are checked, as in a nested loop. Of NaN neither comparison is true.
void set_bound(JoinRows* rows) {
  const JoinSearch& search = rows->search;
  rows->no_pair = search.bound == nullptr;
  if (rows->no_pair) return;
  const double bound = *search.bound;
  const bool is_error = search.bound_from == JoinBound::argument && !is_valid_bound(search.measure, bound);
  // Bit codes may be shorter: reaches_all().
  rows->every_pair = is_error || !(info(search.measure).engine_bound(bound, kMostCodeBits) > 0);
  rows->no_pair = !rows->every_pair && beyond_reach(search.measure, bound);
}

Owned<PairCollector>* make_collector(const JoinRows* rows, MemoryShare share) {
  const size_t memory = share_of_memory(share);
  return make_owned<PairCollector>(rows->context, [&](PgStop* stop, PgTempFiles* files) {
    stop->be_quiet();
    return new PairCollector({.memory_limit = memory, .files = files, .stop = stop});
  });
}

void make_group_bits(JoinRows* rows) {
  constexpr size_t kMaxGroupBytes = 16 * 1024 * 1024;
  const size_t bytes = std::bit_floor(Min(share_of_memory(kGroupShare), kMaxGroupBytes));
  rows->first_groups.words = static_cast<uint64*>(MemoryContextAllocZero(rows->context, bytes));
  rows->first_groups.shift = 32 - std::countr_zero(bytes * 8);
}

// The memory of a side's rows at most: the part of their share that the other side has left.
uint64 tuple_limit(const JoinRows* rows, const JoinSide* side) {
  const JoinSide* other = side == &rows->outer ? &rows->inner : &rows->outer;
  const uint64 share = share_of_memory(kTupleShare);
  return share - Min(share, other->tuples->bytes_held);
}

// Notes the number of the row whose tuple is added next.
void note_number(JoinRows* rows, JoinSide* side) {
  const uint64 row = side->tuples->count;
  if (side->row_of == nullptr) {
    if (side->engine_rows == row) return;
    reserve(rows->context, &side->row_of, &side->capacity, side->engine_rows + 1);
    for (uint64 i = 0; i < side->engine_rows; ++i) side->row_of[i] = static_cast<uint32>(i);
  }
  reserve(rows->context, &side->row_of, &side->capacity, side->engine_rows + 1);
  side->row_of[side->engine_rows] = static_cast<uint32>(row);
}

// True if the row may match. Where no row of the first side has a signature, none of the second one does.
bool add_signature(JoinRows* rows, JoinSide* side, const Signature& signature) {
  if (rows->at_second && rows->engine == nullptr) return false;
  if (rows->engine == nullptr) rows->engine = make_join_engine(rows, rows->context, rows->shape);
  note_number(rows, side);
  ++side->engine_rows;
  bool may_match;
  call_core([&] { may_match = rows->engine->object->add_value(signature); });
  return may_match;
}

// True if codes of this length are all within the bound.
bool reaches_all(const JoinRows* rows) {
  const JoinSearch& search = rows->search;
  return rows->kind == Kind::bits && !rows->no_pair &&
         !(info(search.measure).engine_bound(*search.bound, rows->shape.code_bits) > 0);
}

// True if a row with this value may match, or raise an error.
bool keep_value(JoinRows* rows, JoinSide* side, Datum value) {
  if (rows->every_pair) return true;
  Signature signature;
  read_signature_quietly(rows->kind, value, &signature);
  rows->every_pair = !fits_shape(&rows->shape, signature) || reaches_all(rows);
  if (rows->every_pair) return true;
  return signature.is_empty || rows->no_pair || add_signature(rows, side, signature);
}

void add_kept_row(JoinRows* rows, JoinSide* side, TupleTableSlot* slot, bool may_match) {
  ++side->read;
  if (may_match || side->keeps_all) add_tuple(side->tuples, slot, tuple_limit(rows, side));
}

}  // namespace

JoinRows* begin_join_rows(MemoryContext context, const JoinSearch& search) {
  auto* rows = static_cast<JoinRows*>(MemoryContextAllocZero(context, sizeof(JoinRows)));
  rows->context = context;
  rows->search = search;
  rows->kind = measure_kind(search.measure);
  set_bound(rows);
  rows->outer.keeps_all = search.type == JOIN_LEFT || search.type == JOIN_ANTI;
  for (JoinSide* side : {&rows->outer, &rows->inner}) side->tuples = make_tuples(context);
  if (search.is_grouped) make_group_bits(rows);
  return rows;
}

void end_join_rows(JoinRows* rows) {
  if (rows->engine != nullptr) destroy_owned(rows->engine);
  if (rows->pairs != nullptr) destroy_owned(rows->pairs);
  for (JoinSide* side : {&rows->outer, &rows->inner}) {
    if (side->groups != nullptr) destroy_owned(side->groups);
    free_tuples(side->tuples);
  }
}

JoinSide* inner_side(JoinRows* rows) { return rows->search.is_self ? &rows->outer : &rows->inner; }

void add_join_row(JoinRows* rows, JoinSide* side, TupleTableSlot* slot, const Datum* value) {
  const bool may_match = value != nullptr && keep_value(rows, side, *value);
  add_kept_row(rows, side, slot, may_match);
}

void add_grouped_row(JoinRows* rows, JoinSide* side, TupleTableSlot* slot, const uint32* group) {
  const bool may_match = group != nullptr && (!rows->at_second || rows->first_groups.has(*group));
  if (may_match) {
    if (!rows->at_second) rows->first_groups.add(*group);
    if (side->groups == nullptr) side->groups = make_collector(rows, kGroupShare);
    call_core([&] { side->groups->object->add({*group, static_cast<uint32>(side->tuples->count), 0}); });
  }
  add_kept_row(rows, side, slot, may_match);
}

void start_second_side(JoinRows* rows) {
  rows->at_second = true;
  if (rows->engine != nullptr) call_core([&] { rows->engine->object->start_set_b(); });
}

Owned<PairSearch>* make_join_engine(const JoinRows* rows, MemoryContext context, SignatureShape shape) {
  shape.measure = rows->search.measure;
  const unsigned threads = search_threads();
  const double least = info(rows->search.measure).engine_bound(*rows->search.bound, shape.code_bits);
  const bool swapped = rows->search.inner_first && !rows->search.is_grouped;
  const size_t memory = share_of_memory(kEngineShare);
  return make_owned<PairSearch>(context, [&](PgStop* stop, PgTempFiles* files) {
    stop->be_quiet();
    return make_pair_search(shape, least,
                            {.memory_limit = memory,
                             .files = files,
                             .stop = stop,
                             .threads = threads,
                             .identical = Identical::all,
                             .swapped = swapped});
  });
}

Owned<PairCollector>* make_pair_collector(const JoinRows* rows) { return make_collector(rows, kPairShare); }

MinimalTuple outer_tuple(JoinRows* rows, uint64 row) { return tuple_at(rows->outer.tuples, row, &rows->outer_buffer); }

MinimalTuple inner_tuple(JoinRows* rows, uint64 row) {
  return tuple_at(inner_side(rows)->tuples, row, &rows->inner_buffer);
}

}  // namespace neardup
