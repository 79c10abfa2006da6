#include "pg/join/join_pairs.h"

#include "pg/join/join_groups.h"

namespace neardup {
namespace {

// The engine finds each pair of one set once, unless it is directed, and no row with itself.
void collect_both_ways(JoinRows* rows) {
  rows->pairs = make_pair_collector(rows);
  const JoinSide& side = rows->outer;
  call_core([&] {
    PairSearch* engine = rows->engine->object;
    PairCollector* pairs = rows->pairs->object;
    engine->run(side.row_of);
    while (const size_t n = engine->next(rows->batch, lengthof(rows->batch)))
      for (const RowPair* p = rows->batch; p < rows->batch + n; ++p) {
        pairs->add(*p);
        if (!rows->search.is_directed()) pairs->add({p->b, p->a, p->value});
      }
    for (uint64 i = 0; i < side.engine_rows && !rows->search.omits_itself; ++i) {
      const uint32 row = side.row_of == nullptr ? static_cast<uint32>(i) : side.row_of[i];
      pairs->add({row, row, 0});
    }
    pairs->finish();
  });
}

void search_two_sides(JoinRows* rows) {
  const JoinSide* first = rows->search.inner_first ? &rows->inner : &rows->outer;
  const JoinSide* second = rows->search.inner_first ? &rows->outer : &rows->inner;
  call_core([&] { rows->engine->object->run(first->row_of, second->row_of); });
}

// True if there is a pair at hand.
bool fetch_pairs(JoinRows* rows) {
  if (rows->next < rows->count) return true;
  if (rows->at_end) return false;
  rows->next = rows->count = 0;
  call_core([&] {
    if (rows->pairs != nullptr)
      rows->count = rows->pairs->object->next(rows->batch, lengthof(rows->batch));
    else if (rows->engine != nullptr)
      rows->count = rows->engine->object->next(rows->batch, lengthof(rows->batch));
  });
  rows->at_end = rows->count == 0;
  return !rows->at_end;
}

}  // namespace

void find_join_pairs(JoinRows* rows, const RowValues& values) {
  if (rows->search.is_grouped) {
    search_join_groups(rows, values);
  } else if (rows->every_pair || rows->engine == nullptr) {
    return;
  } else if (rows->search.is_self) {
    collect_both_ways(rows);
  } else {
    search_two_sides(rows);
  }
}

void rewind_join_pairs(JoinRows* rows) {
  rows->next = rows->count = 0;
  rows->at_end = false;
  rows->next_inner = 0;
  call_core([&] {
    if (rows->pairs != nullptr)
      rows->pairs->object->rewind();
    else if (rows->engine != nullptr)
      rows->engine->object->rewind();
  });
}

bool next_outer(JoinRows* rows, uint64 from, uint64* outer) {
  *outer = from;
  if (rows->every_pair || rows->outer.keeps_all) return from < rows->outer.tuples->count;
  if (!fetch_pairs(rows)) return false;
  *outer = rows->batch[rows->next].a;
  return true;
}

bool next_partner(JoinRows* rows, uint64 outer, uint64* inner) {
  if (rows->every_pair) {
    *inner = rows->next_inner++;
    if (*inner < inner_side(rows)->tuples->count) return true;
    rows->next_inner = 0;
    return false;
  }
  if (!fetch_pairs(rows) || rows->batch[rows->next].a != outer) return false;
  *inner = rows->batch[rows->next++].b;
  return true;
}

void pass_partners(JoinRows* rows, uint64 outer) {
  uint64 inner;
  if (rows->every_pair)
    rows->next_inner = 0;
  else
    while (next_partner(rows, outer, &inner)) continue;
}

SearchStats join_stats(const JoinRows* rows) {
  SearchStats stats = rows->group_stats;
  if (rows->engine != nullptr) call_core([&] { stats = rows->engine->object->stats(); });
  return stats;
}

}  // namespace neardup
