// The window functions cluster_anchor() and cluster_connected(): clusters of the rows of a partition.
#include "core/base/message_text.h"
#include "pg/pairs/cluster_run.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// Rows are numbered below 2^31.
constexpr int64 kMaxWindowRows = static_cast<int64>(1) << 31;
constexpr uint32 kNoSignature = PG_UINT32_MAX;

// The memory of rows that were read is freed after so many of them, or so many bytes.
constexpr int64 kRowsHeld = 256;
constexpr Size kBytesHeld = 1024 * 1024;

// The kind of the window function's first argument.
Kind argument_type(FunctionCallInfo fcinfo) {
  const SignatureTypes types = function_signature_types(fcinfo);
  const Oid type = getBaseType(get_fn_expr_argtype(fcinfo->flinfo, 0));
  for (int i = 0; i < static_cast<int>(kKinds); ++i) {
    if (types.oid[i] == type) return static_cast<Kind>(i);
  }
  elog(ERROR, "no signature: %s", format_type_be(type));
  pg_unreachable();
}

// Partition-local state of a window function.
struct WindowState {
  bool ready;
  double threshold;
  uint32* representative;  // by row, kNoSignature for NULL; null when the partition has no signature
  // The ids of rows that represent others, by row, in the form with ids; null in the form without.
  NullableDatum* ids;
};

// The argument of the form that returns ids.
constexpr int kIdArgument = 2;
bool returns_ids(FunctionCallInfo fcinfo) { return PG_NARGS() > kIdArgument; }

// Reads the partition's signatures into the run, and notes which rows have one. The clusterer lives in `partition`.
void read_partition(WindowObject window, Kind type, int64 rows, MemoryContext partition, ClusterRun* run,
                    bool* is_signed) {
  SignatureShape shape = {};
  MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "neardup window row", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(row_context);
  for (int64 i = 0; i < rows; ++i) {
    bool is_null;
    bool outside;
    const Datum value =
        WinGetFuncArgInPartition(window, 0, static_cast<int>(i), WINDOW_SEEK_HEAD, false, &is_null, &outside);
    is_signed[i] = !is_null;
    if (is_null) {
      run->add_alone();
    } else {
      Signature signature;
      read_signature(type, value, &signature);
      if (!fits_shape(&shape, signature))
        refuse_shape(shape, signature, psprintf("row " INT64_FORMAT " of the partition", i + 1));
      if (run->clusterer == nullptr) run->start(partition, shape);
      run->add(signature);
    }
    if (i % kRowsHeld == kRowsHeld - 1 || MemoryContextMemAllocated(row_context, false) > kBytesHeld) {
      MemoryContextReset(row_context);
      CHECK_FOR_INTERRUPTS();
    }
  }
  MemoryContextSwitchTo(old);
  MemoryContextDelete(row_context);
}

// The first call of a partition: finds the clusters of all its rows.
void cluster_partition(FunctionCallInfo fcinfo, WindowObject window, Linkage linkage, double threshold,
                       WindowState* state) {
  ClusterRun run = {};
  run.linkage = linkage;
  run.threshold = threshold;
  run.memory = get_hash_memory_limit();
  const Kind type = argument_type(fcinfo);
  check_threshold(threshold, type == Kind::simhash);
  const int64 rows = WinGetPartitionRowCount(window);
  if (rows > kMaxWindowRows)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("more than %u rows in one partition", 1u << 31)));
  // The state's own context lives as long as the partition.
  MemoryContext partition = GetMemoryChunkContext(state);
  // An argument may be an expensive expression: it is evaluated once a row, here.
  auto* is_signed = static_cast<bool*>(
      MemoryContextAllocExtended(CurrentMemoryContext, static_cast<Size>(rows) + 1, MCXT_ALLOC_HUGE));
  read_partition(window, type, rows, partition, &run, is_signed);
  if (run.clusterer != nullptr) {
    run.run();
    const Size size = static_cast<Size>(rows) * sizeof(uint32);
    state->representative = static_cast<uint32*>(MemoryContextAllocHuge(partition, size));
    memcpy(state->representative, run.clusterer->object->representative().data(), size);
    destroy_owned(run.clusterer);
    for (int64 i = 0; i < rows; ++i)
      if (!is_signed[i]) state->representative[i] = kNoSignature;
  }
  pfree(is_signed);
  state->threshold = threshold;
  state->ready = true;
}

