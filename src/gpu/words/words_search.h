// Words compared on any Gpu: a block of words in slices, each of which a device holds as lists and matrices; rows to
// compare with it in strips; the numerators of a strip and a slice, of which the device reports what may be among the
// best. Gpu is a device: CudaGpu, or in tests one that runs kernels on the host (test/gpu/host_gpu.h). Long: steps
// share the buffers of a search.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gpu/base/memory.h"
#include "gpu/base/slots.h"
#include "gpu/words/words_plan.h"

namespace neardup::gpu {

// Comparisons of words behind the C boundary. Errors are exceptions.
class Words {
 public:
  virtual ~Words() = default;
  // Gives back the memory of the block before.
  virtual void drop() = 0;
  // Takes memory, at most `limit` bytes of each device.
  virtual void begin(const NeardupGpuWordBlock& block, uint64_t limit) = 0;
  virtual void probe(const NeardupGpuWordRows& rows, const float* least) = 0;
  // Returns up to max pairs; *done is 1 when there will be no more.
  virtual uint32_t step(NeardupGpuPair* pairs, uint32_t max, double* done) = 0;
  NeardupGpuWordStats stats = {};
};

// Makes them for CUDA devices. way: NEARDUP_GPU_WAY_...
class CudaGpu;
std::unique_ptr<Words> make_words(const std::vector<CudaGpu*>& gpus, uint32_t way);

// Rows on a device. The columns of arrays in the order in which they are loaded.
enum { kDenseColumn, kBegins, kFeatures, kValues, kWeights, kBounds, kColumns };
template <class Gpu>
struct DeviceWordRows {
  template <class T>
  using Buffer = typename Gpu::template Buffer<T>;

  Buffer<uint32_t> dense;
  Buffer<uint32_t> begins;
  Buffer<uint32_t> features;
  Buffer<uint16_t> values;
  Buffer<uint32_t> weights;
  Buffer<float> bounds;
  Buffer<int8_t> matrix;

  WordRowsView view() const noexcept { return {begins.data(), features.data(), values.data()}; }
};

template <class GpuType>
struct WordDevice {
  using Event = typename GpuType::Event;
  template <class T>
  using Buffer = typename GpuType::template Buffer<T>;

  GpuType* gpu = nullptr;
  DeviceWordRows<GpuType> slice;
  Buffer<uint64_t> lists;
  Buffer<uint32_t> entries;
  Buffer<uint32_t> counts;
  Buffer<uint8_t> temporary;
  uint64_t lists_size = 0;
  int64_t held = -1;   // number of the slice
  uint64_t probe = 0;  // that the bounds are of
  bool loaded = false;
  uint32_t users = 0;
  std::unique_ptr<Event> ready;    // the slice
  std::unique_ptr<Event> bounded;  // columns, by the latest strip
  bool any_bounded = false;
};

template <class Gpu>
struct WordSlot : WorkSlot<Gpu, WordDevice<Gpu>, WordPiece> {
  // Rows that are being loaded.
  struct Load {
    const NeardupGpuWordRows* from = nullptr;
    uint32_t first = 0, n = 0;  // rows of it
    DeviceWordRows<Gpu>* to = nullptr;
    uint32_t column = kColumns;
    uint64_t done = 0;
  };

  typename Gpu::Multiplier* multiplier = nullptr;
  uint32_t slice = 0;
  Load load;
  bool loads_slice = false;  // before its strip
  bool new_rows = false;     // of the slice that it loads
  DeviceWordRows<Gpu> strip;
  WordTile tile = {};
  double began = 0;  // when the strip was multiplied, until a piece of it is done
  typename Gpu::template Buffer<uint32_t> numerators;
  typename Gpu::template Buffer<int32_t> low;
};

template <class Gpu>
class WordSearch final : public Words, SlotSearch<WordSlot<Gpu>> {
 public:
  // way: NEARDUP_GPU_WAY_...
  WordSearch(const std::vector<Gpu*>& gpus, uint32_t way) : Machine(gpus), way_(way) {
    for (Gpu* gpu : gpus_) {
      gpu->use();
      for (uint32_t i = 0; i < kWordSlots; ++i) {
        multipliers_.push_back(std::make_unique<Multiplier>(*gpu));
        multiplies_ = multiplies_ && multipliers_.back()->works();
      }
    }
    stats.devices = static_cast<uint32_t>(gpus_.size());
  }

