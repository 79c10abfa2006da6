// Building an index: a scan of the table, alone or by several processes, into sorted chunks, and one merge of those.
#include "core/base/message_text.h"
#include "pg/lsh/write/index_writer.h"
#include "pg/lsh/lsh_callbacks.h"
#include "pg/lsh/write/row_builder.h"
#include "pg/lsh/store/options.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/stored_keys.h"

extern "C" {
#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/instrument.h"
}

namespace neardup {
namespace {

constexpr uint64 kKeyShared = 0x4E4C'5348'0000'0001;
constexpr uint64 kKeyQueryText = 0x4E4C'5348'0000'0002;
constexpr uint64 kKeyWalUsage = 0x4E4C'5348'0000'0003;
constexpr uint64 kKeyBufferUsage = 0x4E4C'5348'0000'0004;

Size shared_size(int participants) {
  return BUFFERALIGN(offsetof(BuildShared, shares) + sizeof(BuildShare) * static_cast<Size>(participants));
}

ParallelTableScanDesc shared_scan(BuildShared* shared) {
  return reinterpret_cast<ParallelTableScanDesc>(reinterpret_cast<char*>(shared) + shared_size(shared->requested));
}

void scan_share(Builder* b, Relation heap, Relation index, bool progress) {
  BuildShared* shared = b->shared;
  b->shares_files = true;
  IndexInfo* info = BuildIndexInfo(index);
  info->ii_Concurrent = shared->start.concurrent;
  TableScanDesc scan = begin_parallel_scan(heap, shared_scan(shared));
  const double heap_rows = table_index_build_scan(heap, index, info, true, progress, build_row, b, scan);
  if (progress) report_phase(kPhaseSort, 0);
  end_rows(b);
  if (b->chunk->object->rows() != 0) spill(b);
  destroy_owned(b->chunk);

  const bool leader = b->number == 0;
  BuildShare share{};
  share.binding = b->binding;
  share.rows = b->rows;
  share.entries = b->entries;
  if (b->writer != nullptr) {
    share.nchunks = b->writer->nchunks();
    share.blocks = b->writer->blocks();
    if (!leader) {
      b->writer->save_chunks();
      export_shared_file(b->file);
      BufFileClose(b->file);
    }
  }
  SpinLockAcquire(&shared->mutex);
  shared->shares[b->number] = share;
  ++shared->ndone;
  shared->heap_rows += heap_rows;
  shared->broken_hot_chain |= info->ii_BrokenHotChain || b->skipped;
  SpinLockRelease(&shared->mutex);
  ConditionVariableSignal(&shared->done);
}

struct ParallelBuild {
  ParallelContext* context;
  BuildShared* shared;
  Snapshot snapshot;
  WalUsage* wal;
  BufferUsage* buffers;
};

void init_shared(BuildShared* shared, Relation heap, Relation index, const BuildStart& start, int participants) {
  memset(shared, 0, shared_size(participants));
  shared->heap = RelationGetRelid(heap);
  shared->index = RelationGetRelid(index);
  shared->start = start;
  shared->requested = participants;
  shared->query_id = pgstat_get_my_query_id();
  shared->binding = shared->confirmed = start.bound;
  shared->config = start.config;
  ConditionVariableInit(&shared->done);
  SpinLockInit(&shared->mutex);
}

void end_parallel(ParallelBuild* build) {
  WaitForParallelWorkersToFinish(build->context);
  for (int i = 0; i < build->context->nworkers_launched; ++i)
    InstrAccumParallelQuery(&build->buffers[i], &build->wal[i]);
  if (IsMVCCSnapshot(build->snapshot)) UnregisterSnapshot(build->snapshot);
  DestroyParallelContext(build->context);
  ExitParallelMode();
}

// Starts workers; null when there are none to be had. As nbtree does it.
ParallelBuild* begin_parallel(Relation heap, Relation index, const BuildStart& start, int workers) {
  EnterParallelMode();
  ParallelContext* context = CreateParallelContext("neardup", "lsh_parallel_build_main", workers);
  // A concurrent build indexes what a snapshot sees; another one has to index rows that died lately, too.
  Snapshot snapshot = start.concurrent ? RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
  const Size size = shared_size(workers + 1);
  const Size text = debug_query_string != nullptr ? strlen(debug_query_string) + 1 : 0;
  shm_toc_estimate_chunk(&context->estimator, add_size(size, table_parallelscan_estimate(heap, snapshot)));
  shm_toc_estimate_chunk(&context->estimator, mul_size(sizeof(WalUsage), workers));
  shm_toc_estimate_chunk(&context->estimator, mul_size(sizeof(BufferUsage), workers));
  shm_toc_estimate_keys(&context->estimator, 3);
  if (text != 0) {
    shm_toc_estimate_chunk(&context->estimator, text);
    shm_toc_estimate_keys(&context->estimator, 1);
  }
  InitializeParallelDSM(context);
  if (context->seg == nullptr) {
    if (IsMVCCSnapshot(snapshot)) UnregisterSnapshot(snapshot);
    DestroyParallelContext(context);
    ExitParallelMode();
    return nullptr;
  }

  ParallelBuild* build = static_cast<ParallelBuild*>(palloc0(sizeof(ParallelBuild)));
  build->context = context;
  build->snapshot = snapshot;
  build->shared = static_cast<BuildShared*>(
      shm_toc_allocate(context->toc, add_size(size, table_parallelscan_estimate(heap, snapshot))));
  init_shared(build->shared, heap, index, start, workers + 1);
  SharedFileSetInit(&build->shared->files, context->seg);
  table_parallelscan_initialize(heap, shared_scan(build->shared), snapshot);
  shm_toc_insert(context->toc, kKeyShared, build->shared);
  if (text != 0) {
    void* copy = shm_toc_allocate(context->toc, text);
    memcpy(copy, debug_query_string, text);
    shm_toc_insert(context->toc, kKeyQueryText, copy);
  }
  build->wal = static_cast<WalUsage*>(shm_toc_allocate(context->toc, mul_size(sizeof(WalUsage), workers)));
  shm_toc_insert(context->toc, kKeyWalUsage, build->wal);
  build->buffers = static_cast<BufferUsage*>(shm_toc_allocate(context->toc, mul_size(sizeof(BufferUsage), workers)));
  shm_toc_insert(context->toc, kKeyBufferUsage, build->buffers);
  LaunchParallelWorkers(context);
  if (context->nworkers_launched == 0) {
    end_parallel(build);
    return nullptr;
  }
  return build;
}

void wait_for_workers(ParallelBuild* build) {
  BuildShared* shared = build->shared;
  // A worker that could not be started must not be waited for.
  WaitForParallelWorkersToAttach(build->context);
  for (;;) {
    SpinLockAcquire(&shared->mutex);
    const bool done = shared->ndone == build->context->nworkers_launched + 1;
    SpinLockRelease(&shared->mutex);
    if (done) break;
    ConditionVariableSleep(&shared->done, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
  }
  ConditionVariableCancelSleep();
}

void merge_shares(const Builder& leader, BuildShared* shared, size_t memory, uint64 entries, IndexWriter* writer) {
  uint32 nchunks = 0;
  for (int i = 0; i < shared->requested; ++i)
    if (shared->shares[i].holds(shared->binding)) nchunks += shared->shares[i].nchunks;
  BuildChunk* chunks =
      static_cast<BuildChunk*>(MemoryContextAllocHuge(CurrentMemoryContext, sizeof(BuildChunk) * Max(nchunks, 1u)));
  BufFile** files = static_cast<BufFile**>(palloc0(sizeof(BufFile*) * static_cast<Size>(shared->requested)));
  files[leader.number] = leader.file;
  BuildChunk* to = chunks;
  for (int i = 0; i < shared->requested; ++i) {
    const BuildShare& share = shared->shares[i];
    if (!share.holds(shared->binding) || share.nchunks == 0) continue;
    if (i == leader.number) {
      memcpy(to, leader.writer->chunks(), sizeof(BuildChunk) * share.nchunks);
    } else {
      char name[32];
      chunk_file_name(name, i);
      files[i] = open_shared_file(&shared->files, name);
      load_chunks(files[i], share.blocks, share.nchunks, to);
    }
    to += share.nchunks;
  }
  merge_chunks(chunks, nchunks, memory, entries, writer);
  for (int i = 0; i < shared->requested; ++i)
    if (files[i] != nullptr) BufFileClose(files[i]);
}

// The flags of the meta page. Refuses what an exclusion constraint cannot use.
uint16_t exclusion_flags(Relation index, IndexInfo* info) {
  if (!index->rd_index->indisexclusion) return 0;
  const int column = value_column(index);
  // TRUNCATE, CLUSTER and VACUUM FULL give no operators, and leave those of the constraint as they are.
  if (info->ii_ExclusionOps != nullptr && info->ii_ExclusionStrats[column] != kStrategyConflict)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("operator %s cannot be used in an exclusion constraint: it reads neardup.jaccard_threshold",
                           get_opname(info->ii_ExclusionOps[column])),
                    errhint("Use EXCLUDE USING lsh (with_threshold(column, 0.9) WITH &&).")));
  if (const double recall = option_values(index).recall; recall >= 0 && recall < 1)
    ereport(
        ERROR,
        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("an exclusion constraint needs an index that finds every row"),
         errdetail("The parameter recall of index \"%s\" is %s.", RelationGetRelationName(index), shown(recall).text)));
  return kMetaExclusion;
}

