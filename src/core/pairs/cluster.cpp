// Clusters: first-come representatives with band tables of representatives only, or components by union-find.
#include "core/pairs/cluster.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/pairs/banding.h"
#include "core/pairs/pair_links.h"
#include "core/work/parallel.h"
#include "core/work/row_store.h"
#include "core/base/union_find.h"
#include "core/work/workspace.h"

namespace neardup {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
// Rows whose look-ups are under way at once.
constexpr uint32_t kAhead = 8;
// Rows of a block, at the most, and of a task of it. With bands they are looked up, without compared with a tile of
// representatives that stays in the first-level cache.
constexpr uint32_t kBlockRows = 4096;
constexpr uint32_t kTaskRows = 256;
constexpr uint32_t kDirectBlockRows = 512;
constexpr uint32_t kDirectTaskRows = 64;
constexpr size_t kTileBytes = 16 * 1024;
// Bands that a task links, and representatives that are worth it.
constexpr uint32_t kTaskBands = 8;
constexpr uint32_t kLeastForThreads = 1024;
// Shares of the memory limit, in sixteenths. A table that doubles holds half of itself besides.
constexpr size_t kStoreShare = 6;
constexpr size_t kTableShare = 6;
constexpr size_t kBlockShare = 1;

size_t share(const Workspace& ws, size_t sixteenths) {
  return ws.limit == SIZE_MAX ? SIZE_MAX / 16 : ws.limit / 16 * sixteenths;
}

// Representatives in the order they were made, and for each band the lists of those with equal key slots.
class Representatives {
 public:
  // Bytes of one of them, at least.
  static size_t bytes_each(const Banding& banding, const RowStore& rows) {
    const size_t slots = banding.usable() ? banding.bands() * sizeof(Slot) * kSlotsEach : 0;
    return sizeof(uint32_t) * (1 + record_words(banding)) + slots + (rows.in_memory() ? 0 : rows.row_bytes());
  }

  Representatives(const Banding& banding, const RowCompare& compare, uint32_t need, const RowStore& rows, uint32_t most,
                  Workspace& ws)
      : ws_(ws),
        banding_(banding),
        compare_(compare),
        need_(need),
        rows_(rows),
        copies_(rows.row_bytes(), UINT64_MAX, ws),
        record_words_(record_words(banding)),
        most_(most) {}

  uint32_t size() const noexcept { return size_; }
  uint32_t most() const noexcept { return most_; }
  bool full() const noexcept { return size_ == most_; }
  // Row number of a representative.
  uint32_t row_number(uint32_t r) const noexcept { return row_numbers_[r]; }
  const std::byte* row(uint32_t r) const noexcept {
    return rows_.in_memory() ? rows_.row(row_numbers_[r]) : copies_.row(r);
  }

  // keys: of the row; null without bands. Not when full(). With bands it is found when it is linked.
  void add(uint32_t row_number, const std::byte* row, const uint32_t* keys) {
    if (size_ == row_numbers_.size()) grow();
    if (!rows_.in_memory()) copies_.add(row);
    row_numbers_[size_] = row_number;
    if (keys != nullptr) std::copy(keys, keys + banding_.stride(), record(size_));
    ++size_;
  }

  // Links those that were added.
  void link(unsigned threads) {
    const uint32_t bands = record_words_ == 0 ? 0 : banding_.bands();
    if (size_ - linked_ < kLeastForThreads) {
      link_few();
      return;
    }
    const uint32_t task_bands = threads == 1 ? bands : kTaskBands;
    if (bands != 0)
      run_tasks(
          threads, (bands + task_bands - 1) / task_bands, ws_.poller,
          [&](unsigned, size_t task, HitSink& sink) {
            const auto first = static_cast<uint32_t>(task) * task_bands;
            link_bands(first, std::min(bands, first + task_bands), sink);
          },
          [](const Hit*, size_t) {});
    linked_ = size_;
  }

  // The same where they are few.
  void link_few() {
    if (record_words_ == 0) return;
    for (; linked_ < size_; ++linked_) {
      link_record(linked_, 0, banding_.bands());
      ws_.poller.spend(4 * banding_.bands());
    }
  }

  const uint32_t* keys(uint32_t r) const noexcept { return record(r); }

  void prefetch(const uint32_t* keys) const noexcept {
    if (slots_each_ == 0) return;
    for (uint32_t band = 0; band < banding_.bands(); ++band) __builtin_prefetch(&slot(band, keys[band]));
  }

