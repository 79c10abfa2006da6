// all_clusters(), and the window functions cluster_anchor() and cluster_connected().
#include "core/cluster.h"

#include "pg/context.h"
#include "pg/guc.h"
#include "pg/query_source.h"
#include "pg/stages.h"
#include "pg/values.h"

namespace {

using namespace neardup;

// The clusterer, made when the first signature tells the shape; rows before it are counted and added then.
struct ClusterRun {
  Owned<Clusterer>* clusterer;
  SignatureShape shape;
  Linkage linkage;
  double threshold;
  size_t memory;
  uint64 rows;
};

void start_clusterer(ClusterRun* run, MemoryContext context, const SignatureShape& shape) {
  run->shape = shape;
  const unsigned threads = search_threads();
  run->clusterer = make_owned<Clusterer>(context, [&](PgStop* stop, PgTempFiles* files) {
    return make_clusterer(run->shape, run->linkage, run->threshold, {run->memory, files, stop, threads});
  });
  call_core([&] {
    for (uint64 i = 0; i < run->rows; ++i) run->clusterer->object->add_alone();
  });
}

Linkage parse_linkage(const text* name) {
  const char* data = VARDATA_ANY(name);
  const size_t size = VARSIZE_ANY_EXHDR(name);
  if (size == 6 && memcmp(data, "anchor", 6) == 0) return Linkage::anchor;
  if (size == 9 && memcmp(data, "connected", 9) == 0) return Linkage::connected;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("unknown linkage \"%s\"", text_to_cstring(name)),
                  errhint("Linkages are 'anchor' and 'connected'.")));
  pg_unreachable();
}

// Rows are numbered below 2^31.
constexpr uint32 kNoSignature = PG_UINT32_MAX;

// Of the window function's first argument.
SignatureType argument_type(FunctionCallInfo fcinfo) {
  const SignatureTypes types = signature_types_of(fcinfo);
  const Oid type = getBaseType(get_fn_expr_argtype(fcinfo->flinfo, 0));
  for (int i = 0; i < kSignatureTypes; ++i) {
    if (types.oid[i] == type) return static_cast<SignatureType>(i);
  }
  elog(ERROR, "no signature: %s", format_type_be(type));
  pg_unreachable();
}

// Partition-local state of a window function.
struct WindowState {
  bool ready;
  double threshold;
  uint32* representative;  // by row, kNoSignature for NULL; null when the partition has no signature
};

Datum cluster_window(FunctionCallInfo fcinfo, Linkage linkage) {
  WindowObject window = PG_WINDOW_OBJECT();
  auto* state = static_cast<WindowState*>(WinGetPartitionLocalMemory(window, sizeof(WindowState)));
  bool is_null;
  const Datum threshold_now = WinGetFuncArgCurrent(window, 1, &is_null);
  if (is_null) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("threshold must not be NULL")));
  if (!state->ready) {
    ClusterRun run = {};
    run.linkage = linkage;
    run.threshold = DatumGetFloat8(threshold_now);
    run.memory = get_hash_memory_limit();
    check_threshold(run.threshold);
    const SignatureType type = argument_type(fcinfo);
    SignatureShape shape = {};
    const int64 total = WinGetPartitionRowCount(window);
    if (total > (static_cast<int64>(1) << 31))
      ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("more than %u rows in one partition", 1u << 31)));
    // The state's own context lives as long as the partition.
    MemoryContext partition = GetMemoryChunkContext(state);
    // An argument may be an expensive expression: it is evaluated once a row, here.
    auto* is_signed = static_cast<bool*>(
        MemoryContextAllocExtended(CurrentMemoryContext, static_cast<Size>(total) + 1, MCXT_ALLOC_HUGE));
    MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "neardup window row", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(row_context);
    for (int64 i = 0; i < total; ++i) {
      bool outside;
      const Datum value =
          WinGetFuncArgInPartition(window, 0, static_cast<int>(i), WINDOW_SEEK_HEAD, false, &is_null, &outside);
      is_signed[i] = !is_null;
      if (is_null) {
        if (run.clusterer != nullptr) call_core([&] { run.clusterer->object->add_alone(); });
      } else {
        Signature signature;
        read_signature(type, value, &signature);
        if (!fits_shape(&shape, signature))
          refuse_shape(shape, signature, psprintf("row " INT64_FORMAT " of the partition", i + 1));
        if (run.clusterer == nullptr) start_clusterer(&run, partition, shape);
        call_core([&] { add_row(run.clusterer->object, signature); });
      }
      ++run.rows;
      if (i % 256 == 255) {
        MemoryContextReset(row_context);
        CHECK_FOR_INTERRUPTS();
      }
    }
    MemoryContextSwitchTo(old);
    MemoryContextDelete(row_context);
    if (run.clusterer != nullptr) {
      call_core([&] { run.clusterer->object->run(); });
      state->representative =
          static_cast<uint32*>(MemoryContextAllocHuge(partition, static_cast<Size>(total) * sizeof(uint32)));
      memcpy(state->representative, run.clusterer->object->representative().data(),
             static_cast<Size>(total) * sizeof(uint32));
      destroy_owned(run.clusterer);
      for (int64 i = 0; i < total; ++i)
        if (!is_signed[i]) state->representative[i] = kNoSignature;
    }
    pfree(is_signed);
    state->threshold = run.threshold;
    state->ready = true;
  }
  if (DatumGetFloat8(threshold_now) != state->threshold)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("threshold must be the same in all rows of a partition: %g and %g", state->threshold,
                           DatumGetFloat8(threshold_now))));
  const int64 position = WinGetCurrentPosition(window);
  if (state->representative == nullptr || state->representative[position] == kNoSignature) PG_RETURN_NULL();
  PG_RETURN_INT64(static_cast<int64>(state->representative[position]) + 1);
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(neardup_cluster_anchor);
Datum neardup_cluster_anchor(PG_FUNCTION_ARGS) { return cluster_window(fcinfo, Linkage::anchor); }