  ~WordSearch() override { drop_memory(); }

  void drop() override {
    drop_memory();
    probing_ = false;
  }

  void begin(const NeardupGpuWordBlock& block, uint64_t limit) override {
    check_word_block(block);
    drop_memory();
    block_ = block;
    limit_ = limit;
    row_entries_ = 0;
    probing_ = false;
    wanted_.clear();
    if (multiplies_ && way_ != NEARDUP_GPU_WAY_GROUP)
      wanted_ = dense_features(block, way_ == NEARDUP_GPU_WAY_COMPARE ? 0 : kDenseFeatureShare);
    prepare();
  }

  void probe(const NeardupGpuWordRows& rows, const float* least) override {
    if (devices_.empty()) throw Error(Errc::invalid_argument, "there is no block");
    if (probing_) throw Error(Errc::invalid_argument, "the probe before is not done");
    if (least == nullptr) throw Error(Errc::invalid_argument, "least must not be null");
    check_word_rows(rows, block_.words);
    uint64_t longest = 0;
    for (uint32_t i = 0; i < rows.rows; ++i) longest = std::max(longest, rows.begin[i + 1] - rows.begin[i]);
    if (longest > plan_.strip_entries) {
      row_entries_ = longest;
      prepare();
    }
    rows_ = rows;
    least_ = least;
    probing_ = true;
    ++probe_;
    slice_ = next_row_ = 0;
    start_slice();
  }

  uint32_t step(NeardupGpuPair* pairs, uint32_t max, double* done) override {
    if (!probing_) throw Error(Errc::invalid_argument, "there is no probe");
    bool busy = false;
    const uint32_t n = this->step_slots(pairs, max, &busy);
    probing_ = busy || slice_ < plan_.slices;
    *done = probing_ ? std::min(0.999, progress()) : 1;
    return n;
  }

  // Tests have strips of at most so many rows.
  void limit_strips(uint32_t rows) noexcept { most_strip_ = rows; }
  const WordPlan& plan() const noexcept { return plan_; }

  static constexpr uint64_t kLeastWordsMemory = 64 << 10;

 private:
  using Machine = SlotSearch<WordSlot<Gpu>>;
  using Machine::devices_;
  using Machine::drop_memory;
  using Machine::gpus_;
  using Machine::slots_;
  using Machine::staging_bytes_;
  using typename Machine::Device;
  using typename Machine::Event;
  using typename Machine::Slot;
  using typename Machine::Stream;
  template <class T>
  using Buffer = typename Gpu::template Buffer<T>;
  using Multiplier = typename Gpu::Multiplier;
  using Load = typename Slot::Load;
  using Rows = DeviceWordRows<Gpu>;

  static constexpr uint64_t kStaging = 4 << 20;

  // ------------------------------------------------------------ memory

  void prepare() {
    drop_memory();
    allocate_within<Gpu>(
        limit_, kLeastWordsMemory,
        [&](uint64_t within, uint64_t* planned) {
          Gpu& gpu = *gpus_.front();
          gpu.use();
          if (!plan_words(
                  block_, static_cast<uint32_t>(wanted_.size()), row_entries_, within,
                  [&](uint32_t n) { return gpu.temporary_bytes(n); }, &plan_))
            throw NoMemory("comparing words needs more device memory than the " + std::to_string(within >> 20) +
                           " MB that it may take");
          *planned = plan_.bytes;
          allocate_memory();
        },
        [&] { drop_memory(); });
    column_of_.clear();
    if (plan_.dense != 0) {
      std::vector<uint32_t> chosen(wanted_.begin(), wanted_.begin() + plan_.dense);
      std::sort(chosen.begin(), chosen.end());
      column_of_.assign(block_.features, kNotDense);
      for (uint32_t c = 0; c < plan_.dense; ++c) column_of_[chosen[c]] = c;
    }
    stats.device_bytes = std::max(stats.device_bytes, plan_.bytes);
    stats.slices = plan_.slices;
    stats.dense = plan_.dense;
  }

