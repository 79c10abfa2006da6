// Clusters: first-come representatives with band tables of representatives only, or components by union-find.
#include "core/pairs/clusters/cluster.h"

#include <algorithm>
#include <numeric>

#include "core/base/union_find.h"
#include "core/pairs/banding.h"
#include "core/pairs/clusters/representatives.h"
#include "core/pairs/pair_links.h"
#include "core/work/parallel.h"
#include "core/work/row_store.h"
#include "core/work/workspace.h"

namespace neardup {
namespace {

// Rows whose look-ups are under way at once.
constexpr uint32_t kLookUpsAhead = 8;
// Rows of a block, at the most, and of a task of it. With bands they are looked up, without compared with a tile of
// representatives that stays in the first-level cache.
constexpr uint32_t kBlockRows = 4096;
constexpr uint32_t kTaskRows = 256;
constexpr uint32_t kDirectBlockRows = 512;
constexpr uint32_t kDirectTaskRows = 64;
constexpr size_t kTileBytes = 16 * 1024;
// Shares of the memory limit, in sixteenths. A table that doubles holds half of itself besides.
constexpr size_t kClusterStoreShare = 6;
constexpr size_t kTableShare = 6;
constexpr size_t kBlockShare = 1;

size_t share(const Workspace& ws, size_t sixteenths) {
  return ws.limit == SIZE_MAX ? SIZE_MAX / 16 : ws.limit / 16 * sixteenths;
}

}  // namespace

void Clusterer::add_alone() {
  if (total_ == RowStore::kMaxStoredRows) RowStore::refuse_more();
  if (searched_ == total_) {
    row_of_.resize(searched_);
    std::iota(row_of_.begin(), row_of_.end(), 0u);
  }
  ++total_;
}

void Clusterer::start(uint32_t own_value) {
  representative_.resize(total_);
  std::iota(representative_.begin(), representative_.end(), 0u);
  values_.assign(total_, own_value);
}

void Clusterer::join_components(PairSearch& search) {
  const uint32_t n = searched();
  UnionFind sets(n);
  search.run_components(sets);
  std::vector<uint32_t> first(n);
  std::vector<uint32_t> values(n);
  for (uint32_t i = 0; i < n; ++i) first[i] = sets.find(i);
  search.values_with(first.data(), values.data());
  for (uint32_t i = 0; i < n; ++i) assign(i, first[i], values[i]);
}

MinhashClusterer::MinhashClusterer(Linkage linkage, uint32_t num_perm, uint32_t bits, uint32_t need,
                                   const EngineOptions& options)
    : Clusterer(linkage),
      num_perm_((check_engine_parameters(num_perm, bits, need), num_perm)),
      need_(need),
      threads_(std::clamp(options.threads, 1u, 256u)),
      banding_(num_perm, bits, need),
      compare_(num_perm, bits),
      ws_(options.memory_limit, options.files, options.stop),
      rows_(size_t{num_perm} * bits / 8, share(ws_, kClusterStoreShare) / (size_t{num_perm} * bits / 8), ws_) {
  if (linkage == Linkage::connected) pairs_ = std::make_unique<MinhashPairs>(num_perm, bits, need, options);
}

void MinhashClusterer::add(const void* components) {
  if (linkage_ == Linkage::anchor)
    rows_.add(components);
  else
    pairs_->add(components);
  note_row();
}

// A row that waits for its representative.
struct MinhashClusterer::Waiting {
  uint32_t number;
  uint32_t r;  // where it was found, kNoRepresentative: nowhere yet
  uint32_t matches;
  const std::byte* row;
};

bool MinhashClusterer::waits(uint32_t i) const noexcept { return representative_[caller_row(i)] == kNoRepresentative; }

// A pass ends with all rows settled, or with a full table and the rows that match none of it still waiting: every
// later representative is one of those, so whoever joined, joined the earliest.
void MinhashClusterer::run_anchor() {
  for (uint32_t i = 0; i < searched(); ++i) representative_[caller_row(i)] = kNoRepresentative;
  const size_t each = Representatives::bytes_each(banding_, rows_);
  const auto rows_in = [this](size_t sixteenths, size_t bytes, size_t most) {
    return static_cast<uint32_t>(std::clamp<size_t>(share(ws_, sixteenths) / bytes, 8, most));
  };
  const size_t waiting = sizeof(Waiting) + banding_.stride() * sizeof(uint32_t) + 2 * each +
                         (rows_.in_memory() ? 0 : 2 * rows_.row_bytes());
  const uint32_t block_rows = rows_in(kBlockShare, waiting, banding_.usable() ? kBlockRows : kDirectBlockRows);
  Representatives kept(banding_, compare_, need_, rows_, rows_in(kTableShare, each, RowStore::kMaxStoredRows), ws_);
  Representatives own(banding_, compare_, need_, rows_, block_rows, ws_);
  do {
    kept.clear();
    pass(kept, own, block_rows);
  } while (kept.full());
}

// A block of rows at a time: each is looked for, by all threads, among the representatives from before the block;
// those that were not found, one after the other, among the representatives that the block itself has brought.
void MinhashClusterer::pass(Representatives& kept, Representatives& own, uint32_t block_rows) {
  const bool banded = banding_.usable();
  const uint32_t stride = banded ? banding_.stride() : 0;
  Array<Waiting> block(ws_.ledger, block_rows);
  Array<uint32_t> keys(ws_.ledger, size_t{block_rows} * stride);
  Array<std::byte> copies;
  if (!rows_.in_memory()) copies = Array<std::byte>(ws_.ledger, block_rows * rows_.row_bytes());
  RowReader reader(rows_, block_rows * rows_.row_bytes() / 2, ws_);
  for (uint32_t next = 0; next < searched();) {
    uint32_t n = 0;
    for (; next < searched() && n < block_rows; ++next) {
      ws_.poller.spend(2);
      if (!waits(next)) continue;
      block[n] = {next, kNoRepresentative, 0, nullptr};
      if (rows_.in_memory()) {
        block[n].row = rows_.row(next);
      } else {
        std::byte* copy = copies.data() + n * rows_.row_bytes();
        std::memcpy(copy, reader.row(next), rows_.row_bytes());
        block[n].row = copy;
      }
      ++n;
    }
    ws_.poller.steps(next, searched());
    banded ? look_up(kept, block.data(), keys.data(), n) : compare_with(kept, block.data(), n);

    own.clear();
    for (uint32_t i = 0; i < n; ++i) {
      Waiting& w = block[i];
      if (w.r != kNoRepresentative) {
        assign(w.number, kept.row_number(w.r), w.matches);
        continue;
      }
      const uint32_t* const row_keys = banded ? keys.data() + size_t{i} * stride : nullptr;
      w.r = banded ? own.find(w.row, row_keys, &w.matches, ws_.poller)
                   : own.find_directly(w.row, 0, own.size(), &w.matches, ws_.poller);
      if (w.r != kNoRepresentative) {
        assign(w.number, own.row_number(w.r), w.matches);
      } else if (kept.size() + own.size() < kept.most()) {
        own.add(w.number, w.row, row_keys);
        own.link_few();
        assign(w.number, w.number, num_perm_);
      }
    }
    for (uint32_t r = 0; r < own.size(); ++r) kept.add(own.row_number(r), own.row(r), banded ? own.keys(r) : nullptr);
    kept.link(threads_);
  }
}

void MinhashClusterer::look_up(const Representatives& kept, Waiting* block, uint32_t* keys, uint32_t n) {
  const uint32_t stride = banding_.stride();
  run_tasks(threads_, (n + kTaskRows - 1) / kTaskRows, ws_.poller, [&](unsigned, size_t task, HitSink& sink) {
    const uint32_t first = static_cast<uint32_t>(task) * kTaskRows;
    const uint32_t last = std::min(n, first + kTaskRows);
    for (uint32_t ahead = first; ahead < last + kLookUpsAhead; ++ahead) {
      if (ahead < last) {
        banding_.keys(block[ahead].row, keys + size_t{ahead} * stride);
        kept.prefetch(keys + size_t{ahead} * stride);
        sink.spend(rows_.row_bytes() / 2);
      }
      if (ahead < first + kLookUpsAhead) continue;
      Waiting& w = block[ahead - kLookUpsAhead];
      w.r = kept.find(w.row, keys + size_t{ahead - kLookUpsAhead} * stride, &w.matches, sink);
    }
  });
}

void MinhashClusterer::compare_with(const Representatives& kept, Waiting* block, uint32_t n) {
  const uint32_t tile = static_cast<uint32_t>(std::max<size_t>(1, kTileBytes / rows_.row_bytes()));
  run_tasks(threads_, (n + kDirectTaskRows - 1) / kDirectTaskRows, ws_.poller,
            [&](unsigned, size_t task, HitSink& sink) {
              const uint32_t from = static_cast<uint32_t>(task) * kDirectTaskRows;
              const uint32_t to = std::min(n, from + kDirectTaskRows);
              for (uint32_t first = 0; first < kept.size(); first += tile) {
                const uint32_t last = std::min(kept.size(), first + tile);
                for (uint32_t i = from; i < to; ++i) {
                  Waiting& w = block[i];
                  if (w.r == kNoRepresentative) w.r = kept.find_directly(w.row, first, last, &w.matches, sink);
                }
              }
            });
}

void MinhashClusterer::run() {
  start(num_perm_);
  linkage_ == Linkage::anchor ? run_anchor() : join_components(*pairs_);
}

PairClusterer::PairClusterer(Linkage linkage, std::unique_ptr<PairSearch> search)
    : Clusterer(linkage), search_(std::move(search)) {}

void PairClusterer::add_value(const AnyValue& value) {
  search_->add_value(value);
  note_row();
}

void PairClusterer::run_anchor() {
  AnchorLinks links(searched());
  search_->run(nullptr, nullptr);
  RowPair pairs[256];
  while (const size_t count = search_->next(pairs, 256))
    for (const RowPair* p = pairs; p < pairs + count; ++p) links.add(*p);
  const LinkedRows& rows = links.rows();
  for (uint32_t i = 0; i < searched(); ++i)
    if (rows.representative[i] != i) assign(i, rows.representative[i], rows.value[i]);
}

void PairClusterer::run() {
  start(0);
  linkage_ == Linkage::anchor ? run_anchor() : join_components(*search_);
}

}  // namespace neardup
