// lsh_check(): the rows that the rosters name, and whether they are those of the table.
#include "core/base/bits.h"
#include "pg/lsh/inspect/lsh_check.h"
#include "pg/lsh/store/options.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/store/stored_keys.h"

extern "C" {
#include "catalog/index.h"
#include "nodes/execnodes.h"
#include "nodes/makefuncs.h"
}

namespace neardup::checking {
namespace {

bool in_range(const Check* c, uint64_t tid) { return tid >> 16 >= c->from && tid >> 16 < c->to; }

// Number of the row in the range; -1: no roster has it.
int64 row_number(const Check* c, uint64_t tid) {
  const HeapBlock& block = c->heap_blocks[(tid >> 16) - c->from];
  const uint32_t offset = tid & 0xffff;
  if (offset > kMaxOffset) return -1;
  const uint64_t word = block.rows[offset / 64];
  const uint64_t bit = uint64_t{1} << (offset % 64);
  if ((word & bit) == 0) return -1;
  uint64_t n = block.before + count_bits(word & (bit - 1));
  for (uint32_t i = 0; i < offset / 64; ++i) n += count_bits(block.rows[i]);
  return static_cast<int64>(n);
}

bool row_is_visible(Check* c, uint64_t tid) {
  ItemPointerData pointer;
  set_tid(&pointer, tid);
  return table_index_fetch_tuple_check(c->table, &pointer, c->snapshot, nullptr);
}

[[noreturn]] void fail_row(Check* c, ItemPointer tid, const char* what) {
  if (!c->held && directory_change(c->index) != c->meta->change) fail(c, kLshMetaBlock, what);
  ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED),
                  errmsg("index \"%s\" does not match table \"%s\": %s", RelationGetRelationName(c->index),
                         RelationGetRelationName(c->table), what),
                  errdetail("The row is (%u,%u).", ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid)),
                  errhint("Rebuild the index with REINDEX INDEX.")));
  pg_unreachable();
}

void check_row(Relation, ItemPointer tid, Datum* values, bool* nulls, bool, void* arg) {
  Check* c = static_cast<Check*>(arg);
  const uint64_t t = pack_tid(*tid);
  if (!in_range(c, t)) return;
  const int64 row = row_number(c, t);
  IndexedRow parts;
  if (value_column(c->index) == 0 && nulls[0]) {
    if (row >= 0) fail_row(c, tid, "a row whose value is NULL is in the index");
    return;
  }
  if (row < 0) fail_row(c, tid, "a row is not in the index");
  MemoryContext old = MemoryContextSwitchTo(c->row_context);
  indexed_row(c->index, values, nulls, &parts);
  LshConfig config = c->meta->config;
  if (parts.has_value) {
    if ((config.flags & kMetaBound) == 0) fail_row(c, tid, "the index has no parameters and the row has a value");
    if (!value_matches(c->index, parts.value, &config))
      fail_row(c, tid, "a row's value has other parameters than the values of the index");
  }
  const StoredKeys keys = stored_keys(c->index, parts, &config);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < keys.n; ++i) sum += mix64(keys.keys[i]);
  MemoryContextSwitchTo(old);
  MemoryContextReset(c->row_context);
  if (sum != c->keys_of[row]) fail_row(c, tid, "the entries of a row are not those of its value");
}

// ctid `op` '(block,0)'.
Node* ctid_qual(Oid op, uint64_t block) {
  ItemPointer tid = static_cast<ItemPointer>(palloc0(sizeof(ItemPointerData)));
  ItemPointerSet(tid, static_cast<BlockNumber>(block), 0);
  Expr* qual =
      make_opclause(op, BOOLOID, false,
                    reinterpret_cast<Expr*>(makeVar(1, SelfItemPointerAttributeNumber, TIDOID, -1, InvalidOid, 0)),
                    reinterpret_cast<Expr*>(
                        makeConst(TIDOID, -1, InvalidOid, sizeof(ItemPointerData), PointerGetDatum(tid), false, false)),
                    InvalidOid, InvalidOid);
  set_opfuncid(reinterpret_cast<OpExpr*>(qual));
  return reinterpret_cast<Node*>(qual);
}

}  // namespace

void find_row(Check* c, BlockNumber block, uint64_t tid) {
  const uint32_t offset = tid & 0xffff;
  if (offset == 0 || offset > kMaxOffset) fail(c, block, psprintf("the impossible row %s", tid_text(tid)));
  if (tid >> 16 >= c->table_blocks) fail(c, block, psprintf("row %s lies beyond the end of the table", tid_text(tid)));
  if (!in_range(c, tid)) return;
  uint64_t* word = &c->heap_blocks[(tid >> 16) - c->from].rows[offset / 64];
  const uint64_t bit = uint64_t{1} << (offset % 64);
  // A row that died unseen by the vacuum that freed its place may have left an entry; one that lives may not.
  if ((*word & bit) != 0 && row_is_visible(c, tid)) fail(c, block, psprintf("row %s is there twice", tid_text(tid)));
  *word |= bit;
}

void assign_row(Check* c, uint8_t unit, uint64_t tid) {
  if (!in_range(c, tid)) return;
  const int64 row = row_number(c, tid);
  if (row >= 0) c->unit_of[row] = c->unit_of[row] == 0 || c->unit_of[row] == unit ? unit : kManyUnits;
}

void check_key(Check* c, BlockNumber block, uint8_t unit, uint64_t key, uint64_t tid) {
  if (tid >> 16 >= c->table_blocks)
    fail(c, block, psprintf("an entry of row %s, which is not in the roster", tid_text(tid)));
  if (!in_range(c, tid)) return;
  const int64 row = row_number(c, tid);
  if (row < 0 || (c->unit_of[row] != unit && c->unit_of[row] != kManyUnits))
    fail(c, block, psprintf("an entry of row %s, which is not in the roster", tid_text(tid)));
  if (c->against_table) c->keys_of[row] += mix64(key);
}

void number_rows(Check* c, uint64_t most) {
  c->nrows = 0;
  for (uint64_t block = c->from; block < c->to; ++block) {
    HeapBlock& rows = c->heap_blocks[block - c->from];
    uint64_t here = 0;
    for (const uint64_t word : rows.rows) here += count_bits(word);
    if (block != c->from && c->nrows + here > most) {
      c->to = block;
      return;
    }
    rows.before = c->nrows;
    c->nrows += here;
  }
}

void check_table(Check* c) {
  IndexInfo* info = info_for_reading(c->index);
  // These come first, which spares the index expressions of rows of other passes.
  if (c->to < c->table_blocks) info->ii_Predicate = lcons(ctid_qual(TIDLessOperator, c->to), info->ii_Predicate);
  if (c->from != 0) info->ii_Predicate = lcons(ctid_qual(TIDGreaterEqOperator, c->from), info->ii_Predicate);
  TableScanDesc scan = table_beginscan_strat(c->table, c->snapshot, 0, nullptr, true, true);
  table_index_build_scan(c->table, c->index, info, true, false, check_row, c, scan);
}

}  // namespace neardup::checking
