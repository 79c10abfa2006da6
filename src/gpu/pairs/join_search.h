// The searches for near simhashes and minhashes: rows that share one of several keys are looked at, band after band;
// or all are compared, where keys would tell too little apart.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "gpu/pairs/join.h"
#include "gpu/pairs/minhash.h"
#include "gpu/pairs/search.h"
#include "gpu/pairs/simhash.h"

namespace neardup::gpu {

// Rows: SimhashRows or MinhashRows.
template <class Gpu, class Rows>
class JoinSearch : public DeviceSearch<Gpu> {
 public:
  JoinSearch(const std::vector<Gpu*>& gpus, const NeardupGpuJob& job, uint32_t way)
      : DeviceSearch<Gpu>(gpus),
        way_(way),
        two_sets_(job.two_sets != 0),
        n_a_(job.two_sets != 0 ? job.count_a : job.count),
        n_(job.count) {}

 protected:
  using Base = DeviceSearch<Gpu>;
  using typename Base::Slab;
  using typename Base::Slot;
  static constexpr uint32_t kSampleRows = 1 << 17;

  // The columns of a store, without its rows. keys: true if rows are joined.
  virtual Store describe(bool keys) const = 0;
  // The bands to choose from, and how many of them a pair shares one of at least; 0: joining is out of the question.
  virtual uint32_t bands() const = 0;
  virtual uint32_t probes() const = 0;
  // Nanoseconds of a pair when all are compared, and of two rows that share a key.
  virtual double pair_cost() const = 0;
  virtual double look_cost() const = 0;

  // The rows of a slot, and those of a sample, as the kernels of the join read them.
  virtual Rows rows(const Slot& slot) const = 0;
  virtual Rows sample_rows(const Slab& slab, uint32_t n) const = 0;
  // Compares the candidates of a piece, where looking at pairs leaves candidates.
  virtual void compare_candidates(Slot&) {}
  virtual void compare_all(Slot& slot, const Piece& piece) = 0;
  virtual void complete_sample(Gpu&, typename Base::Stream&, const Slab&, uint32_t) {}

  void prepare(uint64_t limit) override {
    if (!estimated_) estimate(limit);
    estimated_ = true;  // not before: where memory runs out in it, no bands have been chosen
    this->stores_.clear();
    Store a = describe(!brute_);
    a.n = n_a_;
    this->stores_.push_back(a);
    if (two_sets_) {
      Store b = a;
      b.n = n_ - n_a_;
      b.first_row = n_a_;
      this->stores_.push_back(b);
    }
    this->need_ = {};
    this->need_.most_pairs = two_sets_ ? uint64_t{n_a_} * (n_ - n_a_) : uint64_t{n_} * n_ / 2;
    this->need_.pair = this->with_candidates_ ? 24 : 12;
    // Keys and positions twice, a sum, and what sorting takes.
    if (!brute_) this->need_.scratch = 26;
    if (!brute_) this->need_.fixed = kSortBytes;
    this->stats.brute_force = brute_;
  }

  void allocate_scratch(Slot& slot, const MemoryPlan& plan) override {
    if (brute_) return;
    Gpu& gpu = *slot.device->gpu;
    for (int k = 0; k < 2; ++k) {
      slot.keys[k] = typename Gpu::template Buffer<uint32_t>(gpu, plan.scratch_rows);
      slot.positions[k] = typename Gpu::template Buffer<uint32_t>(gpu, plan.scratch_rows);
    }
    slot.sums = typename Gpu::template Buffer<uint64_t>(gpu, plan.scratch_rows);
    slot.temporary = typename Gpu::template Buffer<uint8_t>(gpu, gpu.temporary_bytes(plan.scratch_rows));
  }

  void begin() override {
    const Store& x = this->stores_.front();
    const Store& y = this->stores_.back();
    if (brute_) {
      plan_ = GridPlan({{0, 0, x.n, two_sets_ ? 1u : 0u, 0, y.n, !two_sets_, false}}, this->stores_, nullptr, nullptr);
      return;
    }
    for (uint32_t i = 0; i < x.slabs; ++i)
      for (uint32_t k = two_sets_ ? 0 : i; k < y.slabs; ++k) slab_pairs_.push_back({i, k});
  }

