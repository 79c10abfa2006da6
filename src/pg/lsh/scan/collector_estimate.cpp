// Estimates of what a plan reads: for the planner, and to choose among several conditions. See collector.h.
#include "pg/lsh/scan/collector.h"

namespace neardup {
namespace {

constexpr int kAllUnits = -1;
constexpr double kSamplePart = 4;     // of the entries that may be read, a sample takes one in so many
constexpr double kLeastSample = 100;  // entries: of fewer it says nothing

// A near row misses at most this part of the groups that a candidate may miss. What is as far away as a plan reaches
// misses two thirds of them, what shares one by chance all.
constexpr uint32_t kNearParts = 3;
constexpr uint32_t kOfParts = 4;

uint32_t misses_of_near(const ProbesRequest& plan) { return plan.slack * kNearParts / kOfParts; }

}  // namespace

bool Collector::may_read(uint64_t entries) {
  seen_entries_ += static_cast<double>(entries);
  return !estimates_ || seen_entries_ <= most_entries_;
}

void Collector::pass_over(uint64_t candidates, uint64_t near) {
  passed_over_ = true;
  unread_.candidates += static_cast<double>(candidates);
  unread_.near += static_cast<double>(near);
}

// Rows that are in so many lists at least. Copies of one row are in all of them: then they are as many as the list has
// that is the shortest of the `least` longest.
ReadOutcome Collector::pass_over_unit(uint32_t least) {
  pass_over(lists_.length(plan_->ngroups - least), lists_.length(misses_of_near(*plan_)));
  return ReadOutcome::done;
}

void Collector::try_estimate(double most, const TidRange& tids, int unit) {
  estimates_ = true;
  only_unit_ = unit;
  most_entries_ = most;
  try_until_current([&] {
    seen_entries_ = 0;
    passed_over_ = false;
    unread_ = {};
    return try_collect(tids);
  });
  estimates_ = false;
}

double Collector::count_near() const {
  const uint32_t most = misses_of_near(*plan_);
  double near = 0;
  for (size_t i = 0; i < list_.n; ++i)
    if (candidate_misses(list_.items[i]) <= most) ++near;
  return near;
}

double Collector::measure() {
  try_estimate(0, {0, kMaxTid}, kAllUnits);
  return seen_entries_;
}

CollectorEstimate Collector::estimate(double most) {
  try_estimate(most, {0, kMaxTid}, kAllUnits);
  if (passed_over_) return estimate_by_sample(most);
  return {seen_entries_, static_cast<double>(list_.n), count_near()};
}

int Collector::largest_unit() const {
  const LshMeta& directory = reader_.directory();
  int largest = 0;
  for (int i = 1; i < directory.nruns; ++i)
    if (directory.runs[i].entries > directory.runs[largest].entries) largest = i;
  return directory.runs[largest].unit;
}

// After an attempt that has measured the lists. The rows of a range of the table's blocks, in its middle, stand for
// all; those of the largest unit are enough. To find the lists again takes as long as it took to measure them. Of a
// list of a prefix no part can be read alone.
CollectorEstimate Collector::estimate_by_sample(double most) {
  const double entries = seen_entries_;
  const double rows = static_cast<double>(list_.n);
  const CollectorEstimate by_lengths{entries, rows + unread_.candidates, rows + unread_.near};
  const uint64_t blocks = largest_block() + 1;
  const uint64_t width =
      Max(uint64_t{1}, static_cast<uint64_t>(most / kSamplePart / entries * static_cast<double>(blocks)));
  if (probes_.has_prefixes() || width >= blocks) return by_lengths;
  const uint64_t first = (blocks - width) / 2;
  try_estimate(most, {first << kOffsetBits, (first + width) << kOffsetBits}, largest_unit());
  if (passed_over_ || seen_entries_ < kLeastSample) return by_lengths;
  const double all = entries / seen_entries_;
  return {entries, static_cast<double>(list_.n) * all, count_near() * all};
}

}  // namespace neardup
