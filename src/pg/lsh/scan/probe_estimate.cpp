// See probe_estimate.h.
#include "pg/lsh/scan/probe_estimate.h"

#include <limits>

#include "pg/lsh/family.h"
#include "pg/lsh/scan/collector.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/options.h"

namespace neardup {

bool estimate_probes(Relation index, uint16_t strategy, Datum query, double most, ProbeEstimate* out) {
  memset(out, 0, sizeof *out);
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh estimate", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  Collector collector;
  collector.init(index, context, nullptr, scan_memory());
  collector.read_directory();
  ProbesRequest request{};
  request.query = query;
  request.strategy = strategy;
  request.config = &collector.config();
  bool served = true;
  if ((request.config->flags & kMetaBound) == 0) {
    out->nothing = out->complete = true;
  } else {
    call_family(index, kProcProbes, &request);
    if (request.nothing) {
      out->nothing = out->complete = true;
    } else if (request.guaranteed && value_column(index) != 0) {
      out->probes = request.nprobes;  // how long the lists are depends on the other columns
    } else if (request.guaranteed) {
      out->probes = request.nprobes;
      collector.set_plan(&request);
      out->complete = collector.estimate(most, &out->entries, &out->candidates);
    } else {
      served = false;
    }
  }
  MemoryContextSwitchTo(old);
  MemoryContextDelete(context);
  return served;
}

bool estimate_nearest(Relation index, Datum value, double rows, double most, ProbeEstimate* out) {
  memset(out, 0, sizeof *out);
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh estimate", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  Collector collector;
  collector.init(index, context, nullptr, scan_memory());
  collector.read_directory();
  bool reaches = false;
  double beyond = -std::numeric_limits<double>::infinity();
  while (!reaches && (collector.config().flags & kMetaBound) != 0 && value_column(index) == 0) {
    ProbesRequest request{};
    request.query = value;
    request.strategy = kStrategyDistance;
    request.config = &collector.config();
    request.beyond = beyond;
    call_family(index, kProcProbes, &request);
    if (!request.guaranteed) break;
    beyond = request.reach;
    if (request.nothing) continue;
    double entries;
    collector.set_plan(&request);
    out->complete = collector.estimate(most, &entries, &out->candidates);
    out->probes += request.nprobes;
    out->entries += entries;
    reaches = out->candidates >= rows;
    if (!out->complete) break;
  }
  MemoryContextSwitchTo(old);
  MemoryContextDelete(context);
  return reaches;
}

}  // namespace neardup
