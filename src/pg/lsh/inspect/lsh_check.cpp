// lsh_check(): are all invariants of an lsh index kept, and, when asked, are its entries those of the table's rows?
//
// Two shared locks keep runs and vacuums where they are; inserts go on, into pending pages. During recovery these locks
// cannot be had: what then contradicts the directory is damage only if the directory is still the one that was read.
//
// Memory: the rows named by the rosters, as a bit each and, beside it, the number of their unit and the sum of their
// mixed keys. What does not fit into maintenance_work_mem is done in several passes, each over a range of heap blocks.
#include "pg/lsh/inspect/lsh_check.h"
#include "pg/lsh/inspect/lsh_inspect.h"
#include "pg/lsh/store/lsh_page.h"

extern "C" {
#include "access/xact.h"
#include "access/xlog.h"
}

namespace neardup::checking {

void fail(Check* c, BlockNumber block, const char* what) {
  if (!c->held && directory_change(c->index) != c->meta->change)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("index \"%s\" changed while it was checked", RelationGetRelationName(c->index)),
                    errdetail("During recovery lsh_check() cannot hold the index still."),
                    errhint("Check it on the primary, or pause replay with pg_wal_replay_pause() meanwhile.")));
  report_corrupt(c->index, block, what);
}

const char* tid_text(uint64_t tid) {
  return psprintf("(%u,%u)", static_cast<uint32_t>(tid >> 16), static_cast<uint32_t>(tid & 0xffff));
}

namespace {

template <typename T>
bool all_zero(const T* p, size_t n) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(p);
  for (size_t i = 0; i < n * sizeof(T); ++i)
    if (bytes[i] != 0) return false;
  return true;
}

void check_config(Check* c) {
  const LshConfig& config = c->meta->config;
  const auto wrong = [c](const char* what) { fail(c, kLshMetaBlock, what); };
  if ((config.flags & ~(kMetaBound | kMetaExclusion)) != 0) wrong("unknown flags");
  if ((config.flags & kMetaBound) == 0) return;
  if (config.family[0] == '\0') wrong("no family of hash functions is named");
  if (!(config.threshold >= 0 && config.threshold <= 1)) wrong("an impossible threshold");
  if (!(config.recall > 0 && config.recall <= 1)) wrong("an impossible recall");
  if (config.nbands > kMaxPendingKeys) wrong("an impossible number of bands");
  if (!all_zero(config.params + config.params_len, sizeof config.params - config.params_len))
    wrong("bytes that belong to nothing are not zero");
}

bool same(const PackedEntry& a, const PackedEntry& b) { return memcmp(&a, &b, sizeof a) == 0; }

// One run, or siblings that adjoin; or what a merge has written so far and, from its end on, what is still to come.
void check_unit(Check* c, uint8_t unit) {
  const LshMeta& meta = *c->meta;
  const auto wrong = [c](const char* what) { fail(c, kLshMetaBlock, what); };
  const RunSlot* output = nullptr;
  int inputs = 0;
  int firsts = 0;
  for (int i = 0; i < meta.nruns; ++i) {
    const RunSlot& run = meta.runs[i];
    if (run.unit != unit || run.state == kBuilding) continue;
    if (run.state == kInput) ++inputs;
    if (run.state == kOutput) {
      if (output != nullptr) wrong("two runs are written by one merge");
      output = &run;
    }
  }
  if (output == nullptr && inputs != 0) wrong("a run is merged into none");
  if (output != nullptr && inputs == 0) wrong("a run is written from none");
  for (int i = 0; i < meta.nruns; ++i) {
    const RunSlot& run = meta.runs[i];
    if (run.unit != unit || run.state == kBuilding) continue;
    const bool empty = !(run_lo(run) < run_hi(run));
    if (empty && (run.state != kOutput || !same(run.lo, run.hi))) wrong("a run ends before it begins");
    if (!same(run.lo, run.hi) && run.state == kOutput && run.leaves == 0) wrong("a run without leaves has bounds");
    int before = 0;
    for (int j = 0; j < meta.nruns; ++j) {
      const RunSlot& other = meta.runs[j];
      if (j == i || other.unit != unit || other.state == kBuilding) continue;
      if ((other.state == kInput) == (run.state == kInput) && same(other.hi, run.lo) && run_lo(other) < run_hi(other))
        ++before;
    }
    if (run.state == kInput) {
      if (run_lo(run) < run_hi(*output)) wrong("what a merge has moved is still there");
      if (before == 0 && !same(run.lo, output->hi)) wrong("a part of a run that is being merged is missing");
    } else {
      const bool first = run_lo(run) == kLeastEntry;
      firsts += first;
      if (!first && before != 1) wrong("runs of one unit do not adjoin");
      if (output != nullptr && &run != output && run_hi(*output) < run_hi(run)) wrong("runs of one unit do not adjoin");
    }
  }
  if (firsts != 1) wrong("runs of one unit do not adjoin");
}

