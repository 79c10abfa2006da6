// The search for near digests: all pairs of parts whose lengths may match are compared, tile by tile.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "gpu/pairs/ctph.h"
#include "gpu/pairs/search.h"

namespace neardup::gpu {

template <class Gpu>
class CtphSearch final : public DeviceSearch<Gpu> {
 public:
  // job: checked by check_job().
  CtphSearch(const std::vector<Gpu*>& gpus, const NeardupGpuJob& job, uint32_t filter)
      : DeviceSearch<Gpu>(gpus), two_sets_(job.two_sets != 0), most_(job.most_by_sum, job.most_by_sum + kMaxSums) {
    bags_ =
        filter == NEARDUP_GPU_FILTER_AUTO ? worth_counting_symbols(most_.data()) : filter == NEARDUP_GPU_FILTER_SYMBOLS;
    parts_ = job.parts;
    for (uint32_t i = 0; i < job.count; ++i) kinds_[parts_[i].length > kWordLength].push_back(i);
  }

 private:
  using Base = DeviceSearch<Gpu>;
  using typename Base::Slab;
  using typename Base::Slot;
  enum { kSymbolsColumn, kLengthColumn, kRowColumn, kLevelsColumn, kRestColumn, kColumns };

  void prepare(uint64_t) override {
    this->stores_.clear();
    for (const auto& entries : kinds_) {
      Store s;
      s.n = static_cast<uint32_t>(entries.size());
      s.columns = kColumns;
      s.uploaded = kLevelsColumn;
      uint32_t longest = 16;
      for (const uint32_t i : entries) longest = std::max<uint32_t>(longest, parts_[i].length);
      s.width[kSymbolsColumn] = this->stores_.empty() ? kWordLength : (longest + 15) / 16 * 16;
      s.width[kLengthColumn] = 2;
      s.width[kRowColumn] = 4;
      s.width[kLevelsColumn] = kLevels * 8;
      s.width[kRestColumn] = 2;
      this->stores_.push_back(s);
    }
    this->need_ = {};
    this->need_.fixed = kMaxSums * 2;
    const uint64_t n = kinds_[0].size() + kinds_[1].size();
    this->need_.most_pairs = n * n / 2;
  }

  void allocate_scratch(Slot& slot, const MemoryPlan&) override {
    Gpu& gpu = *slot.device->gpu;
    slot.temporary = typename Gpu::template Buffer<uint8_t>(gpu, kMaxSums * 2);
    std::memcpy(slot.staging[0].data(), most_.data(), kMaxSums * 2);
    gpu.copy_in(*slot.stream, slot.temporary.data(), slot.staging[0].data(), kMaxSums * 2);
    gpu.wait(*slot.stream);
  }

  void begin() override {
    // Ranges of lists: parts come by list, then length, and so do those of either kind.
    std::vector<uint32_t> first[2];
    for (int kind = 0; kind < 2; ++kind) {
      first[kind].assign(257, 0);
      for (const uint32_t i : kinds_[kind]) ++first[kind][parts_[i].list + 1u];
      for (uint32_t list = 0; list < 256; ++list) first[kind][list + 1] += first[kind][list];
    }
    std::vector<GridJoin> joins;
    const auto add = [&](uint32_t kind_x, uint32_t list_x, uint32_t kind_y, uint32_t list_y, bool self, bool x_of_b) {
      joins.push_back({kind_x, first[kind_x][list_x], first[kind_x][list_x + 1], kind_y, first[kind_y][list_y],
                       first[kind_y][list_y + 1], self, x_of_b});
    };
    // The shorter ones are the patterns.
    const auto join = [&](uint32_t x, uint32_t y, bool x_of_b) {
      add(0, x, 0, y, x == y, x_of_b);
      add(0, x, 1, y, false, x_of_b);
      if (x != y) add(0, y, 1, x, false, !x_of_b);
      add(1, x, 1, y, x == y, x_of_b);
    };
    for (uint32_t list = 0; list < 256; list += 4) {
      join(list, two_sets_ ? list + 1 : list, false);
      join(list, two_sets_ ? list + 3 : list + 2, false);
      if (two_sets_) join(list + 1, list + 2, true);
    }
    plan_ = GridPlan(
        std::move(joins), this->stores_,
        [this](const GridJoin& j, uint32_t x_first, uint32_t x_end, uint32_t* y_first, uint32_t* y_end) {
          narrow(j, x_first, x_end, y_first, y_end);
        },
        [this](const GridJoin& j, uint32_t x) { return weight(j, x); });
  }

  bool next_unit(Unit* unit) override {
    GridTile t;
    if (!plan_.next(this->piece_size_.size, &t)) return false;
    const GridJoin& j = plan_.join(t.join);
    *unit = {j.store_x, j.store_y, t.slab_x, t.slab_y, t.join, t.tile};
    return true;
  }
  bool prepare_unit(Slot& slot) override {
    slot.pieces.push_back({slot.unit.tile, 0, 0});
    return false;
  }
  std::pair<Piece, Piece> halve(const Piece& piece) override {
    const auto [one, two] = halves(piece.tile);
    return {Piece{one, 0, 0}, Piece{two, 0, 0}};
  }
  uint64_t piece_pairs(const Piece& piece) override { return uint64_t{piece.tile.x_count} * piece.tile.y_count; }
  double progress() override { return plan_.done(); }

  // Patterns of one word are mostly ruled out before they are compared; longer ones hardly ever, and take words times
  // characters.
  uint64_t weight(const GridJoin& j, uint32_t x) const {
    const uint64_t n = length(j.store_x, x);
    return j.store_x == 0 ? 1 : (n + 63) / 64 * n;
  }

