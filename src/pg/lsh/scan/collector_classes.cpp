// Collecting rows of which classes say how many hits they need: sets that lie in a query's, by their size. See
// collector.h.
#include "pg/lsh/scan/collector.h"

namespace neardup {
namespace {

constexpr uint32_t kUnknownRow = ~uint32_t{0};

}  // namespace

// Rows of the first classes need so few hits that nearly all lists would have to be read for them. Where they are few,
// they are counted from the start, seen or not. The others need `least` hits, and are met in the first groups.
struct Collector::ClassCut {
  uint32_t classes;  // whose rows are counted from the start
  uint64_t rows;     // that those have
  uint32_t least;    // of all other rows
  uint32_t groups;   // that they are met in; 0: there are none
  uint64_t entries;  // to be read
};

// Those of classes that need no hit, where other rows need what the plan says.
ReadOutcome Collector::add_classes(const TidRange& tids) {
  CallingSink sink([&](const uint64_t* rows, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) list_.add(rows[i], plan_->ngroups);
    return true;
  });
  for (uint32_t c = 0; c < plan_->nclasses; ++c) {
    const uint32_t group = lists_.group_of_class(c);
    if (!may_read(lists_.length(group))) {
      pass_over(lists_.length(group), 0);
      continue;
    }
    const ReadOutcome outcome = lists_.read_group(group, tids, &sink);
    if (outcome != ReadOutcome::done) return outcome;
  }
  return ReadOutcome::done;
}

ReadOutcome Collector::collect_by_class(const TidRange& tids) {
  const ClassCut cut = cheapest_cut();
  if (cut.entries == 0) return ReadOutcome::done;
  if (!may_read(cut.entries)) {
    pass_over(cut.rows, 0);
    return cut.groups == 0 ? ReadOutcome::done : pass_over_unit(cut.least);
  }
  if (const ReadOutcome first = count_first(cut, tids); first != ReadOutcome::done) return first;
  uint32_t probed = cut.groups;
  // Rows that are counted from the start are cleared by all lists together.
  const bool all = static_cast<double>(lists_.length(probed, plan_->ngroups)) * kCountCost <
                   static_cast<double>(cut.rows) * row_cost();
  if (const ReadOutcome further = count_further(cut.least, all, row_cost(), &probed, tids);
      further != ReadOutcome::done)
    return further;
  return add_by_class(cut, probed, tids);
}

// The first class whose rows are not counted from the start decides how many groups have to be read: of each class in
// turn, with the rows of those before it.
Collector::ClassCut Collector::cheapest_cut() const {
  const uint32_t n = plan_->ngroups;
  ClassCut best{0, 0, 0, 0, ~uint64_t{0}};
  uint32_t groups = n;
  uint64_t entries = lists_.length(0, n);
  uint64_t rows = 0;
  for (uint32_t c = 0; c < plan_->nclasses; ++c) {
    const uint64_t more_rows = lists_.length(lists_.group_of_class(c));
    const uint32_t least = plan_->class_least[c];
    if (least != 0 && more_rows != 0) {
      entries -= lists_.length(n + 1 - least, groups);
      groups = n + 1 - least;
      if (rows + entries < best.entries) best = {c, rows, least, groups, rows + entries};
    }
    rows += more_rows;
  }
  if (rows <= best.entries) best = {plan_->nclasses, rows, 0, 0, rows};
  return best;
}

// The cost of fetching and checking a row: a set's value is as large as its entries are many.
double Collector::row_cost() const {
  double entries = 0;
  double rows = 1;
  for (int i = 0; i < reader_.directory().nruns; ++i) {
    entries += static_cast<double>(reader_.directory().runs[i].entries);
    rows += static_cast<double>(reader_.directory().runs[i].rows);
  }
  return candidate_cost_ * Max(1.0, entries / rows / kUsualEntries);
}

ReadOutcome Collector::count_first(const ClassCut& cut, const TidRange& tids) {
  hits_.begin_table(cut.entries);
  CallingSink seeds([&](const uint64_t* rows, uint32_t n) { return hits_.table().seed(rows, n); });
  ReadOutcome outcome = ReadOutcome::done;
  for (uint32_t c = 0; c < cut.classes && outcome == ReadOutcome::done; ++c)
    outcome = lists_.read_group(lists_.group_of_class(c), tids, &seeds);
  for (uint32_t g = 0; g < cut.groups && outcome == ReadOutcome::done; ++g) outcome = count_group(g, true, tids);
  hits_.table().make_histogram();
  return outcome;
}

// A row may have a hit in each of the groups that were not read. Where few rows are left, their classes are not looked
// at either.
ReadOutcome Collector::add_by_class(const ClassCut& cut, uint32_t probed, const TidRange& tids) {
  const HitTable& table = hits_.table();
  const uint32_t n = plan_->ngroups;
  const uint32_t unread = n - probed;
  const auto add_class = [&](uint32_t c) {
    const uint32_t needed = plan_->class_least[c];
    CallingSink sink([&, least = needed > unread ? needed - unread : 0](const uint64_t* rows, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i) {
        if (!table.may_have(rows[i])) continue;
        const uint32_t hits = table.row_hits(rows[i], kUnknownRow);
        if (hits != kUnknownRow && hits >= least) list_.add(rows[i], n - Min(hits, n));
      }
      return true;
    });
    return lists_.read_group(lists_.group_of_class(c), tids, &sink);
  };
  ReadOutcome outcome = ReadOutcome::done;
  for (uint32_t c = 0; c < cut.classes && outcome == ReadOutcome::done; ++c) outcome = add_class(c);
  if (cut.groups == 0 || outcome != ReadOutcome::done) return outcome;
  const uint32_t least = cut.least > unread ? cut.least - unread : 0;
  const uint64_t classes = lists_.length(lists_.group_of_class(cut.classes), lists_.group_of_class(plan_->nclasses));
  if (static_cast<double>(classes) * kCountCost > static_cast<double>(table.size()) * row_cost()) {
    table.at_least(least, [&](uint64_t tid, uint32_t hits) { list_.add(tid, n - Min(hits, n)); });
    return ReadOutcome::done;
  }
  for (uint32_t c = cut.classes; c < plan_->nclasses && outcome == ReadOutcome::done; ++c) outcome = add_class(c);
  return outcome;
}

}  // namespace neardup
