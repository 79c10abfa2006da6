// Every difference between PostgreSQL 14 and 19 that this extension meets. Included by pg.h only.
#pragma once

#if PG_VERSION_NUM < 140000
#error "neardup needs PostgreSQL 14 or newer"
#endif

// 16 moved the variable-length macros out of postgres.h, and privileges out of the range table.
#if PG_VERSION_NUM >= 160000
extern "C" {
#include "parser/parse_relation.h"
#include "varatt.h"
}
#endif

// 15: MarkGUCPrefixReserved replaces EmitWarningsOnPlaceholders.
#if PG_VERSION_NUM < 150000
#define MarkGUCPrefixReserved(prefix) EmitWarningsOnPlaceholders(prefix)
#endif

// 15.1: InitMaterializedSRF (in 15.0 it had another name). Below, the part of it that we use.
#if PG_VERSION_NUM < 150001
static inline void InitMaterializedSRF(FunctionCallInfo fcinfo, uint32 /* flags */) {
  ReturnSetInfo* rsinfo = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  if (rsinfo == nullptr || !IsA(rsinfo, ReturnSetInfo) || !(rsinfo->allowedModes & SFRM_Materialize))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("set-valued function called in context that cannot accept a set")));
  MemoryContext old = MemoryContextSwitchTo(rsinfo->econtext->ecxt_per_query_memory);
  TupleDesc desc;
  if (get_call_result_type(fcinfo, nullptr, &desc) != TYPEFUNC_COMPOSITE) elog(ERROR, "return type must be a row type");
  rsinfo->returnMode = SFRM_Materialize;
  rsinfo->setResult = tuplestore_begin_heap((rsinfo->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
  rsinfo->setDesc = desc;
  MemoryContextSwitchTo(old);
}
#endif

// 18: a path counts the nodes below it that are disabled; before, each of them adds to its cost. (A template:
// nodes/pathnodes.h is for few to include.)
template <typename AnyPath>
static inline void add_disabled_nodes(AnyPath* path, const AnyPath* child) {
#if PG_VERSION_NUM >= 180000
  path->disabled_nodes += child->disabled_nodes;
#else
  (void)path;
  (void)child;
#endif
}

// 18: a path that must lose to one that a setting disables, which counts one node.
template <typename AnyPath>
static inline void disable_path(AnyPath* path) {
#if PG_VERSION_NUM >= 180000
  path->disabled_nodes += 2;
#else
  (void)path;
#endif
}

// 18: operators are interpreted for any access method. Whether it is <, > or <> of an order.
static inline bool is_strict_comparison(Oid op) {
  ListCell* cell;
#if PG_VERSION_NUM >= 180000
  foreach (cell, get_op_index_interpretation(op)) {
    const CompareType type = static_cast<OpIndexInterpretation*>(lfirst(cell))->cmptype;
    if (type == COMPARE_LT || type == COMPARE_GT || type == COMPARE_NE) return true;
  }
#else
  foreach (cell, get_op_btree_interpretation(op)) {
    const int strategy = static_cast<OpBtreeInterpretation*>(lfirst(cell))->strategy;
    if (strategy == BTLessStrategyNumber || strategy == BTGreaterStrategyNumber || strategy == ROWCOMPARE_NE)
      return true;
  }
#endif
  return false;
}

// 18: what prints properties in EXPLAIN has headers of its own.
#if PG_VERSION_NUM >= 180000
#define NEARDUP_EXPLAIN_HEADER "commands/explain_format.h"
#define NEARDUP_EXPLAIN_STATE_HEADER "commands/explain_state.h"
#else
#define NEARDUP_EXPLAIN_HEADER "commands/explain.h"
#define NEARDUP_EXPLAIN_STATE_HEADER "commands/explain.h"
#endif

// 15: a custom scan says that it projects; before, each does.
#if PG_VERSION_NUM >= 150000
#define NEARDUP_CUSTOM_PATH_PROJECTS CUSTOMPATH_SUPPORT_PROJECTION
#else
#define NEARDUP_CUSTOM_PATH_PROJECTS 0
#endif

// 15: get_hash_memory_limit(); before, a function that counts in kB. (A macro: executor/nodeHash.h is for few to
// include.)
#if PG_VERSION_NUM >= 150000
#define NEARDUP_HASH_MEMORY() get_hash_memory_limit()
#else
#define NEARDUP_HASH_MEMORY() (static_cast<size_t>(get_hash_mem()) * 1024)
#endif

// 17: the sequence of an identity column is asked for by its open table. (A macro: catalog/dependency.h is for few to
// include.)
#if PG_VERSION_NUM >= 170000
#define identity_sequence(table, column) getIdentitySequence(table, column, true)
#else
#define identity_sequence(table, column) getIdentitySequence(RelationGetRelid(table), column, true)
#endif

// True if this transaction has made the file of a table: then TRUNCATE empties it without making another.
static inline bool has_new_file(Relation table) {
#if PG_VERSION_NUM >= 160000
  return table->rd_createSubid != InvalidSubTransactionId ||
         table->rd_firstRelfilelocatorSubid != InvalidSubTransactionId;
#else
  return table->rd_createSubid != InvalidSubTransactionId || table->rd_firstRelfilenodeSubid != InvalidSubTransactionId;
#endif
}

// 16: BufFileReadExact; before, a short read is for the caller to see.
static inline void buffile_read_exact(BufFile* file, void* data, size_t size) {
#if PG_VERSION_NUM >= 160000
  BufFileReadExact(file, data, size);
#else
  if (BufFileRead(file, data, size) != size)
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not read from temporary file: %m")));
#endif
}

// 16: BufFileWrite takes const data.
static inline void buffile_write(BufFile* file, const void* data, size_t size) {
#if PG_VERSION_NUM >= 160000
  BufFileWrite(file, data, size);
#else
  BufFileWrite(file, const_cast<void*>(data), size);
#endif
}

// NEARDUP_REACH: which structures inside PostgreSQL scans and inserts use, the sum of the values below;
// docs/internals.md says what for, and which versions were checked. A newer major version uses none; -DNEARDUP_REACH=0
// makes any version do so.
#ifndef NEARDUP_REACH
#define NEARDUP_REACH (PG_VERSION_NUM < 200000 ? 15 : 0)
#endif
#define NEARDUP_PINS_RECENT ((NEARDUP_REACH & 1) != 0)
#define NEARDUP_READS_HINTS ((NEARDUP_REACH & 2) != 0)
#define NEARDUP_CHECKS_ROWS ((NEARDUP_REACH & 4) != 0)
#define NEARDUP_LOGS_APPENDS ((NEARDUP_REACH & 8) != 0)

// 19: a buffer's state has 64 bits; before, 32.
static inline uint32 read_state(pg_atomic_uint32* state) { return pg_atomic_read_u32(state); }
static inline uint64 read_state(pg_atomic_uint64* state) { return pg_atomic_read_u64(state); }
static inline bool exchange_state(pg_atomic_uint32* state, uint32* expected, uint32 value) {
  return pg_atomic_compare_exchange_u32(state, expected, value);
}
static inline bool exchange_state(pg_atomic_uint64* state, uint64* expected, uint64 value) {
  return pg_atomic_compare_exchange_u64(state, expected, value);
}

// 19: the heap's fetch by an index remembers the block of its page, and pruning may set the page's bits in the
// visibility map. (A template: access/heapam.h is for few to include.)
template <typename HeapFetch>
static inline void set_fetched_page(HeapFetch* fetch, BlockNumber block, Buffer buffer) {
  if (BufferIsValid(fetch->xs_cbuf)) ReleaseBuffer(fetch->xs_cbuf);
  fetch->xs_cbuf = buffer;
#if PG_VERSION_NUM >= 190000
  fetch->xs_blk = block;
  heap_page_prune_opt(fetch->xs_base.rel, buffer, &fetch->xs_vmbuffer,
                      (fetch->xs_base.flags & SO_HINT_REL_READ_ONLY) != 0);
#else
  heap_page_prune_opt(fetch->xs_base.rel, buffer);
#endif
}

// 16 gave it another name.
static inline const LocalPgBackendStatus* local_backend_status(int number) {
#if PG_VERSION_NUM >= 160000
  return pgstat_get_local_beentry_by_index(number);
#else
  return pgstat_fetch_stat_local_beentry(number);
#endif
}

// 15 made a set of options of a flag of tuplesort_begin_heap().
#if PG_VERSION_NUM >= 150000
constexpr int kTuplesortRandomAccess = TUPLESORT_RANDOMACCESS;
#else
constexpr bool kTuplesortRandomAccess = true;
#endif

// 16: ExtendBufferedRel; before, the extension lock is held until the new page is locked.
static inline Buffer extend_relation_locked(Relation relation) {
#if PG_VERSION_NUM >= 160000
  return ExtendBufferedRel(BMR_REL(relation), MAIN_FORKNUM, nullptr, EB_LOCK_FIRST);
#else
  const bool need_lock = !RELATION_IS_LOCAL(relation);
  if (need_lock) LockRelationForExtension(relation, ExclusiveLock);
  Buffer buffer = ReadBuffer(relation, P_NEW);
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  if (need_lock) UnlockRelationForExtension(relation, ExclusiveLock);
  return buffer;
#endif
}

// 14.7: RelationGetSmgr.
#if PG_VERSION_NUM < 140007
static inline SMgrRelation RelationGetSmgr(Relation relation) {
  RelationOpenSmgr(relation);
  return relation->rd_smgr;
}
#endif

// 16 renamed relation file nodes.
static inline bool read_recent_buffer(Relation relation, BlockNumber block, Buffer recent) {
#if PG_VERSION_NUM >= 160000
  return ReadRecentBuffer(relation->rd_locator, MAIN_FORKNUM, block, recent);
#else
  return ReadRecentBuffer(relation->rd_node, MAIN_FORKNUM, block, recent);
#endif
}

// The number of a relation's file.
#if PG_VERSION_NUM < 160000
typedef Oid RelFileNumber;
#endif
static inline RelFileNumber file_number(Relation relation) {
#if PG_VERSION_NUM >= 160000
  return relation->rd_locator.relNumber;
#else
  return relation->rd_node.relNode;
#endif
}

// 16 took the fields of a buffer's tag behind functions. (A macro: storage/buf_internals.h is for few to include.)
#if PG_VERSION_NUM >= 160000
#define NEARDUP_TAG_FILE_NUMBER(tag) BufTagGetRelNumber(&(tag))
#else
#define NEARDUP_TAG_FILE_NUMBER(tag) ((tag).rnode.relNode)
#endif

// 16: the planner finds conditions that are a boolean column in indexes of any access method; before, in btree and
// hash.
constexpr bool kPlannerFindsBooleans = PG_VERSION_NUM >= 160000;

// 17 dropped old_snapshot_threshold; before, every page read by a scan is tested, else rows would be lost silently.
static inline bool tests_old_snapshots() {
#if PG_VERSION_NUM < 170000
  return old_snapshot_threshold >= 0;
#else
  return false;
#endif
}
static inline void test_old_snapshot(Snapshot snapshot, Relation relation, Page page) {
#if PG_VERSION_NUM < 170000
  TestForOldSnapshot(snapshot, relation, page);
#endif
}

// 18: EXPLAIN shows how often an index was searched.
static inline void count_index_search(IndexScanDesc scan) {
#if PG_VERSION_NUM >= 180000
  if (scan->instrument) scan->instrument->nsearches++;
#endif
}

// 18: vacuum_delay_point says whether ANALYZE calls it.
#if PG_VERSION_NUM >= 180000
#define VACUUM_DELAY_POINT() vacuum_delay_point(false)
#define ANALYZE_DELAY_POINT() vacuum_delay_point(true)
#else
#define VACUUM_DELAY_POINT() vacuum_delay_point()
#define ANALYZE_DELAY_POINT() vacuum_delay_point()
#endif

// Fields of IndexAmRoutine that came after 14; all are zeroed before.
constexpr void set_newer_am_fields(IndexAmRoutine* am) {
#if PG_VERSION_NUM >= 160000
  am->amsummarizing = false;
#endif
#if PG_VERSION_NUM >= 170000
  am->amcanbuildparallel = true;
#endif
}

// 19 keeps the pointer that a handler returns, for good; before, it frees what it has copied.
static inline Datum am_routine_result(const IndexAmRoutine* routine) {
#if PG_VERSION_NUM >= 190000
  return PointerGetDatum(routine);
#else
  IndexAmRoutine* copy = makeNode(IndexAmRoutine);
  *copy = *routine;
  return PointerGetDatum(copy);
#endif
}

// 19: a scan takes flags.
static inline TableScanDesc begin_parallel_scan(Relation relation, ParallelTableScanDesc scan) {
#if PG_VERSION_NUM >= 190000
  return table_beginscan_parallel(relation, scan, SO_NONE);
#else
  return table_beginscan_parallel(relation, scan);
#endif
}

// 19: who fills a TupleDesc says when it is complete.
static inline void finish_tuple_desc(TupleDesc desc) {
#if PG_VERSION_NUM >= 190000
  TupleDescFinalize(desc);
#endif
}

// 18: the tuples of an append relation are the sum of its children's, no longer its rows.
static inline void set_append_rows(RelOptInfo* rel, double rows) {
  rel->rows = rows;
#if PG_VERSION_NUM < 180000
  rel->tuples = rows;
#endif
}

// 15: files of a set have FileSet in their functions' names; before, Shared.
#if PG_VERSION_NUM >= 150000
#define create_shared_file(set, name) BufFileCreateFileSet(&(set)->fs, name)
#define open_shared_file(set, name) BufFileOpenFileSet(&(set)->fs, name, O_RDONLY, false)
#define export_shared_file(file) BufFileExportFileSet(file)
#else
#define create_shared_file(set, name) BufFileCreateShared(set, name)
#define open_shared_file(set, name) BufFileOpenShared(set, name, O_RDONLY)
#define export_shared_file(file) BufFileExportShared(file)
#endif

// 17 renamed IsAutoVacuumWorkerProcess.
#if PG_VERSION_NUM < 170000
#define AmAutoVacuumWorkerProcess() IsAutoVacuumWorkerProcess()
#endif

// 17: RestrictSearchPath; before, index expressions ran with the caller's search_path.
static inline void restrict_search_path() {
#if PG_VERSION_NUM >= 170000
  RestrictSearchPath();
#endif
}

// 17: estimate_array_length() takes the planner's state.
#if PG_VERSION_NUM >= 170000
#define array_length_estimate(root, node) estimate_array_length(root, node)
#else
#define array_length_estimate(root, node) static_cast<double>(estimate_array_length(node))
#endif

// 15: qsort_interruptible(); before, nobody can stop a sort.
#if PG_VERSION_NUM >= 150000
#define sort_interruptible(base, n, size, compare, arg) qsort_interruptible(base, n, size, compare, arg)
#else
#define sort_interruptible(base, n, size, compare, arg) qsort_arg(base, n, size, compare, arg)
#endif

// 19: replace_rte_variables_callback gets a const Var.
#if PG_VERSION_NUM >= 190000
typedef const Var ReplacedVar;
#else
typedef Var ReplacedVar;
#endif

// 19: post_parse_analyze_hook gets a const JumbleState.
#if PG_VERSION_NUM >= 190000
typedef const struct JumbleState HookJumbleState;
#else
typedef struct JumbleState HookJumbleState;
#endif

// 19: planner_hook gets the EXPLAIN that a query is planned for, if there is one.
#if PG_VERSION_NUM >= 190000
#define PLANNER_HOOK_PARAMETER , ExplainState* explain
#define PLANNER_HOOK_ARGUMENT , explain
#else
#define PLANNER_HOOK_PARAMETER
#define PLANNER_HOOK_ARGUMENT
#endif

// Analysis and planning of a query that is given as text. 15: an environment of the query; 19: an EXPLAIN.
static inline Query* analyze_with_parameters(RawStmt* statement, const char* text) {
  Oid* types = nullptr;
  int n = 0;
#if PG_VERSION_NUM >= 150000
  return parse_analyze_varparams(statement, text, &types, &n, nullptr);
#else
  return parse_analyze_varparams(statement, text, &types, &n);
#endif
}
static inline PlannedStmt* plan_query(Query* query, const char* text, ParamListInfo parameters) {
#if PG_VERSION_NUM >= 190000
  return pg_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, parameters, nullptr);
#else
  return pg_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, parameters);