  bool next_unit(Unit* unit) override {
    *unit = Unit();
    unit->store_y = two_sets_ ? 1 : 0;
    if (brute_) {
      GridTile t;
      if (!plan_.next(this->piece_size_.size, &t)) return false;
      unit->slab_x = t.slab_x;
      unit->slab_y = t.slab_y;
      unit->tile = t.tile;
      return true;
    }
    if (next_ == slab_pairs_.size() * probes()) return false;
    unit->slab_x = slab_pairs_[next_ / probes()].first;
    unit->slab_y = slab_pairs_[next_ / probes()].second;
    unit->number = order_.band[next_ % probes()];
    ++next_;
    return true;
  }

  bool prepare_unit(Slot& slot) override {
    if (brute_) {
      slot.pieces.push_back({slot.unit.tile, 0, 0});
      return false;
    }
    Gpu& gpu = *slot.device->gpu;
    const uint32_t n = this->rows_in(slot);
    const FillEntries<Rows> fill{rows(slot), slot.unit.number, n, slot.keys[0].data(), slot.positions[0].data()};
    gpu.launch(*slot.stream, fill, (n - 1) / fill.kThreads + 1);
    slot.sorted = gpu.sort(*slot.stream, slot.temporary, slot.keys[0].data(), slot.keys[1].data(),
                           slot.positions[0].data(), slot.positions[1].data(), n);
    const CountPartners kernel = partners(slot);
    gpu.launch(*slot.stream, kernel, (n - 1) / kernel.kThreads + 1);
    gpu.sum(*slot.stream, slot.temporary, slot.sums.data(), n);
    gpu.clear(*slot.stream, slot.counters.data(), sizeof(Counters));
    gpu.copy(*slot.stream, &slot.counters.data()->total, slot.sums.data() + n - 1, sizeof(uint64_t));
    return true;
  }
  void prepared(Slot& slot) override { slot.range_end = slot.told.data()[0].total; }

  bool next_piece(Slot& slot, Piece* piece) override {
    if (slot.range_first == slot.range_end) return false;
    const uint64_t n = std::min(slot.range_end - slot.range_first, this->piece_size_.size);
    *piece = {{}, slot.range_first, static_cast<uint32_t>(n)};
    slot.range_first += n;
    return true;
  }
  void launch(Slot& slot, const Piece& piece) override {
    if (brute_) return compare_all(slot, piece);
    const LookAtPairs<Rows> kernel{
        rows(slot),       slot.unit.number,
        order_,           partners(slot),
        slot.sums.data(), piece.first,
        piece.n,          this->with_candidates_ ? this->candidate_list(slot) : this->found_list(slot)};
    slot.device->gpu->launch(*slot.stream, kernel, (piece.n - 1) / (kernel.kThreads * kernel.kStrip) + 1);
    compare_candidates(slot);
  }
  std::pair<Piece, Piece> halve(const Piece& piece) override {
    if (brute_) {
      const auto [one, two] = halves(piece.tile);
      return {Piece{one, 0, 0}, Piece{two, 0, 0}};
    }
    return {Piece{{}, piece.first, piece.n / 2}, Piece{{}, piece.first + piece.n / 2, piece.n - piece.n / 2}};
  }
  uint64_t piece_pairs(const Piece& piece) override {
    return brute_ ? uint64_t{piece.tile.x_count} * piece.tile.y_count : piece.n;
  }
  double progress() override {
    if (brute_) return plan_.done();
    return static_cast<double>(next_) / static_cast<double>(std::max<size_t>(1, slab_pairs_.size() * probes()));
  }

