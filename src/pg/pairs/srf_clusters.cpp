// all_clusters(), and the window functions cluster_anchor() and cluster_connected().
#include <cmath>
#include <limits>

#include "core/pairs/cluster.h"
#include "core/pairs/pair_links.h"

#include "pg/base/context.h"
#include "pg/pairs/copies.h"
#include "pg/base/guc.h"
#include "pg/pairs/pair_call.h"
#include "pg/pairs/pair_groups.h"
#include "pg/base/reserve.h"
#include "pg/values/values.h"

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
      if (i % 256 == 255 || MemoryContextMemAllocated(row_context, false) > 1024 * 1024) {
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
                    errmsg("threshold must be the same in all rows of a partition: %s and %s", shown(state->threshold).text,
                           shown(DatumGetFloat8(threshold_now)).text)));
  const int64 position = WinGetCurrentPosition(window);
  if (state->representative == nullptr || state->representative[position] == kNoSignature) PG_RETURN_NULL();
  PG_RETURN_INT64(static_cast<int64>(state->representative[position]) + 1);
}

// The clusters of a query's rows, by row.
struct RowClusters {
  MemoryContext context;
  Stages stages;
  IdStore* ids;
  uint64 rows;
  uint8* null_bits;        // rows without a signature
  uint64 null_capacity;
  uint32* representative;  // the row itself where it is kept
  double* similarity;      // to it; NaN: not known
};

void note_row(RowClusters* c, bool is_null) {
  if (c->rows == c->null_capacity) {
    const uint64 bytes = c->null_capacity / 8;
    c->null_bits = static_cast<uint8*>(c->null_bits == nullptr ? MemoryContextAlloc(c->context, 1024)
                                                               : repalloc_huge(c->null_bits, 2 * bytes));
    const uint64 more = c->null_capacity == 0 ? 1024 : bytes;
    memset(c->null_bits + bytes, 0, more);
    c->null_capacity += 8 * more;
  }
  if (is_null) c->null_bits[c->rows / 8] |= static_cast<uint8>(1u << (c->rows % 8));
  ++c->rows;
}

// Every row its own, until something is found.
void make_results(RowClusters* c) {
  const Size n = Max(c->rows, static_cast<uint64>(1));
  c->representative = static_cast<uint32*>(MemoryContextAllocHuge(c->context, n * sizeof(uint32)));
  c->similarity = static_cast<double*>(MemoryContextAllocHuge(c->context, n * sizeof(double)));
  for (uint64 i = 0; i < c->rows; ++i) {
    if (i % 65536 == 0) CHECK_FOR_INTERRUPTS();
    c->representative[i] = static_cast<uint32>(i);
    c->similarity[i] = 1;
  }
}

// What the clusterer found, numbers[i] being the row that it had as its i-th; null: the same.
void take_clusters(RowClusters* c, const ClusterRun& run, const uint32* numbers) {
  const Clusterer* found = run.clusterer->object;
  const uint32* representative = found->representative().data();
  const uint32* values = found->values().data();
  for (uint64 i = 0; i < run.rows; ++i) {
    if (i % 65536 == 0) CHECK_FOR_INTERRUPTS();
    const uint64 r = representative[i];
    if (r == i) continue;
    const uint64 row = numbers == nullptr ? i : numbers[i];
    c->representative[row] = numbers == nullptr ? static_cast<uint32>(r) : numbers[r];
    c->similarity[row] = similarity_of(run.shape, values[i]);
  }
}

// Rows as they come: into one clusterer, or sorted by group.
struct ClusterReading {
  RowClusters* clusters;
  ClusterRun run;
  Side side;
  MemoryContext group_context;
  uint32* numbers;  // of the group's rows
  uint64 capacity;
};

void on_cluster_row(void* arg, const SourceRow& row) {
  auto* reading = static_cast<ClusterReading*>(arg);
  ClusterRun* run = &reading->run;
  const uint64 number = reading->clusters->rows;
  note_row(reading->clusters, row.is_null);
  if (number % 1024 == 0) tell_rows_read(number);
  if (reading->side.sort != nullptr) {
    if (!row.alone) sort_row(&reading->side, number, row);
    return;
  }
  if (run->clusterer == nullptr && reading->side.source.shape.known)
    start_clusterer(run, reading->clusters->context, reading->side.source.shape);
  if (run->clusterer != nullptr)
    call_core([&] {
      row.alone ? run->clusterer->object->add_alone() : add_row(run->clusterer->object, row.signature);
    });
  ++run->rows;
}