#endif
}
// An error unless the current user may use the relations of a statement that is planned. 16: privileges lie beside the
// range table.
static inline void demand_privileges(PlannedStmt* statement) {
#if PG_VERSION_NUM >= 160000
  ExecCheckPermissions(statement->rtable, statement->permInfos, true);
#else
  ExecCheckRTPerms(statement->rtable, true);
#endif
}
// True if the current user has the privileges that a query asks for, without those of its subqueries. raises: an error
// names the first relation that lacks one. From 16 on the function gets lists as the planner makes them: only entries
// with privileges, each once.
static inline bool has_privileges(Query* query, bool raises = false) {
#if PG_VERSION_NUM >= 160000
  List* entries = NIL;
  List* privileges = NIL;
  ListCell* cell;
  foreach (cell, query->rtable) {
    const auto* entry = lfirst_node(RangeTblEntry, cell);
    if (entry->perminfoindex == 0) continue;
    RangeTblEntry* copy = makeNode(RangeTblEntry);
    *copy = *entry;
    copy->perminfoindex = 0;
    RTEPermissionInfo* info = addRTEPermissionInfo(&privileges, copy);
    *info = *getRTEPermissionInfo(query->rteperminfos, const_cast<RangeTblEntry*>(entry));
    entries = lappend(entries, copy);
  }
  return ExecCheckPermissions(entries, privileges, raises);
#else
  return ExecCheckRTPerms(query->rtable, raises);
#endif
}
static inline void demand_privileges(Query* query) { has_privileges(query, true); }

