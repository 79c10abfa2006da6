// See gpu_word_tiles.h.
#include "offload/gpu_word_tiles.h"

#include <vector>

#include "core/work/signals_blocked.h"
#include "core/work/workspace.h"

namespace neardup {
namespace {

NeardupGpuWordRows word_rows(const WordMatrix& m) noexcept { return {m.begin, m.features, m.values, m.rows, m.first}; }

}  // namespace

void GpuWords::release() noexcept {
  if (words_ == nullptr) return;
  api_->words_stats(words_, &stats_);
  api_->words_destroy(words_);
  words_ = nullptr;
}

bool GpuWords::give_up(const char* reason, bool for_good) {
  release();
  return fallback_.give_up(reason, for_good);
}

bool GpuWords::failed(NeardupGpuStatus status) {
  release();
  return fallback_.failed(status, error_);
}

bool GpuWords::begin(const WordMatrix& block, const uint32_t* weights, uint32_t words, uint32_t features, uint32_t k,
                     double cost, Workspace& ws) {
  release();
  stats_ = {};
  api_ = fallback_.open(cost);
  if (api_ == nullptr) return false;
  const NeardupGpuOptions options = fallback_.options();
  NeardupGpuStatus status;
  {
    const SignalsBlocked blocked;
    status = api_->words_create(&options, &words_, error_, sizeof error_);
  }
  if (status != NEARDUP_GPU_OK) return failed(status);
  try {
    ws.poller.check();
  } catch (...) {
    release();
    throw;
  }
  const NeardupGpuWordBlock job = {word_rows(block), weights, words, features, k};
  status = api_->words_begin(words_, &job, error_, sizeof error_);
  if (status != NEARDUP_GPU_OK) return failed(status);
  owner_ = &ws;
  block_end_ = block.first + block.rows;
  return true;
}

bool GpuWords::probe(const WordMatrix& rows, const float* least, Workspace& ws, const Found& found) {
  // Nothing was begun, or what was has been given back, or has given way to another engine's.
  if (words_ == nullptr || owner_ != &ws) return give_up("the GPU was given back in the middle of a block", false);
  bool done;
  try {
    done = run_probe(rows, least, ws, found);
  } catch (...) {
    release();
    throw;
  }
  if (done && rows.first + rows.rows >= block_end_) release();
  return done;
}

bool GpuWords::run_probe(const WordMatrix& rows, const float* least, Workspace& ws, const Found& found) {
  const NeardupGpuWordRows job = word_rows(rows);
  NeardupGpuStatus status = api_->words_probe(words_, &job, least, error_, sizeof error_);
  if (status != NEARDUP_GPU_OK) return failed(status);
  std::vector<NeardupGpuPair> some(kStepPairs);
  for (double done = 0; done < 1;) {
    ws.poller.check();
    uint32_t n = 0;
    status = api_->words_step(words_, some.data(), kStepPairs, &n, &done, error_, sizeof error_);
    if (status != NEARDUP_GPU_OK) return failed(status);
    for (uint32_t i = 0; i < n; ++i) {
      ws.poller.spend(20);
      found(some[i].a, some[i].b, some[i].value);
    }
  }
  return true;
}

}  // namespace neardup