  void allocate_memory() {
    const uint64_t stride = plan_.stride();
    const bool dense = plan_.dense != 0;
    this->room_ = plan_.room;
    staging_bytes_ = std::min(kStaging, std::max(plan_.slice_entries, plan_.strip_entries) * 4 + 64);
    for (size_t g = 0; g < gpus_.size(); ++g) {
      Gpu& gpu = *gpus_[g];
      gpu.use();
      devices_.push_back(std::make_unique<Device>());
      Device& d = *devices_.back();
      d.gpu = &gpu;
      allocate_rows(gpu, d.slice, plan_.slice_columns, plan_.slice_entries, stride);
      if (dense) d.slice.dense = Buffer<uint32_t>(gpu, block_.features);
      d.lists_size = uint64_t{plan_.segments()} * block_.features + 1;
      d.lists = Buffer<uint64_t>(gpu, d.lists_size);
      d.entries = Buffer<uint32_t>(gpu, plan_.slice_entries);
      d.counts = Buffer<uint32_t>(gpu, stride / ColumnBounds::kBlockColumns * ColumnBounds::kCounts);
      d.temporary = Buffer<uint8_t>(gpu, gpu.temporary_bytes(static_cast<uint32_t>(d.lists_size)));
      d.ready = std::make_unique<Event>(gpu);
      d.bounded = std::make_unique<Event>(gpu);
      for (uint32_t i = 0; i < kWordSlots; ++i) {
        auto slot = std::make_unique<Slot>();
        const uint64_t padded = round_up(plan_.strip_rows, kRowStep);
        slot->multiplier = multipliers_[g * kWordSlots + i].get();
        slot->allocate(d, plan_.room, staging_bytes_);
        allocate_rows(gpu, slot->strip, plan_.strip_rows, plan_.strip_entries, padded);
        slot->numerators = Buffer<uint32_t>(gpu, padded * stride);
        if (dense) slot->low = Buffer<int32_t>(gpu, padded * stride);
        slots_.push_back(std::move(slot));
      }
    }
  }

  void allocate_rows(Gpu& gpu, Rows& rows, uint32_t n, uint64_t entries, uint64_t padded) {
    rows.begins = Buffer<uint32_t>(gpu, size_t{n} + 1);
    rows.features = Buffer<uint32_t>(gpu, entries);
    rows.values = Buffer<uint16_t>(gpu, entries);
    rows.weights = Buffer<uint32_t>(gpu, n);
    rows.bounds = Buffer<float>(gpu, n);
    if (plan_.dense != 0) rows.matrix = Buffer<int8_t>(gpu, padded * 3 * plan_.dense_columns);
  }

  // ------------------------------------------------------------ units of work: a slice and a strip of rows

  uint32_t slice_first() const noexcept { return slice_ * plan_.slice_columns; }
  uint32_t slice_width(uint32_t slice) const noexcept {
    return std::min(plan_.slice_columns, block_.rows.rows - slice * plan_.slice_columns);
  }

  // Rows from the last word of the slice on make no pair with it.
  void start_slice() noexcept {
    next_row_ = 0;
    for (; slice_ < plan_.slices; ++slice_) {
      rows_end_ = 0;
      if (block_.rows.rows == 0) continue;
      const uint32_t last = block_.rows.first + slice_first() + slice_width(slice_) - 1;
      rows_end_ = last <= rows_.first ? 0 : std::min(rows_.rows, last - rows_.first);
      if (rows_end_ != 0) return;
    }
  }

