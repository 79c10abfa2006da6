// Anchor linkage of minhashes, whose cost is not the number of their pairs. A row of small buckets meets its near rows
// as pairs do. A row of a large one is looked up among the representatives of large buckets: a family of many near
// copies has one.
#include <algorithm>
#include <cstring>

#include "core/pairs/minhash/minhash_pairs.h"
#include "core/pairs/minhash/minhash_pairs_impl.h"
#include "core/pairs/minhash/representatives.h"
#include "core/pairs/pair_links.h"

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
// Rows of a block and representatives, at the least.
constexpr size_t kLeastLookups = 8;

// A row that is looked up.
struct Lookup {
  uint32_t number;
  uint32_t r;  // the representative that was found, or kNoRepresentative
  uint32_t matches;
  const std::byte* row;
};

// The pairs of a search, up to a row at a time.
class PairFeed {
 public:
  PairFeed(PairSearch& search, AnchorLinks& links) : search_(search), links_(links) {}

  // Links the pairs whose first row is before `row`.
  void link_before(uint32_t row) {
    for (;; ++next_) {
      if (next_ == count_) {
        count_ = search_.next(pairs_, std::size(pairs_));
        next_ = 0;
        if (count_ == 0) return;
      }
      if (pairs_[next_].a >= row) return;
      links_.add(pairs_[next_]);
    }
  }

 private:
  PairSearch& search_;
  AnchorLinks& links_;
  RowPair pairs_[256];
  size_t next_ = 0;
  size_t count_ = 0;
};

// Passes over the dense rows. One ends with all rows decided, or with a table that holds no further representative: the
// rows from there on that match none of it are looked up again. Whoever joined has joined the earliest, since all
// later representatives are among those.
class DenseRows {
 public:
  DenseRows(MinhashEngine& engine, const RowBits& dense, PairSearch& search, AnchorLinks& links)
      : engine_(engine),
        ws_(engine.ws),
        rows_(engine.rows),
        banding_(engine.banding),
        banded_(banding_.usable()),
        stride_(banded_ ? banding_.stride() : 0),
        dense_(dense),
        links_(links),
        feed_(search, links) {}

  void link() {
    const uint32_t n = rows_.size();
    uint32_t count = 0;
    for (uint32_t row = 0; row < n; ++row) {
      count += dense_.has(row);
      ws_.poller.spend(1);
    }
    if (count != 0) link_dense(count);
    feed_.link_before(n);
  }

 private:
  void link_dense(uint32_t count) {
    const size_t each = Representatives::bytes_each(banding_, rows_);
    const size_t lookup =
        sizeof(Lookup) + stride_ * sizeof(uint32_t) + 2 * each + (rows_.in_memory() ? 0 : 2 * rows_.row_bytes());
    const auto rows_in = [](size_t bytes, size_t of_one, size_t most) {
      return static_cast<uint32_t>(std::clamp<size_t>(bytes / of_one, kLeastLookups, std::max(kLeastLookups, most)));
    };
    block_rows_ =
        rows_in(memory_share(ws_, kSixteenth), lookup, std::min(count, banded_ ? kBlockRows : kDirectBlockRows));
    const uint32_t most = rows_in(memory_share(ws_, kSixteenth) * kTableShare, each, count);
    Representatives kept(banding_, engine_.compare, engine_.need, rows_, most, ws_);
    Representatives own(banding_, engine_.compare, engine_.need, rows_, block_rows_, ws_);
    engine_.stats.looked_up = count;
    for (uint32_t first = 0; first < rows_.size(); ++engine_.stats.passes) {
      kept.clear();
      first = pass(kept, own, first);
    }
  }

  // Rows before `first` are decided. Returns the row before which they are then.
  uint32_t pass(Representatives& kept, Representatives& own, uint32_t first) {
    undecided_ = rows_.size();
    Array<Lookup> block(ws_.ledger, block_rows_);
    Array<uint32_t> keys(ws_.ledger, size_t{block_rows_} * stride_);
    Array<std::byte> copies;
    if (!rows_.in_memory()) copies = Array<std::byte>(ws_.ledger, block_rows_ * rows_.row_bytes());
    RowReader reader(rows_, block_rows_ * rows_.row_bytes() / 2, ws_);
    for (uint32_t next = first; next < rows_.size();) {
      uint32_t n = 0;
      for (; next < rows_.size() && n < block_rows_; ++next) {
        ws_.poller.spend(2);
        if (!dense_.has(next) || joined_before(next, first)) continue;
        block[n] = {next, kNoRepresentative, 0, read_row(next, reader, copies, n)};
        ++n;
      }
      ws_.poller.parts(next, rows_.size());
      banded_ ? look_up(kept, block.data(), keys.data(), n) : compare_with(kept, block.data(), n);
      own.clear();
      for (uint32_t i = 0; i < n; ++i) decide(block[i], keys.data() + size_t{i} * stride_, kept, own);
      for (uint32_t r = 0; r < own.size(); ++r)
        kept.add(own.row_number(r), own.row(r), banded_ ? own.keys(r) : nullptr);
      kept.link(engine_.threads);
    }
    return undecided_;
  }