// 16 declares what a walker takes.
static inline bool walk_expression(Node* node, bool (*walker)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
  return expression_tree_walker(node, walker, context);
#else
  return expression_tree_walker(node, reinterpret_cast<bool (*)()>(reinterpret_cast<void (*)()>(walker)), context);
#endif
}

static inline Node* mutate_expression(Node* node, Node* (*mutator)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
  return expression_tree_mutator(node, mutator, context);
#else
  return expression_tree_mutator(node, reinterpret_cast<Node* (*)()>(reinterpret_cast<void (*)()>(mutator)), context);
#endif
}

static inline bool walk_query(Query* query, bool (*walker)(Node*, void*), void* context, int flags = 0) {
#if PG_VERSION_NUM >= 160000
  return query_tree_walker(query, walker, context, flags);
#else
  return query_tree_walker(query, reinterpret_cast<bool (*)()>(reinterpret_cast<void (*)()>(walker)), context, flags);
#endif
}

// 16 made one function of those that check privileges and owners.
static inline bool may_use_schema(Oid schema) {
#if PG_VERSION_NUM >= 160000
  return object_aclcheck(NamespaceRelationId, schema, GetUserId(), ACL_USAGE) == ACLCHECK_OK;
#else
  return pg_namespace_aclcheck(schema, GetUserId(), ACL_USAGE) == ACLCHECK_OK;
#endif
}
static inline bool owns_relation(Oid relation) {
#if PG_VERSION_NUM >= 160000
  return object_ownercheck(RelationRelationId, relation, GetUserId());
#else
  return pg_class_ownercheck(relation, GetUserId());
#endif
}