int workers_for(Relation heap, Relation index, IndexInfo* info) {
  if (RelationGetNumberOfBlocks(heap) == 0) return 0;
#if PG_VERSION_NUM >= 170000
  return info->ii_ParallelWorkers;
#else
  // 17: PostgreSQL asks the planner itself, for every access method that can build in parallel.
  return plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
#endif
}

// True for an index that is built again, and that others use by older snapshots. They are kept from a new one
// (indcheckxmin), and go on being kept from one that they were kept from.
bool is_built_again(Relation index) {
  const Form_pg_index form = index->rd_index;
  return form->indisvalid && form->indisready && ReindexIsProcessingIndex(RelationGetRelid(index));
}

// Parameters that only rows which are dead were made by do not bind a new index: whoever sees those rows is kept from
// it.
constexpr uint32 kNoBinding = PG_UINT32_MAX;
void drop_unconfirmed(BuildShared* shared) {
  if (shared->binding == 0 || shared->confirmed) return;
  shared->binding = kNoBinding;
  shared->broken_hot_chain = true;
}

// The parameters of the first live row with a value; false where there is none.
bool bind_to_live_row(Relation heap, Relation index, IndexInfo* info, LshConfig* config) {
  Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
  EState* estate = CreateExecutorState();
  ExprContext* econtext = GetPerTupleExprContext(estate);
  TupleTableSlot* slot = table_slot_create(heap, nullptr);
  econtext->ecxt_scantuple = slot;
  ExprState* predicate = ExecPrepareQual(info->ii_Predicate, estate);
  const int column = value_column(index);
  const bool detoast = TupleDescAttr(RelationGetDescr(index), column)->attlen == -1;
  TableScanDesc scan = table_beginscan_strat(heap, snapshot, 0, nullptr, true, true);
  bool found = false;
  while (!found && table_scan_getnextslot(scan, ForwardScanDirection, slot)) {
    CHECK_FOR_INTERRUPTS();
    ResetExprContext(econtext);
    if (predicate != nullptr && !ExecQual(predicate, econtext)) continue;
    Datum values[INDEX_MAX_KEYS];
    bool nulls[INDEX_MAX_KEYS];
    FormIndexDatum(info, slot, estate, values, nulls);
    if (nulls[column]) continue;
    MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
    if (detoast) values[column] = PointerGetDatum(PG_DETOAST_DATUM(values[column]));
    IndexedRow row;
    indexed_row(index, values, nulls, &row);
    found = row.has_value;
    if (found) bind_config(index, row.value, config);
    MemoryContextSwitchTo(old);
  }
  table_endscan(scan);
  UnregisterSnapshot(snapshot);
  ExecDropSingleTupleTableSlot(slot);
  FreeExecutorState(estate);
  // They pointed into it.
  info->ii_ExpressionsState = NIL;
  info->ii_PredicateState = nullptr;
  return found;
}

