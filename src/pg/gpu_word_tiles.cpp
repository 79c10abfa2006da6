// See gpu_word_tiles.h.
#include "pg/gpu_word_tiles.h"

#include <cstdio>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/signals_blocked.h"
#include "core/workspace.h"
#include "pg/gpu_text.h"

namespace neardup {
namespace {

// Pairs that one step may bring.
constexpr uint32_t kStepPairs = 1 << 16;

NeardupGpuWordRows rows_of(const WordMatrix& m) noexcept { return {m.begin, m.features, m.values, m.rows, m.first}; }

}  // namespace

void GpuWords::release() noexcept {
  if (words_ == nullptr) return;
  api_->words_stats(words_, &stats_);
  api_->words_destroy(words_);
  words_ = nullptr;
}

bool GpuWords::give_up(const char* reason, bool for_good) {
  release();
  if (required_)
    throw Error(Errc::device, std::string("cannot search on the GPU: ") + reason, {},
                "With neardup.device = 'auto' or 'cpu' the CPU does it.");
  if (for_good && !failed_) {
    failed_ = true;
    std::snprintf(reason_, sizeof reason_, "%s", reason);
  }
  host_.fell_back(reason);
  return false;
}

bool GpuWords::failed(NeardupGpuStatus status) {
  make_plain(error_);
  if (error_[0] == '\0') std::snprintf(error_, sizeof error_, "the GPU module gave no reason");
  // Another time there may be memory.
  return give_up(error_, status != NEARDUP_GPU_OUT_OF_MEMORY);
}

bool GpuWords::begin(const WordMatrix& block, const uint32_t* weights, uint32_t words, uint32_t features, uint32_t k,
                     double cost, Workspace& ws) {
  release();
  stats_ = {};
  if (!required_ && cost < GpuJoin::kWorth) return false;
  if (!required_ && failed_) return give_up(reason_, true);
  const char* reason = nullptr;
  api_ = host_.open(&reason);
  if (api_ == nullptr) return give_up(reason, true);

  NeardupGpuOptions options = {};
  options.memory_limit = memory_limit_;
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
  const NeardupGpuWordBlock job = {rows_of(block), weights, words, features, k};
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
  const NeardupGpuWordRows job = rows_of(rows);
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
