// lsh_info() and lsh_pages(): what an lsh index holds, as a whole and page by page.
#include "pg/lsh/inspect/lsh_inspect.h"

#include <algorithm>
#include <cmath>

#include "pg/base/open_table.h"
#include "pg/base/result_row.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/store/options.h"
#include "pg/lsh/store/run_reader.h"

extern "C" {
#include "access/relation.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "utils/rls.h"
}

namespace neardup {
namespace {

[[noreturn]] void refuse_gone(Oid index) {
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("index with OID %u does not exist", index)));
  pg_unreachable();
}

[[noreturn]] void refuse_other(const char* name) {
  ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not an lsh index", name)));
  pg_unreachable();
}

// Both locked, the table first, as everywhere. Whatever is dropped meanwhile: an error that says so.
InspectedIndex lock_inspected(Oid oid) {
  const Oid table = IndexGetRelation(oid, true);
  if (!OidIsValid(table)) {
    const char* name = get_rel_name(oid);
    if (name == nullptr) refuse_gone(oid);
    refuse_other(name);
  }
  InspectedIndex out{};
  out.table = try_relation_open(table, AccessShareLock);
  if (out.table != nullptr) out.index = try_relation_open(oid, AccessShareLock);
  // Numbers of what is gone are given again.
  if (out.index == nullptr || out.index->rd_index == nullptr || out.index->rd_index->indrelid != table)
    refuse_gone(oid);
  return out;
}

constexpr double kRecallAt[] = {0.5, 0.6, 0.7, 0.8, 0.9, 1.0};

const InnerPage* add_child_blocks(Page page, BlockSet* set) {
  const InnerPage* inner = static_cast<const InnerPage*>(page_body(page));
  for (uint32_t i = 0; i < inner->n && i < kMaxChildren; ++i) set->add(inner->child[i]);
  return inner;
}

// Copies the block; false, and no error, unless it is an inner page of this run.
bool copy_inner(Relation index, BlockNumber block, BlockNumber blocks, const RunSlot& run, Page copy) {
  CHECK_FOR_INTERRUPTS();
  if (block == kLshMetaBlock || block >= blocks) return false;
  copy_page(index, block, nullptr, copy);
  return is_page_of_owner(copy, run.id, kInnerPage);
}

// The blocks that the directory reaches. Leaves that a merge has emptied are among them.
void reach_blocks(Relation index, const LshMeta& meta, BlockNumber blocks, BlockSet* set) {
  set->init(blocks);
  set->add(kLshMetaBlock);
  Page root = static_cast<Page>(palloc(BLCKSZ));
  Page inner = static_cast<Page>(palloc(BLCKSZ));
  for (int i = 0; i < meta.npending; ++i) set->add(meta.pending[i].block);
  for (int i = 0; i < meta.nruns; ++i) {
    const RunSlot& run = meta.runs[i];
    if (run.state == kBuilding || !copy_inner(index, run.root, blocks, run, root)) continue;
    set->add(run.root);
    const InnerPage* list = add_child_blocks(root, set);
    if (run.height == 1) continue;
    for (uint32_t child = 0; child < list->n && child < kMaxChildren; ++child)
      if (copy_inner(index, list->child[child], blocks, run, inner)) add_child_blocks(inner, set);
  }
  pfree(root);
  pfree(inner);
}

// The directory and the rows in its pending pages, of one moment.
uint32_t count_pending(Relation index, LshMeta* meta) {
  uint32_t rows;
  do {
    CHECK_FOR_INTERRUPTS();
    read_meta(index, meta);
    rows = 0;
  } while (!for_pending_rows(index, *meta, false, nullptr, [&](const PendingRowView&) { ++rows; }));
  return rows;
}

struct Totals {
  uint64_t rows;
  uint64_t entries;
  uint64_t leaves;
  int runs;
  int units;
};