BuildShared* scan_with_workers(Builder* b, ParallelBuild* parallel, Relation heap, Relation index, size_t memory) {
  const int participants = parallel->context->nworkers_launched + 1;
  init_builder(b, parallel->shared, 0, index, memory / static_cast<size_t>(participants));
  scan_share(b, heap, index, true);
  wait_for_workers(parallel);
  drop_unconfirmed(parallel->shared);
  return parallel->shared;
}

BuildShared* scan_alone(Builder* b, Relation heap, Relation index, IndexInfo* info, const BuildStart& start,
                        size_t memory) {
  BuildShared* shared = static_cast<BuildShared*>(palloc(shared_size(1)));
  init_shared(shared, heap, index, start, 1);
  init_builder(b, shared, 0, index, memory);
  shared->heap_rows = table_index_build_scan(heap, index, info, true, true, build_row, b, nullptr);
  drop_unconfirmed(shared);
  end_rows(b);
  shared->broken_hot_chain |= info->ii_BrokenHotChain || b->skipped;
  report_phase(kPhaseSort, 0);
  // A chunk that is the only one stays in memory.
  if (b->writer != nullptr && b->chunk->object->rows() != 0) spill(b);
  shared->shares[0] = {b->binding, b->writer != nullptr ? b->writer->nchunks() : 0, 0, b->entries, b->rows};
  return shared;
}

// Entries, and rows, of the shares whose parameters are the index's.
uint64 sum_shares(BuildShared* shared, double* rows) {
  uint64 entries = 0;
  *rows = 0;
  for (int i = 0; i < shared->requested; ++i) {
    const BuildShare& share = shared->shares[i];
    if (share.holds(shared->binding)) {
      entries += share.entries;
      *rows += share.rows;
    } else if (share.rows != 0) {
      shared->broken_hot_chain = true;
    }
  }
  return entries;
}

}  // namespace