  CountPartners partners(Slot& slot) const {
    return {slot.keys[slot.sorted].data(),
            slot.positions[slot.sorted].data(),
            this->rows_in(slot),
            slot.x->rows,
            slot.x != slot.y,
            slot.sums.data()};
  }
  // The number of the first row of a slot's slabs.
  uint32_t first_x(const Slot& slot) const { return first_row(slot.unit.store_x, slot.unit.slab_x); }
  uint32_t first_y(const Slot& slot) const { return first_row(slot.unit.store_y, slot.unit.slab_y); }
  uint32_t first_row(uint32_t store, uint32_t slab) const {
    return this->stores_[store].first_row + slab * this->stores_[store].slab_rows;
  }

  uint32_t way_;
  bool two_sets_;
  uint32_t n_a_;
  uint32_t n_;
  bool brute_ = false;
  BandOrder order_ = {};

 private:
  static constexpr uint64_t kSortBytes = 1 << 20;

  // Finds by a sample of the rows the bands that have the least pairs to look at, and whether that beats comparing all.
  void estimate(uint64_t limit) {
    brute_ = probes() == 0 || n_ < 2 || way_ == NEARDUP_GPU_WAY_COMPARE;
    if (brute_) return;
    const Store shape = describe(true);
    const uint64_t least = std::min<uint64_t>(n_, 64);
    const uint32_t wanted = static_cast<uint32_t>(
        std::clamp<uint64_t>(limit / 4 / (shape.row_bytes() + 16), least, std::min(n_, kSampleRows)));
    const uint32_t step = (n_ + wanted - 1) / wanted;
    const uint32_t n = (n_ - 1) / step + 1;
    uint32_t slots = 64;
    while (slots < 2 * n) slots *= 2;
    std::vector<uint64_t> pairs(bands());
    {
      Gpu& gpu = *this->gpus_.front();
      gpu.use();
      typename Base::Stream stream(gpu);
      Slab slab;
      typename Gpu::template Buffer<uint32_t> counters(gpu, slots);
      typename Gpu::template Buffer<uint64_t> sums(gpu, bands());
      for (uint32_t c = 0; c < shape.columns; ++c)
        slab.columns[c] = typename Gpu::template Buffer<uint8_t>(gpu, size_t{n} * shape.width[c]);
      constexpr uint32_t kSamplePortion = 4096;
      this->stores_.assign(1, shape);
      for (uint32_t c = 0; c < shape.uploaded; ++c) {
        typename Gpu::template Pinned<uint8_t> staging(gpu, size_t{kSamplePortion} * shape.width[c]);
        for (uint32_t first = 0; first < n; first += kSamplePortion) {
          const uint32_t count = std::min(kSamplePortion, n - first);
          for (uint32_t i = 0; i < count; ++i)
            this->fill(0, c, (first + i) * step, 1, staging.data() + size_t{i} * shape.width[c]);
          gpu.copy_in(stream, slab.columns[c].data() + size_t{first} * shape.width[c], staging.data(),
                      size_t{count} * shape.width[c]);
          gpu.wait(stream);
        }
      }
      complete_sample(gpu, stream, slab, n);
      gpu.clear(stream, sums.data(), bands() * sizeof(uint64_t));
      for (uint32_t band = 0; band < bands(); ++band) {
        gpu.clear(stream, counters.data(), slots * sizeof(uint32_t));
        const EstimatePairs<Rows> kernel{sample_rows(slab, n), band, n, slots, counters.data(), sums.data() + band};
        gpu.launch(stream, kernel, (n - 1) / kernel.kThreads + 1);
      }
      typename Gpu::template Pinned<uint64_t> loads(gpu, bands());
      gpu.copy_out(stream, loads.data(), sums.data(), bands() * sizeof(uint64_t));
      gpu.wait(stream);
      std::copy_n(loads.data(), bands(), pairs.begin());
    }
    // Other keys in the same counter look like pairs, too.
    const double chance = double{0.5} * n * n / slots;
    std::vector<double> load(bands());
    for (uint32_t band = 0; band < bands(); ++band)
      load[band] = std::max(0.0, static_cast<double>(pairs[band]) - chance) * step * step;
    std::vector<uint8_t> order(bands());
    for (uint32_t band = 0; band < bands(); ++band) order[band] = static_cast<uint8_t>(band);
    std::stable_sort(order.begin(), order.end(), [&](uint8_t x, uint8_t y) { return load[x] < load[y]; });
    std::copy(order.begin(), order.end(), order_.band);
    double looks = 0;
    for (uint32_t i = 0; i < probes(); ++i) looks += load[order[i]];
    const double all = two_sets_ ? double{1} * n_a_ * (n_ - n_a_) : double{0.5} * n_ * n_;
    brute_ = way_ == NEARDUP_GPU_WAY_AUTO && !worth_joining(looks, look_cost(), n_, probes(), all, pair_cost());
  }