// While a merge is under way its inputs keep their counts and the output has its own: the rows, which come first, are
// all in the output once it has passed them. Entries are then what the greater of both sides knows.
Totals sum_runs(const LshMeta& meta) {
  Totals t{};
  bool seen[256] = {};
  for (int i = 0; i < meta.nruns; ++i) {
    if (meta.runs[i].state == kBuilding) continue;
    ++t.runs;
    t.leaves += meta.runs[i].leaves;
    if (seen[meta.runs[i].unit]) continue;
    seen[meta.runs[i].unit] = true;
    ++t.units;
    uint64_t rows[2] = {};
    uint64_t entries[2] = {};
    bool rows_moved = true;
    for (int j = i; j < meta.nruns; ++j) {
      const RunSlot& run = meta.runs[j];
      if (run.unit != meta.runs[i].unit || run.state == kBuilding) continue;
      const int side = run.state == kInput;
      rows[side] += run.rows;
      entries[side] += run.entries;
      if (side == 1 && run_lo(run).key == kRosterKey) rows_moved = false;
    }
    t.rows += rows_moved ? rows[0] : std::max(rows[0], rows[1]);
    t.entries += std::max(entries[0], entries[1]);
  }
  return t;
}

void count_pages(Relation index, const LshMeta& meta, BlockNumber blocks, int64* free_pages, int64* orphans) {
  BlockSet reached;
  reach_blocks(index, meta, blocks, &reached);
  BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
  *free_pages = *orphans = 0;
  for (BlockNumber block = 1; block < blocks; ++block) {
    CHECK_FOR_INTERRUPTS();
    Buffer buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    if (page_is_free(BufferGetPage(buffer), meta))
      ++*free_pages;
    else if (!reached.has(block))
      ++*orphans;
    UnlockReleaseBuffer(buffer);
  }
}

// Never above the truth: 1 means always.
double rounded_down(double recall) { return recall >= 1 ? 1 : std::floor(recall * 1e4) / 1e4; }

// ", among rows of equal tenant_id"; empty for an index of one column.
const char* equality_text(Relation index) {
  const int n = value_column(index);
  if (n == 0) return "";
  StringInfoData text;
  initStringInfo(&text);
  for (int i = 0; i < n; ++i)
    appendStringInfo(&text, "%s%s", i == 0 ? ", among rows of equal " : " and ",
                     NameStr(TupleDescAttr(RelationGetDescr(index), i)->attname));
  return text.data;
}

enum class InfoColumn {
  kGuarantee,
  kParameters,
  kBands,
  kThreshold,
  kRecall,
  kRecallAt,
  kRows,
  kEntries,
  kRuns,
  kUnits,
  kPendingRows,
  kPendingPages,
  kPages,
  kLeafPages,
  kBytesPerRow,
  kVersion,
  kFreePages,
  kOrphanPages,
  kColumns
};
using InfoRow = ResultRow<InfoColumn>;

void set_guarantee(Relation index, const LshMeta& meta, InfoRow* row) {
  if ((meta.config.flags & kMetaBound) == 0) {
    row->set(InfoColumn::kGuarantee, CStringGetTextDatum("empty: the first row decides how signatures are made"));
    return;
  }
  const DescribeRequest describe = describe_index(index, &meta.config);
  row->set(InfoColumn::kGuarantee, CStringGetTextDatum(psprintf("%s%s", describe.guarantee, equality_text(index))));
  row->set(InfoColumn::kParameters, CStringGetTextDatum(describe.parameters));
  // Families without these have 0 there.
  if (meta.config.nbands != 0) row->set(InfoColumn::kBands, Int32GetDatum(meta.config.nbands));
  if (meta.config.threshold != 0) row->set(InfoColumn::kThreshold, Float8GetDatum(meta.config.threshold));
  row->set(InfoColumn::kRecall, Float8GetDatum(meta.config.recall));
  if (describe.recall_at == nullptr) return;
  Datum recall[lengthof(kRecallAt)];
  for (size_t i = 0; i < lengthof(kRecallAt); ++i)
    recall[i] = Float8GetDatum(rounded_down(describe.recall_at(&meta.config, kRecallAt[i])));
  row->set(InfoColumn::kRecallAt, PointerGetDatum(construct_array(recall, lengthof(kRecallAt), FLOAT8OID,
                                                                  sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)));
}

double bytes_per_row(BlockNumber blocks, uint64_t rows) {
  return std::round(10.0 * BLCKSZ * blocks / static_cast<double>(rows)) / 10;
}