  // The earliest representative with at least `need` matches, else kNone. Polls: a Poller or a HitSink.
  template <class Polls>
  uint32_t find(const std::byte* row, const uint32_t* keys, uint32_t* matches, Polls& poller) const {
    if (size_ == 0) return kNone;
    const uint32_t bands = banding_.bands();
    const uint32_t probes = banding_.probes();
    uint64_t lists[Banding::kMaxBands];  // length << 32 | band
    uint32_t empty = 0;
    for (uint32_t band = 0; band < bands; ++band) {
      const uint32_t count = slot(band, keys[band]).count;
      lists[band] = static_cast<uint64_t>(count) << 32 | band;
      empty += count == 0;
    }
    poller.spend(4 * bands);
    if (empty >= probes) return kNone;
    if (probes < bands) std::nth_element(lists, lists + probes, lists + bands);
    uint64_t length = 0;
    for (uint32_t p = 0; p < probes; ++p) length += lists[p] >> 32;
    if (length > size_) return find_directly(row, 0, size_, matches, poller);

    uint32_t heads[Banding::kMaxBands];
    for (uint32_t p = 0; p < probes; ++p) {
      const uint32_t band = static_cast<uint32_t>(lists[p]);
      heads[p] = (lists[p] >> 32) == 0 ? kNone : slot(band, keys[band]).head;
      if (heads[p] != kNone) {
        for (uint32_t word = 0; word < record_words_; word += 16) __builtin_prefetch(record(heads[p]) + word);
      }
    }
    uint32_t best = kNone;
    KeyFilter filter(banding_);
    for (uint32_t p = 0; p < probes; ++p) {
      const uint32_t band = static_cast<uint32_t>(lists[p]);
      for (uint32_t r = heads[p]; r != kNone; r = record(r)[banding_.stride() + band]) {
        poller.spend(20);
        if (r >= best || !filter(keys, record(r))) continue;
        const uint32_t m = compare_(row, this->row(r));
        if (m < need_) continue;
        best = r;
        *matches = m;
      }
      filter.take(band);
    }
    return best;
  }

  // The same over representatives first .. last - 1, by comparing.
  template <class Polls>
  uint32_t find_directly(const std::byte* row, uint32_t first, uint32_t last, uint32_t* matches, Polls& poller) const {
    for (uint32_t r = first; r < last; ++r) {
      poller.spend(5 + rows_.row_bytes() / 64);
      const uint32_t m = compare_(row, this->row(r));
      if (m >= need_) {
        *matches = m;
        return r;
      }
    }
    return kNone;
  }

  // Forgets all, to start anew.
  void clear() {
    size_ = linked_ = 0;
    copies_.clear();
    clear_slots();
  }

 private:
  struct Slot {
    uint32_t head;
    uint32_t count;
  };
  static constexpr size_t kSlotsEach = 1;

  static size_t record_words(const Banding& banding) {
    return banding.usable() ? banding.stride() + banding.bands() : 0;
  }

  uint32_t* record(uint32_t r) noexcept { return records_.data() + r * record_words_; }
  const uint32_t* record(uint32_t r) const noexcept { return records_.data() + r * record_words_; }
  Slot& slot(uint32_t band, uint32_t key) noexcept { return slots_[band * slots_each_ + (key & (slots_each_ - 1))]; }
  const Slot& slot(uint32_t band, uint32_t key) const noexcept {
    return slots_[band * slots_each_ + (key & (slots_each_ - 1))];
  }

  void link_record(uint32_t r, uint32_t first, uint32_t last) noexcept {
    uint32_t* words = record(r);
    for (uint32_t band = first; band < last; ++band) {
      Slot& s = slot(band, words[band]);
      words[banding_.stride() + band] = s.count == 0 ? kNone : s.head;
      s.head = r;
      ++s.count;
    }
  }

  void link_bands(uint32_t first, uint32_t last, HitSink& sink) {
    for (uint32_t r = linked_; r < size_; ++r) {
      if (r + kAhead < size_) {
        const uint32_t* ahead = record(r + kAhead);
        for (uint32_t band = first; band < last; ++band) __builtin_prefetch(&slot(band, ahead[band]), 1);
      }
      link_record(r, first, last);
      sink.spend((last - first) * 4);
    }
  }

  void clear_slots() {
    for (size_t done = 0; done < slots_.size();) {
      const size_t piece = std::min<size_t>(kTransferBytes, slots_.size() - done);
      std::fill(slots_.data() + done, slots_.data() + done + piece, Slot{0, 0});
      done += piece;
      ws_.poller.spend(piece);
    }
  }

  // All are to be linked again.
  void grow() {
    const uint32_t room = std::min(most_, std::max(64u, 2 * size_));
    resize_polled(&row_numbers_, room, size_, ws_.ledger, ws_.poller);
    if (record_words_ == 0) return;
    resize_polled(&records_, room * record_words_, size_ * record_words_, ws_.ledger, ws_.poller);
    slots_ = Array<Slot>();
    slots_each_ = std::bit_floor(room * kSlotsEach);
    slots_ = Array<Slot>(ws_.ledger, banding_.bands() * slots_each_);
    clear_slots();
    linked_ = 0;
  }

