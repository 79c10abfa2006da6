// See similar_words.h.
//
// A block's words are columns, 8192 of them a lane: sums of a lane for a row stay in the first-level cache while inverted
// lists are added to them. Features that many words of the block have are kept dense instead, a value for every word:
// there, sums of 256 words stay in registers. Both add integers, so their order does not matter.
#include "core/word_model/similar_words.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/kernels/kernels.h"
#include "core/kernels/word_kernels.h"
#include "core/work/parallel.h"
#include "core/work/workspace.h"

namespace neardup {
namespace {

// Rows of a task, which share what is read of the block.
constexpr size_t kLeastStrip = 32;
constexpr size_t kMaxStrip = 256;
// Dense features of a panel: of a tile of words, half a second-level cache.
constexpr uint32_t kPanelFeatures = 1024;
constexpr uint32_t kFewestDenseWords = 64;
// Rows that are probed at once. The bounds of the words are those of before, so it begins with few.
constexpr uint32_t kFirstRows = 64;
constexpr uint32_t kMaxRows = 2048;
constexpr uint32_t kMaxRowsOffloaded = 8192;
// Of an inverted list; of a dense feature of a row and a word.
constexpr double kAdditionCost = 0.6;
constexpr double kDenseCost = 0.02;
// Bytes of an entry of a block, at the most while it is built, and what dense features may take beside.
constexpr uint64_t kEntryBytes = 11;
constexpr uint64_t kDenseBytes = 13;
// Words of a lane that are looked through at once for candidates.
constexpr uint32_t kPiece = 1024;
// Entries that are not worth a search for the first one that counts.
constexpr ptrdiff_t kShortList = 32;
// Bounds in single precision are lowered so that no rounding loses a pair.
constexpr float kLower = 1 - 1.0F / (1 << 19);
// Entries of a block, counted in 32 bits.
constexpr uint64_t kMaxEntries = uint64_t{1} << 31;

constexpr uint32_t kNone = UINT32_MAX;

// Rows one after the other.
class Rows {
 public:
  explicit Rows(Workspace& ws) : ws_(ws) { clear(); }

  uint32_t size() const noexcept { return size_; }
  uint64_t entries() const noexcept { return size_ == 0 ? 0 : begin_[size_]; }
  WordRow row(uint32_t i) const noexcept { return matrix(0).row(i); }
  WordMatrix matrix(uint32_t first) const noexcept {
    return {begin_.data(), features_.data(), values_.data(), size_, first};
  }

  void add(const WordRow& row) {
    const uint64_t n = entries();
    reserve(begin_, size_ + 1, size_t{size_} + 2);
    reserve(features_, n, n + row.size);
    reserve(values_, n, n + row.size);
    begin_[0] = 0;
    if (row.size > 0) {
      std::memcpy(features_.data() + n, row.features, row.size * sizeof(uint32_t));
      std::memcpy(values_.data() + n, row.values, row.size * sizeof(uint16_t));
    }
    begin_[++size_] = n + row.size;
  }
  void clear() noexcept { size_ = 0; }
  void release() noexcept {
    size_ = 0;
    begin_ = {};
    features_ = {};
    values_ = {};
  }

 private:
  template <class T>
  void reserve(Array<T>& a, size_t used, size_t n) {
    if (n <= a.size()) return;
    resize_polled(&a, std::max<size_t>({n, a.size() + a.size() / 2, 1024}), std::min(used, a.size()), ws_.ledger, ws_.poller);
  }

  Workspace& ws_;
  uint32_t size_ = 0;
  Array<uint64_t> begin_;
  Array<uint32_t> features_;
  Array<uint16_t> values_;
};

// The features that the words of a block have, numbered through.
class FeatureSet {
 public:
  FeatureSet(Ledger& ledger, uint32_t features)
      : words_(ledger, features / 64 + 1), before_(ledger, features / 64 + 1) {
    clear();
  }
  void clear() noexcept {
    std::memset(words_.data(), 0, words_.size() * sizeof(uint64_t));
    size_ = 0;
  }
  void add(uint32_t feature) noexcept {
    uint64_t& word = words_[feature / 64];
    const uint64_t bit = uint64_t{1} << feature % 64;
    size_ += (word & bit) == 0;
    word |= bit;
  }
  uint32_t size() const noexcept { return size_; }
  void number() noexcept {
    uint32_t n = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      before_[i] = n;
      n += static_cast<uint32_t>(std::popcount(words_[i]));
    }
  }
  // kNone: no word of the block has it.
  uint32_t at(uint32_t feature) const noexcept {
    const uint64_t word = words_[feature / 64];
    const uint64_t bit = uint64_t{1} << feature % 64;
    if ((word & bit) == 0) return kNone;
    return before_[feature / 64] + static_cast<uint32_t>(std::popcount(word & (bit - 1)));
  }

