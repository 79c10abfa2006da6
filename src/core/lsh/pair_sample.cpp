// Pairs of a sample: rows that share a band are a population of pairs, of which an even share is compared.
#include "core/lsh/pair_sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/lsh/ctph_keys.h"
#include "core/lsh/minhash_keys.h"
#include "core/signature/ctph_compare.h"
#include "core/signature/minhash.h"
#include "core/signature/simhash.h"

namespace neardup {
namespace {

constexpr double kIndexThreshold = 0.75;   // of an index without options
constexpr uint32_t kMaxSampledBands = 65;  // more would cost memory and tell nothing new: long bands hardly lie
constexpr uint64_t kSmallGroup = 64;       // rows that share a band
constexpr double kLeastChance = 0.05;      // that a pair is met at all; rarer ones would count too much

// The bands of an index; of very long signatures some 33.
BandLayout index_layout(uint32_t num_perm, uint32_t bits) {
  BandLayout layout = choose_bands(num_perm, bits, kIndexThreshold, 1);
  if (layout.bands > kMaxSampledBands) layout.bands = 33;
  return layout;
}

// Pair r of a group, 0-based, in the order (0,1) (0,2) (1,2) (0,3) ..: the later member; r becomes the earlier one.
uint32_t later_member(uint64_t* r) {
  auto j = static_cast<uint64_t>((1 + std::sqrt(1 + 8 * static_cast<double>(*r))) / 2);
  while (j * (j - 1) / 2 > *r) --j;
  while (j * (j + 1) / 2 <= *r) ++j;
  *r -= j * (j - 1) / 2;
  return static_cast<uint32_t>(j);
}

// Draws one place, by chance, out of every `step` of a population that passes by.
class Draw {
 public:
  void add(uint64_t pairs) { population_ += static_cast<double>(pairs); }
  void start(double most) {
    step_ = std::max(1.0, population_ / most);
    next_ = place();
  }
  double step() const { return step_; }

  // Calls take(place in the group) for what is drawn of the next `pairs`.
  template <typename Take>
  void pass(uint64_t pairs, Take take) {
    const double end = before_ + static_cast<double>(pairs);
    for (; next_ < end; next_ = place()) {
      const auto at = static_cast<uint64_t>(next_ - before_);
      if (at < pairs) take(at);
      ++stratum_;
    }
    before_ = end;
  }

 private:
  double place() const {
    if (step_ == 1) return stratum_;
    const double chance = static_cast<double>(mix64(static_cast<uint64_t>(stratum_) + 1) >> 11) * 0x1p-53;
    return std::floor((stratum_ + chance) * step_);
  }

  double population_ = 0;
  double step_ = 1;
  double before_ = 0;
  double stratum_ = 0;
  double next_ = 0;
};

// The number of copies that each row has: of the rows that share its median key. Things that few of its keys have in
// common with others, such as boilerplate, do not count.
class Copies {
 public:
  // Row i has the keys from begin[i] to begin[i + 1].
  explicit Copies(std::vector<size_t> begin)
      : begin_(std::move(begin)), shared_(begin_.back()), noted_(begin_.size() - 1) {}

  // `size` rows share a key; the low half of rows[i] is the row.
  void note(const uint64_t* rows, uint64_t size) {
    const auto kept = static_cast<uint16_t>(std::min<uint64_t>(size, UINT16_MAX));
    for (uint64_t r = 0; r < size; ++r) {
      const auto row = static_cast<uint32_t>(rows[r]);
      shared_[begin_[row] + noted_[row]++] = kept;
    }
  }

  // 1 / copies. Keys that were not noted belong to one row.
  std::vector<float> shares() {
    std::vector<float> out(noted_.size(), 1);
    for (size_t row = 0; row < out.size(); ++row) {
      const size_t keys = begin_[row + 1] - begin_[row];
      const size_t alone = keys - noted_[row];
      if (keys == 0 || (keys - 1) / 2 < alone) continue;
      const auto first = shared_.begin() + static_cast<ptrdiff_t>(begin_[row]);
      const auto median = first + static_cast<ptrdiff_t>((keys - 1) / 2 - alone);
      std::nth_element(first, median, first + noted_[row]);
      out[row] = 1.0F / *median;
    }
    return out;
  }