  bool estimated_ = false;
  GridPlan plan_;
  std::vector<std::pair<uint32_t, uint32_t>> slab_pairs_;
  size_t next_ = 0;
};

// ---------------------------------------------------------------- simhashes

template <class Gpu>
class SimhashSearch final : public JoinSearch<Gpu, SimhashRows> {
 public:
  SimhashSearch(const std::vector<Gpu*>& gpus, const NeardupGpuJob& job, uint32_t way)
      : Base(gpus, job, way), values_(job.values), most_(job.most) {}

 private:
  using Base = JoinSearch<Gpu, SimhashRows>;
  using typename Base::Slab;
  using typename Base::Slot;
  // Blocks of one bit or two tell nothing.
  static constexpr uint32_t kMaxBitBlocks = 32;

  Store describe(bool) const override {
    Store s;
    s.columns = s.uploaded = 1;
    s.width[0] = 8;
    return s;
  }
  uint32_t bands() const override { return probes(); }
  uint32_t probes() const override { return most_ + 1 > kMaxBitBlocks ? 0 : most_ + 1; }
  double pair_cost() const override { return kSimhashCost; }
  double look_cost() const override { return kSimhashLookCost; }
  void fill(uint32_t store, uint32_t, uint32_t first, uint32_t n, uint8_t* to) override {
    std::memcpy(to, values_ + this->stores_[store].first_row + first, size_t{n} * 8);
  }

  SimhashRows rows(const Slot& slot) const override {
    return {slot.x->template as<uint64_t>(0),
            slot.y->template as<uint64_t>(0),
            slot.x->rows,
            this->first_x(slot),
            this->first_y(slot),
            most_,
            most_ + 1};
  }
  SimhashRows sample_rows(const Slab& slab, uint32_t n) const override {
    return {slab.template as<uint64_t>(0), nullptr, n, 0, 0, most_, most_ + 1};
  }
  void compare_all(Slot& slot, const Piece& piece) override {
    const SimhashRows r = rows(slot);
    const CompareSimhashes kernel{r.x, r.y, r.row_x, r.row_y, piece.tile, most_, this->found_list(slot)};
    slot.device->gpu->launch(*slot.stream, kernel, (piece.tile.x_count - 1) / (kernel.kThreads * kernel.kPerThread) + 1,
                             (piece.tile.y_count - 1) / kernel.kStagedValues + 1);
  }

  const uint64_t* values_;
  uint32_t most_;
};

// ---------------------------------------------------------------- minhashes

template <class Gpu>
class MinhashSearch final : public JoinSearch<Gpu, MinhashRows> {
 public:
  MinhashSearch(const std::vector<Gpu*>& gpus, const NeardupGpuJob& job, uint32_t way)
      : Base(gpus, job, way),
        rows_(job.rows),
        row_bytes_(job.num_perm * job.bits / 8),
        need_matches_(job.need),
        shape_{(row_bytes_ + 15) / 16 * 4, job.num_perm, job.bits} {
    const uint32_t probes = job.num_perm - job.need + 1;
    // Spare bands make the look at a pair selective (core/pairs/banding.h).
    probes_ = probes > kMaxBands ? 0 : probes;
    bands_ = std::min({std::max(32u, probes + 6), job.num_perm, kMaxBands});
    stride_ = (bands_ + 3) / 4 * 4;
    this->with_candidates_ = probes_ != 0;
  }