PG_FUNCTION_INFO_V1(neardup_cluster_connected);
Datum neardup_cluster_connected(PG_FUNCTION_ARGS) { return cluster_window(fcinfo, Linkage::connected); }

// all_clusters([id anyelement,] query text, threshold float8, linkage text)
PG_FUNCTION_INFO_V1(neardup_all_clusters);
Datum neardup_all_clusters(PG_FUNCTION_ARGS) {
  const bool witness = PG_NARGS() == 4;
  text* query = DatumGetTextPP(argument(fcinfo, witness, "query"));
  ClusterRun run = {};
  run.threshold = DatumGetFloat8(argument(fcinfo, witness + 1, "threshold"));
  run.linkage = parse_linkage(DatumGetTextPP(argument(fcinfo, witness + 2, "linkage")));
  run.memory = engine_memory();
  check_threshold(run.threshold);
  InitMaterializedSRF(fcinfo, 0);
  auto* rsinfo = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);

  SPI_connect();
  MemoryContext context = CurrentMemoryContext;
  RowSource source;
  Stages stages;
  begin_stages(&stages);
  open_source(&source, "query", query, id_type_of(fcinfo, witness), signature_types_of(fcinfo));
  auto* rows = static_cast<SourceRow*>(palloc(kFetch * sizeof(SourceRow)));
  // Which rows have no signature at all: one bit a row.
  uint64 null_capacity = 8192;
  auto* null_bits = static_cast<uint8*>(palloc0(null_capacity / 8));
  for (;;) {
    int n;
    fetch_rows(&source, rows, &n);
    if (n == 0) break;
    if (run.clusterer == nullptr && source.shape.known) start_clusterer(&run, context, source.shape);
    if (run.rows + static_cast<uint64>(n) > null_capacity) {
      null_bits = static_cast<uint8*>(repalloc_huge(null_bits, null_capacity / 4));
      memset(null_bits + null_capacity / 8, 0, null_capacity / 8);
      null_capacity *= 2;
    }
    for (int i = 0; i < n; ++i) {
      const uint64 row = run.rows + static_cast<uint64>(i);
      if (rows[i].is_null) null_bits[row / 8] |= static_cast<uint8>(1u << (row % 8));
    }
    if (run.clusterer != nullptr)
      call_core([&] {
        for (int i = 0; i < n; ++i) {
          if (rows[i].is_null)
            run.clusterer->object->add_alone();
          else
            add_row(run.clusterer->object, rows[i].signature);
        }
      });
    run.rows += static_cast<uint64>(n);
  }
  close_source(&source);
  check_unique(&source);
  end_stage(&stages, "rows read");

  const uint32_t* representative = nullptr;
  const uint32_t* values_of = nullptr;
  uint32* size_of = nullptr;
  if (run.clusterer != nullptr) {
    call_core([&] { run.clusterer->object->run(); });
    representative = run.clusterer->object->representative().data();
    values_of = run.clusterer->object->values().data();
    end_stage(&stages, "clusters found");
    size_of = static_cast<uint32*>(MemoryContextAllocExtended(context, Max(run.rows, static_cast<uint64>(1)) * sizeof(uint32),
                                                              MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
    for (uint64 i = 0; i < run.rows; ++i) ++size_of[representative[i]];
  }
  MemoryContext copies = AllocSetContextCreate(context, "neardup cluster row", ALLOCSET_SMALL_SIZES);
  for (uint64 i = 0; i < run.rows; ++i) {
    const bool unsigned_row = (null_bits[i / 8] >> (i % 8) & 1) != 0;
    Datum id = id_at(source.ids, i);
    Datum values[6] = {id, 0, 0, 0, 0, BoolGetDatum(true)};
    bool nulls[6] = {false, true, true, true, true, false};
    if (!unsigned_row) {
      const uint64 r = representative[i];
      if (r != i && source.ids->file != nullptr) {
        MemoryContextReset(copies);
        MemoryContext old = MemoryContextSwitchTo(copies);
        values[0] = datumCopy(id, source.ids->by_value, source.ids->length);
        MemoryContextSwitchTo(old);
      }
      values[1] = Int64GetDatum(static_cast<int64>(r) + 1);
      values[2] = r == i ? values[0] : id_at(source.ids, r);
      values[3] = Float8GetDatum(r == i ? 1.0 : similarity_of(run.shape, values_of[i]));
      values[4] = Int64GetDatum(static_cast<int64>(size_of[r]));
      values[5] = BoolGetDatum(r == i);
      nulls[1] = nulls[2] = nulls[3] = nulls[4] = false;
    }
    tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
    if (i % 4096 == 0) CHECK_FOR_INTERRUPTS();
  }
  end_stage(&stages, "rows returned");
  if (run.clusterer != nullptr) destroy_owned(run.clusterer);
  free_ids(source.ids);
  SPI_finish();
  return static_cast<Datum>(0);
}

}  // extern "C"
