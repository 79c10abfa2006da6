// Plans of searches, made on the host before the device is touched: how rows are cut to fit in memory, tiles of the
// grid of pairs, how large they should be. Plain C++17.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "gpu/base/memory.h"
#include "gpu/base/portable.h"
#include "gpu/base/slots.h"

namespace neardup::gpu {

// ---------------------------------------------------------------- memory

// Rows of one kind. They are cut into slabs, of which a device holds a few at a time.
struct Store {
  static constexpr uint32_t kMaxStoreColumns = 5;

  uint32_t n = 0;
  uint32_t first_row = 0;                 // number of the first row, where rows go by number
  uint32_t columns = 0;                   // arrays that a slab consists of
  uint32_t uploaded = 0;                  // of these, the first ones, come from the host
  uint32_t width[kMaxStoreColumns] = {};  // bytes of each for a row

  // Set by plan_memory():
  uint32_t slab_rows = 0;
  uint32_t slabs = 0;
  uint32_t held = 0;  // slabs that a device has room for

  uint64_t row_bytes() const noexcept {
    uint64_t out = 0;
    for (uint32_t c = 0; c < columns; ++c) out += width[c];
    return out;
  }
  uint32_t rows_in_slab(uint32_t slab) const noexcept { return std::min(slab_rows, n - slab * slab_rows); }
};

// The needs of a search beside its slabs, for each slot: work that goes on at once on a device.
struct MemoryNeed {
  uint32_t slots = 2;
  uint64_t scratch = 0;  // bytes for a row of the slabs that are joined
  uint64_t pair = 12;    // bytes for a pair that a tile may find
  uint64_t fixed = 0;
  uint64_t most_pairs = UINT64_MAX;  // that there can be at all
};

struct MemoryPlan {
  uint32_t room = 0;  // pairs that a tile may find
  uint32_t scratch_rows = 0;
  uint64_t bytes = 0;
};

constexpr uint32_t kSlabStep = 32;
// Two slots with two slabs each.
constexpr uint32_t kMaxHeld = 4;

// Cuts the stores so that all fits in `limit` bytes of each device. False: it cannot.
inline bool plan_memory(std::vector<Store>& stores, const MemoryNeed& need, uint64_t limit, MemoryPlan* plan) {
  const uint32_t room = fitting_room(need.most_pairs, need.slots * need.pair, limit / 4);
  for (uint64_t cuts = 1;; cuts *= 2) {
    uint64_t bytes = need.slots * (need.pair * room + need.fixed);
    uint64_t scratch_rows = 0;
    bool least = true;
    for (Store& s : stores) {
      const uint64_t rows = (s.n + cuts - 1) / cuts;
      s.slab_rows = static_cast<uint32_t>(cuts == 1 ? std::max<uint64_t>(rows, 1)
                                                    : (rows + kSlabStep - 1) / kSlabStep * kSlabStep);
      s.slabs = s.n == 0 ? 0 : (s.n - 1) / s.slab_rows + 1;
      s.held = std::min(s.slabs, kMaxHeld);
      bytes += s.held * s.row_bytes() * s.slab_rows;
      // One slab with itself; or two, of two stores or of one.
      scratch_rows += std::min<uint64_t>(s.slabs, stores.size() > 1 ? 1 : 2) * s.slab_rows;
      least = least && s.slab_rows <= kSlabStep;
    }
    bytes += need.slots * need.scratch * scratch_rows;
    if (bytes <= limit) {
      *plan = {room, static_cast<uint32_t>(scratch_rows), bytes};
      return true;
    }
    if (least) return false;
  }
}

// ---------------------------------------------------------------- the grid of pairs

// Rows first_x .. end_x - 1 of one store against those of another, or of the same range among themselves.
struct GridJoin {
  uint32_t store_x, first_x, end_x;
  uint32_t store_y, first_y, end_y;
  bool self;
  bool x_of_b;
};

struct GridTile {
  uint32_t join;
  uint32_t slab_x, slab_y;
  Tile tile;  // by positions in the slabs
};

// Narrows y_first .. y_end to rows that may match any of x. Rows by number in the stores.
using Narrow =
    std::function<void(const GridJoin& join, uint32_t x_first, uint32_t x_end, uint32_t* y_first, uint32_t* y_end)>;

// The number of the cheapest pairs that take as long as one of row x, by its number in the store: at least 1, and
// never less for a greater x.
using Weigh = std::function<uint64_t(const GridJoin& join, uint32_t x)>;

// Hands out tiles that cover all pairs of all joins once, slab by slab.
class GridPlan {
 public:
  // A kernel's grid has at most 65535 blocks in one direction.
  static constexpr uint32_t kMaxSide = 1 << 20;
  static constexpr uint32_t kSideStep = 128;

  GridPlan() = default;
  // narrow and weigh may be empty.
  GridPlan(std::vector<GridJoin> joins, const std::vector<Store>& stores, Narrow narrow, Weigh weigh)
      : joins_(std::move(joins)), stores_(stores), narrow_(std::move(narrow)), weigh_(std::move(weigh)) {
    for (const GridJoin& j : joins_) all_ += area(j, j.end_x - j.first_x);
    start_join();
  }

  const GridJoin& join(uint32_t i) const { return joins_[i]; }

