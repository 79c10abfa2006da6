// See word_pairs.h.
#include "core/word_model/word_pairs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

namespace neardup {
namespace {

constexpr size_t kLeastChunkPlaces = 1024;
constexpr size_t kMaxChunkPlaces = size_t{1} << 31;
constexpr size_t kPlacesAhead = 8;      // places whose neighbours are fetched in advance
constexpr size_t kPolledPlaces = 4096;  // places between polls

}  // namespace

// ---- counters ----

template <class Count>
FeatureCounts<Count>::FeatureCounts(size_t features, Workspace& ws)
    : counts_(ws.ledger, features), bits_(ws.ledger, features / 64 + 1), top_(ws.ledger, features / 4096 + 1) {
  zero_polled(&counts_, ws.poller);
  zero_polled(&bits_, ws.poller);
  zero_polled(&top_, ws.poller);
}

template <class Count>
template <class F>
void FeatureCounts<Count>::drain(Poller& poller, F f) {
  for (size_t t = 0; t < top_.size(); ++t) {
    if (top_[t] == 0) continue;
    poller.spend(600 * static_cast<size_t>(std::popcount(top_[t])));
    for (uint64_t groups = std::exchange(top_[t], 0); groups != 0; groups &= groups - 1) {
      const size_t g = t * 64 + static_cast<size_t>(std::countr_zero(groups));
      for (uint64_t set = std::exchange(bits_[g], 0); set != 0; set &= set - 1) {
        const size_t feature = g * 64 + static_cast<size_t>(std::countr_zero(set));
        f(feature, std::exchange(counts_[feature], 0));
      }
    }
  }
}

// ---- from places to chunks ----

// A reader of a run: rows of (word less the one before, then (feature less the one before, count) .., 0); distances
// count from -1, so that none is 0.
struct WordPairs::Source {
  ByteRunReader reader;
  uint64_t word;  // of the row that comes, or UINT64_MAX
};

WordPairs::WordPairs(const WordPairOptions& options, uint64_t most_places, size_t held, Workspace& ws)
    : ws_(ws),
      words_(options.words),
      contexts_(std::min(options.contexts, options.words)),
      window_(static_cast<uint32_t>(options.window)),
      by_position_(options.by_position),
      discount_(options.discount),
      wide_(options.wide),
      relations_(options.by_position ? 2 * window_ : 1) {
  // Words that are no features are counted in the relations behind the last one, and forgotten.
  const size_t counters = (size_t{contexts_} + 1) * relations_;
  if (wide_) {
    wide_counts_ = FeatureCounts<uint64_t>(counters, ws);
  } else {
    narrow_counts_ = FeatureCounts<uint32_t>(counters, ws);
  }
  margins_ = Array<uint64_t>(ws.ledger, size_t{words_} * relations_);
  zero_polled(&margins_, ws.poller);
  ends_ = Array<uint32_t>(ws.ledger, size_t{words_} + 1);
  const size_t fixed = held + margins_.size() * sizeof(uint64_t) + ends_.size() * sizeof(uint32_t) +
                       (wide_ ? FeatureCounts<uint64_t>::bytes(counters) : FeatureCounts<uint32_t>::bytes(counters));
  budget_ = ws.limit == SIZE_MAX ? SIZE_MAX : std::max(ws.limit - std::min(ws.limit, fixed), ws.limit / 8);
  const size_t fitting = std::max(budget_ / (2 * sizeof(uint32_t)), kLeastChunkPlaces);
  if (ws.files == nullptr && most_places > kMaxChunkPlaces)
    throw Error(Errc::too_large,
                "more than 2147483648 places of words to count in memory: " + std::to_string(most_places));
  ids_ =
      Array<uint32_t>(ws.ledger, static_cast<size_t>(std::min<uint64_t>({most_places + 1, fitting, kMaxChunkPlaces})));
  for (gap_ = 0; gap_ < window_; ++gap_) ids_[n_++] = words_;
}

WordPairs::~WordPairs() = default;

uint64_t WordPairs::pairs() const noexcept {
  uint64_t sum = 0;
  for (const uint64_t t : totals_) sum += t;
  return sum / 2;
}

void WordPairs::add(const uint32_t* places, size_t n, const uint32_t* map) {
  const uint32_t none = words_;
  const uint32_t window = window_;
  for (size_t i = 0; i < n;) {
    if (ids_.size() - n_ < 2 * window + 1) begin_chunk();
    // As many as surely fit, with a window behind them.
    const size_t room = (ids_.size() - n_ - window) / (window + 1);
    const size_t end = std::min({n, i + room, i + kPolledPlaces});
    ws_.poller.spend(20 * (end - i));
    uint32_t* to = ids_.data() + n_;
    uint32_t gap = gap_;
    for (; i < end; ++i) {
      const uint32_t place = places[i];
      if (place >= kBeginsWindow)
        for (; gap < window; ++gap) *to++ = none;
      const uint32_t number = place & ~kBeginsWindow;
      const uint32_t id = number == kNoWord ? none : map[number];
      // Written in any case, kept where it is a word or the gap is not yet as wide as the window.
      *to = id;
      to += id != none || gap < window;
      gap = id != none ? 0 : gap + 1;
    }
    n_ = static_cast<size_t>(to - ids_.data());
    gap_ = std::min(gap, window);
  }
}

// The window's places before the end are the last one's neighbours, and belong to the next chunk with theirs.
void WordPairs::begin_chunk() {
  write_chunk(n_ - window_);
  const size_t kept = 2 * size_t{window_};
  std::copy(ids_.data() + n_ - kept, ids_.data() + n_, ids_.data());
  n_ = kept;
}

void WordPairs::finish() {
  for (uint32_t i = 0; i < window_; ++i) ids_[n_++] = words_;
  if (runs_.empty()) {
    sort_chunk(n_ - window_);
  } else {
    write_chunk(n_ - window_);
    ids_ = Array<uint32_t>();
    reduce_runs();
    sources_ = open_runs(0, runs_.size(), budget_);
  }
  finished_ = true;
  prepare_information();
}

void WordPairs::count_margins(size_t owned_end) {
  const uint32_t none = words_;
  for (size_t from = window_; from < owned_end; from += kPolledPlaces) {
    const size_t to = std::min(owned_end, from + kPolledPlaces);
    for (size_t k = from; k < to; ++k) {
      const uint32_t id = ids_[k];
      ++ends_[id];
      if (id == none) continue;
      uint64_t* const margin = margins_.data() + size_t{id} * relations_;
      const uint32_t* const before = ids_.data() + k - window_;
      const uint32_t* const behind = ids_.data() + k + 1;
      if (by_position_) {
        for (uint32_t i = 0; i < window_; ++i) margin[i] += before[i] != none;
        for (uint32_t i = 0; i < window_; ++i) margin[window_ + i] += behind[i] != none;
      } else {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < window_; ++i) sum += (before[i] != none) + (behind[i] != none);
        *margin += sum;
      }
    }
    ws_.poller.spend((to - from) * (20 + 2 * window_));
  }
}