 private:
  Array<uint64_t> words_;
  Array<uint32_t> before_;
  uint32_t size_ = 0;
};

// What a thread works with: a strip of rows, and sums of a lane for each of them.
struct Worker {
  Array<uint32_t> sums;
  Array<WordProbe> lists;          // of each row: features that the block has in lists,
  Array<WordProbe> dense;          // and dense ones, in order
  Array<size_t> list_begin;        // by row, and one behind
  Array<size_t> dense_begin;       // by row and panel, and one behind
  Array<uint32_t> found;           // of a piece of a lane
  Array<float> heaps;              // the best k of each row, least first
  Array<uint32_t> held;            // how many that are
  uint64_t additions = 0;
};

}  // namespace

class SimilarWords::Engine {
 public:
  Engine(uint32_t words, const uint32_t* weights, const uint32_t* tie, uint32_t features, const SimilarOptions& options);

  void restore(uint32_t word, const SimilarWord* best, size_t n) {
    for (size_t i = 0; i < n; ++i) offer(word, best[i].word, best[i].similarity);
  }
  void begin_block(uint32_t first);
  bool load(const WordRow& row);
  void probe(const WordRow& row);
  void end_block();
  size_t best(uint32_t word, SimilarWord* out) const;
  const Stats& stats() noexcept {
    stats_.peak_bytes = ws_.ledger.peak();
    return stats_;
  }

 private:
  uint32_t lanes() const noexcept { return (block_.size() + kLaneWords - 1) / kLaneWords; }
  uint32_t lane_size(uint32_t lane) const noexcept {
    return std::min<uint32_t>(kLaneWords, width_ - lane * static_cast<uint32_t>(kLaneWords));
  }
  static size_t stride_of(uint32_t size) noexcept { return (size + kTileWords - 1) / kTileWords * kTileWords; }
  uint64_t block_limit() const noexcept { return ws_.limit == SIZE_MAX ? UINT64_MAX : ws_.limit - ws_.limit / 4; }
  uint64_t block_bytes(uint64_t entries, uint64_t rows, uint64_t features) const noexcept;
  uint32_t fewest_dense() const;
  void prepare();
  void build();
  void flush();
  void run();
  void work(Worker& w, size_t task, HitSink& sink);
  void translate(Worker& w, uint32_t first, uint32_t n);
  void add_dense(Worker& w, uint32_t n, uint32_t lane, uint32_t start, HitSink& sink);
  void add_lists(Worker& w, uint32_t n, uint32_t lane, uint32_t start, HitSink& sink);
  void select(Worker& w, uint32_t first, uint32_t n, uint32_t lane, HitSink& sink);
  void found(uint32_t i, uint32_t j, uint32_t sum) {
    const double similarity = static_cast<double>(sum) / static_cast<double>(uint64_t{weights_[i]} + weights_[j]);
    offer(i, j, similarity);
    offer(j, i, similarity);
  }
  void offer(uint32_t word, uint32_t other, double similarity);
  bool before(double a, uint32_t a_word, double b, uint32_t b_word) const noexcept {
    return a != b ? a > b : tie_[a_word] < tie_[b_word];
  }

  Workspace ws_;
  const uint32_t words_;
  const uint32_t k_;
  const uint32_t features_;
  const unsigned threads_;
  WordTiles* offload_;
  Stats stats_;

  Array<uint32_t> weights_;
  Array<float> float_weights_;
  Array<uint32_t> tie_;
  // The best k of each word as a heap, the last of them first; and what another must reach at least.
  Array<double> similarity_;
  Array<uint32_t> similar_;
  Array<uint32_t> held_;
  Array<float> least_;
  Array<float> bounds_;  // least_ as it was when the rows began to be probed