  // True if the row has a representative that is earlier than all that this pass can find.
  bool joined_before(uint32_t row, uint32_t first) const noexcept {
    return links_.rows().representative[row] < std::min(row, first);
  }

  const std::byte* read_row(uint32_t row, RowReader& reader, Array<std::byte>& copies, uint32_t i) {
    if (rows_.in_memory()) return rows_.row(row);
    std::byte* const copy = copies.data() + i * rows_.row_bytes();
    std::memcpy(copy, reader.row(row), rows_.row_bytes());
    return copy;
  }

  // own: the representatives that the block has brought.
  void decide(Lookup& lookup, const uint32_t* keys, const Representatives& kept, Representatives& own) {
    feed_.link_before(std::min(lookup.number, undecided_));
    if (lookup.r != kNoRepresentative) {
      links_.join(lookup.number, kept.row_number(lookup.r), lookup.matches);
      return;
    }
    const uint32_t r = banded_ ? own.find(lookup.row, keys, &lookup.matches, ws_.poller)
                               : own.find_directly(lookup.row, 0, own.size(), &lookup.matches, ws_.poller);
    if (r != kNoRepresentative) {
      links_.join(lookup.number, own.row_number(r), lookup.matches);
    } else if (links_.rows().representative[lookup.number] == lookup.number && undecided_ == rows_.size()) {
      keep(lookup, keys, kept, own);
    }
  }

  // The row is a representative.
  void keep(const Lookup& lookup, const uint32_t* keys, const Representatives& kept, Representatives& own) {
    if (kept.size() + own.size() == kept.most()) {
      undecided_ = lookup.number;
      return;
    }
    own.add(lookup.number, lookup.row, banded_ ? keys : nullptr);
    own.link_few();
  }

  void look_up(const Representatives& kept, Lookup* block, uint32_t* keys, uint32_t n) {
    run_tasks(engine_.threads, (n + kTaskRows - 1) / kTaskRows, ws_.poller, [&](unsigned, size_t task, HitSink& sink) {
      const uint32_t first = static_cast<uint32_t>(task) * kTaskRows;
      const uint32_t last = std::min(n, first + kTaskRows);
      for (uint32_t ahead = first; ahead < last + kLookUpsAhead; ++ahead) {
        if (ahead < last) {
          banding_.keys(block[ahead].row, keys + size_t{ahead} * stride_);
          kept.prefetch(keys + size_t{ahead} * stride_);
          sink.spend(rows_.row_bytes() / 2);
        }
        if (ahead < first + kLookUpsAhead) continue;
        Lookup& lookup = block[ahead - kLookUpsAhead];
        const uint32_t* const own_keys = keys + size_t{ahead - kLookUpsAhead} * stride_;
        lookup.r = kept.find(lookup.row, own_keys, &lookup.matches, sink);
      }
    });
  }

  void compare_with(const Representatives& kept, Lookup* block, uint32_t n) {
    const uint32_t tile = static_cast<uint32_t>(std::max<size_t>(1, kTileBytes / rows_.row_bytes()));
    run_tasks(engine_.threads, (n + kDirectTaskRows - 1) / kDirectTaskRows, ws_.poller,
              [&](unsigned, size_t task, HitSink& sink) {
                const uint32_t from = static_cast<uint32_t>(task) * kDirectTaskRows;
                const uint32_t to = std::min(n, from + kDirectTaskRows);
                for (uint32_t first = 0; first < kept.size(); first += tile) {
                  const uint32_t last = std::min(kept.size(), first + tile);
                  for (uint32_t i = from; i < to; ++i) {
                    Lookup& lookup = block[i];
                    if (lookup.r == kNoRepresentative)
                      lookup.r = kept.find_directly(lookup.row, first, last, &lookup.matches, sink);
                  }
                }
              });
  }

  // The sixteenths of the memory limit that a table holds, beside rows with 6, the pairs found with 5, and a block.
  static constexpr size_t kTableShare = 4;

  MinhashEngine& engine_;
  Workspace& ws_;
  RowStore& rows_;
  const Banding& banding_;
  const bool banded_;
  const uint32_t stride_;
  const RowBits& dense_;
  AnchorLinks& links_;
  PairFeed feed_;
  uint32_t block_rows_ = 0;
  uint32_t undecided_ = 0;  // rows from it on are decided only where they have joined one
};

}  // namespace

void MinhashPairs::link_anchors(AnchorLinks& links) {
  auto& own = static_cast<MinhashEngine&>(engine());
  RowBits dense(own.ws.ledger, own.rows.size());
  own.dense = &dense;
  own.search();
  DenseRows(own, dense, *this, links).link();
  own.clear_rows();
}

}  // namespace neardup