Datum info_row(FunctionCallInfo fcinfo, Relation index, bool pages_too) {
  LshMeta* meta = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  const uint32_t pending_rows = count_pending(index, meta);
  const Totals totals = sum_runs(*meta);
  const BlockNumber blocks = RelationGetNumberOfBlocks(index);
  const uint64_t rows = totals.rows + pending_rows;
  InfoRow row;
  set_guarantee(index, *meta, &row);
  row.set(InfoColumn::kRows, Int64GetDatum(static_cast<int64>(rows)));
  row.set(InfoColumn::kEntries, Int64GetDatum(static_cast<int64>(totals.entries)));
  row.set(InfoColumn::kRuns, Int32GetDatum(totals.runs));
  row.set(InfoColumn::kUnits, Int32GetDatum(totals.units));
  row.set(InfoColumn::kPendingRows, Int32GetDatum(static_cast<int32>(pending_rows)));
  row.set(InfoColumn::kPendingPages, Int32GetDatum(meta->npending));
  row.set(InfoColumn::kPages, Int64GetDatum(blocks));
  row.set(InfoColumn::kLeafPages, Int64GetDatum(static_cast<int64>(totals.leaves)));
  if (rows != 0) row.set(InfoColumn::kBytesPerRow, Float8GetDatum(bytes_per_row(blocks, rows)));
  row.set(InfoColumn::kVersion, Int32GetDatum(static_cast<int32>(meta->format)));
  if (pages_too) {
    int64 free_pages;
    int64 orphans;
    count_pages(index, *meta, blocks, &free_pages, &orphans);
    row.set(InfoColumn::kFreePages, Int64GetDatum(free_pages));
    row.set(InfoColumn::kOrphanPages, Int64GetDatum(orphans));
  }
  return row.datum(fcinfo);
}

enum class PageColumn {
  kBlock,
  kKind,
  kOwner,
  kOrdinal,
  kEntries,
  kFirstKey,
  kFirstTid,
  kKeyBits,
  kBlockBits,
  kOffBits,
  kFree,
  kLive,
  kColumns
};
using PageRow = ResultRow<PageColumn>;

Datum tid_datum(uint64_t tid) {
  ItemPointer out = static_cast<ItemPointer>(palloc(sizeof(ItemPointerData)));
  set_tid(out, tid);
  return PointerGetDatum(out);
}

void set_first(const Entry& entry, PageRow* row) {
  row->set(PageColumn::kFirstKey, Int64GetDatum(static_cast<int64>(entry.key)));
  row->set(PageColumn::kFirstTid, tid_datum(entry.tid));
}

// The following set what a page of that kind holds in `used` bytes of its body. They return its kind in words, null
// where it is damaged.
const char* describe_pending(Page page, size_t used, PageRow* row) {
  const uint8_t* p = static_cast<const uint8_t*>(page_body(page));
  const uint8_t* const end = p + used;
  int rows = 0;
  while (static_cast<size_t>(end - p) >= sizeof(PendingItem)) {
    PendingItem item;
    memcpy(&item, p, sizeof item);
    if (rows++ == 0) row->set(PageColumn::kFirstTid, tid_datum(uint64_t{item.block} << 16 | item.off));
    const size_t size = sizeof item + size_t{5} * item.nkeys;
    p += std::min(size, static_cast<size_t>(end - p));
  }
  row->set(PageColumn::kEntries, Int32GetDatum(rows));
  return page_tail(page)->kind == kPendingPage ? "pending" : "pending, closed";
}

const char* describe_inner(Page page, size_t used, PageRow* row) {
  const InnerPage* inner = static_cast<const InnerPage*>(page_body(page));
  if (used != offsetof(InnerPage, first) + inner->n * sizeof(PackedEntry) || inner->n > kMaxChildren) return nullptr;
  row->set(PageColumn::kEntries, Int32GetDatum(inner->n));
  if (inner->n != 0) set_first(unpack_entry(inner->first[0]), row);
  return "inner";
}

const char* describe_leaf(Page page, uint32_t used, PageRow* row) {
  LeafView leaf;
  if (!leaf.open(page_body(page), used)) return nullptr;
  LeafHead head;
  memcpy(&head, page_body(page), sizeof head);
  row->set(PageColumn::kEntries, Int32GetDatum(head.n));
  if (head.n != 0) set_first(leaf.at(0), row);
  row->set(PageColumn::kKeyBits, Int32GetDatum(head.key_bits));
  row->set(PageColumn::kBlockBits, Int32GetDatum(head.block_bits));
  row->set(PageColumn::kOffBits, Int32GetDatum(head.off_bits));
  return "leaf";
}

