// See gpu_join.h.
#include "offload/gpu_join.h"

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/work/signals_blocked.h"
#include "core/work/spill.h"
#include "core/work/workspace.h"

namespace neardup {
namespace {

// The module's own struct, so that no array is copied.
static_assert(sizeof(CtphPart) == sizeof(NeardupGpuPart) &&
              offsetof(CtphPart, text) == offsetof(NeardupGpuPart, text) &&
              offsetof(CtphPart, row) == offsetof(NeardupGpuPart, row) &&
              offsetof(CtphPart, length) == offsetof(NeardupGpuPart, length) &&
              offsetof(CtphPart, list) == offsetof(NeardupGpuPart, list));

class Search {
 public:
  explicit Search(const NeardupGpuApi& api) noexcept : api_(api) {}
  ~Search() { api_.search_destroy(search_); }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  NeardupGpuStatus create(const NeardupGpuOptions& options) noexcept {
    const SignalsBlocked blocked;
    return api_.search_create(&options, &search_, error, sizeof error);
  }
  NeardupGpuStatus start(const NeardupGpuJob& job) noexcept {
    return api_.search_start(search_, &job, error, sizeof error);
  }
  NeardupGpuStatus step(NeardupGpuPair* pairs, uint32_t* count, double* done) noexcept {
    return api_.search_step(search_, pairs, kStepPairs, count, done, error, sizeof error);
  }
  void stats(NeardupGpuStats* out) const noexcept { api_.search_stats(search_, out); }

  char error[NEARDUP_GPU_TEXT] = "";

 private:
  const NeardupGpuApi& api_;
  NeardupGpuSearch* search_ = nullptr;
};

}  // namespace

void GpuJoin::refuse_large() {
  if (!fallback_.required()) return;
  throw Error(Errc::out_of_budget, "the rows do not fit in memory, so the GPU cannot search them", {},
              "Raise maintenance_work_mem, or work_mem for window functions; with neardup.device = 'auto' or 'cpu' the "
              "CPU searches them by way of temporary files.");
}

bool GpuJoin::run(const NeardupGpuJob& job, double cost, Workspace& ws, const Found& found) {
  const NeardupGpuApi* api = fallback_.open(cost);
  if (api == nullptr) return false;
  Search search(*api);
  const auto failed = [&](NeardupGpuStatus status) { return fallback_.failed(status, search.error); };
  NeardupGpuStatus status = search.create(fallback_.options());
  if (status != NEARDUP_GPU_OK) return failed(status);
  ws.poller.check();
  status = search.start(job);
  if (status != NEARDUP_GPU_OK) return failed(status);

  // Kept until the search has come to its end: what a lost device leaves behind is nothing.
  RecordSorter pairs(memory_share(ws, kEighth), ws);
  std::vector<NeardupGpuPair> some(kStepPairs);
  for (double done = 0; done < 1;) {
    ws.poller.check();
    uint32_t n = 0;
    status = search.step(some.data(), &n, &done);
    if (status != NEARDUP_GPU_OK) return failed(status);
    for (uint32_t i = 0; i < n; ++i) pairs.add({some[i].a, some[i].b, some[i].value});
  }
  search.stats(&stats_);
  pairs.finish();
  SortRecord r;
  while (pairs.next(&r)) {
    ws.poller.spend(20);
    found(r.hi, r.lo, r.value);
  }
  return true;
}

bool GpuJoin::join(const MinhashJob& job, double cost, Workspace& ws, const Found& found) {
  NeardupGpuJob out = {};
  out.kind = NEARDUP_GPU_MINHASH;
  out.two_sets = job.two_sets;
  out.count_a = job.n_a;
  out.count = job.n;
  out.rows = job.rows;
  out.num_perm = job.num_perm;
  out.bits = job.bits;
  out.need = job.need;
  return run(out, cost, ws, found);
}

bool GpuJoin::join(const SimhashJob& job, double cost, Workspace& ws, const Found& found) {
  NeardupGpuJob out = {};
  out.kind = NEARDUP_GPU_SIMHASH;
  out.two_sets = job.two_sets;
  out.count_a = job.n_a;
  out.count = job.n;
  out.values = job.values;
  out.most = job.most;
  return run(out, cost, ws, found);
}

bool GpuJoin::join(const CtphJob& job, double cost, Workspace& ws, const Found& found) {
  NeardupGpuJob out = {};
  out.kind = NEARDUP_GPU_CTPH;
  out.two_sets = job.two_sets;
  out.count = job.n;
  out.parts = reinterpret_cast<const NeardupGpuPart*>(job.parts);
  out.most_by_sum = job.most;
  return run(out, cost, ws, found);
}

}  // namespace neardup
