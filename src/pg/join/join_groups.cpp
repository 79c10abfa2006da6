// See join_groups.h. A cell is one group, or several small ones that share an engine. Groups are hashes of keys: what
// two of them share is checked with each pair.
#include "pg/join/join_groups.h"

#include "pg/base/reserve.h"

namespace neardup {
namespace {

// An engine takes some 20 us to start, and compares so few rows at once.
constexpr uint64 kCellRows = 1024;

struct RowList {
  uint32* rows;
  uint64 n;
  uint64 capacity;

  void add(uint32 row) {
    reserve(CurrentMemoryContext, &rows, &capacity, n + 1);
    rows[n++] = row;
  }
};

// A row of a cell.
struct CellRow {
  uint32 group;  // its number in the cell
  uint32 row;
};

struct CellRows {
  CellRow* rows;
  uint64 n;
  uint64 capacity;

  void add(const CellRow& row) {
    reserve(CurrentMemoryContext, &rows, &capacity, n + 1);
    rows[n++] = row;
  }
};

struct Cell {
  JoinRows* of;
  const RowValues* values;
  MemoryContext context;  // of the engine
  Owned<PairSearch>* engine;
  SignatureShape shape;
  uint32 groups;
  CellRows a;          // of the outer side, by engine row
  CellRows b;          // of the inner side, by engine row; in a self-join none
  CellRows waiting_b;  // the engine takes them when it has all of the outer side
};

// The (group, row) of one side, in order.
struct GroupReader {
  PairCollector* sorted;
  RowPair batch[256];
  size_t next;
  size_t count;

