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
constexpr uint32_t kRowsAhead = 8;
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

// The first row of each row's component, and how near the two are. Both have a row for each that was searched.
void find_components(PairSearch& search, std::vector<uint32_t>* first, std::vector<uint32_t>* values) {
  const uint32_t n = static_cast<uint32_t>(first->size());
  UnionFind sets(n);
  search.run_components(sets);
  for (uint32_t i = 0; i < n; ++i) (*first)[i] = sets.find(i);
  search.values_with(first->data(), values->data());
}

}  // namespace

struct MinhashClusterer::Impl {
  Impl(Linkage linkage_, uint32_t num_perm_, uint32_t bits, uint32_t need_, const EngineOptions& options)
      : linkage(linkage_),
        num_perm(num_perm_),
        need(need_),
        threads(std::clamp(options.threads, 1u, 256u)),
        banding(num_perm_, bits, need_),
        compare(num_perm_, bits),
        ws(options.memory_limit, options.files, options.stop),
        rows(size_t{num_perm_} * bits / 8, share(ws, kClusterStoreShare) / (size_t{num_perm_} * bits / 8), ws) {
    if (linkage == Linkage::connected) pairs = std::make_unique<MinhashPairs>(num_perm, bits, need, options);
  }

  void add(const void* components) {
    if (linkage == Linkage::anchor)
      rows.add(components);
    else
      pairs->add(components);
    if (!row_of.empty() || total != compared) row_of.push_back(total);
    ++compared;
    ++total;
  }

  void add_alone() {
    if (total == RowStore::kMaxStoredRows) RowStore::refuse_more();
    if (row_of.empty()) {
      row_of.resize(compared);
      std::iota(row_of.begin(), row_of.end(), 0u);
    }
    ++total;
  }

  uint32_t caller_row(uint32_t i) const noexcept { return row_of.empty() ? i : row_of[i]; }

  // A row that waits for its representative.
  struct Waiting {
    uint32_t number;
    uint32_t r;  // where it was found, kNoRepresentative: nowhere yet
    uint32_t matches;
    const std::byte* row;
  };

  void run_anchor();
  void pass(Representatives& kept, Representatives& own, uint32_t block_rows);
  void look_up(const Representatives& kept, Waiting* block, uint32_t* keys, uint32_t n);
  void compare_with(const Representatives& kept, Waiting* block, uint32_t n);
  void run_connected();

  // Row i joins representative r, or is one itself.
  void assign(uint32_t i, uint32_t r, uint32_t m) {
    representative[caller_row(i)] = caller_row(r);
    matches[caller_row(i)] = m;
  }
  bool waits(uint32_t i) const noexcept { return representative[caller_row(i)] == kNoRepresentative; }

  Linkage linkage;
  uint32_t num_perm;
  uint32_t need;
  unsigned threads;
  Banding banding;
  RowCompare compare;
  Workspace ws;
  RowStore rows;
  std::unique_ptr<MinhashPairs> pairs;
  std::vector<uint32_t> row_of;  // of the rows that are compared; empty while all are
  uint32_t compared = 0;
  uint32_t total = 0;
  std::vector<uint32_t> representative;
  std::vector<uint32_t> matches;
};

// A pass ends with all rows settled, or with a full table and the rows that match none of it still waiting: every
// later representative is one of those, so whoever joined, joined the earliest.
void MinhashClusterer::Impl::run_anchor() {
  std::fill(matches.begin(), matches.end(), num_perm);
  for (uint32_t i = 0; i < total; ++i) representative[i] = i;
  for (uint32_t i = 0; i < compared; ++i) representative[caller_row(i)] = kNoRepresentative;
  const size_t each = Representatives::bytes_each(banding, rows);
  const auto rows_in = [this](size_t sixteenths, size_t bytes, size_t most) {
    return static_cast<uint32_t>(std::clamp<size_t>(share(ws, sixteenths) / bytes, 8, most));
  };
  const size_t waiting =
      sizeof(Waiting) + banding.stride() * sizeof(uint32_t) + 2 * each + (rows.in_memory() ? 0 : 2 * rows.row_bytes());
  const uint32_t block_rows = rows_in(kBlockShare, waiting, banding.usable() ? kBlockRows : kDirectBlockRows);
  Representatives kept(banding, compare, need, rows, rows_in(kTableShare, each, RowStore::kMaxStoredRows), ws);
  Representatives own(banding, compare, need, rows, block_rows, ws);
  do {
    kept.clear();
    pass(kept, own, block_rows);
  } while (kept.full());
}