  uint32_t first_ = 0;     // of the block
  uint32_t width_ = 0;     // words of it
  bool loading_ = false;
  bool offloaded_ = false;     // the offload has the block
  Rows block_;
  FeatureSet set_;
  Array<uint32_t> counts_;       // of each feature of the set: words of the block
  Array<uint32_t> places_;       // of each: list << 1, or dense feature << 1 | 1
  uint32_t lists_ = 0;
  uint32_t dense_ = 0;
  uint32_t panels_ = 0;
  Array<uint32_t> offsets_;      // [lane][list], and one behind
  Array<uint32_t> entries_;
  Array<uint16_t> values_;       // [256 words][dense feature][word]

  uint32_t next_row_ = 0;        // that is to be probed
  uint32_t rows_at_once_ = kFirstRows;
  Rows probes_;
  uint32_t strip_ = 0;           // rows of a task
  std::vector<Worker> workers_;
};

SimilarWords::Engine::Engine(uint32_t words, const uint32_t* weights, const uint32_t* tie, uint32_t features,
                             const SimilarOptions& options)
    : ws_(options.memory_limit, nullptr, options.stop),
      words_(words),
      k_(options.k),
      features_(features),
      threads_(std::max(1u, options.threads)),
      offload_(options.offload),
      block_(ws_),
      set_(ws_.ledger, features),
      probes_(ws_) {
  if (k_ < 1 || k_ > kMaxSimilar)
    throw Error(Errc::invalid_argument, "k must be 1 to " + std::to_string(kMaxSimilar) + ": " + std::to_string(k_));
  if (words > kMaxWords || features > kMaxWordFeatures) throw Error(Errc::invalid_argument, "the model has too many words");
  Ledger& l = ws_.ledger;
  weights_ = {l, words};
  float_weights_ = {l, words};
  tie_ = {l, words};
  similarity_ = {l, size_t{words} * k_};
  similar_ = {l, size_t{words} * k_};
  held_ = {l, words};
  least_ = {l, words};
  bounds_ = {l, words};
  for (uint32_t i = 0; i < words; ++i) {
    if (weights[i] > kMaxFeatureWeight)
      throw Error(Errc::too_large, "the features of word number " + std::to_string(i) + " weigh too much");
    weights_[i] = weights[i];
    float_weights_[i] = static_cast<float>(weights[i]);
    tie_[i] = tie[i];
    held_[i] = 0;
    least_[i] = 0;
    ws_.poller.spend(10);
  }
  // What is kept of all words is taken off, as far as that leaves a quarter for blocks.
  if (options.memory_limit != SIZE_MAX)
    ws_.limit = std::max(options.memory_limit - std::min(options.memory_limit, l.peak()), options.memory_limit / kQuarter);
  workers_.resize(threads_);
}

void SimilarWords::Engine::offer(uint32_t word, uint32_t other, double similarity) {
  double* s = similarity_.data() + size_t{word} * k_;
  uint32_t* who = similar_.data() + size_t{word} * k_;
  uint32_t at;
  if (held_[word] < k_) {
    at = held_[word]++;
    while (at > 0) {
      const uint32_t up = (at - 1) / 2;
      if (!before(s[up], who[up], similarity, other)) break;
      s[at] = s[up];
      who[at] = who[up];
      at = up;
    }
  } else {
    if (!before(similarity, other, s[0], who[0])) return;
    at = 0;
    for (;;) {
      uint32_t down = 2 * at + 1;
      if (down >= k_) break;
      if (down + 1 < k_ && before(s[down], who[down], s[down + 1], who[down + 1])) ++down;
      if (!before(similarity, other, s[down], who[down])) break;
      s[at] = s[down];
      who[at] = who[down];
      at = down;
    }
  }
  s[at] = similarity;
  who[at] = other;
  if (held_[word] == k_) least_[word] = static_cast<float>(s[0]) * kLower;
}

size_t SimilarWords::Engine::best(uint32_t word, SimilarWord* out) const {
  const size_t n = held_[word];
  for (size_t i = 0; i < n; ++i) out[i] = {similar_[size_t{word} * k_ + i], similarity_[size_t{word} * k_ + i]};
  std::sort(out, out + n, [this](const SimilarWord& a, const SimilarWord& b) {
    return before(a.similarity, a.word, b.similarity, b.word);
  });
  return n;
}