// Warns once a call of the query: without an order, any row may represent others.
void warn_without_order(FunctionCallInfo fcinfo, WindowObject window) {
  if (fcinfo->flinfo->fn_extra != nullptr) return;
  const int64 rows = WinGetPartitionRowCount(window);
  if (rows < 2 || !WinRowsArePeers(window, 0, rows - 1)) return;
  static bool warned = true;
  fcinfo->flinfo->fn_extra = &warned;
  ereport(WARNING, (errmsg("the window of %s() has no order, so any row of a cluster may represent it",
                           get_func_name(fcinfo->flinfo->fn_oid)),
                    errhint("Give one, as in OVER (ORDER BY published, id).")));
}

// The ids of rows that represent others, in the order of rows: so each is sought from the one before it.
void read_ids(FunctionCallInfo fcinfo, WindowObject window, WindowState* state) {
  MemoryContext partition = GetMemoryChunkContext(state);
  const int64 rows = WinGetPartitionRowCount(window);
  state->ids = static_cast<NullableDatum*>(MemoryContextAllocExtended(
      partition, static_cast<Size>(rows) * sizeof(NullableDatum), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  bool* is_read = static_cast<bool*>(palloc_extended(static_cast<Size>(rows), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  for (int64 i = 0; i < rows; ++i) {
    const uint32 first = state->representative[i];
    if (first != kNoSignature && first != static_cast<uint64>(i)) is_read[first] = true;
  }
  int16 length;
  bool by_value;
  get_typlenbyval(get_fn_expr_argtype(fcinfo->flinfo, kIdArgument), &length, &by_value);
  MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "neardup window id", ALLOCSET_DEFAULT_SIZES);
  for (int64 i = 0; i < rows; ++i) {
    if (!is_read[i]) continue;
    CHECK_FOR_INTERRUPTS();
    MemoryContextReset(row_context);
    MemoryContext old = MemoryContextSwitchTo(row_context);
    bool outside;
    NullableDatum* id = &state->ids[i];
    id->value = WinGetFuncArgInPartition(window, kIdArgument, static_cast<int>(i), WINDOW_SEEK_HEAD, false, &id->isnull,
                                         &outside);
    MemoryContextSwitchTo(partition);
    if (!id->isnull) id->value = datumCopy(id->value, by_value, length);
    MemoryContextSwitchTo(old);
  }
  MemoryContextDelete(row_context);
  pfree(is_read);
}

// The number or the id of the row that represents this one.
Datum representative_id(FunctionCallInfo fcinfo, WindowObject window, const WindowState& state, int64 position) {
  const uint32 first = state.representative[position];
  if (state.ids == nullptr) PG_RETURN_INT64(static_cast<int64>(first) + 1);
  NullableDatum id = state.ids[first];
  if (first == static_cast<uint64>(position)) id.value = WinGetFuncArgCurrent(window, kIdArgument, &id.isnull);
  if (id.isnull) PG_RETURN_NULL();
  return id.value;
}

Datum cluster_window(FunctionCallInfo fcinfo, Linkage linkage) {
  WindowObject window = PG_WINDOW_OBJECT();
  auto* state = static_cast<WindowState*>(WinGetPartitionLocalMemory(window, sizeof(WindowState)));
  bool is_null;
  const Datum now = WinGetFuncArgCurrent(window, 1, &is_null);
  if (is_null) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("threshold must not be NULL")));
  const double threshold = DatumGetFloat8(now);
  if (!state->ready) {
    warn_without_order(fcinfo, window);
    cluster_partition(fcinfo, window, linkage, threshold, state);
    if (returns_ids(fcinfo) && state->representative != nullptr) read_ids(fcinfo, window, state);
  }
  if (threshold != state->threshold)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("threshold must be the same in all rows of a partition: %s and %s",
                           shown(state->threshold).text, shown(threshold).text)));
  const int64 position = WinGetCurrentPosition(window);
  if (state->representative == nullptr || state->representative[position] == kNoSignature) PG_RETURN_NULL();
  return representative_id(fcinfo, window, *state, position);
}

}  // namespace

SQL_FUNCTION(neardup_cluster_anchor) { return cluster_window(fcinfo, Linkage::anchor); }

SQL_FUNCTION(neardup_cluster_connected) { return cluster_window(fcinfo, Linkage::connected); }