// The places of each word, from the chunk's.
void WordPairs::sort_chunk(size_t owned_end) {
  zero_polled(&ends_, ws_.poller);
  count_margins(owned_end);
  uint32_t sum = 0;
  for (uint32_t w = 0; w < words_; ++w) sum += std::exchange(ends_[w], sum);
  ws_.poller.spend(words_);
  if (places_.size() < sum) {
    places_ = Array<uint32_t>();
    places_ = Array<uint32_t>(ws_.ledger, sum);
  }
  for (size_t from = window_; from < owned_end; from += kPolledPlaces) {
    const size_t to = std::min(owned_end, from + kPolledPlaces);
    for (size_t k = from; k < to; ++k)
      if (ids_[k] != words_) places_[ends_[ids_[k]]++] = static_cast<uint32_t>(k);
    ws_.poller.spend(50 * (to - from));  // memory that is touched for the first time
  }
}

// Counts the neighbours of a word in the chunk; returns how many there were, features or not.
template <class Count>
uint64_t WordPairs::gather(uint32_t word, FeatureCounts<Count>* counts) {
  const size_t begin = word == 0 ? 0 : ends_[word - 1];
  const size_t end = ends_[word];
  const uint32_t window = window_;
  const uint32_t contexts = contexts_;
  const uint32_t relations = relations_;
  const size_t last = size_t{ends_[words_ - 1]} - 1;
  const uint32_t* const ids = ids_.data();
  FeatureCounts<Count> local = std::move(*counts);  // its pointers in registers
  for (size_t from = begin; from < end; from += kPolledPlaces) {
    const size_t to = std::min(end, from + kPolledPlaces);
    for (size_t j = from; j < to; ++j) {
      // Places of the next words are fetched, too: most have few.
      const uint32_t* const later = ids + places_[std::min(j + kPlacesAhead, last)];
      __builtin_prefetch(later - window);
      __builtin_prefetch(later + window);
      const uint32_t* const at = ids + places_[j];
      const uint32_t* const before = at - window;
      if (by_position_) {
        for (uint32_t i = 0; i < window; ++i) local.add(size_t{std::min(before[i], contexts)} * relations + i, 1);
        for (uint32_t i = 0; i < window; ++i)
          local.add(size_t{std::min(at[i + 1], contexts)} * relations + window + i, 1);
      } else {
        for (uint32_t i = 0; i < window; ++i) local.add(std::min(before[i], contexts), 1);
        for (uint32_t i = 0; i < window; ++i) local.add(std::min(at[i + 1], contexts), 1);
      }
    }
    ws_.poller.spend((to - from) * (10 + 16 * window));
  }
  ws_.poller.spend(20 + top_cost());
  *counts = std::move(local);
  return static_cast<uint64_t>(end - begin) * 2 * window;
}

