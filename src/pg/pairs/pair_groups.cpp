// See pair_groups.h. Rows are sorted by (within, at, number) and searched a cell at a time: rows of one group, cut where
// they are far enough apart in time, with those after them that are near enough to its own.
#include "pg/base/guc.h"
#include "pg/pairs/pair_groups.h"
#include "pg/base/reserve.h"

namespace neardup {
namespace {

// Columns of the sorted rows.
enum SortColumn : AttrNumber { kWithin = 1, kAt, kUntil, kNumber, kValue, kColumns = kValue };

// A cell has at least so many rows where time alone would cut it, and so many where small groups share a search: an engine
// takes some 20 us to start, and compares so few rows at once.
constexpr uint32 kCellRows = 1024;

// One sorted side as a cursor.
struct SortedRows {
  Side* side;
  TupleTableSlot* slot;
  FmgrInfo compare;       // of within
  Oid collation;
  bool at_end;
  MemoryContext context;  // of the signature at hand
  MemoryContext keep;     // of `within`
};

void open_sorted(SortedRows* rows, Side* side) {
  rows->side = side;
  rows->slot = MakeSingleTupleTableSlot(side->sort_desc, &TTSOpsMinimalTuple);
  rows->context = AllocSetContextCreate(CurrentMemoryContext, "neardup sorted row", ALLOCSET_DEFAULT_SIZES);
  rows->keep = AllocSetContextCreate(CurrentMemoryContext, "neardup group", ALLOCSET_SMALL_SIZES);
  if (side->source.columns.within != -1) {
    const TypeCacheEntry* type = lookup_type_cache(side->source.within_type, TYPECACHE_CMP_PROC_FINFO);
    fmgr_info_copy(&rows->compare, const_cast<FmgrInfo*>(&type->cmp_proc_finfo), CurrentMemoryContext);
    rows->collation = side->source.within_collation;
  }
}

void close_sorted(SortedRows* rows) {
  ExecDropSingleTupleTableSlot(rows->slot);
  tuplesort_end(rows->side->sort);
  rows->side->sort = nullptr;
  MemoryContextDelete(rows->context);
  MemoryContextDelete(rows->keep);
}

bool advance(SortedRows* rows) {
  CHECK_FOR_INTERRUPTS();
  rows->at_end = !tuplesort_gettupleslot(rows->side->sort, true, false, rows->slot, nullptr);
  return !rows->at_end;
}

Datum column(const SortedRows* rows, AttrNumber n) {
  bool is_null;
  return slot_getattr(rows->slot, n, &is_null);
}
int64 at_of(const SortedRows* rows) { return DatumGetInt64(column(rows, kAt)); }
int64 until_of(const SortedRows* rows) { return DatumGetInt64(column(rows, kUntil)); }
uint32 number_of(const SortedRows* rows) { return static_cast<uint32>(DatumGetInt64(column(rows, kNumber))); }

// < 0, 0, > 0: the row at hand is of an earlier group than `within`, of it, or of a later one.
int group_order(SortedRows* rows, Datum within) {
  if (rows->side->source.columns.within == -1) return 0;
  MemoryContext old = MemoryContextSwitchTo(rows->context);
  MemoryContextReset(rows->context);
  const int c = DatumGetInt32(FunctionCall2Coll(&rows->compare, rows->collation, column(rows, kWithin), within));
  MemoryContextSwitchTo(old);
  return c;
}

// A copy of the group's key, valid until the next one.
Datum keep_group(SortedRows* rows) {
  if (rows->side->source.columns.within == -1) return static_cast<Datum>(0);
  const Form_pg_attribute a = TupleDescAttr(rows->side->sort_desc, kWithin - 1);
  MemoryContextReset(rows->keep);
  MemoryContext old = MemoryContextSwitchTo(rows->keep);
  const Datum copy = datumCopy(column(rows, kWithin), a->attbyval, a->attlen);
  MemoryContextSwitchTo(old);
  return copy;
}

// What is known of the rows of the engine that is at work, by engine row.
struct CellRow {
  int64 at;
  int64 until;
  uint32 group;
  uint32 number;
};
struct CellRows {
  CellRow* rows;
  uint64 n;
  uint64 capacity;
};

void add_cell_row(CellRows* cell, const SortedRows* rows, uint32 group) {
  reserve(CurrentMemoryContext, &cell->rows, &cell->capacity, cell->n + 1);
  cell->rows[cell->n++] = {at_of(rows), until_of(rows), group, number_of(rows)};
}

bool near_in_time(const CellRow& x, const CellRow& y) { return x.at <= y.at ? y.at <= x.until : x.at <= y.until; }

// The search of one cell.
struct Cell {
  PairCall* call;
  Owned<PairSearch>* engine;
  MemoryContext context;
  CellRows a;
  CellRows b;
};

void add_to_cell(Cell* cell, CellRows* to, SortedRows* rows, uint32 group) {
  if (cell->engine == nullptr) {
    const PairCall* call = cell->call;
    const unsigned threads = search_threads();
    cell->engine = make_owned<PairSearch>(cell->context, [&](PgStop* stop, PgTempFiles* files) {
      return make_pair_search(call->shape, call->bound,
                              {engine_memory() / 2, files, stop, threads, call->options.identical});
    });
    cell->engine->stop->be_quiet();
  }
  add_cell_row(to, rows, group);
  MemoryContextReset(rows->context);
  MemoryContext old = MemoryContextSwitchTo(rows->context);
  Signature signature;
  read_signature(rows->side->source.type, column(rows, kValue), &signature);
  call_core([&] { add_row(cell->engine->object, signature); });
  MemoryContextSwitchTo(old);
}

// What pairs are told by.
uint32 told(const Side& side, const CellRow& row) { return side.rank == nullptr ? row.number : side.rank[row.number]; }

const uint32* all_told(const Side& side, const CellRows& rows, MemoryContext context) {
  auto* out = static_cast<uint32*>(MemoryContextAllocHuge(context, (rows.n + 1) * sizeof(uint32)));
  for (uint64 i = 0; i < rows.n; ++i) out[i] = told(side, rows.rows[i]);
  return out;
}

// Runs the engine. own: so many rows of set A are the cell's own, later ones only their partners.
void run_cell(Cell* cell, uint64 own) {
  PairCall* call = cell->call;
  const Side& side_b = call->two_sets ? call->b : call->a;
  const CellRow* a = cell->a.rows;
  const CellRow* b = call->two_sets ? cell->b.rows : a;
  PairCollector* pairs = call->pairs->object;
  PairSearch* engine = cell->engine->object;
  RowPair found[256];
  if (call->options.identical != Identical::all) {
    // One whole group: of its equal rows the engine takes the one that is told first.
    const uint32* told_a = all_told(call->a, cell->a, cell->context);
    const uint32* told_b = call->two_sets ? all_told(call->b, cell->b, cell->context) : nullptr;
    call_core([&] {
      engine->run(told_a, told_b);
      while (const size_t n = engine->next(found, 256))
        for (const RowPair* p = found; p < found + n; ++p) pairs->add(*p);
    });
  } else {
    const bool timed = call->options.apart != nullptr;
    call_core([&] {
      engine->run(nullptr, nullptr);
      while (const size_t n = engine->next(found, 256)) {
        for (const RowPair* p = found; p < found + n; ++p) {
          const CellRow& x = a[p->a];
          const CellRow& y = b[p->b];
          if (x.group != y.group || (timed && !near_in_time(x, y))) continue;
          if (!call->two_sets && p->a >= own) continue;
          const uint32 i = told(call->a, x);
          const uint32 j = told(side_b, y);
          pairs->add(call->two_sets || i < j ? RowPair{i, j, p->value} : RowPair{j, i, p->value});
        }
      }
    });
  }
  call->left_out += engine->stats().left_out;
  destroy_owned(cell->engine);
}

void reset_cell(Cell* cell) {
  MemoryContextReset(cell->context);
  cell->engine = nullptr;
  cell->a.n = cell->b.n = 0;
}

// One set: the cell's own rows come before their partners, and of two rows the earlier one comes first.
void search_one_set(Cell* cell) {
  PairCall* call = cell->call;
  const uint64 total = call->a.source.ids->count;
  uint64 done = 0;
  SortedRows rows = {};
  open_sorted(&rows, &call->a);
  const bool timed = call->options.apart != nullptr;
  const bool shared = call->options.identical == Identical::all;  // small groups may share a search
  uint32 group = 0;
  advance(&rows);
  while (!rows.at_end) {
    Datum within = keep_group(&rows);
    int64 group_until = until_of(&rows);  // to where the group's first row of the cell reaches
    int64 reach = group_until;            // to where any row of the group does
    bool same_group = true;
    // The row at hand is the cell's. Where the cell ends, the sort must be able to come back.
    for (;;) {
      add_to_cell(cell, &cell->a, &rows, group);
      reach = Max(reach, until_of(&rows));
      if (timed && cell->a.n >= kCellRows) tuplesort_markpos(call->a.sort);
      if (!advance(&rows)) break;
      same_group = group_order(&rows, within) == 0;
      const bool full = cell->a.n >= kCellRows;
      if (same_group ? timed && full && at_of(&rows) > group_until : !shared || full) break;
      if (same_group) continue;
      ++group;
      within = keep_group(&rows);
      reach = group_until = until_of(&rows);
    }
    const uint64 own = cell->a.n;
    bool partners = false;
    while (!rows.at_end && same_group && at_of(&rows) <= reach) {
      add_to_cell(cell, &cell->a, &rows, group);
      partners = true;
      if (advance(&rows)) same_group = group_order(&rows, within) == 0;
    }
    if (cell->a.n > 1) {
      run_cell(cell, own);
    } else {
      destroy_owned(cell->engine);
    }
    reset_cell(cell);
    tell_steps(done += own, total);
    if (partners) {
      tuplesort_restorepos(call->a.sort);
      advance(&rows);
    }
    ++group;
    CHECK_FOR_INTERRUPTS();
  }
  close_sorted(&rows);
}

// Two sets: for each cell of A the rows of B in the same group that are near enough in time.
void search_two_sets(Cell* cell) {
  PairCall* call = cell->call;
  SortedRows a = {};
  SortedRows b = {};
  open_sorted(&a, &call->a);
  open_sorted(&b, &call->b);
  const bool timed = call->options.apart != nullptr;
  const uint64 total = call->a.source.ids->count;
  uint64 done = 0;
  advance(&a);
  tuplesort_markpos(call->b.sort);
  advance(&b);
  while (!a.at_end && !b.at_end) {
    const Datum within = keep_group(&a);
    const int64 first_at = at_of(&a);
    // Rows of B before any that this cell or a later one may have.
    for (;;) {
      const int order = group_order(&b, within);
      if (order > 0 || (order == 0 && (!timed || until_of(&b) >= first_at))) break;
      tuplesort_markpos(call->b.sort);
      if (!advance(&b)) break;
    }
    if (b.at_end) break;
    const bool any_b = group_order(&b, within) == 0;
    const int64 group_until = until_of(&a);
    int64 reach = group_until;
    bool same_group = true;
    // Without a partner in B the group's rows are passed over.
    for (;;) {
      if (any_b) add_to_cell(cell, &cell->a, &a, 0);
      reach = Max(reach, until_of(&a));
      if (!advance(&a)) break;
      same_group = group_order(&a, within) == 0;
      if (!same_group || (timed && cell->a.n >= kCellRows && at_of(&a) > group_until)) break;
    }
    if (any_b) {
      call_core([&] { cell->engine->object->start_set_b(); });
      do {
        if (timed && at_of(&b) > reach) break;
        add_to_cell(cell, &cell->b, &b, 0);
      } while (advance(&b) && group_order(&b, within) == 0);
      if (cell->b.n > 0) {
        run_cell(cell, cell->a.n);
      } else {
        destroy_owned(cell->engine);
      }
      tell_steps(done += cell->a.n, total);
      reset_cell(cell);
      // The next cell may want the same rows.
      tuplesort_restorepos(call->b.sort);
      advance(&b);
    }
    CHECK_FOR_INTERRUPTS();
  }
  close_sorted(&a);
  close_sorted(&b);
}

}  // namespace

void begin_sort(Side* side) {
  const RowSource& source = side->source;
  const bool within = source.columns.within != -1;
  TupleDesc desc = CreateTemplateTupleDesc(kColumns);
  TupleDescInitEntry(desc, kWithin, "within", within ? source.within_type : INT4OID, -1, 0);
  if (within) TupleDescInitEntryCollation(desc, kWithin, source.within_collation);
  TupleDescInitEntry(desc, kAt, "at", INT8OID, -1, 0);
  TupleDescInitEntry(desc, kUntil, "until", INT8OID, -1, 0);
  TupleDescInitEntry(desc, kNumber, "number", INT8OID, -1, 0);
  TupleDescInitEntry(desc, kValue, "value", source.types.oid[static_cast<int>(source.type)], -1, 0);
  finish_tuple_desc(desc);
  side->sort_desc = desc;
  AttrNumber keys[] = {kWithin, kAt, kNumber};
  Oid less[] = {lookup_type_cache(within ? source.within_type : INT4OID, TYPECACHE_LT_OPR)->lt_opr, Int8LessOperator,
                Int8LessOperator};
  Oid collations[] = {within ? source.within_collation : InvalidOid, InvalidOid, InvalidOid};
  bool nulls_first[] = {false, false, false};
  side->sort = tuplesort_begin_heap(desc, lengthof(keys), keys, less, collations, nulls_first,
                                    Max(64, maintenance_work_mem / 4), nullptr, kTuplesortRandomAccess);
  side->sort_slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
}

void sort_row(Side* side, uint64 number, const SourceRow& row) {
  TupleTableSlot* slot = side->sort_slot;
  ExecClearTuple(slot);
  const bool within = side->source.columns.within != -1;
  const Form_pg_attribute a = TupleDescAttr(side->sort_desc, kWithin - 1);
  slot->tts_values[kWithin - 1] =
      !within ? Int32GetDatum(0) : a->attlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM(row.within)) : row.within;
  slot->tts_values[kAt - 1] = Int64GetDatum(row.at);
  slot->tts_values[kUntil - 1] = Int64GetDatum(row.until);
  slot->tts_values[kNumber - 1] = Int64GetDatum(static_cast<int64>(number));
  slot->tts_values[kValue - 1] = row.value;
  for (int i = 0; i < kColumns; ++i) slot->tts_isnull[i] = false;
  ExecStoreVirtualTuple(slot);
  tuplesort_puttupleslot(side->sort, slot);
}

