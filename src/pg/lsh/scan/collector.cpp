// See collector.h. The counting: README, "Scan".
#include "pg/lsh/scan/collector.h"

#include <algorithm>

#include "pg/lsh/store/lsh_columns.h"

namespace neardup {
namespace {

constexpr size_t kLeastScanMemory = 64 * 1024;  // bytes
constexpr size_t kCandidatesPart = 2;           // of a scan's memory
constexpr uint64_t kTidsOfBlock = uint64_t{1} << kOffsetBits;
constexpr uint64_t kFurther = 8;          // times as much as has to be gathered may be gathered beyond it
constexpr uint64_t kFurtherEstimate = 1;  // the same for an estimate, which keeps to what it may read

// The cost of fetching and checking a candidate, in nanoseconds: beside kCountCost it decides whether one more list is
// worth reading. The value of an expression is made again for each candidate.
constexpr double kColumnCost = 500;
constexpr double kExpressionCost = 2000;

}  // namespace

void Collector::init(Relation index, MemoryContext parent, Snapshot snapshot, size_t most_bytes) {
  memset(static_cast<void*>(this), 0, sizeof *this);
  context_ = AllocSetContextCreate(parent, "lsh scan", ALLOCSET_DEFAULT_SIZES);
  most_bytes_ = Max(most_bytes, kLeastScanMemory);
  candidate_cost_ = index->rd_index->indkey.values[value_column(index)] != 0 ? kColumnCost : kExpressionCost;
  reader_.init(index, context_, snapshot);
  probes_.init(context_);
  lists_.init(index, context_, most_bytes_);
  hits_.init(context_, most_bytes_);
  list_.context = context_;
}

void Collector::set_plan(const ProbesRequest* plan, uint64_t salt) {
  plan_ = plan;
  pass_ = 0;
  probes_.set(plan, salt);
  lists_.set_probes(&probes_);
  hits_.set_groups(plan->ngroups);
}

void Collector::rewind() {
  reader_.rewind();
  list_.n = 0;
}

uint64_t Collector::collect(uint64_t from) {
  TidRange tids;
  try_until_current([&] {
    for (;;) {
      tids = next_pass(from);
      const ReadOutcome read = try_collect(tids);
      if (read != ReadOutcome::full) return read;
      narrow_pass(from);
      list_.n = 0;
    }
  });
  sort_candidates();
  return tids.to == kMaxTid ? kAllCollected : tids.to;
}

// All TIDs from there on, or those of as many blocks as narrow_pass() has left.
TidRange Collector::next_pass(uint64_t from) const {
  const uint64_t block = from >> kOffsetBits;
  if (pass_ != 0 && block + pass_ <= largest_block()) return {from, (block + pass_) << kOffsetBits};
  return {from, kMaxTid};
}

// After a pass with too many rows for memory the next one goes over fewer heap blocks.
void Collector::narrow_pass(uint64_t from) {
  const uint64_t block = from >> kOffsetBits;
  const uint64_t blocks = pass_ != 0 ? pass_ : Max(largest_block(), block) + 1 - block;
  if (blocks <= 1)
    elog(ERROR, "one heap block has too many entries in index \"%s\"", RelationGetRelationName(reader_.index()));
  pass_ = blocks / 2;
}

uint64_t Collector::largest_block() const {
  Relation heap = table_open(reader_.index()->rd_index->indrelid, NoLock);
  const uint64_t blocks = RelationGetNumberOfBlocks(heap);
  table_close(heap, NoLock);
  return blocks;
}

// A TID comes once, also where a slot of the heap was filled again and both rows' entries are still there.
void Collector::sort_candidates() {
  if (!std::is_sorted(list_.items, list_.items + list_.n)) std::sort(list_.items, list_.items + list_.n);
  uint64_t* end = std::unique(list_.items, list_.items + list_.n,
                              [](uint64_t a, uint64_t b) { return candidate_tid(a) == candidate_tid(b); });
  list_.n = static_cast<size_t>(end - list_.items);
}

// Each row lies in one unit or one pending page.
ReadOutcome Collector::try_collect(const TidRange& tids) {
  const bool only_one = estimates_ && only_unit_ >= 0;
  for (int i = 0; i < reader_.directory().nruns; ++i) {
    if (!reader_.is_built(i) || !reader_.begins_unit(i)) continue;
    if (only_one && reader_.directory().runs[i].unit != only_unit_) continue;
    const ReadOutcome outcome = collect_unit(reader_.directory().runs[i].unit, tids);
    lists_.forget();
    if (outcome != ReadOutcome::done) return outcome;
    const bool many = list_.n * sizeof(uint64_t) > most_bytes_ / kCandidatesPart;
    if (many && tids.to - tids.from > kTidsOfBlock) return ReadOutcome::full;
  }
  return only_one ? ReadOutcome::done : collect_pending(tids);
}

ReadOutcome Collector::count_group(uint32_t group, bool insert, const TidRange& tids) {
  HitSink sink(&hits_, insert);
  return lists_.read_group(group, tids, &sink);
}

ReadOutcome Collector::collect_unit(uint8_t unit, const TidRange& tids) {
  CHECK_FOR_INTERRUPTS();
  lists_.clear();
  for (int i = 0; i < reader_.directory().nruns; ++i) {
    if (reader_.directory().runs[i].unit != unit || !reader_.is_built(i)) continue;
    if (const ReadOutcome found = lists_.locate(reader_.tree(i), tids); found != ReadOutcome::done) return found;
  }
  lists_.order_groups();
  if (plan_->only_classes) return collect_by_class(tids);
  if (const ReadOutcome sure = add_classes(tids); sure != ReadOutcome::done) return sure;
  const uint32_t needed = plan_->slack + 1u;
  const uint64_t expected = lists_.length(0, needed);
  if (expected == 0) return ReadOutcome::done;
  if (!may_read(expected)) return pass_over_unit(plan_->ngroups - plan_->slack);
  hits_.begin(expected);
  uint32_t probed = 0;
  for (; probed < needed; ++probed)
    if (const ReadOutcome read = count_group(probed, true, tids); read != ReadOutcome::done) return read;
  // No unseen row can qualify any more: further lists only tell chance hits apart.
  if (hits_.gathers()) {
    bool counted = false;
    const ReadOutcome outcome = count_gathered(&probed, tids, &counted);
    if (counted || outcome != ReadOutcome::done) return outcome;
    if (hits_.gathers() && !hits_.move_into_table()) return ReadOutcome::full;
  }
  return count_in_table(probed, tids);
}

// Gathers the further lists, too, and counts all of them, where that is the quicker way; else *counted stays false.
ReadOutcome Collector::count_gathered(uint32_t* probed, const TidRange& tids, bool* counted) {
  GatheredHits& gathered = hits_.gathered();
  RowCounter* const counter = gathered.counter();
  const uint32_t ngroups = plan_->ngroups;
  const uint32_t least = ngroups - plan_->slack;
  const uint32_t nfirst = gathered.n();
  const uint64_t further = lists_.length(*probed, ngroups);
  if (!counter->is_thin(nfirst + further, least) && !counter->is_worth(gathered.tids())) return ReadOutcome::done;
  const uint64_t most_further = (estimates_ ? kFurtherEstimate : kFurther) * gathered.n();
  if (further > most_further || !gathered.has_room(further)) return ReadOutcome::done;
  for (; *probed < ngroups && hits_.gathers(); ++*probed)
    if (const ReadOutcome read = count_group(*probed, true, tids); read != ReadOutcome::done) return read;
  if (!hits_.gathers()) return ReadOutcome::done;
  const auto add = [&](uint64_t tid, uint32_t hits) { list_.add(tid, ngroups - Min(hits, ngroups)); };
  if (counter->is_thin(gathered.n(), least)) {
    counter->maybe_at_least(gathered.tids(), nfirst, least, add);
    *counted = true;
  } else if (counter->is_worth(gathered.tids())) {
    counter->at_least(gathered.tids(), least, add);
    *counted = true;
  }
  return ReadOutcome::done;
}

// probed: groups that were counted.
ReadOutcome Collector::count_in_table(uint32_t probed, const TidRange& tids) {
  HitTable& table = hits_.table();
  table.make_histogram();
  const uint32_t least = plan_->ngroups - plan_->slack;
  if (const ReadOutcome read = count_further(least, false, candidate_cost_, &probed, tids); read != ReadOutcome::done)
    return read;
  table.at_least(probed - plan_->slack,
                 [&](uint64_t tid, uint32_t hits) { list_.add(tid, probed - Min(hits, probed)); });
  return ReadOutcome::done;
}

// Goes on while a list costs less to read than the rows cost that it would clear: those with just enough hits, unless
// they are in it. least: of all groups; 0: no row needs one. all: reads on, whatever a list clears.
ReadOutcome Collector::count_further(uint32_t least, bool all, double row_cost, uint32_t* probed,
                                     const TidRange& tids) {
  const uint32_t n = plan_->ngroups;
  for (; *probed < n; ++*probed) {
    const uint32_t at_risk = least == 0 ? 0 : hits_.table().rows_with(*probed + least - n);
    if (!all && static_cast<double>(lists_.length(*probed)) * kCountCost > at_risk * row_cost) break;
    if (const ReadOutcome read = count_group(*probed, false, tids); read != ReadOutcome::done) return read;
  }
  return ReadOutcome::done;
}

ReadOutcome Collector::collect_pending(const TidRange& tids) {
  const uint32_t groups = plan_->ngroups;
  return reader_.for_pending_rows([&](const PendingRowView& row) {
    if (!tids.has(row.tid)) return;
    const ProbeSet::RowHits of = probes_.hits_of_row(row);
    if (of.hits >= of.least) list_.add(row.tid, groups - Min(of.hits, groups));
  });
}

}  // namespace neardup