  Workspace& ws_;
  const Banding& banding_;
  const RowCompare& compare_;
  uint32_t need_;
  const RowStore& rows_;
  RowStore copies_;  // of the representatives, where the rows lie on disk
  size_t record_words_;
  uint32_t most_;
  uint32_t size_ = 0;
  uint32_t linked_ = 0;  // those before it are in the lists
  Array<uint32_t> row_numbers_;
  Array<uint32_t> records_;  // key vector, then for each band the next in the list
  size_t slots_each_ = 0;
  Array<Slot> slots_;
};

// The first row of each row's component, and how near the two are. Both have a row for each that was searched.
void find_components(PairSearch& search, std::vector<uint32_t>* of, std::vector<uint32_t>* values) {
  const uint32_t n = static_cast<uint32_t>(of->size());
  UnionFind sets(n);
  search.run_components(sets);
  for (uint32_t i = 0; i < n; ++i) (*of)[i] = sets.find(i);
  search.values_with(of->data(), values->data());
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
        rows(size_t{num_perm_} * bits / 8, share(ws, kStoreShare) / (size_t{num_perm_} * bits / 8), ws) {
    if (linkage == Linkage::connected) pairs = std::make_unique<MinhashPairs>(num_perm, bits, need, options);
  }

  void add(const void* components) {
    linkage == Linkage::anchor ? rows.add(components) : pairs->add(components);
    if (!row_of.empty() || total != compared) row_of.push_back(total);
    ++compared;
    ++total;
  }

  void add_alone() {
    if (total == RowStore::kMaxRows) RowStore::refuse_more();
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
    uint32_t r;  // where it was found, kNone: nowhere yet
    uint32_t matches;
    const std::byte* row;
  };

  void run_anchor();
  void pass(Representatives& kept, Representatives& own, uint32_t block_rows);
  void look_up(const Representatives& kept, Waiting* rows, uint32_t* keys, uint32_t n);
  void compare_with(const Representatives& kept, Waiting* rows, uint32_t n);
  void run_connected();

  // Row i joins representative r, or is one itself.
  void assign(uint32_t i, uint32_t r, uint32_t m) {
    representative[caller_row(i)] = caller_row(r);
    matches[caller_row(i)] = m;
  }
  bool waits(uint32_t i) const noexcept { return representative[caller_row(i)] == kNone; }

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
  for (uint32_t i = 0; i < compared; ++i) representative[caller_row(i)] = kNone;
  const size_t each = Representatives::bytes_each(banding, rows);
  const auto rows_in = [this](size_t sixteenths, size_t bytes, size_t most) {
    return static_cast<uint32_t>(std::clamp<size_t>(share(ws, sixteenths) / bytes, 8, most));
  };
  const size_t waiting = sizeof(Waiting) + banding.stride() * sizeof(uint32_t) + 2 * each + (rows.in_memory() ? 0 : 2 * rows.row_bytes());
  const uint32_t block_rows = rows_in(kBlockShare, waiting, banding.usable() ? kBlockRows : kDirectBlockRows);
  Representatives kept(banding, compare, need, rows, rows_in(kTableShare, each, RowStore::kMaxRows), ws);
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
      block[n] = {next, kNone, 0, nullptr};
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
      if (w.r != kNone) {
        assign(w.number, kept.row_number(w.r), w.matches);
        continue;
      }
      const uint32_t* const row_keys = banded ? keys.data() + size_t{i} * stride : nullptr;
      w.r = banded ? own.find(w.row, row_keys, &w.matches, ws.poller)
                   : own.find_directly(w.row, 0, own.size(), &w.matches, ws.poller);
      if (w.r != kNone) {
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
        for (uint32_t ahead = first; ahead < last + kAhead; ++ahead) {
          if (ahead < last) {
            banding.keys(block[ahead].row, keys + size_t{ahead} * stride);
            kept.prefetch(keys + size_t{ahead} * stride);
            sink.spend(rows.row_bytes() / 2);
          }
          if (ahead < first + kAhead) continue;
          Waiting& w = block[ahead - kAhead];
          w.r = kept.find(w.row, keys + size_t{ahead - kAhead} * stride, &w.matches, sink);
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
            if (w.r == kNone) w.r = kept.find_directly(w.row, first, last, &w.matches, sink);
          }
        }
      },
      [](const Hit*, size_t) {});
}

void MinhashClusterer::Impl::run_connected() {
  std::vector<uint32_t> of(compared);
  std::vector<uint32_t> m(compared);
  find_components(*pairs, &of, &m);
  std::fill(matches.begin(), matches.end(), num_perm);
  for (uint32_t i = 0; i < total; ++i) representative[i] = i;
  for (uint32_t i = 0; i < compared; ++i) assign(i, of[i], m[i]);
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

void PairClusterer::add_alone() {
  if (total_ == RowStore::kMaxRows) RowStore::refuse_more();
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
  std::vector<uint32_t> of(n);
  std::vector<uint32_t> value(n);
  find_components(*search_, &of, &value);
  for (uint32_t i = 0; i < n; ++i) {
    representative_[row_of_[i]] = row_of_[of[i]];
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