  double progress() const noexcept {
    const double of_slice = rows_end_ == 0 ? 1 : static_cast<double>(next_row_) / rows_end_;
    return plan_.slices == 0 ? 1 : (slice_ + of_slice) / plan_.slices;
  }

  bool start_unit(Slot& slot) override {
    if (slice_ == plan_.slices) return false;
    Device& device = *slot.device;
    const bool new_slice = device.held != slice_ || device.probe != probe_;
    if (new_slice && device.users != 0) return false;
    ++device.users;
    slot.slice = slice_;
    // Each slot gets some, so that rows are loaded while others are compared.
    const auto share = static_cast<uint32_t>((rows_.rows - 1) / (2 * slots_.size()) + 1);
    const uint32_t most = std::min({static_cast<uint32_t>(strip_size_.size), plan_.strip_rows, most_strip_,
                                    rows_end_ - next_row_, std::max(kGoodStrip, share)});
    uint32_t n = 1;
    while (n < most && rows_.begin[next_row_ + n + 1] - rows_.begin[next_row_] <= plan_.strip_entries) ++n;
    slot.tile = {rows_.first + next_row_, n, block_.rows.first + slice_first(), slice_width(slice_), plan_.stride(),
                 slot.numerators.data()};
    slot.loads_slice = new_slice;
    if (new_slice) {
      device.loaded = false;
      load_rows(slot.load, block_.rows, slice_first(), slice_width(slice_), device.slice,
                device.held != slice_ ? kDenseColumn : kBounds);
      slot.new_rows = device.held != slice_;
      device.held = slice_;
      device.probe = probe_;
    } else {
      load_rows(slot.load, rows_, next_row_, n, slot.strip, kBegins);
    }
    next_row_ += n;
    if (next_row_ == rows_end_) {
      ++slice_;
      start_slice();
    }
    return true;
  }

  // ------------------------------------------------------------ loading

  static void load_rows(Load& load, const NeardupGpuWordRows& from, uint32_t first, uint32_t n, Rows& to,
                        uint32_t column) {
    load = {&from, first, n, &to, column, 0};
  }

  bool load(Slot& slot) override {
    if (slot.load.column != kColumns) return load_column(slot);
    if (slot.loads_slice) {
      build_slice(slot);
      load_rows(slot.load, rows_, slot.tile.first_row - rows_.first, slot.tile.rows, slot.strip, kBegins);
      slot.loads_slice = false;
      return true;
    }
    // Another slot may still be loading the slice.
    if (!slot.device->loaded) return false;
    compute(slot);
    slot.state = SlotState::ready;
    return true;
  }

  // A portion of a column.
  bool load_column(Slot& slot) {
    Load& l = slot.load;
    const uint64_t entries = l.from->begin[l.first + l.n] - l.from->begin[l.first];
    const struct {
      void* to;
      uint64_t count;
      uint32_t width;
    } columns[kColumns] = {{l.to->dense.data(), column_of_.size(), 4},
                           {l.to->begins.data(), uint64_t{l.n} + 1, 4},
                           {l.to->features.data(), entries, 4},
                           {l.to->values.data(), entries, 2},
                           {l.to->weights.data(), l.n, 4},
                           {l.to->bounds.data(), l.n, 4}};
    const auto [to, count, width] = columns[l.column];
    if (l.done < count) {
      const uint64_t n = std::min(count - l.done, staging_bytes_ / width);
      if (!slot.copy_in(static_cast<uint8_t*>(to) + l.done * width, n * width, [&](uint8_t* out) { fill(l, n, out); }))
        return false;
      l.done += n;
    }
    if (l.done == count) {
      ++l.column;
      l.done = 0;
    }
    return true;
  }