 private:
  std::vector<size_t> begin_;
  std::vector<uint16_t> shared_;  // rows that share a key, this one too
  std::vector<uint32_t> noted_;
};

// Pairs of rows that share a key, of which an even share is visited. Near duplicates are in small groups, boilerplate
// in large ones: each kind has half of the visits, so that the many do not hide the few. for_groups(group) calls
// group(rows, size) for every set of rows that share a key, twice in the same order; the low half of rows[i] is the
// row. visit(i, j, weight, shares): the weight of a pair that is met once, and what of it i's and j's documents have.
// Returns the number of documents.
template <typename ForGroups, typename Visit>
double visit_pairs(uint32_t most_pairs, Copies copies, ForGroups for_groups, Visit visit) {
  Draw draws[2];
  const auto draw_for = [&](uint64_t size) -> Draw& { return draws[size > kSmallGroup]; };
  for_groups([&](const uint64_t* rows, uint64_t size) {
    draw_for(size).add(size * (size - 1) / 2);
    copies.note(rows, size);
  });
  const std::vector<float> shares = copies.shares();
  for (Draw& draw : draws) draw.start(std::max(most_pairs / 2, 1u));
  for_groups([&](const uint64_t* rows, uint64_t size) {
    Draw& draw = draw_for(size);
    draw.pass(size * (size - 1) / 2, [&](uint64_t place) {
      const auto b = static_cast<uint32_t>(rows[later_member(&place)]);
      const auto a = static_cast<uint32_t>(rows[place]);
      visit(a, b, draw.step(), static_cast<double>(shares[a]) + shares[b]);
    });
  });
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}

// Pairs, and what their documents have of them.
struct Tally {
  double pairs = 0;
  double shares = 0;
  void add(double weight, double shares_of_pair) {
    pairs += weight;
    shares += weight * shares_of_pair;
  }
  void add_to(double factor, double* to_pairs, double* to_shares) const {
    *to_pairs += pairs * factor;
    *to_shares += shares * factor;
  }
};

// Calls group(first, size) for the runs of equal high halves in a sorted list, but those of one member.
template <typename Group>
void for_runs(const std::vector<uint64_t>& sorted, Group group) {
  for (size_t first = 0; first < sorted.size();) {
    size_t last = first + 1;
    while (last < sorted.size() && sorted[last] >> 32 == sorted[first] >> 32) ++last;
    if (last - first > 1) group(sorted.data() + first, static_cast<uint64_t>(last - first));
    first = last;
  }
}

// The low halves of the keys of n rows, `bands` of them a row.
template <class Poll>
std::vector<uint32_t> short_keys(const BandLayout& layout, const uint8_t* rows, uint32_t n, size_t row_bytes,
                                 Poll poll) {
  const uint32_t bands = layout.bands;
  std::vector<uint32_t> keys(size_t{n} * bands);
  uint64_t wide[kMaxSampledBands];
  for (uint32_t i = 0; i < n; ++i) {
    band_keys(layout, rows + i * row_bytes, wide);
    for (uint32_t b = 0; b < bands; ++b) keys[size_t{i} * bands + b] = static_cast<uint32_t>(wide[b]);
    poll();
  }
  return keys;
}

// Counts similar pairs and candidates at every level. by_matches: pairs of so many equal components that share a
// band; by_hits: of so many shared bands. documents: how many there are, at least 1.
PairSample make_sample(const BandLayout& layout, uint32_t num_perm, uint32_t bits, const std::vector<Tally>& by_matches,
                       const std::vector<Tally>& by_hits, double documents) {
  const uint32_t bands = layout.bands;
  PairSample result{};
  for (uint32_t i = 0; i < kPairLevels; ++i) {
    const uint32_t need = min_matches(pair_level(i), false, num_perm, bits);
    for (uint32_t m = need; m <= num_perm; ++m) {
      if (by_matches[m].pairs == 0) continue;
      const double chance =
          m >= layout.need ? 1
                           : lsh_probability(static_cast<double>(m) / num_perm, bands, std::max(num_perm / bands, 1u));
      by_matches[m].add_to(1 / std::max(chance, kLeastChance), &result.similar[i], &result.document_similar[i]);
    }
    const uint32_t slack = num_perm - std::min(need, num_perm);
    for (uint32_t h = slack < bands ? bands - slack : 1; h <= bands; ++h)
      by_hits[h].add_to(1, &result.candidates[i], &result.document_candidates[i]);
    result.document_similar[i] /= documents;
    result.document_candidates[i] /= documents;
    result.candidates[i] = std::max(result.candidates[i], result.similar[i]);
    result.document_candidates[i] = std::max(result.document_candidates[i], result.document_similar[i]);
  }
  return result;
}

}  // namespace

size_t pair_sample_bytes(uint32_t num_perm, uint32_t bits) {
  return 6 * size_t{index_layout(num_perm, bits).bands} + 24;
}

PairSample sample_pairs(const void* rows, uint32_t n, uint32_t num_perm, uint32_t bits, uint32_t most_pairs,
                        StopCheck* stop) {
  const BandLayout layout = index_layout(num_perm, bits);
  const uint32_t bands = layout.bands;
  const size_t row_bytes = size_t{num_perm} * bits / 8;
  const auto* bytes = static_cast<const uint8_t*>(rows);
  uint64_t steps = 0;
  const auto poll = [&] {
    if (stop != nullptr && (++steps & 0x3ff) == 0) stop->poll();
  };

  const std::vector<uint32_t> keys = short_keys(layout, bytes, n, row_bytes, poll);
  std::vector<uint64_t> sorted(n);
  const auto for_groups = [&](auto&& group) {
    for (uint32_t b = 0; b < bands; ++b) {
      for (uint32_t i = 0; i < n; ++i) sorted[i] = static_cast<uint64_t>(keys[size_t{i} * bands + b]) << 32 | i;
      std::sort(sorted.begin(), sorted.end());
      for_runs(sorted, group);
      if (stop != nullptr) stop->poll();
    }
  };

  // A pair that shares h bands is met h times, and counts 1 / h each time.
  std::vector<Tally> by_matches(num_perm + 1);
  std::vector<Tally> by_hits(bands + 1);
  std::vector<size_t> begin(size_t{n} + 1);
  for (uint32_t i = 0; i <= n; ++i) begin[i] = size_t{i} * bands;
  const auto visit = [&](uint32_t i, uint32_t j, double weight, double shares) {
    uint32_t hits = 0;
    const uint32_t* a = &keys[size_t{i} * bands];
    const uint32_t* b = &keys[size_t{j} * bands];
    for (uint32_t k = 0; k < bands; ++k) hits += a[k] == b[k];
    by_hits[hits].add(weight / hits, shares);
    by_matches[count_matches(bytes + i * row_bytes, bytes + j * row_bytes, num_perm, bits)].add(weight / hits, shares);
    poll();
  };
  const double documents = std::max(visit_pairs(most_pairs, Copies(std::move(begin)), for_groups, visit), 1.0);
  return make_sample(layout, num_perm, bits, by_matches, by_hits, documents);
}

PairSample sample_simhash_pairs(const uint64_t* values, uint32_t n, StopCheck* stop) {
  struct Distinct {
    uint64_t value;
    uint64_t copies;
  };
  std::vector<uint64_t> sorted(values, values + n);
  std::sort(sorted.begin(), sorted.end());
  std::vector<Distinct> distinct;
  for (const uint64_t value : sorted) {
    if (distinct.empty() || distinct.back().value != value) distinct.push_back({value, 0});
    ++distinct.back().copies;
  }
  // A value meets each copy of another one, and its own other copies.
  uint64_t pairs_at[kSimhashBits + 1] = {};
  uint64_t met_at[kSimhashBits + 1] = {};
  for (size_t i = 0; i < distinct.size(); ++i) {
    const auto [value, copies] = distinct[i];
    pairs_at[0] += copies * (copies - 1) / 2;
    met_at[0] += copies - 1;
    for (size_t j = 0; j < i; ++j) {
      const int d = hamming_distance(value, distinct[j].value);
      pairs_at[d] += copies * distinct[j].copies;
      met_at[d] += copies + distinct[j].copies;
    }
    if (stop != nullptr && i % 256 == 0) stop->poll();
  }
  PairSample result{};
  uint64_t pairs = 0;
  uint64_t met = 0;
  for (uint32_t d = 0; d < kPairLevels; ++d) {
    pairs += pairs_at[d];
    met += met_at[d];
    const uint32_t level = kPairLevels - 1 - d;
    result.similar[level] = result.candidates[level] = static_cast<double>(pairs);
    result.document_similar[level] = result.document_candidates[level] =
        static_cast<double>(met) / static_cast<double>(std::max<size_t>(distinct.size(), 1));
  }
  return result;
}

void sample_ctph_pairs(const CtphView* digests, uint32_t n, uint32_t most_pairs, StopCheck* stop, PairSample* scores,
                       PairSample* rates) {
  *scores = *rates = PairSample{};
  uint32_t steps = 0;
  const auto poll = [&] {
    if (stop != nullptr && (++steps & 0x3ff) == 0) stop->poll();
  };
  // Row i has the keys from begin[i] to begin[i + 1], in order.
  std::vector<uint32_t> keys;
  std::vector<size_t> begin{0};
  std::vector<uint64_t> sorted;
  const GramRules rules = gram_rules(0);
  for (uint32_t i = 0; i < n; ++i) {
    std::vector<uint32_t> own;
    for (const uint64_t key : gram_keys(rules, digests[i])) own.push_back(static_cast<uint32_t>(key >> 32));
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    for (const uint32_t key : own) sorted.push_back(uint64_t{key} << 32 | i);
    keys.insert(keys.end(), own.begin(), own.end());
    begin.push_back(keys.size());
    poll();
  }
  std::sort(sorted.begin(), sorted.end());
  if (stop != nullptr) stop->poll();
  Tally met;
  Tally scored[kPairLevels];
  Tally rated[kPairLevels];
  const auto for_groups = [&](auto&& group) { for_runs(sorted, group); };
  const auto visit = [&](uint32_t i, uint32_t j, double weight, double shares) {
    uint32_t hits = 0;
    for (size_t a = begin[i], b = begin[j]; a < begin[i + 1] && b < begin[j + 1];) {
      hits += keys[a] == keys[b];
      keys[a] < keys[b] ? ++a : ++b;
    }
    weight /= hits;
    met.add(weight, shares);
    const int score = ctph_score(digests[i], digests[j]);
    const double rate = ctph_edit_rate(digests[i], digests[j]);
    for (uint32_t level = 0; level < kPairLevels; ++level) {
      if (score >= std::max(1, static_cast<int>(10 * level))) scored[level].add(weight, shares);
      if (rate <= 1 - pair_level(level)) rated[level].add(weight, shares);
    }
    poll();
  };
  const double documents = std::max(visit_pairs(most_pairs, Copies(begin), for_groups, visit), 1.0);
  for (uint32_t level = 0; level < kPairLevels; ++level) {
    scored[level].add_to(1, &scores->similar[level], &scores->document_similar[level]);
    met.add_to(1, &scores->candidates[level], &scores->document_candidates[level]);
    rated[level].add_to(1, &rates->similar[level], &rates->document_similar[level]);
    rates->candidates[level] = rates->similar[level];
    scores->document_similar[level] /= documents;
    scores->document_candidates[level] /= documents;
    rates->document_candidates[level] = rates->document_similar[level] /= documents;
  }
}

}  // namespace neardup