 private:
  using Base = JoinSearch<Gpu, MinhashRows>;
  using typename Base::Slab;
  using typename Base::Slot;
  enum { kRowsColumn, kKeysColumn };

  Store describe(bool keys) const override {
    Store s;
    s.columns = keys ? 2 : 1;
    s.uploaded = 1;
    s.width[kRowsColumn] = shape_.words * 4;
    s.width[kKeysColumn] = stride_ * 4;
    return s;
  }
  uint32_t bands() const override { return bands_; }
  uint32_t probes() const override { return probes_; }
  double pair_cost() const override { return kSignatureWordCost * shape_.words; }
  double look_cost() const override { return kMinhashLookCost; }
  void prepare(uint64_t limit) override {
    Base::prepare(limit);
    this->with_candidates_ = !this->brute_;
  }
  void fill(uint32_t store, uint32_t, uint32_t first, uint32_t n, uint8_t* to) override {
    const uint32_t width = shape_.words * 4;
    for (uint32_t i = 0; i < n; ++i, to += width) {
      std::memcpy(to, rows_[this->stores_[store].first_row + first + i], row_bytes_);
      std::memset(to + row_bytes_, 0, width - row_bytes_);
    }
  }

  void make_keys(Gpu& gpu, typename Base::Stream& stream, const Slab& slab, uint32_t n) const {
    const MakeKeys kernel{slab.template as<uint32_t>(kRowsColumn),
                          slab.template as<uint32_t>(kKeysColumn),
                          shape_,
                          0,
                          n,
                          bands_,
                          stride_};
    gpu.launch(stream, kernel, static_cast<uint32_t>((uint64_t{n} * stride_ - 1) / kernel.kThreads + 1));
  }
  void complete(Slot& slot, uint32_t, Slab& slab) override {
    if (!this->brute_) make_keys(*slot.device->gpu, *slot.stream, slab, slab.rows);
  }
  void complete_sample(Gpu& gpu, typename Base::Stream& stream, const Slab& slab, uint32_t n) override {
    make_keys(gpu, stream, slab, n);
  }

  MinhashRows rows(const Slot& slot) const override {
    return key_rows(slot.x->template as<uint32_t>(kKeysColumn), slot.y->template as<uint32_t>(kKeysColumn),
                    slot.x->rows);
  }
  MinhashRows sample_rows(const Slab& slab, uint32_t n) const override {
    return key_rows(slab.template as<uint32_t>(kKeysColumn), nullptr, n);
  }
  MinhashRows key_rows(const uint32_t* x, const uint32_t* y, uint32_t n_x) const {
    return {x, y, n_x, stride_, bands_, bands_ - probes_ + 1};
  }
  SignaturesOfTwo signatures(const Slot& slot) const {
    return {slot.x->template as<uint32_t>(kRowsColumn), slot.y->template as<uint32_t>(kRowsColumn), slot.x->rows,
            this->first_x(slot), this->first_y(slot)};
  }
  void compare_candidates(Slot& slot) override {
    const uint32_t blocks = std::min(1024u, (this->room_ - 1) / CompareCandidates::kThreads + 1);
    const CompareCandidates compare{signatures(slot), shape_, slot.candidates.data(), &slot.counters.data()->candidates,
                                    this->room_,      blocks, need_matches_,          this->found_list(slot)};
    slot.device->gpu->launch(*slot.stream, compare, blocks);
  }
  void compare_all(Slot& slot, const Piece& piece) override {
    const CompareSignatures kernel{signatures(slot), shape_, piece.tile, need_matches_, this->found_list(slot)};
    slot.device->gpu->launch(*slot.stream, kernel, (piece.tile.x_count - 1) / kernel.kSide + 1,
                             (piece.tile.y_count - 1) / kernel.kSide + 1);
  }

  const void* const* rows_;
  uint32_t row_bytes_;
  uint32_t need_matches_;
  Signatures shape_;
  uint32_t probes_;
  uint32_t bands_;
  uint32_t stride_;
};

}  // namespace neardup::gpu