  // Copies n elements of a column, from the one on that is next. What a kernel would go astray by is refused.
  void fill(const Load& l, uint64_t n, uint8_t* to) const {
    const uint64_t* const begin = l.from->begin + l.first;
    auto* const words = reinterpret_cast<uint32_t*>(to);
    switch (l.column) {
      case kDenseColumn:
        std::copy_n(column_of_.data() + l.done, n, words);
        break;
      case kBegins:
        for (uint64_t i = 0; i < n; ++i) words[i] = static_cast<uint32_t>(begin[l.done + i] - begin[0]);
        break;
      case kFeatures: {
        const uint32_t* const from = l.from->features + begin[0] + l.done;
        uint32_t most = 0;
        for (uint64_t i = 0; i < n; ++i) {
          most = std::max(most, from[i]);
          words[i] = from[i];
        }
        if (n != 0 && most >= block_.features)
          throw Error(Errc::invalid_argument,
                      "features must be below " + std::to_string(block_.features) + ": " + std::to_string(most));
        break;
      }
      case kValues: {
        const uint16_t* const from = l.from->values + begin[0] + l.done;
        auto* const values = reinterpret_cast<uint16_t*>(to);
        uint16_t bits = 0;
        for (uint64_t i = 0; i < n; ++i) {
          bits = static_cast<uint16_t>(bits | from[i]);
          values[i] = from[i];
        }
        if (bits > 32767) throw Error(Errc::invalid_argument, "values must be at most 32767");
        break;
      }
      case kWeights:
        std::copy_n(block_.weights + l.from->first + l.first + l.done, n, words);
        break;
      case kBounds: {
        auto* const bounds = reinterpret_cast<float*>(to);
        for (uint64_t i = 0; i < n; ++i) bounds[i] = lowered(least_[l.from->first + l.first + l.done + i]);
        break;
      }
    }
  }

  // ------------------------------------------------------------ on the device

  DenseColumns dense_columns_on(const Device& device) const noexcept {
    const uint32_t* const of = device.slice.dense.data();
    return {plan_.dense == 0 ? nullptr : of};
  }

  void expand(Slot& slot, const Rows& rows, uint32_t n) {
    Gpu& gpu = *slot.device->gpu;
    gpu.clear(*slot.stream, rows.matrix.data(), size_t{n} * 3 * plan_.dense_columns);
    gpu.launch(*slot.stream,
               ExpandRows{rows.view(), dense_columns_on(*slot.device), plan_.dense_columns, rows.matrix.data()}, n);
  }

  // Rows are there: lists, matrix, and counts of columns from none on.
  void build_slice(Slot& slot) {
    Device& device = *slot.device;
    Gpu& gpu = *device.gpu;
    Stream& stream = *slot.stream;
    const uint32_t n = slice_width(slot.slice);
    if (slot.new_rows) {
      gpu.clear(stream, device.lists.data(), device.lists_size * sizeof(uint64_t));
      gpu.launch(stream,
                 CountLists{device.slice.view(), dense_columns_on(device), block_.features, device.lists.data()}, n);
      gpu.sum(stream, device.temporary, device.lists.data(), static_cast<uint32_t>(device.lists_size));
      gpu.launch(stream,
                 FillLists{device.slice.view(), dense_columns_on(device), block_.features, device.lists.data(),
                           device.entries.data()},
                 n);
      if (plan_.dense != 0) expand(slot, device.slice, n);
    }
    gpu.clear(stream, device.counts.data(), device.counts.size() * sizeof(uint32_t));
    gpu.record(*device.ready, stream);
    device.loaded = true;
    device.any_bounded = false;
  }