  uint32_t length(uint32_t store, uint32_t i) const { return parts_[kinds_[store][i]].length; }

  // Lengths ascend within a list. A length between the least and greatest of x matches; others, if they match the
  // nearest.
  void narrow(const GridJoin& j, uint32_t x_first, uint32_t x_end, uint32_t* y_first, uint32_t* y_end) const {
    const uint32_t shortest = length(j.store_x, x_first);
    const uint32_t longest = length(j.store_x, x_end - 1);
    const auto may_match = [&](uint32_t y) {
      const uint32_t n = length(j.store_y, y);
      const uint32_t nearest = std::clamp(n, shortest, longest);
      return (n > nearest ? n - nearest : nearest - n) <= most_[n + nearest];
    };
    const auto first = [&](uint32_t from, uint32_t to, auto is) {
      while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (is(middle))
          to = middle;
        else
          from = middle + 1;
      }
      return from;
    };
    const uint32_t begin =
        first(*y_first, *y_end, [&](uint32_t y) { return length(j.store_y, y) >= shortest || may_match(y); });
    *y_end = first(begin, *y_end, [&](uint32_t y) { return length(j.store_y, y) > longest && !may_match(y); });
    *y_first = begin;
  }

  static uint8_t symbol(char c) noexcept {
    return static_cast<uint8_t>(c >= 'a'   ? c - 'a' + 26
                                : c >= 'A' ? c - 'A'
                                : c >= '0' ? c - '0' + 52
                                : c == '+' ? 62
                                           : 63);
  }

  void fill(uint32_t store, uint32_t column, uint32_t first, uint32_t n, uint8_t* to) override {
    const uint32_t width = this->stores_[store].width[column];
    if (column == kSymbolsColumn) std::memset(to, 0, size_t{n} * width);
    for (uint32_t i = 0; i < n; ++i, to += width) {
      const NeardupGpuPart& part = parts_[kinds_[store][first + i]];
      if (column == kSymbolsColumn)
        for (uint32_t k = 0; k < part.length; ++k) to[k] = symbol(part.text[k]);
      else if (column == kLengthColumn)
        std::memcpy(to, &part.length, 2);
      else
        std::memcpy(to, &part.row, 4);
    }
  }

  Parts slab_parts(uint32_t store, const Slab& slab) const {
    return {slab.template as<uint8_t>(kSymbolsColumn), slab.template as<uint16_t>(kLengthColumn),
            slab.template as<uint32_t>(kRowColumn),    slab.template as<uint64_t>(kLevelsColumn),
            slab.template as<uint16_t>(kRestColumn),   this->stores_[store].width[kSymbolsColumn]};
  }

  void complete(Slot& slot, uint32_t store, Slab& slab) override {
    const MakeBags kernel{slab_parts(store, slab), 0, slab.rows};
    slot.device->gpu->launch(*slot.stream, kernel, (slab.rows - 1) / kernel.kThreads + 1);
  }

  void launch(Slot& slot, const Piece& piece) override {
    const GridJoin& j = plan_.join(slot.unit.number);
    if (j.store_x == 0 && j.store_y == 0) {
      const bool wide = slot.device->gpu->shared_bytes() >= CompareWords<128, true>::kShared;
      if (bags_)
        wide ? words<128, true>(slot, piece, j) : words<64, true>(slot, piece, j);
      else
        wide ? words<128, false>(slot, piece, j) : words<64, false>(slot, piece, j);
      return;
    }
    const uint32_t last =
        slot.unit.slab_x * this->stores_[j.store_x].slab_rows + piece.tile.x_first + piece.tile.x_count - 1;
    const uint32_t longest = length(j.store_x, last);
    if (longest <= 64)
      longs<1>(slot, piece, j);
    else if (longest <= 128)
      longs<2>(slot, piece, j);
    else if (longest <= 256)
      longs<4>(slot, piece, j);
    else if (longest <= 512)
      longs<8>(slot, piece, j);
    else
      longs<16>(slot, piece, j);
  }

  PartPairs part_pairs(Slot& slot, const Piece& piece, const GridJoin& j) const {
    return {slab_parts(j.store_x, *slot.x),
            slab_parts(j.store_y, *slot.y),
            piece.tile,
            reinterpret_cast<const uint16_t*>(slot.temporary.data()),
            this->found_list(slot),
            &slot.counters.data()->compared,
            two_sets_,
            j.x_of_b};
  }
  template <uint32_t kThreads, bool kBags>
  void words(Slot& slot, const Piece& piece, const GridJoin& j) {
    const CompareWords<kThreads, kBags> kernel{part_pairs(slot, piece, j)};
    slot.device->gpu->launch(*slot.stream, kernel, (piece.tile.x_count - 1) / kThreads + 1,
                             (piece.tile.y_count - 1) / kernel.kTextsOfBlock + 1);
  }
  template <uint32_t kWords>
  void longs(Slot& slot, const Piece& piece, const GridJoin& j) {
    const CompareLong<kWords> kernel{part_pairs(slot, piece, j)};
    slot.device->gpu->launch(*slot.stream, kernel, piece.tile.x_count,
                             (piece.tile.y_count - 1) / kernel.kTextsOfBlock + 1);
  }

  bool two_sets_;
  bool bags_;
  std::vector<uint16_t> most_;
  const NeardupGpuPart* parts_;
  GridPlan plan_;
  std::vector<uint32_t> kinds_[2];  // parts of at most 64 characters, and longer ones
};

}  // namespace neardup::gpu