void begin_group(void* arg) {
  auto* reading = static_cast<ClusterReading*>(arg);
  reading->run.clusterer = nullptr;
  reading->run.rows = 0;
}

void add_to_group(void* arg, uint64 number, const Signature& signature) {
  auto* reading = static_cast<ClusterReading*>(arg);
  ClusterRun* run = &reading->run;
  if (run->clusterer == nullptr) start_clusterer(run, reading->group_context, reading->side.source.shape);
  reserve(reading->clusters->context, &reading->numbers, &reading->capacity, run->rows + 1);
  reading->numbers[run->rows++] = static_cast<uint32>(number);
  call_core([&] { add_row(run->clusterer->object, signature); });
}

void end_group(void* arg) {
  auto* reading = static_cast<ClusterReading*>(arg);
  if (reading->run.rows > 1) {
    call_core([&] { reading->run.clusterer->object->run(); });
    take_clusters(reading->clusters, reading->run, reading->numbers);
  }
  destroy_owned(reading->run.clusterer);
  MemoryContextReset(reading->group_context);
}

void cluster_rows(RowClusters* c, const PairOptions& options, Linkage linkage, text* query, Oid id_type,
                  const SignatureTypes& types) {
  auto* reading = static_cast<ClusterReading*>(palloc0(sizeof(ClusterReading)));
  reading->clusters = c;
  begin_progress(Searching::all_clusters);
  reading->run.linkage = linkage;
  reading->run.threshold = options.threshold;
  reading->run.memory = engine_memory();
  RowSource* source = &reading->side.source;
  SourceWants wants = wants_of(options);
  wants.ordered = true;
  open_source(source, "query", query, id_type, types, wants);
  if (is_grouped(reading->side)) begin_sort(&reading->side);
  read_rows(source, on_cluster_row, reading);
  check_unique(source);
  c->ids = source->ids;
  make_results(c);
  end_stage(&c->stages, "rows read");
  tell_phase(Phase::searching);
  if (reading->side.sort != nullptr) {
    reading->run.memory /= 2;
    reading->group_context = AllocSetContextCreate(c->context, "neardup group", ALLOCSET_DEFAULT_SIZES);
    visit_groups(&reading->side, {begin_group, add_to_group, end_group}, reading);
  } else if (reading->run.clusterer != nullptr) {
    call_core([&] { reading->run.clusterer->object->run(); });
    take_clusters(c, reading->run, nullptr);
    destroy_owned(reading->run.clusterer);
  }
  end_stage(&c->stages, "clusters found");
  tell_phase(Phase::returning);
}

// Every pair into links; similarity[b]: of the latest pair that they took for row b.
template <typename Links>
void link_pairs(PairCall* call, Links* links, double* similarity) {
  call->wants = [](void* arg, const RowPair& pair) { return static_cast<Links*>(arg)->wants(pair); };
  call->wants_arg = links;
  RowPair pair;
  double of_pair;
  while (next_pair(call, &pair, &of_pair))
    if (links->add(pair)) similarity[pair.b] = of_pair;
}

void join_copy(void* arg, const CopiedRow& copy, double similarity) {
  auto* c = static_cast<RowClusters*>(arg);
  c->representative[copy.row] = c->representative[copy.of];
  c->similarity[copy.row] = std::isnan(similarity) ? c->similarity[copy.of] : similarity;
}