void check_directory(Check* c) {
  const LshMeta& meta = *c->meta;
  const auto wrong = [c](const char* what) { fail(c, kLshMetaBlock, what); };
  check_config(c);
  if (meta.vac_horizon > meta.next_id) wrong("an impossible horizon");
  if (!all_zero(meta.pad, sizeof meta.pad) || !all_zero(meta.pending + meta.npending, kMaxPending - meta.npending) ||
      !all_zero(meta.runs + meta.nruns, kMaxRuns - meta.nruns))
    wrong("bytes that belong to nothing are not zero");
  uint64_t ids[kMaxRuns + kMaxPending];
  int n = 0;
  for (int i = 0; i < meta.nruns; ++i) ids[n++] = meta.runs[i].id;
  for (int i = 0; i < meta.npending; ++i) {
    ids[n++] = meta.pending[i].id;
    if (i != 0 && meta.pending[i].id <= meta.pending[i - 1].id) wrong("pending pages are not in order");
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      if (ids[i] == ids[j]) wrong("two runs or pending pages have one id");
  for (int i = 0; i < meta.nruns; ++i) {
    const RunSlot& run = meta.runs[i];
    if (run.pad0 != 0 || run.pad1 != 0 || (run.flags & ~kStaleCounts) != 0) wrong("unknown flags of a run");
    if (run.unit > kMaxRuns) wrong("an impossible unit");
    if (run.state != kBuilding) check_unit(c, run.unit);
  }
}

// Pages that nothing links are free, or wait for a vacuum to free them; but pages of ours they are.
void check_unreached(Check* c) {
  for (BlockNumber block = 1; block < c->blocks; ++block) {
    if (c->reached.has(block)) continue;
    copy_linked(c, block, block, c->leaf);
    if (PageIsNew(c->leaf)) continue;
    if (!is_lsh_page(c->leaf)) fail(c, block, "wrong page header");
    const PageTail* tail = page_tail(c->leaf);
    const uint16_t kind = tail->kind & kKindMask;
    if (kind < kPendingPage || kind > kLeafPage) fail(c, block, psprintf("a page of kind %u", kind));
    if (tail->owner < c->meta->next_id) continue;
    LshMeta now;  // a pending page that came since
    read_meta(c->index, &now);
    if (tail->owner >= now.next_id) fail(c, block, "the page belongs to nobody yet");
  }
}

// Units count from 1 here: 0 is a row whose unit is not known yet.
void walk_all(Check* c, Round round) {
  const LshMeta& meta = *c->meta;
  for (int i = 0; i < meta.nruns; ++i)
    if (meta.runs[i].state != kBuilding) walk_run(c, &meta.runs[i], static_cast<uint8_t>(meta.runs[i].unit + 1), round);
  constexpr uint8_t kPendingUnit = kManyUnits - 1;
  for (int i = 0; i < meta.npending; ++i)
    walk_pending_page(c, meta.pending[i].block, reinterpret_cast<Page>(c->pending + size_t{BLCKSZ} * i), kPendingUnit,
                      round);
}

void check_all(Check* c) {
  Buffer buffer = ReadBuffer(c->index, kLshMetaBlock);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  locked_meta(c->index, buffer);
  memcpy(c->meta_page, BufferGetPage(buffer), BLCKSZ);
  UnlockReleaseBuffer(buffer);
  c->meta = page_meta(c->meta_page);
  c->blocks = RelationGetNumberOfBlocks(c->index);
  c->reached.init(c->blocks);
  c->first_pass = true;
  check_head(c, kLshMetaBlock, c->meta_page, 0, kMetaPage, 0);
  check_directory(c);
  copy_pending(c);
  c->table_blocks = RelationGetNumberOfBlocks(c->table);

  double rows = 0;
  for (int i = 0; i < c->meta->nruns; ++i) rows += static_cast<double>(c->meta->runs[i].rows);
  const uint64_t budget = static_cast<uint64_t>(maintenance_work_mem) * 1024;
  const double per_block = Min(rows / static_cast<double>(Max(c->table_blocks, 1)), kMaxOffset) + 1;
  const uint64_t row_bytes = c->against_table ? 1 + sizeof(uint64_t) : 1;
  const uint64_t range =
      Min(c->table_blocks, static_cast<uint64_t>(static_cast<double>(budget) /
                                                 (sizeof(HeapBlock) + per_block * static_cast<double>(row_bytes))) +
                               1);
  const uint64_t range_bytes = sizeof(HeapBlock) * range;
  const uint64_t most_rows = Max(range_bytes < budget ? (budget - range_bytes) / row_bytes : 0, uint64_t{65536});
  c->heap_blocks = static_cast<HeapBlock*>(MemoryContextAllocHuge(CurrentMemoryContext, Max(range_bytes, uint64_t{1})));
  do {
    c->to = Min(c->table_blocks, c->from + range);
    memset(c->heap_blocks, 0, sizeof(HeapBlock) * (c->to - c->from));
    walk_all(c, Round::find);
    number_rows(c, most_rows);
    c->unit_of = static_cast<uint8_t*>(MemoryContextAllocHuge(CurrentMemoryContext, c->nrows + 1));
    memset(c->unit_of, 0, c->nrows);
    if (c->against_table) {
      const Size bytes = sizeof(uint64_t) * (c->nrows + 1);
      c->keys_of = static_cast<uint64_t*>(MemoryContextAllocHuge(CurrentMemoryContext, bytes));
      memset(c->keys_of, 0, bytes);
    }
    walk_all(c, Round::assign);
    walk_all(c, Round::keys);
    if (c->first_pass) check_unreached(c);
    c->first_pass = false;
    if (c->against_table) {
      check_table(c);
      pfree(c->keys_of);
    }
    pfree(c->unit_of);
    c->from = c->to;
  } while (c->from < c->table_blocks);
}

void check_index(const InspectedIndex& opened, bool against_table) {
  Relation index = opened.index;
  if (!index->rd_index->indisvalid)
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("cannot check index \"%s\"", RelationGetRelationName(index)), errdetail("Index is not valid.")));
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh check", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  Check* c = static_cast<Check*>(palloc0(sizeof(Check)));
  c->table = opened.table;
  c->index = index;
  c->against_table = against_table;
  c->held = !RecoveryInProgress();
  c->strategy = GetAccessStrategy(BAS_BULKREAD);
  c->row_context = AllocSetContextCreate(context, "lsh check row", ALLOCSET_DEFAULT_SIZES);
  for (Page* page : {&c->meta_page, &c->root, &c->inner, &c->leaf}) *page = static_cast<Page>(palloc(BLCKSZ));
  if (c->held) {
    acquire_lock(index, IndexLock::vacuum, ShareLock, true);
    acquire_lock(index, IndexLock::maintenance, ShareLock, true);
  }
  // Before anything is read: all rows that it sees are then in what is read. As contrib/amcheck does.
  c->snapshot = RegisterSnapshot(GetTransactionSnapshot());
  if (IsolationUsesXactSnapshot() && index->rd_index->indcheckxmin &&
      !TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data), c->snapshot->xmin))
    ereport(ERROR,
            (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
             errmsg("index \"%s\" cannot be checked with the transaction's snapshot", RelationGetRelationName(index))));
  check_all(c);
  UnregisterSnapshot(c->snapshot);
  if (c->held) {
    release_lock(index, IndexLock::maintenance, ShareLock);
    release_lock(index, IndexLock::vacuum, ShareLock);
  }
  MemoryContextSwitchTo(old);
  MemoryContextDelete(context);
}