const char* describe_content(Page page, PageRow* row) {
  const PageTail* tail = page_tail(page);
  row->set(PageColumn::kOwner, Int64GetDatum(static_cast<int64>(tail->owner)));
  row->set(PageColumn::kOrdinal, Int64GetDatum(tail->ordinal));
  const uint32_t used = used_bytes(page);
  switch (tail->kind) {
    case kMetaPage:
      return "meta";
    case kPendingPage:
    case kPendingPage | kClosed:
      return describe_pending(page, used, row);
    case kInnerPage:
      return describe_inner(page, used, row);
    case kLeafPage:
      return describe_leaf(page, used, row);
    default:
      return nullptr;
  }
}

void describe_page(Page page, BlockNumber block, const LshMeta& meta, const BlockSet& reached, PageRow* row) {
  row->set(PageColumn::kBlock, Int64GetDatum(block));
  const bool is_free = page_is_free(page, meta);
  row->set(PageColumn::kFree, BoolGetDatum(is_free));
  row->set(PageColumn::kLive, BoolGetDatum(!is_free && reached.has(block)));
  const char* kind = PageIsNew(page) ? "new" : is_lsh_page(page) ? describe_content(page, row) : nullptr;
  row->set(PageColumn::kKind, CStringGetTextDatum(kind == nullptr ? "damaged" : kind));
}

void list_pages(Relation index, ReturnSetInfo* rows) {
  const BlockNumber blocks = RelationGetNumberOfBlocks(index);
  const LshMeta* meta = copy_meta(index);
  BlockSet reached;
  reach_blocks(index, *meta, blocks, &reached);
  BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
  Page copy = static_cast<Page>(palloc(BLCKSZ));
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh page", ALLOCSET_DEFAULT_SIZES);
  for (BlockNumber block = 0; block < blocks; ++block) {
    CHECK_FOR_INTERRUPTS();
    copy_page(index, block, strategy, copy);
    MemoryContext old = MemoryContextSwitchTo(context);
    PageRow row;
    describe_page(copy, block, *meta, reached, &row);
    row.put(rows);
    MemoryContextSwitchTo(old);
    MemoryContextReset(context);
  }
  MemoryContextDelete(context);
}

}  // namespace

InspectedIndex open_inspected(Oid oid) {
  const InspectedIndex out = lock_inspected(oid);
  const char* name = RelationGetRelationName(out.index);
  const char* table = RelationGetRelationName(out.table);
  if (out.index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is a partitioned index", name),
                    errhint("Name the index of a partition; pg_partition_tree() lists them.")));
  const Oid schema = RelationGetNamespace(out.table);
  if (!may_use_schema(schema)) aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SCHEMA, get_namespace_name(schema));
  const AclResult allowed = pg_class_aclcheck(RelationGetRelid(out.table), GetUserId(), ACL_SELECT);
  if (allowed != ACLCHECK_OK) aclcheck_error(allowed, get_relkind_objtype(out.table->rd_rel->relkind), table);
  if (!may_read_all(out.table))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("row-level security hides rows of table \"%s\" from you", table),
                    errdetail("What is stored in its index \"%s\" would tell of them.", name)));
  if (!is_lsh_index(out.index)) refuse_other(name);
  if (RELATION_IS_OTHER_TEMP(out.index))
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot access temporary tables of other sessions")));
  if (RecoveryInProgress() && !RelationNeedsWAL(out.index))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot access temporary or unlogged relations during recovery")));
  return out;
}

void close_inspected(const InspectedIndex& opened) {
  relation_close(opened.index, AccessShareLock);
  relation_close(opened.table, AccessShareLock);
}

}  // namespace neardup

using namespace neardup;

extern "C" {

PG_FUNCTION_INFO_V1(neardup_lsh_info);
Datum neardup_lsh_info(PG_FUNCTION_ARGS) {
  const InspectedIndex opened = open_inspected(PG_GETARG_OID(0));
  const Datum row = info_row(fcinfo, opened.index, PG_GETARG_BOOL(1));
  close_inspected(opened);
  PG_RETURN_DATUM(row);
}

PG_FUNCTION_INFO_V1(neardup_lsh_pages);
Datum neardup_lsh_pages(PG_FUNCTION_ARGS) {
  ReturnSetInfo* rows = begin_rows(fcinfo);
  const InspectedIndex opened = open_inspected(PG_GETARG_OID(0));
  list_pages(opened.index, rows);
  close_inspected(opened);
  return static_cast<Datum>(0);
}

}  // extern "C"