// ---- runs ----

size_t WordPairs::run_buffer() const noexcept { return std::clamp(ws_.limit / 16, kLeastRunBuffer, kMaxRunBuffer); }

namespace {

// The row of a word, if it has any feature.
template <class Count>
void put_row(uint32_t word, uint32_t features, uint64_t* next_word, FeatureCounts<Count>* counts, Poller& poller,
             RunWriter* out) {
  uint64_t next = 0;
  bool any = false;
  counts->drain(poller, [&](size_t feature, Count count) {
    if (feature >= features) return;
    if (!any) {
      out->put(word - *next_word + 1);
      *next_word = uint64_t{word} + 1;
      any = true;
    }
    out->put(feature - next + 1);
    out->put(count);
    next = feature + 1;
  });
  if (any) out->put(0);
}

}  // namespace

// count(word, counts): counts the neighbours of a word, and returns 0 only if it has none.
template <class Counter>
void WordPairs::write_rows(RunWriter* out, Counter count) {
  with_counts([&](auto* counts) {
    uint64_t next_word = 0;
    for (uint32_t w = 0; w < words_; ++w)
      if (count(w, counts) != 0) put_row(w, features(), &next_word, counts, ws_.poller, out);
  });
}

void WordPairs::write_chunk(size_t owned_end) {
  if (ws_.files == nullptr) throw Error(Errc::too_large, "more places of words than expected");
  sort_chunk(owned_end);
  if (file_ == nullptr) file_ = ws_.files->create();
  RunWriter out(*file_, runs_.empty() ? 0 : runs_.back().end, run_buffer(), ws_);
  write_rows(&out, [this](uint32_t word, auto* counts) { return gather(word, counts); });
  runs_.push_back(out.finish());
  places_ = Array<uint32_t>();
}

std::vector<WordPairs::Source> WordPairs::open_runs(size_t first, size_t n, size_t budget) {
  std::vector<Source> out;
  out.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    out.push_back(
        {ByteRunReader(*file_, runs_[first + i], std::clamp(budget / n, kLeastRunBuffer, kMaxRunBuffer), ws_), 0});
    Source& s = out.back();
    s.word = s.reader.at_end() ? UINT64_MAX : s.reader.read() - 1;
  }
  return out;
}

// Adds the rows of a word in all runs; returns how many features there were, at least.
template <class Count>
uint64_t WordPairs::add_runs(uint32_t word, std::vector<Source>* sources, FeatureCounts<Count>* counts) {
  uint64_t n = 0;
  for (Source& s : *sources) {
    if (s.word != word) continue;
    uint64_t next = 0;
    for (uint64_t distance; (distance = s.reader.read()) != 0; ++n) {
      next += distance;
      if (next > features()) throw Error(Errc::corrupt_data, "a temporary file is damaged");
      counts->add(static_cast<size_t>(next - 1), static_cast<Count>(s.reader.read()));
    }
    s.word = s.reader.at_end() ? UINT64_MAX : s.word + s.reader.read();
  }
  ws_.poller.spend(20 + top_cost() + 2 * sources->size());
  return n;
}

// Merges until all runs can be read at once.
void WordPairs::reduce_runs() {
  const size_t fan_in = std::clamp<size_t>(budget_ / kLeastRunBuffer, 4, kMaxOpenRuns);
  while (runs_.size() > fan_in) {
    std::unique_ptr<TempFile> target = ws_.files->create();
    std::vector<ByteRun> merged;
    for (size_t first = 0; first < runs_.size(); first += fan_in) {
      std::vector<Source> sources = open_runs(first, std::min(fan_in, runs_.size() - first), budget_);
      RunWriter out(*target, merged.empty() ? 0 : merged.back().end, run_buffer(), ws_);
      write_rows(&out, [&](uint32_t word, auto* counts) { return add_runs(word, &sources, counts); });
      merged.push_back(out.finish());
    }
    file_ = std::move(target);
    runs_ = std::move(merged);
  }
}