// A block of rows at a time: each is looked for, by all threads, among the representatives from before the block; those
// that were not found, one after the other, among the representatives that the block itself has brought.
void MinhashClusterer::Impl::pass(Representatives& kept, Representatives& own, uint32_t block_rows) {
  const bool banded = banding.usable();
  const uint32_t stride = banded ? banding.stride() : 0;
  Array<Waiting> block(ws.ledger, block_rows);
  Array<uint32_t> keys(ws.ledger, size_t{block_rows} * stride);
  Array<std::byte> copies;
  if (!rows.in_memory()) copies = Array<std::byte>(ws.ledger, block_rows * rows.row_bytes());
  RowReader reader(rows, block_rows * rows.row_bytes() / 2, ws);
  for (uint32_t next = 0; next < compared;) {
    uint32_t n = 0;
    for (; next < compared && n < block_rows; ++next) {
      ws.poller.spend(2);
      if (!waits(next)) continue;
      block[n] = {next, kNoRepresentative, 0, nullptr};
      if (rows.in_memory()) {
        block[n].row = rows.row(next);
      } else {
        std::byte* copy = copies.data() + n * rows.row_bytes();
        std::memcpy(copy, reader.row(next), rows.row_bytes());
        block[n].row = copy;
      }
      ++n;
    }
    ws.poller.steps(next, compared);
    banded ? look_up(kept, block.data(), keys.data(), n) : compare_with(kept, block.data(), n);

    own.clear();
    for (uint32_t i = 0; i < n; ++i) {
      Waiting& w = block[i];
      if (w.r != kNoRepresentative) {
        assign(w.number, kept.row_number(w.r), w.matches);
        continue;
      }
      const uint32_t* const row_keys = banded ? keys.data() + size_t{i} * stride : nullptr;
      w.r = banded ? own.find(w.row, row_keys, &w.matches, ws.poller)
                   : own.find_directly(w.row, 0, own.size(), &w.matches, ws.poller);
      if (w.r != kNoRepresentative) {
        assign(w.number, own.row_number(w.r), w.matches);
      } else if (kept.size() + own.size() < kept.most()) {
        own.add(w.number, w.row, row_keys);
        own.link_few();
        assign(w.number, w.number, num_perm);
      }
    }
    for (uint32_t r = 0; r < own.size(); ++r) kept.add(own.row_number(r), own.row(r), banded ? own.keys(r) : nullptr);
    kept.link(threads);
  }
}

void MinhashClusterer::Impl::look_up(const Representatives& kept, Waiting* block, uint32_t* keys, uint32_t n) {
  const uint32_t stride = banding.stride();
  run_tasks(
      threads, (n + kTaskRows - 1) / kTaskRows, ws.poller,
      [&](unsigned, size_t task, HitSink& sink) {
        const uint32_t first = static_cast<uint32_t>(task) * kTaskRows;
        const uint32_t last = std::min(n, first + kTaskRows);
        for (uint32_t ahead = first; ahead < last + kRowsAhead; ++ahead) {
          if (ahead < last) {
            banding.keys(block[ahead].row, keys + size_t{ahead} * stride);
            kept.prefetch(keys + size_t{ahead} * stride);
            sink.spend(rows.row_bytes() / 2);
          }
          if (ahead < first + kRowsAhead) continue;
          Waiting& w = block[ahead - kRowsAhead];
          w.r = kept.find(w.row, keys + size_t{ahead - kRowsAhead} * stride, &w.matches, sink);
        }
      },
      [](const Hit*, size_t) {});
}