void search_groups(PairCall* call) {
  tell_phase(Phase::sorting);
  for (Side* side : {&call->a, &call->b}) {
    if (side->sort == nullptr) continue;
    ExecDropSingleTupleTableSlot(side->sort_slot);
    tuplesort_performsort(side->sort);
  }
  end_stage(&call->stages, "rows sorted");
  tell_phase(Phase::searching);
  call->pairs = make_owned<PairCollector>(call->context, [&](PgStop* stop, PgTempFiles* files) {
    return new PairCollector({engine_memory() / 6, files, stop});
  });
  Cell cell = {};
  cell.call = call;
  cell.context = AllocSetContextCreate(CurrentMemoryContext, "neardup cell", ALLOCSET_DEFAULT_SIZES);
  if (call->two_sets) {
    search_two_sets(&cell);
  } else {
    search_one_set(&cell);
  }
  MemoryContextDelete(cell.context);
  call_core([&] { call->pairs->object->finish(); });
  end_stage(&call->stages, "pairs found");
}

void visit_groups(Side* side, const GroupVisitor& visitor, void* arg) {
  ExecDropSingleTupleTableSlot(side->sort_slot);
  tuplesort_performsort(side->sort);
  SortedRows rows = {};
  open_sorted(&rows, side);
  advance(&rows);
  while (!rows.at_end) {
    const Datum within = keep_group(&rows);
    visitor.begin(arg);
    do {
      MemoryContextReset(rows.context);
      MemoryContext old = MemoryContextSwitchTo(rows.context);
      Signature signature;
      read_signature(side->source.type, column(&rows, kValue), &signature);
      MemoryContextSwitchTo(old);
      visitor.add(arg, number_of(&rows), signature);
    } while (advance(&rows) && group_order(&rows, within) == 0);
    visitor.end(arg);
    CHECK_FOR_INTERRUPTS();
  }
  close_sorted(&rows);
}

}  // namespace neardup
