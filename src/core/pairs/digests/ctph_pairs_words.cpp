// Parts of CtphPairs of at most 64 characters, as many of them against each other part as fill the lanes of a kernel.
//
// Levenshtein(x, y) >= max(|x|, |y|) - c, c = number of characters in common, whatever their order: an alignment keeps
// at most c of the longer text. Bags of symbols (ctph_kernels.h) bound c and rule out nearly all pairs.
#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/bits.h"
#include "core/kernels/kernels.h"
#include "core/kernels/myers.h"
#include "core/pairs/digests/ctph_pairs_impl.h"

namespace neardup {
namespace {

using Run = CtphEntries::Run;

constexpr uint32_t kGroupLanes = kLevenshteinLanes;
constexpr uint32_t kGroupMask = (1 << kGroupLanes) - 1;

// Decides if symbols of the next pieces of a run of entries are worth a look: not where they ruled out fewer than one
// in eight of so many pairs, for looking takes a tenth of comparing. Entries next to each other may be alike where
// others are not: each so many pieces it is tried anew.
class SymbolTrial {
 public:
  bool wanted() noexcept {
    bool look = tried_ < kTrial || passed_ < tried_ - tried_ / 8;
    if (++pieces_ % kTrialPieces == 0 && !look) {
      look = true;
      tried_ = passed_ = 0;
    }
    return look;
  }
  // Pairs whose symbols were looked at, and of these those that were not ruled out.
  void add(uint64_t tried, uint64_t passed) noexcept {
    tried_ += tried;
    passed_ += passed;
  }

 private:
  static constexpr uint64_t kTrial = 8192;
  static constexpr uint32_t kTrialPieces = 8;

  uint64_t tried_ = 0;
  uint64_t passed_ = 0;
  uint32_t pieces_ = 0;
};

// A subject and an entry that are compared outside of a kernel: one lane of a group, and a text.
struct Lane {
  const LevenshteinGroup* group;
  size_t lane;
  const uint8_t* text;
  uint32_t subject;
  uint32_t entry;
};
constexpr size_t kLanesAtOnce = 4;

// Levenshtein distances of kLanesAtOnce lanes to their texts of n characters, side by side: columns of one wait for
// each other.
void levenshtein_lanes(const Lane* lanes, size_t n, uint32_t* distances) noexcept {
  MyersColumn column[kLanesAtOnce];
  std::fill_n(column, kLanesAtOnce, kMyersStart);
  for (size_t j = 0; j < n; ++j) {
#pragma GCC unroll 4
    for (size_t k = 0; k < kLanesAtOnce; ++k)
      myers_step(lanes[k].group->match[lanes[k].text[j]][lanes[k].lane], column[k]);
  }
  for (size_t k = 0; k < kLanesAtOnce; ++k)
    distances[k] = myers_distance(n, column[k], lanes[k].group->rows[lanes[k].lane]);
}

// One join: subjects first .. last - 1 of x against y.
class WordJoin {
 public:
  WordJoin(const CtphBound& bound, const CtphEntries& x, uint32_t first, uint32_t last, const CtphEntries& y, bool self,
           HitSink& hits)
      : kernel_(*kernels().ctph),
        bound_(bound),
        x_(x),
        y_(y),
        others_(y.bags()),
        self_(self),
        first_(first),
        num_subjects_(last - first),
        num_groups_((num_subjects_ + kGroupLanes - 1) / kGroupLanes),
        hits_(hits) {
    prepare_subjects();
  }

  SearchCounts run() {
    const uint32_t shortest = length_[0];
    const uint32_t longest = length_[num_subjects_ - 1];
    for (const Run& run : y_.runs) {
      if (self_ && run.first + run.count <= first_ + 1) continue;
      if (run.length < shortest && !bound_.may_match(shortest, run.length)) continue;
      if (run.length > longest && !bound_.may_match(longest, run.length)) break;
      join_run(run);
    }
    return counts_;
  }

 private:
  void prepare_subjects() {
    std::memset(groups_, 0, num_groups_ * sizeof *groups_);
    const Run* run = &x_.run_with(first_);
    for (uint32_t s = 0; s < num_subjects_; ++s) {
      const uint32_t i = first_ + s;
      if (i == run->first + run->count) ++run;
      LevenshteinGroup& group = groups_[s / kGroupLanes];
      const size_t lane = s % kGroupLanes;
      const uint8_t* part = x_.part(*run, i);
      length_[s] = run->length;
      for (uint32_t c = 0; c < length_[s]; ++c) group.match[part[c]][lane] |= uint64_t{1} << c;
      group.rows[lane] = low_bits(length_[s]);
      bag_[s] = x_.bag(i);
    }
  }

  // All subjects against the entries of one length.
  void join_run(const Run& run) {
    const uint32_t end = run.first + run.count;
    SymbolTrial trial;
    for (uint32_t from = self_ ? std::max(run.first, first_ + 1) : run.first; from < end; from += kCtphPiece) {
      const uint32_t to = std::min(end, from + kCtphPiece);
      if (!mark_piece(run, from, to, trial)) continue;
      for (uint32_t i = from; i < to; ++i)
        if (marks_[i - from] != 0) compare(marks_[i - from], i, run);
    }
    if (num_lanes_ != 0) compare_lanes(run.length);
  }

