// See pair_groups.h. Rows are sorted by (within, at, number) and searched a cell at a time: rows of one group, cut
// where they are far enough apart in time, with those after them that are near enough to its own.
#include "pg/pairs/pair_groups.h"

#include "pg/base/guc.h"
#include "pg/base/reserve.h"

namespace neardup {
namespace {

// A cell has at least so many rows where time alone would cut it, and so many where small groups share a search: an
// engine takes some 20 us to start, and compares so few rows at once.
constexpr uint32 kCellRows = 1024;

// A row of the engine that is at work, by engine row.
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

bool near_in_time(const CellRow& x, const CellRow& y) { return x.at <= y.at ? y.at <= x.until : x.at <= y.until; }

// The search of one cell after the other.
struct Cell {
  PairRows* of;
  bool timed;                 // rows far apart in time are not near
  PairCollector* pairs;       // of all cells
  uint64 left_out;            // by all of them
  Owned<PairSearch>* engine;  // null until a row is added
  MemoryContext context;
  CellRows a;
  CellRows b;
};

void start_engine(Cell* cell) {
  const PairRows* of = cell->of;
  const unsigned threads = search_threads();
  cell->engine = make_owned<PairSearch>(cell->context, [&](PgStop* stop, PgTempFiles* files) {
    return make_pair_search(of->shape, of->bound, {engine_memory() / 2, files, stop, threads, of->options.identical});
  });
  cell->engine->stop->be_quiet();
}

// The row at hand into the cell. to: cell->a or cell->b.
void add_to_cell(Cell* cell, CellRows* to, SortedRows* rows, uint32 group) {
  if (cell->engine == nullptr) start_engine(cell);
  reserve(CurrentMemoryContext, &to->rows, &to->capacity, to->n + 1);
  to->rows[to->n++] = {current_time(rows), current_until(rows), group, current_number(rows)};
  Signature signature;
  read_signature(rows, &signature);
  call_core([&] { cell->engine->object->add_value(signature); });
}

// Pairs name a row by this number.
uint32 name_in_pairs(const PairSide& side, const CellRow& row) {
  return side.rank == nullptr ? row.number : side.rank[row.number];
}

const uint32* all_names(const PairSide& side, const CellRows& rows, MemoryContext context) {
  auto* out = static_cast<uint32*>(MemoryContextAllocHuge(context, (rows.n + 1) * sizeof(uint32)));
  for (uint64 i = 0; i < rows.n; ++i) out[i] = name_in_pairs(side, rows.rows[i]);
  return out;
}

// Runs the engine on one whole group: of its equal rows the engine takes the one that has the first name.
void run_group(Cell* cell) {
  const PairRows& of = *cell->of;
  PairSearch* engine = cell->engine->object;
  const uint32* names_a = all_names(of.a, cell->a, cell->context);
  const uint32* names_b = of.two_sets ? all_names(of.b, cell->b, cell->context) : nullptr;
  call_core([&] {
    engine->run(names_a, names_b);
    engine->for_each_next([cell](const RowPair& pair) { cell->pairs->add(pair); });
  });
}

// Runs the engine on rows of which not all may be near each other.
void run_mixed(Cell* cell, uint64 own) {
  const PairRows& of = *cell->of;
  PairSearch* engine = cell->engine->object;
  const PairSide& side_b = of.second();
  const CellRow* a = cell->a.rows;
  const CellRow* b = of.two_sets ? cell->b.rows : a;
  const bool is_directed = of.shape.kind == Kind::set && neardup::is_directed(of.shape.measure);
  call_core([&] {
    engine->run(nullptr, nullptr);
    engine->for_each_next([&](const RowPair& pair) {
      const CellRow& x = a[pair.a];
      const CellRow& y = b[pair.b];
      if (x.group != y.group || (cell->timed && !near_in_time(x, y))) return;
      if (!of.two_sets && Min(pair.a, pair.b) >= own) return;
      const uint32 i = name_in_pairs(of.a, x);
      const uint32 j = name_in_pairs(side_b, y);
      cell->pairs->add(of.two_sets || is_directed || i < j ? RowPair{i, j, pair.value} : RowPair{j, i, pair.value});
    });
  });
}

// Ends the cell. own: so many rows of set A are the cell's own, later ones only their partners. may_pair: there are two
// rows.
void finish_cell(Cell* cell, uint64 own, bool may_pair) {
  if (may_pair) {
    if (cell->of->options.identical == Identical::all) {
      run_mixed(cell, own);
    } else {
      run_group(cell);
    }
    cell->left_out += cell->engine->object->stats().left_out;
  }
  destroy_owned(cell->engine);
  MemoryContextReset(cell->context);
  cell->engine = nullptr;
  cell->a.n = cell->b.n = 0;
}

// A group on the way through the sorted rows.
struct Group {
  uint32 number;  // among those of a cell
  Datum within;
  int64 first_until;  // to where the group's first row of the cell reaches
  int64 reach;        // to where any of them does
  bool goes_on;       // the row at hand is of it
};

void enter_group(Group* group, SortedRows* rows) {
  group->within = keep_group(rows);
  group->reach = group->first_until = current_until(rows);
  group->goes_on = true;
}

// Takes the row at hand for the group's, and goes on; false at the end.
bool pass_row(Group* group, SortedRows* rows) {
  group->reach = Max(group->reach, current_until(rows));
  if (!advance(rows)) return false;
  group->goes_on = group_order(rows, group->within) == 0;
  return true;
}

// One set: the cell's own rows, the row at hand first; where small groups may share a search, those of several groups.
// Where the cell is cut within a group, the sort can come back to the row at hand.
void add_own_rows(Cell* cell, Group* group, SortedRows* rows) {
  const bool shared = cell->of->options.identical == Identical::all;
  enter_group(group, rows);
  for (;;) {
    add_to_cell(cell, &cell->a, rows, group->number);
    const bool full = cell->a.n >= kCellRows;
    if (cell->timed && full) mark_position(rows);
    if (!pass_row(group, rows)) return;
    if (group->goes_on ? cell->timed && full && current_time(rows) > group->first_until : !shared || full) return;
    if (group->goes_on) continue;
    ++group->number;
    enter_group(group, rows);
  }
}

// One set: the rows after the cell's own that are near enough to them in time; whether there are any.
bool add_partners(Cell* cell, Group* group, SortedRows* rows) {
  bool any = false;
  while (!rows->at_end && group->goes_on && current_time(rows) <= group->reach) {
    add_to_cell(cell, &cell->a, rows, group->number);
    any = true;
    if (advance(rows)) group->goes_on = group_order(rows, group->within) == 0;
  }
  return any;
}

// One set: the cell's own rows come before their partners, and of two rows the earlier one comes first.
void search_one_set(Cell* cell) {
  PairSide* side = &cell->of->a;
  const uint64 total = side->source.ids->count;
  uint64 done = 0;
  SortedRows rows;
  open_sorted(&rows, side->source, &side->sort);
  Group group = {};
  advance(&rows);
  while (!rows.at_end) {
    add_own_rows(cell, &group, &rows);
    const uint64 own = cell->a.n;
    const bool partners = add_partners(cell, &group, &rows);
    finish_cell(cell, own, cell->a.n > 1);
    report_steps(done += own, total);
    if (partners) go_back(&rows);
    ++group.number;
    CHECK_FOR_INTERRUPTS();
  }
  close_sorted(&rows);
}

// Two sets: passes over rows of B before any that this cell of A or a later one may have. first_at: of the cell's first
// row.
void pass_over(const Cell* cell, Datum within, int64 first_at, SortedRows* b) {
  for (;;) {
    const int order = group_order(b, within);
    if (order > 0 || (order == 0 && (!cell->timed || current_until(b) >= first_at))) return;
    mark_position(b);
    if (!advance(b)) return;
  }
}

// Two sets: the rows of A of one group, or of the beginning of it. any_b: the group has rows of B; else those of A are
// passed over.
void add_rows_of_a(Cell* cell, Group* group, SortedRows* a, bool any_b) {
  for (;;) {
    if (any_b) add_to_cell(cell, &cell->a, a, group->number);
    if (!pass_row(group, a)) return;
    if (!group->goes_on) return;
    if (cell->timed && cell->a.n >= kCellRows && current_time(a) > group->first_until) return;
  }
}

// Two sets: the rows of B that are near enough in time.
void add_rows_of_b(Cell* cell, const Group& group, SortedRows* b) {
  call_core([&] { cell->engine->object->start_set_b(); });
  do {
    if (cell->timed && current_time(b) > group.reach) return;
    add_to_cell(cell, &cell->b, b, group.number);
  } while (advance(b) && group_order(b, group.within) == 0);
}

// Two sets: for each cell of A the rows of B in the same group that are near enough in time.
void search_two_sets(Cell* cell) {
  PairRows* of = cell->of;
  SortedRows a;
  SortedRows b;
  open_sorted(&a, of->a.source, &of->a.sort);
  open_sorted(&b, of->b.source, &of->b.sort);
  const uint64 total = of->a.source.ids->count;
  uint64 done = 0;
  advance(&a);
  mark_position(&b);
  advance(&b);
  while (!a.at_end && !b.at_end) {
    Group group = {};
    enter_group(&group, &a);
    pass_over(cell, group.within, current_time(&a), &b);
    if (b.at_end) break;
    const bool any_b = group_order(&b, group.within) == 0;
    add_rows_of_a(cell, &group, &a, any_b);
    if (any_b) {
      add_rows_of_b(cell, group, &b);
      const uint64 own = cell->a.n;
      finish_cell(cell, own, cell->b.n > 0);
      report_steps(done += own, total);
      // The next cell may want the same rows.
      go_back(&b);
    }
    CHECK_FOR_INTERRUPTS();
  }
  close_sorted(&a);
  close_sorted(&b);
}

void finish_sorts(PairRows* rows) {
  report_phase(Phase::sorting);
  finish_sort(&rows->a.sort);
  if (rows->two_sets) finish_sort(&rows->b.sort);
  end_stage(&rows->stages, "rows sorted");
}

}  // namespace

Owned<PairCollector>* search_groups(PairRows* rows, uint64* left_out) {
  finish_sorts(rows);
  report_phase(Phase::searching);
  Owned<PairCollector>* pairs = make_owned<PairCollector>(rows->context, [&](PgStop* stop, PgTempFiles* files) {
    return new PairCollector({engine_memory() / 6, files, stop});
  });
  Cell cell = {};
  cell.of = rows;
  cell.timed = rows->options.apart != nullptr;
  cell.pairs = pairs->object;
  cell.context = AllocSetContextCreate(CurrentMemoryContext, "neardup cell", ALLOCSET_DEFAULT_SIZES);
  if (rows->two_sets) {
    search_two_sets(&cell);
  } else {
    search_one_set(&cell);
  }
  MemoryContextDelete(cell.context);
  call_core([&] { pairs->object->finish(); });
  end_stage(&rows->stages, "pairs found");
  *left_out = cell.left_out;
  return pairs;
}

}  // namespace neardup