// Where pairs have more to fulfil than their signatures tell: by all of them.
void cluster_by_pairs(RowClusters* c, const PairOptions& options, Linkage linkage, text* query, Oid id_type,
                      const SignatureTypes& types) {
  PairCall call = {};
  call.function = Searching::all_clusters;
  call.options = options;
  call.on_null = [](void* arg, bool is_null) { note_row(static_cast<RowClusters*>(arg), is_null); };
  call.on_null_arg = c;
  if (options.verify != Verify::no) call.copies = make_copies(c->context);
  begin_pairs(&call, "query", query, nullptr, id_type, types, false);
  c->ids = call.a.source.ids;
  make_results(c);
  const uint32 rows = static_cast<uint32>(c->rows);
  const LinkedRows* found = nullptr;
  if (linkage == Linkage::anchor) {
    auto* links = make_owned<AnchorLinks>(c->context, [&](PgStop*, PgTempFiles*) { return new AnchorLinks(rows); });
    link_pairs(&call, links->object, c->similarity);
    found = &links->object->rows();
  } else {
    auto* links =
        make_owned<ComponentLinks>(c->context, [&](PgStop*, PgTempFiles*) { return new ComponentLinks(rows); });
    link_pairs(&call, links->object, c->similarity);
    found = &links->object->finish();
  }
  for (uint32 i = 0; i < rows; ++i) {
    const uint32 r = found->representative[i];
    if (r == i) continue;
    c->representative[i] = r;
    if (found->value[i] == kNotNear) c->similarity[i] = std::numeric_limits<double>::quiet_NaN();
  }
  if (call.copies != nullptr) join_copies(call.copies, &call, c->representative, join_copy, c);
  end_pairs(&call);
  tell_phase(Phase::returning);
}

void put_clusters(ReturnSetInfo* rsinfo, RowClusters* c) {
  auto* size_of = static_cast<uint32*>(MemoryContextAllocExtended(
      c->context, Max(c->rows, static_cast<uint64>(1)) * sizeof(uint32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  for (uint64 i = 0; i < c->rows; ++i) {
    if (i % 65536 == 0) CHECK_FOR_INTERRUPTS();
    ++size_of[c->representative[i]];
  }
  MemoryContext copies = AllocSetContextCreate(c->context, "neardup cluster row", ALLOCSET_SMALL_SIZES);
  for (uint64 i = 0; i < c->rows; ++i) {
    const bool is_null = (c->null_bits[i / 8] >> (i % 8) & 1) != 0;
    const uint64 r = c->representative[i];
    const Datum id = r == i ? id_at(c->ids, i) : kept_id(c->ids, i, copies);
    Datum values[6] = {id,
                       Int64GetDatum(static_cast<int64>(r) + 1),
                       r == i ? id : id_at(c->ids, r),
                       Float8GetDatum(c->similarity[i]),
                       Int64GetDatum(static_cast<int64>(size_of[r])),
                       BoolGetDatum(r == i)};
    bool nulls[6] = {false, is_null, is_null, is_null || std::isnan(c->similarity[i]), is_null, false};
    tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
    if (i % 4096 == 0) CHECK_FOR_INTERRUPTS();
  }
  end_stage(&c->stages, "rows returned");
  end_progress();
  free_ids(c->ids);
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(neardup_cluster_anchor);
Datum neardup_cluster_anchor(PG_FUNCTION_ARGS) { return cluster_window(fcinfo, Linkage::anchor); }

PG_FUNCTION_INFO_V1(neardup_cluster_connected);
Datum neardup_cluster_connected(PG_FUNCTION_ARGS) { return cluster_window(fcinfo, Linkage::connected); }

// all_clusters([id anyelement,] query text, threshold float8, linkage text, verify text, verify_threshold float8,
//   at_most_apart interval)
PG_FUNCTION_INFO_V1(neardup_all_clusters);
Datum neardup_all_clusters(PG_FUNCTION_ARGS) {
  const bool witness = PG_NARGS() == 7;
  text* query = DatumGetTextPP(argument(fcinfo, witness, "query"));
  PairOptions options = {};
  options.threshold = DatumGetFloat8(argument(fcinfo, witness + 1, "threshold"));
  const Linkage linkage = parse_linkage(DatumGetTextPP(argument(fcinfo, witness + 2, "linkage")));
  read_options(fcinfo, witness + 3, &options);
  InitMaterializedSRF(fcinfo, 0);
  auto* rsinfo = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);

  SPI_connect();
  RowClusters clusters = {};
  clusters.context = CurrentMemoryContext;
  begin_stages(&clusters.stages);
  const Oid id_type = id_type_of(fcinfo, witness);
  const SignatureTypes types = signature_types_of(fcinfo);
  if (options.verify != Verify::no || options.apart != nullptr) {
    cluster_by_pairs(&clusters, options, linkage, query, id_type, types);
  } else {
    cluster_rows(&clusters, options, linkage, query, id_type, types);
  }
  put_clusters(rsinfo, &clusters);
  SPI_finish();
  return static_cast<Datum>(0);
}

}  // extern "C"