// Reading the table's rows as the index has them then runs functions that its owner chose.
bool has_expressions(Relation index) {
  return !heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, nullptr) ||
         !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, nullptr);
}

// Index expressions run as the table's owner, and with nothing that they could change, as in a REINDEX; and as there,
// only for who has the owner's privileges: names in these functions may be found in the caller's temporary schema.
void check_as_owner(const InspectedIndex& opened) {
  if (!owns_relation(RelationGetRelid(opened.table)))
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
             errmsg("must be owner of table %s to check the rows of index \"%s\"",
                    quote_identifier(RelationGetRelationName(opened.table)), RelationGetRelationName(opened.index)),
             errdetail("The index has expressions or a predicate, which run with the privileges of the owner."),
             errhint("Check the structure alone, with heapallindexed => false.")));
  Oid user;
  int security;
  GetUserIdAndSecContext(&user, &security);
  SetUserIdAndSecContext(opened.table->rd_rel->relowner, security | SECURITY_RESTRICTED_OPERATION);
  const int settings = NewGUCNestLevel();
  restrict_search_path();
  check_index(opened, true);
  AtEOXact_GUC(false, settings);
  SetUserIdAndSecContext(user, security);
}

}  // namespace
}  // namespace neardup::checking

extern "C" {

PG_FUNCTION_INFO_V1(neardup_lsh_check);
Datum neardup_lsh_check(PG_FUNCTION_ARGS) {
  using namespace neardup;
  using namespace neardup::checking;
  const InspectedIndex opened = open_inspected(PG_GETARG_OID(0));
  const bool against_table = PG_GETARG_BOOL(1);
  if (against_table && has_expressions(opened.index))
    check_as_owner(opened);
  else
    check_index(opened, against_table);
  close_inspected(opened);
  PG_RETURN_VOID();
}

}  // extern "C"
