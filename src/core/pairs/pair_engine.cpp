// See pair_engine.h.
#include "core/pairs/pair_engine.h"

#include <algorithm>
#include <utility>

namespace neardup {

PairEngine::PairEngine(const EngineOptions& options)
    : ws(options.memory_limit, options.files, options.stop),
      identical(options.identical),
      offload(options.offload),
      threads(std::clamp(options.threads, 1u, 256u)) {}

void PairEngine::start_set_b() {
  two_sets = true;
  count_a = num_rows();
}

void PairEngine::run(const uint32_t* ranks_a, const uint32_t* ranks_b) {
  rank_a = ranks_a;
  rank_b = ranks_b;
  search();
  clear_rows();
}

void PairEngine::run_components(UnionFind& to) {
  sets = &to;
  search();
}

void PairEngine::search() {
  const uint32_t n = num_rows();
  if (!two_sets) count_a = n;
  stats.rows = n + stats.set_aside;
  if (!components()) out = make_output();
  if (count_a != 0 && (!two_sets || count_a != n)) find_pairs();
  if (components()) return;
  out->finish();
  stats.found = out->found();
  stats.left_out = out->left_out();
}

size_t PairEngine::next(RowPair* to, size_t max) { return out == nullptr ? 0 : out->next(to, max); }

void PairEngine::rewind() {
  if (out != nullptr) out->rewind();
}

const SearchStats& PairEngine::current_stats() noexcept {
  stats.spilled_bytes = ws.spilled_bytes;
  stats.peak_bytes = ws.ledger.peak();
  return stats;
}

bool PairEngine::unite_equal(uint32_t leader, uint32_t row) {
  if (!components()) return out->add_equal(leader, row);
  sets->unite(leader, row);
  return true;
}

void PairEngine::finish_equal() {
  if (!components()) out->finish_equal();
}

void PairEngine::found(uint32_t x, uint32_t y, uint32_t value, bool identical_rows) {
  ++stats.found;
  if (components()) {
    sets->unite(x, y);
  } else {
    out->add(x, y, value, identical_rows);
  }
}

bool PairEngine::may_offload(bool in_memory) {
  if (offload == nullptr) return false;
  if (!in_memory) offload->refuse_large();
  return in_memory;
}

// ---------------------------------------------------------------- the interface

PairSearch::PairSearch(std::unique_ptr<PairEngine> engine) : engine_(std::move(engine)) {}
PairSearch::~PairSearch() = default;

void PairSearch::start_set_b() { engine_->start_set_b(); }
void PairSearch::run(const uint32_t* rank_a, const uint32_t* rank_b) { engine_->run(rank_a, rank_b); }
size_t PairSearch::next(RowPair* out, size_t max) { return engine_->next(out, max); }
void PairSearch::rewind() { engine_->rewind(); }
void PairSearch::run_components(UnionFind& sets) { engine_->run_components(sets); }
void PairSearch::values_with(const uint32_t* of, uint32_t* values) { engine_->values_with(of, values); }
const SearchStats& PairSearch::stats() noexcept { return engine_->current_stats(); }

}  // namespace neardup
