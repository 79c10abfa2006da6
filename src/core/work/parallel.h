// Searches on several threads. Workers run core code that neither polls nor touches a Workspace; what they find comes
// to the calling thread in batches, and only this thread polls, keeps accounts and uses temporary files.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/stop.h"
#include "core/work/workspace.h"

namespace neardup {

struct Hit {
  uint32_t x;
  uint32_t y;
  uint32_t value;
};

// The sink in which a task leaves what it finds, and which it asks whether to go on.
class HitSink {
 public:
  void add(uint32_t x, uint32_t y, uint32_t value) {
    if (hits_.size() == kHitBatch) flush();
    hits_.push_back({x, y, value});
  }

  // Called at least every few milliseconds of work, as Poller::spend() is. Leaves the task when it is time to stop.
  void spend(size_t units) {
    if (units < left_) {
      left_ -= units;
    } else {
      left_ = kPeriod;
      look_up();
    }
  }

  void look() { look_up(); }

 private:
  friend class TaskRun;
  static constexpr size_t kHitBatch = 4096;
  static constexpr size_t kPeriod = 500'000;

  explicit HitSink(class TaskRun& run) : run_(run) { hits_.reserve(kHitBatch); }
  void flush();
  void look_up();

  TaskRun& run_;
  std::vector<Hit> hits_;
  size_t left_ = kPeriod;
};

// A task's sink in the place of a StopCheck, which workers must not ask.
class SinkStop final : public StopCheck {
 public:
  explicit SinkStop(HitSink& sink) : sink_(sink) {}
  bool should_stop() noexcept override {
    try {
      sink_.look();
    } catch (...) {
      return true;
    }
    return false;
  }

 private:
  HitSink& sink_;
};

// work(worker, task, sink) for every task 0 .. tasks - 1, worker 0 .. threads - 1 at once; with one thread on this one.
// take(hits, n) on this thread. Errors of either, and cancelling, end all and come out here.
void run_tasks(
    unsigned threads, size_t tasks, Poller& poller, const std::function<void(unsigned, size_t, HitSink&)>& work,
    const std::function<void(const Hit*, size_t)>& take = [](const Hit*, size_t) {});

// From within a poll, by whoever will never return to it and is about to free what the tasks work on: ends all workers
// of this thread's run_tasks().
void join_all_tasks() noexcept;

}  // namespace neardup
