// See pair_engine.h.
#include "core/pairs/pair_engine.h"

#include <algorithm>
#include <utility>

#include "core/pairs/pair_links.h"

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

std::unique_ptr<PairOutput> PairEngine::make_output() {
  return std::make_unique<PairOutput>(identical, 0, two_sets, count_a, rank_a, rank_b, ws);
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

void PairEngine::count(const SearchCounts& counts) noexcept {
  stats.looked += counts.looked;
  stats.compared += counts.compared;
  stats.brute_force |= counts.brute_force;
}

void PairEngine::found_at_distance(const Hit* hits, size_t n) {
  for (size_t i = 0; i < n; ++i) found(hits[i].x, hits[i].y, hits[i].value, two_sets && hits[i].value == 0);
  ws.poller.spend(n * 4);
}

PairSearch::PairSearch(std::unique_ptr<PairEngine> engine) : engine_(std::move(engine)) {}
PairSearch::~PairSearch() = default;

void PairSearch::start_set_b() { engine_->start_set_b(); }

void PairSearch::run(const uint32_t* rank_a, const uint32_t* rank_b) {
  engine_->rank_a = rank_a;
  engine_->rank_b = rank_b;
  engine_->search();
  engine_->clear_rows();
}

void PairSearch::run_components(UnionFind& sets) {
  engine_->sets = &sets;
  engine_->search();
}

void PairSearch::link_anchors(AnchorLinks& links) {
  run();
  for_each_next([&links](const RowPair& pair) { links.add(pair); });
}

size_t PairSearch::next(RowPair* out, size_t max) { return engine_->out == nullptr ? 0 : engine_->out->next(out, max); }

void PairSearch::rewind() {
  if (engine_->out != nullptr) engine_->out->rewind();
}

void PairSearch::values_with(const uint32_t* of, uint32_t* values) { engine_->values_with(of, values); }

const SearchStats& PairSearch::stats() noexcept {
  SearchStats& stats = engine_->stats;
  stats.spilled_bytes = engine_->ws.spilled_bytes;
  stats.peak_bytes = engine_->ws.ledger.peak();
  return stats;
}

}  // namespace neardup