// ---------------------------------------------------------------- the block

void SimilarWords::Engine::begin_block(uint32_t first) {
  first_ = first;
  width_ = 0;
  loading_ = true;
  offloaded_ = false;
  block_.clear();
  set_.clear();
  counts_ = {};
  places_ = {};
  offsets_ = {};
  entries_ = {};
  values_ = {};
  next_row_ = 0;
  rows_at_once_ = kFirstRows;
}

// At the most, while it is built.
uint64_t SimilarWords::Engine::block_bytes(uint64_t entries, uint64_t rows, uint64_t features) const noexcept {
  const uint64_t lanes = (rows + kLaneWords - 1) / kLaneWords;
  return entries * kEntryBytes + features * sizeof(uint32_t) * (lanes + 2) + rows * 16;
}

bool SimilarWords::Engine::load(const WordRow& row) {
  ws_.poller.spend(row.size * 2 + 50);
  // A quarter is for the rows that are probed and what threads work with.
  const uint64_t entries = block_.entries() + row.size;
  if (block_.size() > 0 &&
      (entries > kMaxEntries ||
       entries * kDenseBytes + block_bytes(entries, block_.size() + 1, set_.size() + row.size) > block_limit()))
    return false;
  for (size_t i = 0; i < row.size; ++i) set_.add(row.features[i]);
  block_.add(row);
  ++width_;
  return true;
}

// After the last row of the block was loaded.
void SimilarWords::Engine::prepare() {
  loading_ = false;
  ++stats_.blocks;
  set_.number();
  const uint32_t n = set_.size();
  counts_ = {ws_.ledger, n};
  zero_polled(&counts_, ws_.poller);
  for (uint32_t i = 0; i < block_.size(); ++i) {
    const WordRow row = block_.row(i);
    for (size_t f = 0; f < row.size; ++f) ++counts_[set_.at(row.features[f])];
    ws_.poller.spend(row.size * 3);
  }
  if (offload_ != nullptr) {
    // As if the rows before the block were like its own; each meets all of the block, those of the block one half of it.
    double cost = 0;
    const double words = width_;
    for (uint32_t i = 0; i < n; ++i) {
      const double c = counts_[i];
      cost += c * std::min(c * kAdditionCost, words * kDenseCost);
    }
    cost *= (first_ + words / 2) / std::max(1.0, words);
    offloaded_ = offload_->begin(block_.matrix(first_), weights_.data(), words_, features_, k_, cost, ws_);
    stats_.offloaded |= offloaded_;
  }
  if (!offloaded_) build();
}

// How many words of the block have a feature that is to be dense: as few as pay, and memory allows.
uint32_t SimilarWords::Engine::fewest_dense() const {
  if (width_ < kFewestDenseWords) return UINT32_MAX;
  const auto fewest = static_cast<uint32_t>(std::ceil(kernels().words->dense_share * width_));
  if (ws_.limit == SIZE_MAX) return fewest;
  std::vector<uint32_t> many;
  for (size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] >= fewest) many.push_back(counts_[i]);
  const uint64_t used = block_bytes(block_.entries(), width_, set_.size());
  const uint64_t room = (block_limit() - std::min(used, block_limit())) / (stride_of(width_) * sizeof(uint16_t));
  if (many.size() <= room) return fewest;
  std::nth_element(many.begin(), many.begin() + static_cast<ptrdiff_t>(room), many.end(), std::greater<>());
  return many[room] + 1;
}