IndexBuildResult* lshbuild(Relation heap, Relation index, IndexInfo* info) {
  if (RelationGetNumberOfBlocks(index) != 0)
    elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
  check_columns(index);
  check_options(index);
  BuildStart start{};
  start.unbound.flags = start.config.flags = exclusion_flags(index, info);
  start.concurrent = info->ii_Concurrent;
  if (is_built_again(index)) {
    start.bound = bind_to_live_row(heap, index, info, &start.config);
    start.dead_may_bind = !start.bound;
  }
  const int workers = workers_for(heap, index, info);
  const size_t memory = static_cast<size_t>(maintenance_work_mem) * 1024;

  report_phase(kPhaseScan, 0);
  ParallelBuild* parallel = workers > 0 ? begin_parallel(heap, index, start, workers) : nullptr;
  Builder b;
  BuildShared* shared = parallel != nullptr ? scan_with_workers(&b, parallel, heap, index, memory)
                                            : scan_alone(&b, heap, index, info, start, memory);
  double rows;
  const uint64 entries = sum_shares(shared, &rows);
  IndexWriter* writer = static_cast<IndexWriter*>(palloc(sizeof(IndexWriter)));
  writer->init(index, MAIN_FORKNUM);
  if (parallel == nullptr && b.writer == nullptr) {
    sort_chunk(&b);
    report_phase(kPhaseWrite, static_cast<int64>(entries));
    write_chunk(&b, writer);
    destroy_owned(b.chunk);
  } else {
    if (parallel == nullptr) destroy_owned(b.chunk);
    merge_shares(b, shared, memory, entries, writer);
  }
  report_done(static_cast<int64>(entries));
  writer->finish(shared->binding != 0 && shared->binding != kNoBinding ? shared->config : start.unbound);

  info->ii_BrokenHotChain |= shared->broken_hot_chain;
  IndexBuildResult* result = static_cast<IndexBuildResult*>(palloc(sizeof(IndexBuildResult)));
  result->heap_tuples = shared->heap_rows;
  result->index_tuples = rows;
  if (parallel != nullptr) end_parallel(parallel);
  return result;
}

void lshbuildempty(Relation index) {
  IndexWriter* writer = static_cast<IndexWriter*>(palloc(sizeof(IndexWriter)));
  writer->init(index, INIT_FORKNUM);
  LshConfig unbound{};
  if (index->rd_index->indisexclusion) unbound.flags = kMetaExclusion;
  writer->finish(unbound);
}

char* lshbuildphasename(int64 phase) {
  const char* name = nullptr;
  switch (phase) {
    case 1:  // PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE
      name = "initializing";
      break;
    case kPhaseScan:
      name = "scanning table";
      break;
    case kPhaseSort:
      name = "sorting";
      break;
    case kPhaseMerge:
      name = "merging";
      break;
    case kPhaseWrite:
      name = "writing index";
      break;
  }
  return const_cast<char*>(name);
}

}  // namespace neardup

extern "C" {

PGDLLEXPORT void lsh_parallel_build_main(dsm_segment* segment, shm_toc* toc);

void lsh_parallel_build_main(dsm_segment* segment, shm_toc* toc) {
  using namespace neardup;
  debug_query_string = static_cast<char*>(shm_toc_lookup(toc, kKeyQueryText, true));
  pgstat_report_activity(STATE_RUNNING, debug_query_string);
  BuildShared* shared = static_cast<BuildShared*>(shm_toc_lookup(toc, kKeyShared, false));
  pgstat_report_query_id(shared->query_id, false);
  // The locks that the leader has.
  const LOCKMODE heap_lock = shared->start.concurrent ? ShareUpdateExclusiveLock : ShareLock;
  const LOCKMODE index_lock = shared->start.concurrent ? RowExclusiveLock : AccessExclusiveLock;
  Relation heap = table_open(shared->heap, heap_lock);
  Relation index = index_open(shared->index, index_lock);
  SharedFileSetAttach(&shared->files, segment);
  InstrStartParallelQuery();
  const size_t memory = static_cast<size_t>(maintenance_work_mem) * 1024 / static_cast<size_t>(shared->requested);
  Builder b;
  init_builder(&b, shared, ParallelWorkerNumber + 1, index, memory);
  scan_share(&b, heap, index, false);
  BufferUsage* buffers = static_cast<BufferUsage*>(shm_toc_lookup(toc, kKeyBufferUsage, false));
  WalUsage* wal = static_cast<WalUsage*>(shm_toc_lookup(toc, kKeyWalUsage, false));
  InstrEndParallelQuery(&buffers[ParallelWorkerNumber], &wal[ParallelWorkerNumber]);
  index_close(index, index_lock);
  table_close(heap, heap_lock);
}

}  // extern "C"