  // As much work as about `pairs` of the cheapest pairs are; false at the end.
  bool next(uint64_t pairs, GridTile* out) {
    while (join_ < joins_.size()) {
      const GridJoin& j = joins_[join_];
      const Store& sx = stores_[j.store_x];
      const Store& sy = stores_[j.store_y];
      const uint32_t x_end = std::min(j.end_x, (slab_x_ + 1) * sx.slab_rows);
      if (y_ >= y_end_) {
        // Another piece of x.
        x_ = x_next_;
        if (x_ >= x_end || x_ < j.first_x) {
          next_slabs();
          continue;
        }
        const uint32_t side = static_cast<uint32_t>(std::sqrt(static_cast<double>(share(pairs, j, x_))));
        const uint32_t most = std::clamp(side < kSideStep ? side : side / kSideStep * kSideStep, 1u, kMaxSide);
        x_next_ = std::min(x_end, x_ + most);
        y_ = std::max(j.first_y, slab_y_ * sy.slab_rows);
        y_end_ = std::min(j.end_y, (slab_y_ + 1) * sy.slab_rows);
        if (j.self) y_ = std::max(y_, x_ + 1);
        if (narrow_ && y_ < y_end_) narrow_(j, x_, x_next_, &y_, &y_end_);
        passed_ += area(j, x_next_ - x_) / std::max(1u, slabs_of_y(j));
        continue;
      }
      const uint64_t high = std::max<uint64_t>(1, share(pairs, j, x_next_ - 1) / (x_next_ - x_));
      const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>({y_end_ - y_, high, kMaxSide}));
      out->join = join_;
      out->slab_x = slab_x_;
      out->slab_y = slab_y_;
      out->tile = {x_ - slab_x_ * sx.slab_rows, x_next_ - x_, y_ - slab_y_ * sy.slab_rows, count,
                   j.self && slab_x_ == slab_y_};
      y_ += count;
      return true;
    }
    return false;
  }

  // The share that was handed out, roughly.
  double done() const { return all_ == 0 ? 1 : std::min(1.0, passed_ / all_); }

 private:
  // The pairs of row x that may be handed out in the place of so many cheap ones.
  uint64_t share(uint64_t pairs, const GridJoin& j, uint32_t x) const {
    return std::max<uint64_t>(1, weigh_ ? pairs / weigh_(j, x) : pairs);
  }
  static double area(const GridJoin& j, uint32_t n_x) { return static_cast<double>(n_x) * (j.end_y - j.first_y); }
  uint32_t slabs_of_y(const GridJoin& j) const {
    const uint32_t rows = stores_[j.store_y].slab_rows;
    return (j.end_y - 1) / rows - j.first_y / rows + 1;
  }
  void start_join() {
    while (join_ < joins_.size() &&
           (joins_[join_].first_x >= joins_[join_].end_x || joins_[join_].first_y >= joins_[join_].end_y))
      ++join_;
    if (join_ == joins_.size()) return;
    const GridJoin& j = joins_[join_];
    slab_x_ = j.first_x / stores_[j.store_x].slab_rows;
    slab_y_ = j.self ? slab_x_ : j.first_y / stores_[j.store_y].slab_rows;
    start_slabs();
  }
  void start_slabs() {
    const GridJoin& j = joins_[join_];
    x_next_ = std::max(j.first_x, slab_x_ * stores_[j.store_x].slab_rows);
    y_ = y_end_ = 0;
  }
  void next_slabs() {
    const GridJoin& j = joins_[join_];
    if (++slab_y_ * uint64_t{stores_[j.store_y].slab_rows} >= j.end_y) {
      if (++slab_x_ * uint64_t{stores_[j.store_x].slab_rows} >= j.end_x) {
        ++join_;
        start_join();
        return;
      }
      slab_y_ = j.self ? slab_x_ : j.first_y / stores_[j.store_y].slab_rows;
    }
    start_slabs();
  }

  std::vector<GridJoin> joins_;
  std::vector<Store> stores_;
  Narrow narrow_;
  Weigh weigh_;
  uint32_t join_ = 0;
  uint32_t slab_x_ = 0, slab_y_ = 0;
  uint32_t x_ = 0, x_next_ = 0;
  uint32_t y_ = 0, y_end_ = 0;
  double all_ = 0;
  double passed_ = 0;
};

// A tile whose pairs did not fit, in two; of one pair there is always room.
inline std::pair<Tile, Tile> halves(const Tile& t) {
  Tile one = t;
  Tile two = t;
  if (t.y_count >= t.x_count) {
    one.y_count = t.y_count / 2;
    two.y_first += one.y_count;
    two.y_count -= one.y_count;
  } else {
    one.x_count = t.x_count / 2;
    two.x_first += one.x_count;
    two.x_count -= one.x_count;
  }
  return {one, two};
}

// Pairs of a piece of work, of the cheapest kind where there are several.
inline WorkSize piece_size(uint64_t first = uint64_t{1} << 24) { return {first, 1 << 14, uint64_t{1} << 31, 8, 30}; }

// ---------------------------------------------------------------- which way

// Nanoseconds of one GPU; their ratios matter. Those of simhashes were measured on an H100 (bench/results.md, "On a
// GPU"), those of minhashes were computed from the rates of an H200 (src/gpu/pairs/README).
constexpr double kMinhashLookCost = 0.1;    // two minhashes that share a key, from anywhere in memory
constexpr double kSimhashLookCost = 0.006;  // two simhashes that share a key: neighbours of them come after each other
constexpr double kRowSortCost = 1;          // a row in one sort
constexpr double kSimhashCost = 0.0006;     // a pair, comparing all
constexpr double kSignatureWordCost = 0.0004;  // a word of a pair, comparing all

inline bool worth_joining(double looks, double look_cost, double rows, double bands, double pairs,
                          double pair_cost) noexcept {
  return looks * look_cost + rows * bands * kRowSortCost < pairs * pair_cost;
}

// Ruling out by symbols pays where parts of usual length must have more of them in common than chance gives: of 64
// random symbols about 30.
inline bool worth_counting_symbols(const uint16_t* most) noexcept {
  return 64 - std::min<uint32_t>(64, most[128]) > 36;
}

}  // namespace neardup::gpu