void SimilarWords::Engine::build() {
  Ledger& l = ws_.ledger;
  const uint32_t n = set_.size();
  const uint32_t fewest = fewest_dense();
  places_ = {l, n};
  lists_ = dense_ = 0;
  for (uint32_t i = 0; i < n; ++i) {
    places_[i] = counts_[i] >= fewest ? dense_++ << 1 | 1 : lists_++ << 1;
    ws_.poller.spend(3);
  }
  stats_.dense += dense_;
  panels_ = (dense_ + kPanelFeatures - 1) / kPanelFeatures;
  // Offsets of lists: first their sizes, each two further on, so that each offset, one further on, moves to its list's end.
  const size_t slots = size_t{lanes()} * lists_ + 1;
  offsets_ = {l, slots + 1};
  zero_polled(&offsets_, ws_.poller);
  for (uint32_t i = 0; i < width_; ++i) {
    const WordRow row = block_.row(i);
    uint32_t* sizes = offsets_.data() + size_t{i / static_cast<uint32_t>(kLaneWords)} * lists_ + 2;
    for (size_t f = 0; f < row.size; ++f) {
      const uint32_t place = places_[set_.at(row.features[f])];
      if ((place & 1) == 0) ++sizes[place >> 1];
    }
    ws_.poller.spend(row.size * 3);
  }
  for (size_t i = 1; i <= slots; ++i) {
    offsets_[i] += offsets_[i - 1];
    ws_.poller.spend(1);
  }
  entries_ = {l, offsets_[slots]};
  values_ = {l, stride_of(width_) * dense_};
  zero_polled(&values_, ws_.poller);
  // Words come in order, so lists are filled in order.
  for (uint32_t i = 0; i < width_; ++i) {
    const WordRow row = block_.row(i);
    uint32_t* next = offsets_.data() + size_t{i / static_cast<uint32_t>(kLaneWords)} * lists_ + 1;
    const uint32_t in_lane = i % static_cast<uint32_t>(kLaneWords);
    uint16_t* tile = values_.data() + i / kTileWords * dense_ * kTileWords + i % kTileWords;
    for (size_t f = 0; f < row.size; ++f) {
      const uint32_t place = places_[set_.at(row.features[f])];
      if ((place & 1) == 0) {
        entries_[next[place >> 1]++] = in_lane << 16 | row.values[f];
      } else {
        tile[(place >> 1) * kTileWords] = row.values[f];
      }
    }
    ws_.poller.spend(row.size * 5);
  }
  block_.release();
  counts_ = {};
}

// ---------------------------------------------------------------- rows that are probed

void SimilarWords::Engine::probe(const WordRow& row) {
  if (loading_) prepare();
  probes_.add(row);
  ws_.poller.spend(row.size / 2 + 20);
  const uint64_t most_entries = ws_.limit == SIZE_MAX ? kMaxEntries : ws_.limit / kEighth / 14;
  if (probes_.size() >= rows_at_once_ || probes_.entries() >= most_entries) flush();
}

void SimilarWords::Engine::end_block() {
  if (loading_) prepare();
  flush();
  block_.clear();
}

void SimilarWords::Engine::flush() {
  const uint32_t n = probes_.size();
  if (n == 0) return;
  std::memcpy(bounds_.data(), least_.data(), words_ * sizeof(float));
  if (offloaded_) {
    std::vector<Hit> hits;
    offloaded_ = offload_->probe(probes_.matrix(next_row_), bounds_.data(), ws_,
                               [&](uint32_t i, uint32_t j, uint32_t sum) { hits.push_back({i, j, sum}); });
    if (offloaded_) {
      for (const Hit& h : hits) {
        found(h.x, h.y, h.value);
        ws_.poller.spend(40);
      }
    } else {
      build();
    }
  }
  if (!offloaded_) run();
  const uint64_t end = uint64_t{first_} + width_;
  for (uint32_t i = next_row_; i < next_row_ + n && i + 1 < end; ++i) stats_.pairs += end - std::max(first_, i + 1);
  next_row_ += n;
  rows_at_once_ = std::min(offloaded_ ? kMaxRowsOffloaded : kMaxRows, rows_at_once_ * 2);
  probes_.clear();
  ws_.poller.steps(stats_.pairs, uint64_t{words_} * (words_ - 1) / 2);
}