// ---- rows ----

double WordPairs::count_log(uint64_t count) const noexcept {
  return count < kLogs ? logs_[count] : std::log(static_cast<double>(count));
}

void WordPairs::prepare_information() {
  logs_.resize(kLogs);
  for (size_t i = 0; i < kLogs; ++i) logs_[i] = std::log(static_cast<double>(i));
  pair_logs_.resize(kLogs);
  for (size_t i = 1; i < kLogs; ++i) pair_logs_[i] = discounted_log(i, discount_);
  for (uint32_t w = 0; w < words_; ++w) {
    for (uint32_t i = 0; i < relations_; ++i) totals_[i] += margins_[size_t{w} * relations_ + i];
    if ((w & 1023) == 0) ws_.poller.spend(1024 * relations_);
  }
  if (ws_.limit != SIZE_MAX && features() * sizeof(double) > ws_.limit / kEighth) return;
  context_logs_ = Array<double>(ws_.ledger, features());
  for (uint32_t c = 0; c < contexts_; ++c) {
    const size_t first = size_t{c} * relations_;
    for (uint32_t i = 0; i < relations_; ++i)
      context_logs_[first + i] = count_log(margins_[first + relations_ - 1 - i]);
    if ((c & 255) == 0) ws_.poller.spend(256 * 10 * relations_);
  }
}

// The information of what is counted.
template <class Count>
void WordPairs::weigh(uint32_t word, uint64_t most, FeatureCounts<Count>* counts, WordRow* row) {
  const size_t room = static_cast<size_t>(std::min<uint64_t>(most, features()));
  if (row_features_.size() < room) {
    const size_t larger = std::min<size_t>(features(), std::max(2 * row_features_.size(), room));
    row_features_ = Array<uint32_t>();
    row_values_ = Array<uint16_t>();
    row_features_ = Array<uint32_t>(ws_.ledger, larger);
    row_values_ = Array<uint16_t>(ws_.ledger, larger);
  }
  std::array<LoggedCount, 2 * kMaxWordWindow> totals, of_word;
  for (uint32_t i = 0; i < relations_; ++i) {
    const uint64_t margin = margins_[size_t{word} * relations_ + i];
    if (margin > 0) of_word[i] = {margin, count_log(margin)};
    if (totals_[i] > 0) totals[i] = {totals_[i], count_log(totals_[i])};
  }
  // Division by relations_, exact: features are below 2^20 * relations_.
  const uint64_t inverse = (uint64_t{1} << 40) / relations_ + 1;
  const uint32_t relations = relations_;
  const uint32_t features = this->features();
  const uint64_t* const margins = margins_.data();
  const double* const context_logs = context_logs_.size() > 0 ? context_logs_.data() : nullptr;
  uint32_t* const out_features = row_features_.data();
  uint16_t* const out_values = row_values_.data();
  size_t n = 0;
  uint64_t weight = 0;
  counts->drain(ws_.poller, [&](size_t feature, Count count) {
    if (feature >= features) return;
    const auto context = static_cast<uint32_t>(feature * inverse >> 40);
    const uint32_t i = static_cast<uint32_t>(feature) - context * relations;
    const uint64_t margin = margins[feature + relations - 1 - 2 * i];
    const LoggedCount context_count(margin, context_logs != nullptr ? context_logs[feature] : count_log(margin));
    const double log = count < kLogs ? pair_logs_[count] : discounted_log(count, discount_);
    const uint16_t value = word_information(LoggedCount(count, log), totals[i], of_word[i], context_count, discount_);
    out_features[n] = static_cast<uint32_t>(feature);
    out_values[n] = value;
    n += value != 0;
    weight += value;
  });
  if (weight > kMaxFeatureWeight)
    throw Error(Errc::too_large, "the features of a word have too much weight: " + std::to_string(weight), {},
                "The most is 1073741823. Choose a smaller window, or fewer features.");
  *row = {out_features, out_values, n};
}

bool WordPairs::next_row(WordRow* row) {
  if (row_ == words_) return false;
  const uint32_t word = row_++;
  with_counts([&](auto* counts) {
    const uint64_t most = runs_.empty() ? gather(word, counts) : add_runs(word, &sources_, counts);
    *row = {nullptr, nullptr, 0};
    if (most > 0) weigh(word, most, counts, row);
  });
  return true;
}

}  // namespace neardup
