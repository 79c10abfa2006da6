// See probe_estimate.h.
#include "pg/lsh/scan/probe_estimate.h"

#include <limits>

#include "pg/lsh/family.h"
#include "pg/lsh/scan/collector.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/options.h"

namespace neardup {

namespace {

// Of an index with parameters.
bool count_query(Relation index, Collector* collector, uint16_t strategy, Datum query, double most,
                 ProbeEstimate* out) {
  ProbesRequest request{};
  request.query = query;
  request.strategy = strategy;
  request.config = &collector->config();
  call_family(index, kProcProbes, &request);
  if (request.nothing) {
    out->nothing = out->complete = true;
    return true;
  }
  if (!request.guaranteed) return false;
  out->probes = request.nprobes;
  if (value_column(index) != 0) return true;  // how long the lists are depends on the other columns
  collector->set_plan(&request);
  out->complete = collector->estimate(most, &out->entries, &out->candidates);
  return true;
}

bool count_nearest(Relation index, Collector* collector, Datum value, double rows, double most, ProbeEstimate* out) {
  if (value_column(index) != 0) return false;
  ProbesRequest request{};
  request.query = value;
  request.strategy = kStrategyDistance;
  request.config = &collector->config();
  request.beyond = -std::numeric_limits<double>::infinity();
  for (;; request.beyond = request.reach) {
    call_family(index, kProcProbes, &request);
    if (!request.guaranteed) return false;
    if (request.nothing) continue;
    double entries;
    collector->set_plan(&request);
    out->complete = collector->estimate(most, &entries, &out->candidates);
    out->probes += request.nprobes;
    out->entries += entries;
    if (out->candidates >= rows) return true;
    if (!out->complete) return false;
  }
}

// Calls count(collector) with the index's directory read, in memory of its own; unbound is the answer where no row was
// ever there.
template <typename Count>
bool with_collector(Relation index, bool unbound, Count count) {
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh estimate", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  Collector collector;
  collector.init(index, context, nullptr, scan_memory());
  collector.read_directory();
  const bool answer = (collector.config().flags & kMetaBound) == 0 ? unbound : count(&collector);
  MemoryContextSwitchTo(old);
  MemoryContextDelete(context);
  return answer;
}

}  // namespace

bool estimate_probes(Relation index, uint16_t strategy, Datum query, double most, ProbeEstimate* out) {
  *out = {true, true, 0, 0, 0};  // of an index without a row
  return with_collector(index, true, [&](Collector* collector) {
    *out = {};
    return count_query(index, collector, strategy, query, most, out);
  });
}

bool estimate_nearest(Relation index, Datum value, double rows, double most, ProbeEstimate* out) {
  *out = {};
  return with_collector(index, false,
                        [&](Collector* collector) { return count_nearest(index, collector, value, rows, most, out); });
}

}  // namespace neardup