  // Whether there is a row at hand.
  bool fetch() {
    if (next < count) return true;
    next = 0;
    call_core([&] { count = sorted->next(batch, lengthof(batch)); });
    return count > 0;
  }
  uint32 group() const { return batch[next].a; }
};

// The rows of the group at hand.
void read_group(GroupReader* reader, RowList* to) {
  to->n = 0;
  const uint32 group = reader->group();
  for (; reader->fetch() && reader->group() == group; ++reader->next) to->add(reader->batch[reader->next].b);
}

// ---------------------------------------------------------------- a cell

// Whether the row takes part in the search. A row that cannot be compared ends all.
bool read_row(Cell* cell, JoinSide* side, uint32 row, SignatureShape* shape, Signature* signature) {
  Datum value;
  if (!cell->values->value(cell->values->of, side, row, &value)) return false;
  read_signature(cell->of->type, value, signature);
  if (!fits_shape(shape, *signature)) cell->of->every_pair = true;
  return !cell->of->every_pair && !signature->empty;
}

void add_to_engine(Cell* cell, const Signature& signature) {
  if (cell->engine == nullptr) cell->engine = make_join_engine(cell->of, cell->context, cell->shape);
  call_core([&] { add_row(cell->engine->object, signature); });
}

void add_waiting_rows(Cell* cell) {
  call_core([&] { cell->engine->object->start_set_b(); });
  for (uint64 i = 0; i < cell->waiting_b.n && !cell->of->every_pair; ++i) {
    const CellRow& row = cell->waiting_b.rows[i];
    Signature signature;
    if (!read_row(cell, &cell->of->inner, row.row, &cell->shape, &signature)) continue;
    add_to_engine(cell, signature);
    cell->b.add(row);
  }
}

// Runs the engine; into the collector.
void collect_pairs(Cell* cell) {
  JoinRows* of = cell->of;
  const bool is_self = of->search.is_self;
  const CellRow* a = cell->a.rows;
  const CellRow* b = is_self ? a : cell->b.rows;
  call_core([&] {
    PairSearch* engine = cell->engine->object;
    PairCollector* pairs = of->pairs->object;
    engine->run();
    while (const size_t n = engine->next(of->batch, lengthof(of->batch)))
      for (const RowPair* p = of->batch; p < of->batch + n; ++p) {
        if (a[p->a].group != b[p->b].group) continue;
        pairs->add({a[p->a].row, b[p->b].row, p->value});
        if (is_self) pairs->add({b[p->b].row, a[p->a].row, p->value});
      }
    for (uint64 i = 0; i < cell->a.n && is_self && !of->search.omits_itself; ++i) pairs->add({a[i].row, a[i].row, 0});
  });
}

void note_stats(Cell* cell) {
  SearchStats stats;
  call_core([&] { stats = cell->engine->object->stats(); });
  SearchStats* all = &cell->of->group_stats;
  all->compared += stats.compared;
  all->found += stats.found;
  all->spilled_bytes += stats.spilled_bytes;
  all->peak_bytes = Max(all->peak_bytes, stats.peak_bytes);
}

// Searches the cell, and begins the next one.
void finish_cell(Cell* cell) {
  CHECK_FOR_INTERRUPTS();
  if (cell->engine != nullptr) {
    if (!cell->of->search.is_self) add_waiting_rows(cell);
    if (!cell->of->every_pair) collect_pairs(cell);
    note_stats(cell);
    destroy_owned(cell->engine);
  }
  MemoryContextReset(cell->context);
  cell->engine = nullptr;
  cell->shape = {};
  cell->groups = 0;
  cell->a.n = cell->b.n = cell->waiting_b.n = 0;
}

// Groups may be made with other parameters than those before.
void add_group(Cell* cell, const RowList& outer, const RowList& inner) {
  SignatureShape shape = {};
  uint32 number = cell->groups;
  for (uint64 i = 0; i < outer.n; ++i) {
    Signature signature;
    const bool is_first = !shape.known;
    const bool takes_part = read_row(cell, &cell->of->outer, outer.rows[i], &shape, &signature);
    if (cell->of->every_pair) return;
    if (is_first && shape.known && !fits_shape(&cell->shape, signature)) {
      finish_cell(cell);
      cell->shape = shape;
      number = 0;
    }
    if (!takes_part) continue;
    add_to_engine(cell, signature);
    cell->a.add({number, outer.rows[i]});
  }
  if (!shape.known) return;
  for (uint64 i = 0; i < inner.n; ++i) cell->waiting_b.add({number, inner.rows[i]});
  cell->groups = number + 1;
  if (cell->a.n + cell->waiting_b.n >= kCellRows) finish_cell(cell);
}

// ---------------------------------------------------------------- all groups

void search_one_side(Cell* cell, GroupReader* all) {
  RowList rows = {};
  const RowList none = {};
  while (!cell->of->every_pair && all->fetch()) {
    read_group(all, &rows);
    if (rows.n > 1 || !cell->of->search.omits_itself) add_group(cell, rows, none);
  }
}

void search_two_sides(Cell* cell, GroupReader* outer, GroupReader* inner) {
  RowList outer_rows = {};
  RowList inner_rows = {};
  while (!cell->of->every_pair && outer->fetch() && inner->fetch()) {
    if (outer->group() < inner->group()) {
      ++outer->next;
    } else if (outer->group() > inner->group()) {
      ++inner->next;
    } else {
      read_group(outer, &outer_rows);
      read_group(inner, &inner_rows);
      add_group(cell, outer_rows, inner_rows);
    }
  }
}

GroupReader read_side(JoinSide* side) {
  call_core([&] { side->groups->object->finish(); });
  GroupReader reader = {};
  reader.sorted = side->groups->object;
  return reader;
}

}  // namespace

void search_join_groups(JoinRows* rows, const RowValues& values) {
  JoinSide* inner = inner_side(rows);
  if (rows->outer.groups == nullptr || inner->groups == nullptr) return;
  MemoryContext of_search = AllocSetContextCreate(rows->context, "neardup join groups", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(of_search);
  Cell cell = {};
  cell.of = rows;
  cell.values = &values;
  cell.context = AllocSetContextCreate(of_search, "neardup join cell", ALLOCSET_DEFAULT_SIZES);
  rows->pairs = make_pair_collector(rows);
  GroupReader outer_reader = read_side(&rows->outer);
  if (rows->search.is_self) {
    search_one_side(&cell, &outer_reader);
  } else {
    GroupReader inner_reader = read_side(inner);
    search_two_sides(&cell, &outer_reader, &inner_reader);
  }
  finish_cell(&cell);
  MemoryContextSwitchTo(old);
  MemoryContextDelete(of_search);
  call_core([&] { rows->pairs->object->finish(); });
}

}  // namespace neardup
