// See join_groups.h. A cell is one group, or several small ones that share an engine. Groups are hashes of keys: what
// two of them share is checked with each pair.
#include "pg/join/join_groups.h"

#include "pg/base/reserve.h"

namespace neardup {
namespace {

// An engine takes some 20 us to start, and compares so few rows at once.
constexpr uint64 kCellRows = 1024;
// Where the engine cannot tell, so many pairs of rows are written down: 12 bytes each. Beyond, all are gone through.
constexpr uint64 kMostUnknownPairs = uint64{1} << 26;

// A list grows in the memory context in which it is.
template <typename Row>
struct ListOf {
  Row* rows;
  uint64 n;
  uint64 capacity;

  void add(const Row& row) {
    reserve(CurrentMemoryContext, &rows, &capacity, n + 1);
    rows[n++] = row;
  }
};
using RowList = ListOf<uint32>;

// A row of a cell.
struct CellRow {
  uint32 group;  // its number in the cell
  uint32 row;
};

using CellRows = ListOf<CellRow>;

struct Cell {
  JoinRows* of;
  const RowValues* values;
  bool is_blind;  // the engine cannot tell for any group
  uint64 unknown_pairs;
  MemoryContext context;      // of the engine
  MemoryContext row_context;  // of the value at hand
  Owned<PairSearch>* engine;
  SignatureShape shape;
  uint32 groups;
  bool* is_unknown;  // of each group: its pairs are to be checked, all of them
  uint64 capacity;   // of is_unknown
  CellRows outer;    // those that have a value
  CellRows inner;    // in a self-join none
  CellRows a;        // by engine row: those of the outer side that the engine has
  CellRows b;        // of the inner side, which it takes when it has all of the outer one; in a self-join none
};

// The (group, row) of one side, in order.
struct GroupReader {
  PairCollector* sorted;
  RowPair batch[256];
  size_t next;
  size_t count;

  // True if there is a row at hand.
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

// True if the row has a value. The signature is valid until the next row is read.
bool read_row(Cell* cell, JoinSide* side, uint32 row, Signature* signature) {
  MemoryContextReset(cell->row_context);
  MemoryContext old = MemoryContextSwitchTo(cell->row_context);
  Datum value;
  const bool has_value = cell->values->value(cell->values->of, side, row, &value);
  if (has_value) read_signature_quietly(cell->of->kind, value, signature);
  MemoryContextSwitchTo(old);
  return has_value;
}

void add_to_engine(Cell* cell, CellRows* rows, const CellRow& row, const Signature& signature) {
  if (signature.is_empty || cell->of->no_pair) return;
  if (cell->engine == nullptr) cell->engine = make_join_engine(cell->of, cell->context, cell->shape);
  call_core([&] { cell->engine->object->add_value(signature); });
  rows->add(row);
}

// Where no row of the outer side has gone to the engine, it is looked only whether the rows can be compared.
void add_inner_rows(Cell* cell) {
  if (cell->of->search.is_self) return;
  const bool has_outer = cell->engine != nullptr;
  if (has_outer) call_core([&] { cell->engine->object->start_set_b(); });
  for (uint64 i = 0; i < cell->inner.n; ++i) {
    const CellRow& row = cell->inner.rows[i];
    Signature signature;
    if (cell->is_unknown[row.group] || !read_row(cell, &cell->of->inner, row.row, &signature)) continue;
    if (!fits_shape(&cell->shape, signature))
      cell->is_unknown[row.group] = true;
    else if (has_outer)
      add_to_engine(cell, &cell->b, row, signature);
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
        if (a[p->a].group != b[p->b].group || cell->is_unknown[a[p->a].group]) continue;
        pairs->add({a[p->a].row, b[p->b].row, p->value});
        if (is_self && !of->search.is_directed()) pairs->add({b[p->b].row, a[p->a].row, p->value});
      }
    for (uint64 i = 0; i < cell->a.n && is_self && !of->search.omits_itself; ++i)
      if (!cell->is_unknown[a[i].group]) pairs->add({a[i].row, a[i].row, 0});
  });
}

// Pairs each row with each, in groups for which the engine cannot tell. Rows are in the order of their groups.
void collect_unknown_pairs(Cell* cell) {
  JoinRows* of = cell->of;
  const CellRows& inner = of->search.is_self ? cell->outer : cell->inner;
  call_core([&] {
    uint64 first = 0;
    for (uint64 i = 0; i < cell->outer.n; ++i) {
      const CellRow& x = cell->outer.rows[i];
      while (first < inner.n && inner.rows[first].group < x.group) ++first;
      if (!cell->is_unknown[x.group]) continue;
      for (uint64 j = first; j < inner.n && inner.rows[j].group == x.group; ++j) {
        if (++cell->unknown_pairs > kMostUnknownPairs) return;
        of->pairs->object->add({x.row, inner.rows[j].row, 0});
      }
    }
  });
  of->every_pair = cell->unknown_pairs > kMostUnknownPairs;
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
  add_inner_rows(cell);
  if (cell->engine != nullptr) {
    collect_pairs(cell);
    note_stats(cell);
    destroy_owned(cell->engine);
  }
  collect_unknown_pairs(cell);
  MemoryContextReset(cell->context);
  cell->engine = nullptr;
  cell->shape = {};
  cell->groups = 0;
  cell->outer.n = cell->inner.n = cell->a.n = cell->b.n = 0;
}

uint32 start_group(Cell* cell) {
  reserve(CurrentMemoryContext, &cell->is_unknown, &cell->capacity, cell->groups + 1);
  cell->is_unknown[cell->groups] = cell->is_blind;
  return cell->groups++;
}

// Prepares the cell for rows that are made as the first of these that has a value. False where none has one.
bool adopt_shape(Cell* cell, const RowList& outer) {
  Signature signature;
  for (uint64 i = 0; i < outer.n; ++i) {
    if (!read_row(cell, &cell->of->outer, outer.rows[i], &signature)) continue;
    SignatureShape shape = {};
    fits_shape(&shape, signature);
    if (!fits_shape(&cell->shape, signature)) finish_cell(cell);
    cell->shape = shape;
    return true;
  }
  return false;
}

// Into the engine, unless it is known by now that it cannot tell.
void add_outer_row(Cell* cell, const CellRow& row) {
  Signature signature;
  if (!cell->is_unknown[row.group]) {
    if (!read_row(cell, &cell->of->outer, row.row, &signature)) return;
    if (fits_shape(&cell->shape, signature))
      add_to_engine(cell, &cell->a, row, signature);
    else
      cell->is_unknown[row.group] = true;
  }
  cell->outer.add(row);
}

// A group whose signatures were made otherwise than those before begins a cell.
void add_group(Cell* cell, const RowList& outer, const RowList& inner) {
  if (!cell->is_blind && !adopt_shape(cell, outer)) return;
  const uint32 number = start_group(cell);
  for (uint64 i = 0; i < outer.n; ++i) add_outer_row(cell, {number, outer.rows[i]});
  for (uint64 i = 0; i < inner.n; ++i) cell->inner.add({number, inner.rows[i]});
  if (cell->outer.n + cell->inner.n >= kCellRows) finish_cell(cell);
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
  cell.is_blind = rows->every_pair;
  rows->every_pair = false;
  cell.context = AllocSetContextCreate(of_search, "neardup join cell", ALLOCSET_DEFAULT_SIZES);
  cell.row_context = AllocSetContextCreate(of_search, "neardup join value", ALLOCSET_SMALL_SIZES);
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