void SimilarWords::Engine::run() {
  if (width_ == 0) return;
  const uint32_t n = probes_.size();
  const size_t stride = stride_of(lane_size(0));
  size_t strip = std::clamp<size_t>((n + threads_ - 1) / threads_, kLeastStrip, kMaxStrip);
  while (ws_.limit != SIZE_MAX && strip > kLeastStrip && threads_ * strip * stride * sizeof(uint32_t) > ws_.limit / kEighth)
    strip /= 2;
  strip_ = static_cast<uint32_t>(strip);
  const size_t strips = (n + strip - 1) / strip;
  const WordMatrix rows = probes_.matrix(0);
  size_t most = 0;
  for (size_t s = 0; s < strips; ++s)
    most = std::max<size_t>(most, rows.begin[std::min<size_t>(n, (s + 1) * strip)] - rows.begin[s * strip]);
  for (size_t i = 0; i < std::min<size_t>(threads_, strips); ++i) {
    Worker& w = workers_[i];
    const auto room = [&](auto& array, size_t size) {
      if (array.size() >= size) return;
      array = {};
      array = {ws_.ledger, size};
    };
    room(w.sums, strip * stride);
    room(w.lists, most);
    room(w.dense, most);
    room(w.list_begin, strip + 1);
    room(w.dense_begin, strip * panels_ + 1);
    room(w.found, kPiece + 16);
    room(w.heaps, strip * k_);
    room(w.held, strip);
  }
  run_tasks(
      threads_, strips, ws_.poller, [this](unsigned worker, size_t task, HitSink& sink) { work(workers_[worker], task, sink); },
      [this](const Hit* hits, size_t count) {
        for (size_t i = 0; i < count; ++i) found(hits[i].x, hits[i].y, hits[i].value);
        ws_.poller.spend(count * 40);
      });
  for (Worker& w : workers_) {
    stats_.additions += w.additions;
    w.additions = 0;
  }
}

void SimilarWords::Engine::work(Worker& w, size_t task, HitSink& sink) {
  const auto first = static_cast<uint32_t>(task * strip_);
  const uint32_t n = std::min(strip_, probes_.size() - first);
  translate(w, first, n);
  sink.spend((w.list_begin[n] + w.dense_begin[size_t{n} * panels_]) * 3);
  std::memset(w.held.data(), 0, n * sizeof(uint32_t));
  const uint64_t least_word = uint64_t{next_row_} + first + 1;  // behind the first row
  for (uint32_t lane = 0; lane * kLaneWords < width_; ++lane) {
    const uint64_t lane_first = first_ + uint64_t{lane} * kLaneWords;
    const uint32_t size = lane_size(lane);
    if (lane_first + size <= least_word) continue;
    const auto start = static_cast<uint32_t>(least_word > lane_first ? least_word - lane_first : 0);
    std::memset(w.sums.data(), 0, n * stride_of(size) * sizeof(uint32_t));
    add_dense(w, n, lane, start, sink);
    add_lists(w, n, lane, start, sink);
    select(w, first, n, lane, sink);
  }
}

// The rows' features by the block's lists and dense features.
void SimilarWords::Engine::translate(Worker& w, uint32_t first, uint32_t n) {
  const WordMatrix rows = probes_.matrix(0);
  size_t list = 0;
  size_t dense = 0;
  size_t slot = 0;
  for (uint32_t r = 0; r < n; ++r) {
    w.list_begin[r] = list;
    const WordRow row = rows.row(first + r);
    const size_t end = slot + panels_;
    for (size_t f = 0; f < row.size; ++f) {
      const uint32_t number = set_.at(row.features[f]);
      if (number == kNone) continue;
      const uint32_t place = places_[number] >> 1;
      if ((places_[number] & 1) == 0) {
        w.lists[list++] = {place, row.values[f]};
        continue;
      }
      while (slot < end - panels_ + place / kPanelFeatures + 1) w.dense_begin[slot++] = dense;
      w.dense[dense++] = {place, row.values[f]};
    }
    while (slot < end) w.dense_begin[slot++] = dense;
  }
  w.list_begin[n] = list;
  w.dense_begin[slot] = dense;
}

void SimilarWords::Engine::add_dense(Worker& w, uint32_t n, uint32_t lane, uint32_t start, HitSink& sink) {
  const WordKernels& kernel = *kernels().words;
  const uint32_t size = lane_size(lane);
  const size_t stride = stride_of(size);
  for (size_t word = start / kTileWords * kTileWords; word < size && panels_ > 0; word += kTileWords) {
    const uint16_t* tile = values_.data() + (lane * kLaneWords + word) * dense_;
    for (size_t p = 0; p < panels_; ++p) {
      for (size_t r = 0; r < n; ++r) {
        const size_t* begin = w.dense_begin.data() + r * panels_ + p;
        kernel.add_dense(w.dense.data() + begin[0], begin[1] - begin[0], tile, w.sums.data() + r * stride + word);
        sink.spend((begin[1] - begin[0]) * 5 + 10);
      }
    }
  }
}