  // Marks the subjects that each entry from .. to - 1 is to be compared with. Returns whether there are any.
  bool mark_piece(const Run& run, uint32_t from, uint32_t to, SymbolTrial& trial) {
    std::memset(marks_, 0, (to - from) * sizeof *marks_);
    const bool look = trial.wanted();
    bool any = false;
    for (uint32_t s = 0; s < num_subjects_; ++s) {
      const uint32_t start = self_ ? std::max(from, first_ + s + 1) : from;
      if (start >= to || !bound_.may_match(length_[s], run.length)) continue;
      counts_.looked += to - start;
      if (!look) {
        for (uint32_t i = start - from; i < to - from; ++i) marks_[i] |= uint32_t{1} << s;
        any = true;
        continue;
      }
      const uint32_t need = bound_.common_symbols(length_[s], run.length);
      const size_t n = kernel_.bag_candidates(&bag_[s], &others_, start, to, need, passed_);
      for (size_t k = 0; k < n; ++k) marks_[passed_[k] - from] |= uint32_t{1} << s;
      any |= n != 0;
      trial.add(to - start, n);
      hits_.spend(to - start + 10);
    }
    return any;
  }

  // True if marked lanes of a group are to be compared by the kernel: a group costs the vector forms about as much as
  // three lanes alone.
  bool worth_a_group(uint32_t marked) const noexcept {
    marked &= marked - 1;
    return vectors_ && (marked & (marked - 1)) != 0;
  }

  // The marked subjects with entry i.
  void compare(uint32_t mark, uint32_t i, const Run& run) {
    const uint8_t* text = y_.part(run, i);
    counts_.compared += static_cast<uint64_t>(std::popcount(mark));
    uint32_t distances[kCtphSubjects];
    uint32_t worth = 0;  // groups
    for (uint32_t g = 0; g < num_groups_; ++g) worth += worth_a_group(mark >> kGroupLanes * g & kGroupMask);
    const bool at_once = worth == kCtphGroups;
    if (at_once) {
      kernel_.levenshtein64(text, run.length, groups_, kCtphGroups, distances);
      hits_.spend(16 * run.length);
    }
    for (uint32_t g = 0; g < num_groups_; ++g) {
      const uint32_t marked = mark >> kGroupLanes * g & kGroupMask;
      const uint32_t first = kGroupLanes * g;
      if (!at_once && !worth_a_group(marked)) {
        add_lanes(g, marked, i, run);
        continue;
      }
      if (!at_once) {
        kernel_.levenshtein64(text, run.length, groups_ + g, 1, distances + first);
        hits_.spend(4 * run.length);
      }
      for (uint32_t rest = marked; rest != 0; rest &= rest - 1) {
        const uint32_t s = first + static_cast<uint32_t>(std::countr_zero(rest));
        check(s, i, distances[s], length_[s] + run.length);
      }
    }
  }

  // Marked subjects of a group with entry i, to be compared when there are enough of them.
  void add_lanes(uint32_t g, uint32_t marked, uint32_t i, const Run& run) {
    for (; marked != 0; marked &= marked - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(marked));
      lanes_[num_lanes_++] = {groups_ + g, lane, y_.part(run, i), kGroupLanes * g + lane, i};
      if (num_lanes_ == kLanesAtOnce) compare_lanes(run.length);
    }
  }

  void compare_lanes(uint32_t text_length) {
    for (size_t k = num_lanes_; k < kLanesAtOnce; ++k) lanes_[k] = lanes_[0];
    uint32_t distances[kLanesAtOnce];
    levenshtein_lanes(lanes_, text_length, distances);
    hits_.spend(6 * text_length);
    for (size_t k = 0; k < num_lanes_; ++k)
      check(lanes_[k].subject, lanes_[k].entry, distances[k], length_[lanes_[k].subject] + text_length);
    num_lanes_ = 0;
  }

  void check(uint32_t s, uint32_t i, uint32_t distance, uint32_t sum) {
    if (distance <= bound_.edits(sum)) hits_.add(x_.rows[first_ + s], y_.rows[i], ctph_pair_value(distance, sum));
  }

  const CtphKernels& kernel_;
  const bool vectors_ = &kernel_ != &kScalarCtphKernels;
  const CtphBound& bound_;
  const CtphEntries& x_;
  const CtphEntries& y_;
  const SymbolBags others_;  // of y
  const bool self_;          // x is y: each two entries once
  const uint32_t first_;     // entry of x that is the first subject
  const uint32_t num_subjects_;
  const uint32_t num_groups_;
  HitSink& hits_;

  LevenshteinGroup groups_[kCtphGroups];
  SymbolBag bag_[kCtphSubjects];
  uint32_t length_[kCtphSubjects];  // ascending

  uint32_t marks_[kCtphPiece];  // of each entry of a piece, bit s: is to be compared with subject s
  uint32_t passed_[kCtphPiece];
  Lane lanes_[kLanesAtOnce];  // texts of one length
  size_t num_lanes_ = 0;
  SearchCounts counts_;
};

}  // namespace

SearchCounts join_ctph_words(const CtphBound& bound, const CtphEntries& x, uint32_t first, uint32_t last,
                             const CtphEntries& y, bool self, HitSink& hits) {
  return WordJoin(bound, x, first, last, y, self, hits).run();
}

}  // namespace neardup
