// Rows of words against a block of SimilarWords, by several threads: sums of what they share, and which may matter.
#include <algorithm>
#include <cstring>

#include "core/kernels/kernels.h"
#include "core/word_model/similar_words.h"

namespace neardup {
namespace {

// Rows of a task, which share what is read of the block.
constexpr size_t kLeastStripRows = 32;
constexpr size_t kMostStripRows = 256;
// Words of a lane that are looked through at once for candidates.
constexpr uint32_t kCandidateWords = 1024;
// Entries that are not worth a search for the first one that counts.
constexpr ptrdiff_t kUnsearchedEntries = 32;

}  // namespace

void SimilarWords::run() {
  if (width_ == 0) return;
  const uint32_t n = probes_.size();
  const size_t stride = lane_stride(lane_size(0));
  size_t strip = std::clamp<size_t>((n + threads_ - 1) / threads_, kLeastStripRows, kMostStripRows);
  while (ws_.limit != SIZE_MAX && strip > kLeastStripRows &&
         threads_ * strip * stride * sizeof(uint32_t) > ws_.limit / kEighth)
    strip /= 2;
  strip_ = static_cast<uint32_t>(strip);
  const size_t strips = (n + strip - 1) / strip;
  const WordMatrix rows = probes_.matrix(0);
  size_t most = 0;
  for (size_t s = 0; s < strips; ++s)
    most = std::max<size_t>(most, rows.begin[std::min<size_t>(n, (s + 1) * strip)] - rows.begin[s * strip]);
  for (size_t i = 0; i < std::min<size_t>(threads_, strips); ++i) {
    SimilarWordsWorker& w = workers_[i];
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
    room(w.found, kCandidateWords + 16);
    room(w.heaps, strip * k_);
    room(w.held, strip);
  }
  run_tasks(
      threads_, strips, ws_.poller,
      [this](unsigned worker, size_t task, HitSink& sink) { work(workers_[worker], task, sink); },
      [this](const Hit* hits, size_t count) {
        for (size_t i = 0; i < count; ++i) found(hits[i].x, hits[i].y, hits[i].value);
        ws_.poller.spend(count * 40);
      });
  for (SimilarWordsWorker& w : workers_) {
    stats_.additions += w.additions;
    w.additions = 0;
  }
}

void SimilarWords::work(SimilarWordsWorker& w, size_t task, HitSink& sink) {
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
    std::memset(w.sums.data(), 0, n * lane_stride(size) * sizeof(uint32_t));
    add_dense(w, n, lane, start, sink);
    add_lists(w, n, lane, start, sink);
    select(w, first, n, lane, sink);
  }
}

// The rows' features by the block's lists and dense features.
void SimilarWords::translate(SimilarWordsWorker& w, uint32_t first, uint32_t n) {
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
      if (number == kNoFeature) continue;
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

void SimilarWords::add_dense(SimilarWordsWorker& w, uint32_t n, uint32_t lane, uint32_t start, HitSink& sink) {
  const WordKernels& kernel = *kernels().words;
  const uint32_t size = lane_size(lane);
  const size_t stride = lane_stride(size);
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

void SimilarWords::add_lists(SimilarWordsWorker& w, uint32_t n, uint32_t lane, uint32_t start, HitSink& sink) {
  const WordKernels& kernel = *kernels().words;
  const size_t stride = lane_stride(lane_size(lane));
  const uint32_t* offsets = offsets_.data() + size_t{lane} * lists_;
  for (uint32_t r = 0; r < n; ++r) {
    uint32_t* sums = w.sums.data() + r * stride;
    const uint32_t behind = start == 0 ? 0 : start + r;  // the row is one of the lane's words
    uint64_t added = 0;
    for (size_t p = w.list_begin[r]; p < w.list_begin[r + 1]; ++p) {
      const uint32_t* begin = entries_.data() + offsets[w.lists[p].at];
      const uint32_t* const end = entries_.data() + offsets[w.lists[p].at + 1];
      if (behind > 0 && end - begin > kUnsearchedEntries) begin = std::lower_bound(begin, end, behind << 16);
      const auto size = static_cast<size_t>(end - begin);
      kernel.add_list(begin, size, w.lists[p].value, sums);
      added += size;
      sink.spend(size / 2 + 5);
    }
    w.additions += added;
  }
}

// Hands over the pairs that may be among the best of either word.
void SimilarWords::select(SimilarWordsWorker& w, uint32_t first, uint32_t n, uint32_t lane, HitSink& sink) {
  const WordKernels& kernel = *kernels().words;
  const uint32_t size = lane_size(lane);
  const size_t stride = lane_stride(size);
  const uint64_t lane_first = first_ + uint64_t{lane} * kLaneWords;
  for (uint32_t r = 0; r < n; ++r) {
    const uint32_t i = next_row_ + first + r;
    const float weight = float_weights_[i];
    const uint32_t* sums = w.sums.data() + r * stride;
    float* heap = w.heaps.data() + size_t{r} * k_;
    const auto worse = [](float a, float b) { return a > b; };
    float own = w.held[r] < k_ ? bounds_[i] : std::max(bounds_[i], heap[0] * kLoweredBound);
    for (auto at = static_cast<uint32_t>(i + 1 > lane_first ? i + 1 - lane_first : 0); at < size;
         at += kCandidateWords) {
      const size_t count =
          kernel.candidates(sums + at, float_weights_.data() + lane_first + at, bounds_.data() + lane_first + at,
                            std::min(kCandidateWords, size - at), weight, own, w.found.data());
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
        if (w.held[r] == k_) own = std::max(bounds_[i], heap[0] * kLoweredBound);
      }
      sink.spend(kCandidateWords / 8 + count * 10);
    }
  }
}

}  // namespace neardup
