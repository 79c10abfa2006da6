// all_pairs() and pairs_between(): verified pairs of a query's rows.
#include "core/pair_search.h"

#include "pg/context.h"
#include "pg/guc.h"
#include "pg/query_source.h"
#include "pg/stages.h"
#include "pg/values.h"

namespace {

using namespace neardup;

// The engine, made when the first signature tells the shape, and what is needed to name its rows again.
struct PairRun {
  Owned<PairSearch>* engine;
  SignatureShape shape;
  double threshold;
  Identical identical;
  Stages stages;
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
    if (run->engine == nullptr && side->source.shape.known) {
      run->shape = side->source.shape;
      const unsigned threads = search_threads();
      run->engine = make_owned<PairSearch>(context, [&](PgStop* stop, PgTempFiles* files) {
        return make_pair_search(run->shape, run->threshold, {engine_memory(), files, stop, threads, run->identical});
      });
    }
    for (int i = 0; i < n; ++i) {
      const bool searched = !rows[i].is_null && !rows[i].signature.empty;
      if (!searched && side->row_of == nullptr) {
        // The first row without a signature: from here on engine rows and query rows differ.
        side->capacity = Max(side->engine_rows, static_cast<uint64>(kFetch)) + kFetch;
        side->row_of = static_cast<uint32*>(MemoryContextAllocHuge(context, side->capacity * sizeof(uint32)));
        for (uint64 r = 0; r < side->engine_rows; ++r) side->row_of[r] = static_cast<uint32>(r);
      }
      if (!searched) continue;
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
        if (!rows[i].is_null && !rows[i].signature.empty) add_row(run->engine->object, rows[i].signature);
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
  auto* pairs = static_cast<RowPair*>(palloc(kBatch * sizeof(RowPair)));
  MemoryContext copies = AllocSetContextCreate(CurrentMemoryContext, "neardup pair", ALLOCSET_SMALL_SIZES);
  for (;;) {
    size_t n = 0;
    call_core([&] { n = run->engine->object->next(pairs, kBatch); });
    if (n == 0) break;
    for (size_t i = 0; i < n; ++i) {
      const RowPair& p = pairs[i];
      Datum a = id_at(ids_a, p.a);
      if (ids_a == ids_b && ids_a->file != nullptr) {
        MemoryContextReset(copies);
        MemoryContext old = MemoryContextSwitchTo(copies);
        a = datumCopy(a, ids_a->by_value, ids_a->length);
        MemoryContextSwitchTo(old);
      }
      const Datum values[3] = {a, id_at(ids_b, p.b),
                               Float8GetDatum(similarity_of(run->shape, p.value))};
      const bool nulls[3] = {};
      tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, const_cast<Datum*>(values), const_cast<bool*>(nulls));
    }
    CHECK_FOR_INTERRUPTS();
  }
  end_stage(&run->stages, "pairs returned");
  // A star of one set shows all its rows.
  const bool star = ids_a == ids_b && run->identical == Identical::star;
  const uint64 left_out = star ? 0 : run->engine->object->stats().left_out;
  destroy_owned(run->engine);
  if (left_out > 0)
    ereport(NOTICE, (errmsg("identical => '%s' left out " UINT64_FORMAT " rows or pairs with equal signatures",
                            run->identical == Identical::star ? "star" : "none", left_out)));
}

Identical parse_identical(Datum value) {
  const text* name = DatumGetTextPP(value);
  const char* data = VARDATA_ANY(name);
  const size_t size = VARSIZE_ANY_EXHDR(name);
  if (size == 3 && memcmp(data, "all", 3) == 0) return Identical::all;
  if (size == 4 && memcmp(data, "star", 4) == 0) return Identical::star;
  if (size == 4 && memcmp(data, "none", 4) == 0) return Identical::none;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("identical must be 'all', 'star' or 'none': \"%s\"", text_to_cstring(name))));
  pg_unreachable();
}

void end_search(Stages* stages, Owned<PairSearch>* engine) {
  if (engine == nullptr) {
    end_stage(stages, "pairs found");
    return;
  }
  const SearchStats& s = engine->object->stats();
  end_stage(stages, "pairs found",
            psprintf(UINT64_FORMAT " distinct of " UINT64_FORMAT " signatures, " UINT64_FORMAT " pairs looked at, "
                     UINT64_FORMAT " compared, " UINT64_FORMAT " found, %zu MB in memory, " UINT64_FORMAT " MB on disk",
                     s.distinct, s.rows, s.looked, s.compared, s.found, s.peak_bytes >> 20, s.spilled_bytes >> 20));
}

}  // namespace

extern "C" {

// all_pairs([id anyelement,] query text, threshold float8, identical text)
PG_FUNCTION_INFO_V1(neardup_all_pairs);
Datum neardup_all_pairs(PG_FUNCTION_ARGS) {
  const bool witness = PG_NARGS() == 4;
  text* query = DatumGetTextPP(argument(fcinfo, witness, "query"));
  PairRun run = {};
  run.threshold = DatumGetFloat8(argument(fcinfo, witness + 1, "threshold"));
  run.identical = parse_identical(argument(fcinfo, witness + 2, "identical"));
  check_threshold(run.threshold);
  InitMaterializedSRF(fcinfo, 0);
  auto* rsinfo = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);

  SPI_connect();
  begin_stages(&run.stages);
  Side side = {};
  open_source(&side.source, "query", query, id_type_of(fcinfo, witness), signature_types_of(fcinfo));
  add_rows(&run, &side);
  const uint32* rank = engine_rank(&side);
  end_stage(&run.stages, "rows read");
  if (run.engine != nullptr) call_core([&] { run.engine->object->run(rank, nullptr); });
  end_search(&run.stages, run.engine);
  emit(rsinfo, &run, side.source.ids, side.source.ids);
  free_ids(side.source.ids);
  SPI_finish();
  return static_cast<Datum>(0);
}

// pairs_between([id anyelement,] query_a text, query_b text, threshold float8, identical text)
PG_FUNCTION_INFO_V1(neardup_pairs_between);
Datum neardup_pairs_between(PG_FUNCTION_ARGS) {
  const bool witness = PG_NARGS() == 5;
  text* query_a = DatumGetTextPP(argument(fcinfo, witness, "query_a"));
  text* query_b = DatumGetTextPP(argument(fcinfo, witness + 1, "query_b"));
  PairRun run = {};
  run.threshold = DatumGetFloat8(argument(fcinfo, witness + 2, "threshold"));
  run.identical = parse_identical(argument(fcinfo, witness + 3, "identical"));
  check_threshold(run.threshold);
  InitMaterializedSRF(fcinfo, 0);
  auto* rsinfo = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const Oid id_type = id_type_of(fcinfo, witness);
  const SignatureTypes types = signature_types_of(fcinfo);

  SPI_connect();
  begin_stages(&run.stages);
  Side a = {};
  Side b = {};
  open_source(&a.source, "query_a", query_a, id_type, types);
  add_rows(&run, &a);
  if (run.engine != nullptr) call_core([&] { run.engine->object->start_set_b(); });
  // Without a signature in A there is no pair; B is read all the same, so that its errors are seen.
  const bool any_a = run.engine != nullptr;
  open_source(&b.source, "query_b", query_b, id_type, types, a.source.shape);
  add_rows(&run, &b);
  const uint32* rank_a = engine_rank(&a);
  const uint32* rank_b = engine_rank(&b);
  end_stage(&run.stages, "rows read");
  if (any_a) {
    call_core([&] { run.engine->object->run(rank_a, rank_b); });
    end_search(&run.stages, run.engine);
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
