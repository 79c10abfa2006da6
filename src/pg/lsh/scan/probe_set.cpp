// See probe_set.h.
#include "pg/lsh/scan/probe_set.h"

#include <algorithm>

namespace neardup {
namespace {

constexpr uint32_t kLeastCapacity = 64;

// A word that is sorted has the stored key, then the number of the probe.
constexpr unsigned kNumberBits = 64 - kKeyBits;
constexpr uint64_t kNumberMask = (uint64_t{1} << kNumberBits) - 1;

// The bits of a stored key that the probe leaves open.
uint64_t open_bits(const LshProbe& probe) { return (uint64_t{1} << (kKeyBits - probe.bits)) - 1; }

}  // namespace

void ProbeSet::reserve(uint32_t n) {
  if (n <= capacity_ && probes_ != nullptr) return;
  capacity_ = Max(n, kLeastCapacity);
  if (probes_ != nullptr) {
    pfree(probes_);
    pfree(order_);
  }
  probes_ = static_cast<Probe*>(MemoryContextAlloc(context_, sizeof(Probe) * capacity_));
  order_ = static_cast<uint64_t*>(MemoryContextAlloc(context_, sizeof(uint64_t) * capacity_));
}

void ProbeSet::set(const ProbesRequest* plan, uint64_t salt) {
  plan_ = plan;
  salt_ = salt;
  reserve(plan->nprobes);
  n_ = plan->nprobes;
  prefixes_ = false;
  memset(filter_, 0, sizeof filter_);
  if (n_ >> kNumberBits != 0) elog(ERROR, "too many probes: %u", n_);
  // Words are sorted faster than probes are.
  for (uint32_t i = 0; i < n_; ++i) {
    const LshProbe& source = plan->probes[i];
    const uint64_t key = salted_key(stored_key(source.key, plan->final), salt) & ~open_bits(source);
    order_[i] = std::max(key, kRosterKey + 1) << kNumberBits | i;  // never the roster's key
  }
  std::sort(order_, order_ + n_);
  for (uint32_t i = 0; i < n_; ++i) {
    const LshProbe& source = plan->probes[order_[i] & kNumberMask];
    const uint64_t key = order_[i] >> kNumberBits;
    const uint64_t open = open_bits(source);
    prefixes_ |= open != 0;
    probes_[i] = {key, key | open, &source, kNoProbe};
    filter_[key % kKeyFilterBits / 64] |= uint64_t{1} << (key % 64);
  }
}

ProbeSet::RowHits ProbeSet::hits_of_row(const PendingRowView& row) const {
  const uint32_t ngroups = plan_->ngroups;
  RowHits of{0, plan_->only_classes ? kNeverQualifies : ngroups - plan_->slack};
  for (uint32_t i = 0; i < row.nkeys; ++i) {
    const uint64_t key = pending_key(row.keys, i);
    if (!prefixes_ && filter_bit(key) == 0) continue;
    // Probes that hold the key end at `after`; those of one query are equal or disjoint.
    const Probe* after =
        std::upper_bound(probes_, probes_ + n_, key, [](uint64_t k, const Probe& p) { return k < p.first; });
    while (after != probes_ && (after - 1)->last >= key) {
      --after;
      if (!passes(*after, key)) continue;
      const uint32_t group = after->source->group;
      if (group < ngroups)
        ++of.hits;
      else
        of.least = Min(of.least, plan_->class_least[group - ngroups]);
    }
  }
  return of;
}

}  // namespace neardup
