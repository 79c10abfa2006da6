// all_pairs() and pairs_between(): verified pairs of a query's rows.
#include "core/pairs.h"
#include "core/minhash.h"

#include "pg/context.h"
#include "pg/query_source.h"
#include "pg/values.h"

namespace {

using namespace neardup;

// The engine, made when the first signature tells the shape, and what is needed to name its rows again.
struct PairRun {
  Owned<PairEngine>* engine;
  MinhashParams params;
  double threshold;
};

struct Side {
  RowSource source;
  uint32* row_of;      // engine row -> row of the query; null while every row has gone to the engine
  uint64 engine_rows;
  uint64 capacity;
};

void add_rows(PairRun* run, Side* side) {
  auto* rows = static_cast<SourceRow*>(palloc(kFetch * sizeof(SourceRow)));
  const MemoryContext context = side->source.context;
  for (;;) {
    const uint64 before = side->source.ids->count;
    int n;
    fetch_rows(&side->source, rows, &n);
    if (n == 0) break;
    if (run->engine == nullptr && side->source.has_params) {
      run->params = side->source.params;
      const uint32_t need = min_matches(run->threshold, false, run->params.num_perm, run->params.bits);
      run->engine = make_owned<PairEngine>(context, [&](PgStop* stop, PgTempFiles* files) {
        return new PairEngine(run->params.num_perm, run->params.bits, need, {engine_memory(), files, stop});
      });
    }
    for (int i = 0; i < n; ++i) {
      if (rows[i].components == nullptr && side->row_of == nullptr) {
        // The first row without a signature: from here on engine rows and query rows differ.
        side->capacity = Max(side->engine_rows, static_cast<uint64>(kFetch)) + kFetch;
        side->row_of = static_cast<uint32*>(MemoryContextAllocHuge(context, side->capacity * sizeof(uint32)));
        for (uint64 r = 0; r < side->engine_rows; ++r) side->row_of[r] = static_cast<uint32>(r);
      }
      if (rows[i].components == nullptr) continue;
      if (side->row_of != nullptr) {
        if (side->engine_rows >= side->capacity) {
          side->capacity *= 2;
          side->row_of = static_cast<uint32*>(repalloc_huge(side->row_of, side->capacity * sizeof(uint32)));
        }
        side->row_of[side->engine_rows] = static_cast<uint32>(before + static_cast<uint64>(i));
      }
      ++side->engine_rows;
    }
    call_core([&] {
      for (int i = 0; i < n; ++i)
        if (rows[i].components != nullptr) run->engine->object->add(rows[i].components);
    });
  }
  close_source(&side->source);
  pfree(rows);
}

// Engine row -> position of its id among the sorted ids; null when that is the identity.
const uint32* engine_rank(Side* side) {
  const uint32* rank = rank_rows(&side->source);
  if (side->row_of == nullptr) return rank;
  if (rank != nullptr)
    for (uint64 r = 0; r < side->engine_rows; ++r) side->row_of[r] = rank[side->row_of[r]];
  return side->row_of;
}

void emit(ReturnSetInfo* rsinfo, PairRun* run, IdStore* ids_a, IdStore* ids_b) {
  if (run->engine == nullptr) return;
  constexpr size_t kBatch = 1024;
  auto* pairs = static_cast<MatchPair*>(palloc(kBatch * sizeof(MatchPair)));
  MemoryContext copies = AllocSetContextCreate(CurrentMemoryContext, "neardup pair", ALLOCSET_SMALL_SIZES);
  for (;;) {
    size_t n = 0;
    call_core([&] { n = run->engine->object->next(pairs, kBatch); });
    if (n == 0) break;
    for (size_t i = 0; i < n; ++i) {
      const MatchPair& p = pairs[i];
      Datum a = id_at(ids_a, p.a);
      if (ids_a == ids_b && ids_a->file != nullptr) {
        MemoryContextReset(copies);
        MemoryContext old = MemoryContextSwitchTo(copies);
        a = datumCopy(a, ids_a->by_value, ids_a->length);
        MemoryContextSwitchTo(old);
      }
      const Datum values[3] = {a, id_at(ids_b, p.b),
                               Float8GetDatum(estimate_jaccard(p.matches, run->params.num_perm, run->params.bits))};
      const bool nulls[3] = {};
      tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, const_cast<Datum*>(values), const_cast<bool*>(nulls));
    }
    CHECK_FOR_INTERRUPTS();
  }
  destroy_owned(run->engine);
}

Datum argument(FunctionCallInfo fcinfo, int n, const char* name) {
  if (PG_ARGISNULL(n))
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be NULL", name)));
  return PG_GETARG_DATUM(n);
}

}  // namespace

extern "C" {

// all_pairs([id anyelement,] query text, threshold float8)
PG_FUNCTION_INFO_V1(neardup_all_pairs);
Datum neardup_all_pairs(PG_FUNCTION_ARGS) {
  const bool witness = PG_NARGS() == 3;
  text* query = DatumGetTextPP(argument(fcinfo, witness, "query"));
  PairRun run = {};
  run.threshold = DatumGetFloat8(argument(fcinfo, witness + 1, "threshold"));
  check_threshold(run.threshold);
  InitMaterializedSRF(fcinfo, 0);
  auto* rsinfo = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);

  SPI_connect();
  Side side = {};
  open_source(&side.source, "query", query, id_type_of(fcinfo, witness), minhash_type_of(fcinfo));
  add_rows(&run, &side);
  const uint32* rank = engine_rank(&side);
  if (run.engine != nullptr) call_core([&] { run.engine->object->run(rank); });
  emit(rsinfo, &run, side.source.ids, side.source.ids);
  free_ids(side.source.ids);
  SPI_finish();
  return static_cast<Datum>(0);
}

// pairs_between([id anyelement,] query_a text, query_b text, threshold float8)
PG_FUNCTION_INFO_V1(neardup_pairs_between);
Datum neardup_pairs_between(PG_FUNCTION_ARGS) {
  const bool witness = PG_NARGS() == 4;
  text* query_a = DatumGetTextPP(argument(fcinfo, witness, "query_a"));
  text* query_b = DatumGetTextPP(argument(fcinfo, witness + 1, "query_b"));
  PairRun run = {};
  run.threshold = DatumGetFloat8(argument(fcinfo, witness + 2, "threshold"));
  check_threshold(run.threshold);
  InitMaterializedSRF(fcinfo, 0);
  auto* rsinfo = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const Oid id_type = id_type_of(fcinfo, witness);
  const Oid type = minhash_type_of(fcinfo);

  SPI_connect();
  Side a = {};
  Side b = {};
  open_source(&a.source, "query_a", query_a, id_type, type);
  add_rows(&run, &a);
  if (run.engine != nullptr) call_core([&] { run.engine->object->start_set_b(); });
  open_source(&b.source, "query_b", query_b, id_type, type);
  // Without a signature in A there is no pair; B is read all the same, so that its errors are seen.
  const bool any_a = run.engine != nullptr;
  if (any_a) {
    b.source.params = a.source.params;
    b.source.has_params = true;
  }
  add_rows(&run, &b);
  const uint32* rank_a = engine_rank(&a);
  const uint32* rank_b = engine_rank(&b);
  if (any_a) {
    call_core([&] { run.engine->object->run(rank_a, rank_b); });
    emit(rsinfo, &run, a.source.ids, b.source.ids);
  } else if (run.engine != nullptr) {
    destroy_owned(run.engine);
  }
  free_ids(a.source.ids);
  free_ids(b.source.ids);
  SPI_finish();
  return static_cast<Datum>(0);
}

}  // extern "C"
