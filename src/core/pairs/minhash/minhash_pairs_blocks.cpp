// The join of rows in large buckets where their key vectors do not fit in memory.
#include <algorithm>
#include <memory>
#include <vector>

#include "core/pairs/minhash/minhash_pairs_impl.h"

namespace neardup {
namespace {

// Key vectors on disk: blocks of rows, each with its entries sorted for every band; every two blocks are joined in
// memory, so no bucket is ever larger than memory.
class KeyBlocks {
 public:
  explicit KeyBlocks(MinhashEngine& engine)
      : engine_(engine),
        ws_(engine.ws),
        stride_(engine.banding.stride()),
        vector_bytes_(4 * size_t{stride_}),
        most_(static_cast<uint32_t>(
            std::max<size_t>(16, memory_share(ws_, kHalf) / 2 / (vector_bytes_ + 4 + sizeof(uint64_t))))),
        file_(ws_.files->create()) {}

  // Writes the rows. load, of all bands: pairs of rows with equal keys, estimated from those within blocks.
  void write(double* load) {
    Writing w(*this);
    RowReader reader(engine_.rows, memory_share(ws_, kSixteenth), ws_);
    const uint32_t first_of_b = engine_.two_sets ? engine_.count_a : UINT32_MAX;
    engine_.for_each_searched([&](uint32_t row) {
      if (w.count == most_ || (w.count != 0 && row >= first_of_b && w.row_of[0] < first_of_b)) flush(w, load);
      w.row_of[w.count] = row;
      engine_.banding.keys(reader.row(row), w.keys.data() + size_t{w.count} * stride_);
      ws_.poller.spend(engine_.row_bytes / 4 + 2 * stride_);
      ++w.count;
    });
    flush(w, load);
    for (uint32_t band = 0; band < engine_.banding.bands(); ++band) load[band] *= static_cast<double>(blocks_.size());
  }

  // Joins the blocks, once the bands are chosen.
  void join() {
    Loaded one(*this);
    Loaded two(*this);
    for (size_t i = 0; i < blocks_.size() && !blocks_[i].of_b; ++i) {
      ws_.poller.steps(i, blocks_.size());
      load_rows(blocks_[i], one);
      if (!engine_.two_sets) join_within(blocks_[i], one);
      for (size_t j = i + 1; j < blocks_.size(); ++j) {
        if (engine_.two_sets && !blocks_[j].of_b) continue;
        load_rows(blocks_[j], two);
        join_two(blocks_[i], one, blocks_[j], two);
      }
    }
  }

 private:
  struct Block {
    uint32_t count;
    bool of_b;
    uint64_t offset;  // of row numbers, key vectors, then entries band by band
  };
  // The block that is written next.
  struct Writing {
    explicit Writing(const KeyBlocks& blocks)
        : keys(blocks.ws_.ledger, size_t{blocks.most_} * blocks.stride_),
          row_of(blocks.ws_.ledger, blocks.most_),
          entries(blocks.most_, blocks.ws_.ledger) {}
    Array<uint32_t> keys;
    Array<uint32_t> row_of;
    BandEntries entries;
    uint32_t count = 0;
  };
  // A block in memory, with its entries for one band.
  struct Loaded {
    explicit Loaded(const KeyBlocks& blocks)
        : keys(blocks.ws_.ledger, size_t{blocks.most_} * blocks.stride_),
          row_of(blocks.ws_.ledger, blocks.most_),
          entries(blocks.ws_.ledger, blocks.most_) {}
    Array<uint32_t> keys;
    Array<uint32_t> row_of;
    Array<uint64_t> entries;
  };

  void flush(Writing& w, double* load) {
    if (w.count == 0) return;
    const uint32_t bands = engine_.banding.bands();
    blocks_.push_back({w.count, engine_.two_sets && w.row_of[0] >= engine_.count_a, end_});
    append_polled(*file_, w.row_of.data(), w.count * size_t{4}, ws_);
    append_polled(*file_, w.keys.data(), w.count * vector_bytes_, ws_);
    for (uint32_t band = 0; band < bands; ++band) {
      const uint64_t* sorted = w.entries.sort(w.keys.data(), stride_, band, w.count, ws_.poller);
      append_polled(*file_, sorted, w.count * sizeof(uint64_t), ws_);
      for (uint32_t i = 0, first = 0; i < w.count; ++i) {
        if (entry_key(sorted[i]) != entry_key(sorted[first])) first = i;
        load[band] += i - first;
      }
      ws_.poller.spend(w.count * size_t{2});
    }
    end_ += w.count * (4 + vector_bytes_ + bands * sizeof(uint64_t));
    w.count = 0;
  }

  void load_rows(const Block& block, Loaded& to) {
    read_polled(*file_, block.offset, to.row_of.data(), block.count * size_t{4}, ws_.poller);
    read_polled(*file_, block.offset + block.count * uint64_t{4}, to.keys.data(), block.count * vector_bytes_,
                ws_.poller);
  }
  void load_entries(const Block& block, uint32_t band, Loaded& to) {
    const uint64_t at = block.offset + block.count * (4 + vector_bytes_ + band * sizeof(uint64_t));
    read_polled(*file_, at, to.entries.data(), block.count * sizeof(uint64_t), ws_.poller);
  }
  JoinList list(const Block& block, const Loaded& loaded) const {
    return {loaded.entries.data(), block.count, {loaded.keys.data(), stride_}, loaded.row_of.data()};
  }

  void join_within(const Block& block, Loaded& loaded) {
    for_each_probe([&](uint32_t band, const KeyFilter& filter) {
      load_entries(block, band, loaded);
      engine_.join({{list(block, loaded), {}, filter}});
    });
  }
  void join_two(const Block& x, Loaded& loaded_x, const Block& y, Loaded& loaded_y) {
    for_each_probe([&](uint32_t band, const KeyFilter& filter) {
      load_entries(x, band, loaded_x);
      load_entries(y, band, loaded_y);
      engine_.join({{list(x, loaded_x), list(y, loaded_y), filter}});
    });
  }
  template <class OnBand>
  void for_each_probe(OnBand on_band) {
    engine_.filter.clear_done();
    for (uint32_t p = 0; p < engine_.banding.probes(); ++p) {
      on_band(engine_.order[p], engine_.filter);
      engine_.filter.mark_done(engine_.order[p]);
    }
  }

  MinhashEngine& engine_;
  Workspace& ws_;
  const uint32_t stride_;
  const size_t vector_bytes_;
  const uint32_t most_;  // rows of a block
  std::unique_ptr<TempFile> file_;
  uint64_t end_ = 0;  // of the file
  std::vector<Block> blocks_;
};

}  // namespace

void MinhashEngine::join_blocks() {
  KeyBlocks blocks(*this);
  double load[Banding::kMaxBands] = {};
  blocks.write(load);
  choose_bands(load);
  blocks.join();
}

}  // namespace neardup
