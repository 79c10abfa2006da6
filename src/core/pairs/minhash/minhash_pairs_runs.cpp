// The join of MinhashPairs where key vectors do not fit in memory: sorted runs of the keys of each band, merged once.
#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/pairs/minhash/minhash_pairs_impl.h"

namespace neardup {
namespace {

// Four bits of each key of a row, 16 keys a word: they tell most rows apart that agree in few bands.
constexpr unsigned kBandsPerWord = 16;
constexpr unsigned kMarkBits = 4;
constexpr size_t kMostMarkWords = Banding::kMaxBands / kBandsPerWord;

void make_marks(const uint32_t* keys, uint32_t bands, uint64_t* marks) {
  std::fill(marks, marks + (bands + kBandsPerWord - 1) / kBandsPerWord, 0);
  for (uint32_t band = 0; band < bands; ++band) {
    const uint64_t mark = keys[band] >> (32 - kMarkBits);
    marks[band / kBandsPerWord] |= mark << band % kBandsPerWord * kMarkBits;
  }
}

// Returns the number of equal marks in two words.
uint32_t equal_marks(uint64_t a, uint64_t b) {
  uint64_t differ = a ^ b;
  differ |= differ >> 2;
  differ |= differ >> 1;
  return kBandsPerWord - static_cast<uint32_t>(std::popcount(differ & 0x1111'1111'1111'1111));
}

// A record of a run: key << 32 | row, then the marks of the row.
struct RunShape {
  explicit RunShape(uint32_t bands) : mark_words((bands + kBandsPerWord - 1) / kBandsPerWord) {}
  size_t words() const { return 1 + mark_words; }
  size_t bytes() const { return words() * sizeof(uint64_t); }
  size_t mark_words;
};

// Reads a run, a piece at a time.
class RunReader {
 public:
  RunReader(TempFile& file, RunShape shape, uint64_t offset, uint32_t count, uint32_t piece, Workspace& ws)
      : file_(&file), shape_(shape), offset_(offset), left_(count), buffer_(ws.ledger, piece * shape.words()) {}

  // The next record, valid until the next call; null at the end.
  const uint64_t* next(Poller& poller) {
    if (at_ == loaded_) {
      loaded_ = std::min<size_t>(left_, buffer_.size() / shape_.words());
      if (loaded_ == 0) return nullptr;
      read_polled(*file_, offset_, buffer_.data(), loaded_ * shape_.bytes(), poller);
      offset_ += loaded_ * shape_.bytes();
      left_ -= static_cast<uint32_t>(loaded_);
      at_ = 0;
    }
    return buffer_.data() + at_++ * shape_.words();
  }

 private:
  TempFile* file_;
  RunShape shape_;
  uint64_t offset_;
  uint32_t left_;
  Array<uint64_t> buffer_;
  size_t at_ = 0;
  size_t loaded_ = 0;
};

// Pairs that were met lately, so that a pair is handed over once for most bands in which it agrees. It may forget one,
// but confuses none.
class RecentPairs {
 public:
  explicit RecentPairs(MinhashEngine& engine)
      : engine_(engine), pairs_(engine.ws.ledger, std::bit_floor(slots(engine.ws))) {
    zero_polled(&pairs_, engine.ws.poller);
  }

  // Hands the pair over, now or later.
  void meet(uint32_t x, uint32_t y) {
    waiting_[n_] = static_cast<uint64_t>(x) << 32 | y;  // never 0: y is after x
    __builtin_prefetch(&slot(waiting_[n_]), 1);
    if (++n_ == std::size(waiting_)) finish();
  }
  void finish() {
    for (const uint64_t pair : std::span(waiting_, std::exchange(n_, 0)))
      if (std::exchange(slot(pair), pair) != pair)
        engine_.await(static_cast<uint32_t>(pair >> 32), static_cast<uint32_t>(pair));
  }

 private:
  static size_t slots(const Workspace& ws) {
    constexpr size_t kLeast = 64;
    constexpr size_t kMost = 1 << 20;
    return std::clamp(memory_share(ws, kSixteenth) / sizeof(uint64_t), kLeast, kMost);
  }
  uint64_t& slot(uint64_t pair) noexcept { return pairs_[mix64(pair) & (pairs_.size() - 1)]; }

  MinhashEngine& engine_;
  Array<uint64_t> pairs_;
  uint64_t waiting_[16];  // their slots are on the way
  size_t n_ = 0;
};

// Runs of rows. Each has, for every band that is joined, its records sorted by key.
class KeyRuns {
 public:
  explicit KeyRuns(MinhashEngine& engine)
      : engine_(engine),
        ws_(engine.ws),
        stride_(engine.banding.stride()),
        shape_(engine.banding.bands()),
        file_(ws_.files->create()) {}

  void write() {
    const size_t each = 4 * size_t{stride_} + 4 + BandEntries::kBytesEach + shape_.mark_words * sizeof(uint64_t);
    const auto most = static_cast<uint32_t>(std::max<size_t>(kLeastRunRows, memory_share(ws_, kHalf) / each));
    Writing w(*this, most);
    RowReader reader(engine_.rows, memory_share(ws_, kSixteenth), ws_);
    engine_.for_each_distinct([&](uint32_t row) {
      if (w.count == most) flush(w);
      uint32_t* const keys = w.keys.data() + size_t{w.count} * stride_;
      engine_.banding.keys(reader.row(row), keys);
      make_marks(keys, engine_.banding.bands(), w.marks.data() + w.count * shape_.mark_words);
      w.row_of[w.count++] = row;
      ws_.poller.spend(engine_.row_bytes / 4 + 3 * stride_);
    });
    flush(w);
  }

  // Hands over the pairs of small buckets that agree in enough bands, some more than once. Sets the rows of large
  // buckets in *large.
  void merge(RowBits* large) {
    RecentPairs recent(engine_);
    const auto piece = static_cast<uint32_t>(std::max<size_t>(
        kLeastPiece, memory_share(ws_, kQuarter) / std::max<size_t>(runs_.size(), 1) / shape_.bytes()));
    for (uint32_t p = 0; p < engine_.banding.probes(); ++p) {
      ws_.poller.steps(p, engine_.banding.probes());
      merge_band(p, piece, recent, large);
    }
  }

 private:
  struct Run {
    uint64_t offset;
    uint32_t count;
  };
  struct Writing {
    Writing(const KeyRuns& runs, uint32_t most)
        : keys(runs.ws_.ledger, size_t{most} * runs.stride_),
          row_of(runs.ws_.ledger, most),
          marks(runs.ws_.ledger, most * runs.shape_.mark_words),
          entries(most, runs.ws_.ledger),
          out(runs.ws_.ledger, std::min(kTransferBytes, memory_share(runs.ws_, kSixteenth)) / runs.shape_.bytes() *
                                   runs.shape_.words()) {}
    Array<uint32_t> keys;
    Array<uint32_t> row_of;
    Array<uint64_t> marks;
    BandEntries entries;
    Array<uint64_t> out;
    uint32_t count = 0;
  };

  void flush(Writing& w) {
    if (w.count == 0) return;
    runs_.push_back({end_, w.count});
    for (uint32_t p = 0; p < engine_.banding.probes(); ++p) {
      const uint64_t* sorted = w.entries.sort(w.keys.data(), stride_, engine_.order[p], w.count, ws_.poller);
      size_t filled = 0;
      for (uint32_t i = 0; i < w.count; ++i) {
        const uint32_t index = entry_index(sorted[i]);
        w.out[filled++] = static_cast<uint64_t>(entry_key(sorted[i])) << 32 | w.row_of[index];
        filled = static_cast<size_t>(
            std::copy_n(w.marks.data() + index * shape_.mark_words, shape_.mark_words, w.out.data() + filled) -
            w.out.data());
        if (filled == w.out.size() || i + 1 == w.count) {
          append_polled(*file_, w.out.data(), filled * sizeof(uint64_t), ws_);
          filled = 0;
        }
      }
      ws_.poller.spend(w.count * size_t{5});
    }
    end_ += w.count * shape_.bytes() * engine_.banding.probes();
    w.count = 0;
  }

  void merge_band(uint32_t p, uint32_t piece, RecentPairs& recent, RowBits* large) {
    std::vector<RunReader> readers;
    std::vector<Head> heads;
    for (const Run& run : runs_) {
      readers.emplace_back(*file_, shape_, run.offset + p * run.count * shape_.bytes(), run.count,
                           std::min(piece, run.count), ws_);
      const uint64_t* const record = readers.back().next(ws_.poller);
      heads.push_back({record[0], record, readers.size() - 1});
    }
    std::make_heap(heads.begin(), heads.end(), std::greater<>());
    while (!heads.empty()) {
      std::pop_heap(heads.begin(), heads.end(), std::greater<>());
      Head& least = heads.back();
      add(least.record, recent, large);
      least.record = readers[least.run].next(ws_.poller);
      if (least.record == nullptr) {
        heads.pop_back();
      } else {
        least.order = least.record[0];
        std::push_heap(heads.begin(), heads.end(), std::greater<>());
      }
      ws_.poller.spend(30);
    }
    end_bucket(recent);
    recent.finish();
  }

  // The next record of the band.
  void add(const uint64_t* record, RecentPairs& recent, RowBits* large) {
    if (bucket_size_ != 0 && entry_key(record[0]) != entry_key(bucket_[0])) end_bucket(recent);
    if (bucket_size_ < kDenseBucket) {
      std::copy_n(record, shape_.words(), bucket_ + bucket_size_ * shape_.words());
      if (++bucket_size_ < kDenseBucket) return;
      for (size_t i = 0; i < bucket_size_; ++i) large->set(entry_index(bucket_[i * shape_.words()]));
    } else {
      large->set(entry_index(record[0]));
    }
  }

  // The pairs of the bucket, unless it is a large one.
  void end_bucket(RecentPairs& recent) {
    const size_t n = std::exchange(bucket_size_, 0);
    if (n == kDenseBucket) return;
    for (size_t i = 0; i < n; ++i) {
      const uint64_t* const a = bucket_ + i * shape_.words();
      const uint32_t x = entry_index(a[0]);
      if (engine_.two_sets && x >= engine_.count_a) return;
      for (size_t j = i + 1; j < n; ++j) {
        const uint64_t* const b = bucket_ + j * shape_.words();
        const uint32_t y = entry_index(b[0]);
        if (engine_.two_sets && y < engine_.count_a) continue;
        ++engine_.stats.looked;
        if (enough_equal(a + 1, b + 1) && !engine_.already_joined(x, y)) recent.meet(x, y);
      }
      ws_.poller.spend((n - i) * kLookUnits);
    }
  }

  // Bands behind the last one have equal marks.
  bool enough_equal(const uint64_t* a, const uint64_t* b) const {
    uint32_t equal = 0;
    for (size_t word = 0; word < shape_.mark_words; ++word) equal += equal_marks(a[word], b[word]);
    const auto spare = static_cast<uint32_t>(shape_.mark_words * kBandsPerWord) - engine_.banding.bands();
    return equal >= engine_.banding.least_hits() + spare;
  }

  // The next record of a run.
  struct Head {
    uint64_t order;  // its first word
    const uint64_t* record;
    size_t run;
    bool operator>(const Head& other) const noexcept { return order > other.order; }
  };

  static constexpr size_t kLeastRunRows = 16;
  static constexpr size_t kLeastPiece = 16;

  MinhashEngine& engine_;
  Workspace& ws_;
  const uint32_t stride_;
  const RunShape shape_;
  std::unique_ptr<TempFile> file_;
  uint64_t end_ = 0;  // of the file
  std::vector<Run> runs_;
  uint64_t
      bucket_[kDenseBucket * (1 + kMostMarkWords)];  // the records with the key at hand; of a large bucket the first
  size_t bucket_size_ = 0;
};

}  // namespace

// Chooses the bands by a sample of the rows.
bool MinhashEngine::choose_bands_by_sample() {
  const uint32_t n = distinct_rows();
  const size_t most =
      std::clamp<size_t>(memory_share(ws, kQuarter) / (4 * size_t{banding.stride()} + 4), 1, kSampleRows);
  const uint32_t step = static_cast<uint32_t>((n - 1) / most) + 1;
  Array<uint32_t> some(ws.ledger, (n - 1) / step + 1);
  uint32_t i = 0;
  uint32_t of_a = 0;
  for_each_distinct([&](uint32_t row) {
    if (i % step == 0) {
      some[i / step] = row;
      of_a += row < count_a;
    }
    ++i;
  });
  Array<uint32_t> keys(ws.ledger, some.size() * banding.stride());
  make_keys(some, &keys);
  double load[Banding::kMaxBands] = {};
  estimate_loads(keys, static_cast<uint32_t>(some.size()), of_a, load);
  for (uint32_t band = 0; band < banding.bands(); ++band) load[band] *= double{1} * step * step;
  return choose_bands(load);
}

void MinhashEngine::join_runs() {
  if (!choose_bands_by_sample()) {
    compare_all();
    return;
  }
  RowBits large;
  if (dense == nullptr) large = RowBits(ws.ledger, rows.size());
  {
    KeyRuns runs(*this);
    runs.write();
    runs.merge(dense == nullptr ? &large : dense);
  }
  if (dense == nullptr) join_large(large);
}

// The rows of large buckets, among themselves.
void MinhashEngine::join_large(const RowBits& large) {
  only = &large;
  uint32_t count = 0;
  for_each_searched([&](uint32_t) { ++count; });
  const size_t rows_inside = memory_share(ws, kHalf) / kEighth * 5 / (row_bytes + key_stage_bytes());
  if (!two_sets && count <= rows_inside) {
    join_inside(count);
  } else if (count != 0) {
    keys_fit(count) ? join_in_memory() : join_blocks();
  }
  only = nullptr;
}

// Searches them by an engine that has them in half of the memory, and so compares at once: of a family whose rows wait
// for their comparison all pairs would wait.
void MinhashEngine::join_inside(uint32_t count) {
  MinhashPairs inside(
      num_perm, banding.bits(), need,
      {.memory_limit = memory_share(ws, kHalf), .files = ws.files, .stop = ws.stop, .threads = threads});
  Array<uint32_t> outer_rows(ws.ledger, count);
  {
    RowReader reader(rows, memory_share(ws, kSixteenth), ws);
    uint32_t n = 0;
    for_each_searched([&](uint32_t row) {
      inside.add(reader.row(row));
      outer_rows[n++] = row;
      ws.poller.spend(row_bytes);
    });
  }
  if (components()) {
    UnionFind joined(count);
    inside.run_components(joined);
    for (uint32_t i = 0; i < count; ++i) {
      sets->unite(outer_rows[i], outer_rows[joined.find(i)]);
      ws.poller.spend(40);
    }
    stats.found += inside.stats().found;
  } else {
    inside.run();
    inside.for_each_next([&](const RowPair& p) { found_near(outer_rows[p.a], outer_rows[p.b], p.value); });
  }
  count_inside(inside.stats());
  settle_candidates(true);
}

// Adds what a search for this one has cost.
void MinhashEngine::count_inside(const SearchStats& own) {
  stats.looked += own.looked;
  stats.compared += own.compared;
  ws.spilled_bytes += own.spilled_bytes;
  ws.ledger.hold(own.peak_bytes);
  ws.ledger.release(own.peak_bytes);
}

}  // namespace neardup