  void compute(Slot& slot) {
    Device& device = *slot.device;
    Gpu& gpu = *device.gpu;
    Stream& stream = *slot.stream;
    const WordTile& tile = slot.tile;
    slot.began = milliseconds();
    gpu.wait_for(stream, *device.ready);
    const bool dense = plan_.dense != 0;
    if (dense) {
      expand(slot, slot.strip, tile.rows);
      // The upper part alone: from the first column that any row makes a pair with.
      const uint32_t first = tile.first_pair_column(0) / kRowStep * kRowStep;
      const uint32_t width = plan_.dense_columns;
      const uint32_t ld = 3 * width;
      const int8_t* const x = slot.strip.matrix.data();
      const int8_t* const y = device.slice.matrix.data() + size_t{first} * ld;
      const uint32_t n = round_up(tile.rows, kRowStep);
      const uint32_t m = round_up(tile.columns - first, kRowStep);
      auto* const high = reinterpret_cast<int32_t*>(slot.numerators.data()) + first;
      int32_t* const low = slot.low.data() + first;
      Multiplier& product = *slot.multiplier;
      product.multiply(stream, x, n, y + 2 * width, m, width, ld, high, tile.stride, false);
      product.multiply(stream, x + 2 * width, n, y, m, width, ld, high, tile.stride, true);
      product.multiply(stream, x + width, n, y + 2 * width, m, width, ld, low, tile.stride, false);
      product.multiply(stream, x + 2 * width, n, y + width, m, width, ld, low, tile.stride, true);
    }
    gpu.launch(stream,
               AddNumerators{slot.strip.view(), tile, block_.features, device.lists.data(), device.entries.data(),
                             dense ? slot.low.data() : nullptr},
               tile.rows, (tile.columns - 1) / kSegment + 1);
    gpu.launch(
        stream,
        RowBounds{tile, slot.strip.weights.data(), device.slice.weights.data(), block_.k, slot.strip.bounds.data()},
        tile.rows);
    // One strip after the other raises the bounds of columns.
    if (device.any_bounded) gpu.wait_for(stream, *device.bounded);
    gpu.launch(stream,
               ColumnBounds{tile, slot.strip.weights.data(), device.slice.weights.data(), block_.k,
                            device.counts.data(), device.slice.bounds.data()},
               (tile.columns - 1) / ColumnBounds::kBlockColumns + 1);
    gpu.record(*device.bounded, stream);
    device.any_bounded = true;
    const uint32_t begin = tile.first_pair_column(0);
    slot.pieces.assign(1, {0, tile.rows, begin, tile.columns - begin});
    for (uint32_t row = 0; row < tile.rows; ++row) stats.pairs += tile.columns - tile.first_pair_column(row);
  }

  void launch(Slot& slot, const WordPiece& piece) override {
    slot.device->gpu->launch(*slot.stream,
                             TellPairs{slot.tile, piece, slot.strip.weights.data(), slot.device->slice.weights.data(),
                                       slot.strip.bounds.data(), slot.device->slice.bounds.data(),
                                       List<Pair>{slot.found.data(), &slot.counters.data()->found, plan_.room}},
                             (piece.columns - 1) / (TellPairs::kThreads * TellPairs::kPerThread) + 1, piece.rows);
  }

  std::pair<WordPiece, WordPiece> halve(const WordPiece& piece) override { return halves(piece); }

  void count(Slot& slot, bool halved) override {
    if (slot.began != 0) strip_size_.took(milliseconds() - slot.began);
    slot.began = 0;
    if (halved)
      ++stats.halvings;
    else
      stats.told += slot.told.data()[0].found;
  }

  void end_unit(Slot& slot) override { --slot.device->users; }

  uint32_t way_;
  std::vector<std::unique_ptr<Multiplier>> multipliers_;
  bool multiplies_ = true;

  NeardupGpuWordBlock block_ = {};
  uint64_t limit_ = 0;
  uint64_t row_entries_ = 0;
  std::vector<uint32_t> wanted_;     // dense features, most frequent first
  std::vector<uint32_t> column_of_;  // by feature
  WordPlan plan_;

  NeardupGpuWordRows rows_ = {};
  const float* least_ = nullptr;
  uint64_t probe_ = 0;
  bool probing_ = false;
  uint32_t slice_ = 0;     // of the next unit
  uint32_t next_row_ = 0;  // and its first row
  uint32_t rows_end_ = 0;
  WorkSize strip_size_ = strip_size();
  uint32_t most_strip_ = UINT32_MAX;
};

}  // namespace neardup::gpu