void MinhashClusterer::Impl::compare_with(const Representatives& kept, Waiting* block, uint32_t n) {
  const uint32_t tile = static_cast<uint32_t>(std::max<size_t>(1, kTileBytes / rows.row_bytes()));
  run_tasks(
      threads, (n + kDirectTaskRows - 1) / kDirectTaskRows, ws.poller,
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
      },
      [](const Hit*, size_t) {});
}

void MinhashClusterer::Impl::run_connected() {
  std::vector<uint32_t> first(compared);
  std::vector<uint32_t> m(compared);
  find_components(*pairs, &first, &m);
  std::fill(matches.begin(), matches.end(), num_perm);
  for (uint32_t i = 0; i < total; ++i) representative[i] = i;
  for (uint32_t i = 0; i < compared; ++i) assign(i, first[i], m[i]);
}

MinhashClusterer::MinhashClusterer(Linkage linkage, uint32_t num_perm, uint32_t bits, uint32_t need,
                                   const EngineOptions& options) {
  check_engine_parameters(num_perm, bits, need);
  impl_ = std::make_unique<Impl>(linkage, num_perm, bits, need, options);
}

MinhashClusterer::~MinhashClusterer() = default;

void MinhashClusterer::add(const void* components) { impl_->add(components); }

void MinhashClusterer::add_alone() { impl_->add_alone(); }

void MinhashClusterer::run() {
  impl_->representative.resize(impl_->total);
  impl_->matches.resize(impl_->total);
  impl_->linkage == Linkage::anchor ? impl_->run_anchor() : impl_->run_connected();
}

const std::vector<uint32_t>& MinhashClusterer::representative() const noexcept { return impl_->representative; }

const std::vector<uint32_t>& MinhashClusterer::values() const noexcept { return impl_->matches; }

// ---------------------------------------------------------------- by pairs

PairClusterer::PairClusterer(Linkage linkage, std::unique_ptr<PairSearch> search)
    : linkage_(linkage), search_(std::move(search)) {}

void PairClusterer::add_value(const AnyValue& value) {
  search_->add_value(value);
  row_of_.push_back(total_++);
}

void PairClusterer::add_alone() {
  if (total_ == RowStore::kMaxStoredRows) RowStore::refuse_more();
  ++total_;
}

void PairClusterer::run_anchor() {
  const uint32_t n = static_cast<uint32_t>(row_of_.size());
  AnchorLinks links(n);
  search_->run(nullptr, nullptr);
  RowPair pairs[256];
  while (const size_t count = search_->next(pairs, 256))
    for (const RowPair* p = pairs; p < pairs + count; ++p) links.add(*p);
  const LinkedRows& rows = links.rows();
  for (uint32_t i = 0; i < n; ++i) {
    if (rows.representative[i] == i) continue;
    representative_[row_of_[i]] = row_of_[rows.representative[i]];
    values_[row_of_[i]] = rows.value[i];
  }
}

void PairClusterer::run_connected() {
  const uint32_t n = static_cast<uint32_t>(row_of_.size());
  std::vector<uint32_t> first(n);
  std::vector<uint32_t> value(n);
  find_components(*search_, &first, &value);
  for (uint32_t i = 0; i < n; ++i) {
    representative_[row_of_[i]] = row_of_[first[i]];
    values_[row_of_[i]] = value[i];
  }
}

void PairClusterer::run() {
  representative_.resize(total_);
  std::iota(representative_.begin(), representative_.end(), 0u);
  values_.assign(total_, 0);
  linkage_ == Linkage::anchor ? run_anchor() : run_connected();
}

}  // namespace neardup
