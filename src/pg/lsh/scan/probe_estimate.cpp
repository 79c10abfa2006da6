// See probe_estimate.h.
#include "pg/lsh/scan/probe_estimate.h"

#include <limits>

#include "pg/lsh/family.h"
#include "pg/lsh/scan/collector.h"
#include "pg/lsh/store/options.h"

namespace neardup {

namespace {

constexpr size_t kEstimateMemory = size_t{1} << 20;  // bytes: of hits and candidates, whatever work_mem is

bool count_query(Relation index, Collector* collector, const uint64_t* salt, uint16_t strategy, Datum query,
                 double most, ProbeEstimate* out) {
  const ProbesRequest request = plan_probes(index, strategy, query, &collector->config());
  if (request.nothing) {
    out->nothing = out->measured = true;
    return true;
  }
  if (!request.guaranteed) return false;
  out->probes = request.nprobes;
  if (salt == nullptr) return true;  // how long the lists are depends on the other columns
  collector->set_plan(&request, *salt);
  const CollectorEstimate estimate = collector->estimate(most);
  out->measured = true;
  out->entries = estimate.entries;
  out->candidates = estimate.candidates;
  return true;
}

bool count_nearest(Relation index, Collector* collector, uint64_t salt, Datum value, double rows, double most,
                   ProbeEstimate* out) {
  double beyond = -std::numeric_limits<double>::infinity();
  for (;;) {
    const ProbesRequest request = plan_probes(index, kStrategyDistance, value, &collector->config(), beyond);
    beyond = request.reach;
    if (!request.guaranteed) return false;
    if (request.nothing) continue;
    collector->set_plan(&request, salt);
    const CollectorEstimate estimate = collector->estimate(most);
    out->probes += request.nprobes;
    out->entries += estimate.entries;
    out->candidates += estimate.candidates;
    if (estimate.near >= rows) return true;
  }
}

// Calls count(collector) with the index's directory read, in memory of its own; unbound is the answer where no row was
// ever there.
template <typename Count>
bool with_collector(Relation index, bool unbound, Count count) {
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh estimate", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  Collector collector;
  collector.init(index, context, nullptr, kEstimateMemory);
  collector.read_directory();
  const bool answer = (collector.config().flags & kMetaBound) == 0 ? unbound : count(&collector);
  MemoryContextSwitchTo(old);
  MemoryContextDelete(context);
  return answer;
}

}  // namespace

bool estimate_probes(Relation index, const uint64_t* salt, uint16_t strategy, Datum query, double most,
                     ProbeEstimate* out) {
  *out = {true, true, 0, 0, 0};  // of an index without a row
  return with_collector(index, true, [&](Collector* collector) {
    *out = {};
    return count_query(index, collector, salt, strategy, query, most, out);
  });
}

bool estimate_nearest(Relation index, uint64_t salt, Datum value, double rows, double most, ProbeEstimate* out) {
  *out = {};
  return with_collector(index, false, [&](Collector* collector) {
    return count_nearest(index, collector, salt, value, rows, most, out);
  });
}

}  // namespace neardup