void SimilarWords::Engine::add_lists(Worker& w, uint32_t n, uint32_t lane, uint32_t start, HitSink& sink) {
  const WordKernels& kernel = *kernels().words;
  const size_t stride = stride_of(lane_size(lane));
  const uint32_t* offsets = offsets_.data() + size_t{lane} * lists_;
  for (uint32_t r = 0; r < n; ++r) {
    uint32_t* sums = w.sums.data() + r * stride;
    const uint32_t behind = start == 0 ? 0 : start + r;  // the row is one of the lane's words
    uint64_t added = 0;
    for (size_t p = w.list_begin[r]; p < w.list_begin[r + 1]; ++p) {
      const uint32_t* begin = entries_.data() + offsets[w.lists[p].at];
      const uint32_t* const end = entries_.data() + offsets[w.lists[p].at + 1];
      if (behind > 0 && end - begin > kShortList) begin = std::lower_bound(begin, end, behind << 16);
      const auto size = static_cast<size_t>(end - begin);
      kernel.add_list(begin, size, w.lists[p].value, sums);
      added += size;
      sink.spend(size / 2 + 5);
    }
    w.additions += added;
  }
}

// Hands over the pairs that may be among the best of either word.
void SimilarWords::Engine::select(Worker& w, uint32_t first, uint32_t n, uint32_t lane, HitSink& sink) {
  const WordKernels& kernel = *kernels().words;
  const uint32_t size = lane_size(lane);
  const size_t stride = stride_of(size);
  const uint64_t lane_first = first_ + uint64_t{lane} * kLaneWords;
  for (uint32_t r = 0; r < n; ++r) {
    const uint32_t i = next_row_ + first + r;
    const float weight = float_weights_[i];
    const uint32_t* sums = w.sums.data() + r * stride;
    float* heap = w.heaps.data() + size_t{r} * k_;
    const auto worse = [](float a, float b) { return a > b; };
    float own = w.held[r] < k_ ? bounds_[i] : std::max(bounds_[i], heap[0] * kLower);
    for (auto at = static_cast<uint32_t>(i + 1 > lane_first ? i + 1 - lane_first : 0); at < size; at += kPiece) {
      const size_t count = kernel.candidates(sums + at, float_weights_.data() + lane_first + at, bounds_.data() + lane_first + at,
                                             std::min(kPiece, size - at), weight, own, w.found.data());
      for (size_t c = 0; c < count; ++c) {
        const uint32_t in_lane = at + w.found[c];
        const auto j = static_cast<uint32_t>(lane_first + in_lane);
        const float both = weight + float_weights_[j];
        const auto sum = static_cast<float>(sums[in_lane]);
        const bool for_i = sum >= both * own;
        if (!for_i && sum < both * bounds_[j]) continue;
        sink.add(i, j, sums[in_lane]);
        if (!for_i) continue;
        const float similarity = sum / both;
        if (w.held[r] < k_) {
          heap[w.held[r]++] = similarity;
          std::push_heap(heap, heap + w.held[r], worse);
        } else if (similarity > heap[0]) {
          std::pop_heap(heap, heap + k_, worse);
          heap[k_ - 1] = similarity;
          std::push_heap(heap, heap + k_, worse);
        }
        if (w.held[r] == k_) own = std::max(bounds_[i], heap[0] * kLower);
      }
      sink.spend(kPiece / 8 + count * 10);
    }
  }
}

// ---------------------------------------------------------------- the interface

SimilarWords::SimilarWords(uint32_t words, const uint32_t* weights, const uint32_t* tie, uint32_t features,
                           const SimilarOptions& options)
    : engine_(std::make_unique<Engine>(words, weights, tie, features, options)) {}
SimilarWords::~SimilarWords() = default;
void SimilarWords::restore(uint32_t word, const SimilarWord* best, size_t n) { engine_->restore(word, best, n); }
void SimilarWords::begin_block(uint32_t first) { engine_->begin_block(first); }
bool SimilarWords::load(const WordRow& row) { return engine_->load(row); }
void SimilarWords::probe(const WordRow& row) { engine_->probe(row); }
void SimilarWords::end_block() { engine_->end_block(); }
size_t SimilarWords::best(uint32_t word, SimilarWord* out) const { return engine_->best(word, out); }
const SimilarWords::Stats& SimilarWords::stats() const noexcept { return engine_->stats(); }

}  // namespace neardup
