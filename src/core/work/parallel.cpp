// See parallel.h.
#include "core/work/parallel.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "core/work/signals_blocked.h"

namespace neardup {

class TaskRun;

namespace {

// Batches that wait before workers do.
constexpr size_t kMaxWaitingBatches = 64;
// On one thread progress is reported once for so many tasks.
constexpr size_t kTasksBetweenReports = 16;

// Thrown by a worker when another has failed or the caller has had enough.
struct Stopped {};

// The innermost run of this thread that has workers.
thread_local TaskRun* current_run = nullptr;

}  // namespace

class TaskRun {
 public:
  TaskRun(unsigned threads, size_t tasks, Poller& poller, const std::function<void(unsigned, size_t, HitSink&)>& work,
          const std::function<void(const Hit*, size_t)>& take)
      : threads_(threads), tasks_(tasks), poller_(poller), work_(work), take_(take) {}

  void run() {
    if (threads_ <= 1 || tasks_ <= 1) {
      run_here();
      return;
    }
    threaded_ = true;
    struct JoinAll {  // whatever happens: a thread must not outlive what it works on
      TaskRun& run;
      explicit JoinAll(TaskRun& r) : run(r) {
        run.outer_ = current_run;
        current_run = &run;
      }
      ~JoinAll() {
        run.join();
        current_run = run.outer_;
      }
    } join_all{*this};
    {
      const SignalsBlocked blocked;
      const size_t n = std::min<size_t>(threads_, tasks_);
      workers_.reserve(n);
      running_ = n;
      for (size_t i = 0; i < n; ++i) {
        try {
          workers_.emplace_back([this, i] { worker(static_cast<unsigned>(i)); });
        } catch (const std::exception&) {  // the system gives no more threads
          const std::lock_guard lock(mutex_);
          running_ -= n - i;
          break;
        }
      }
    }
    if (workers_.empty()) {
      threaded_ = false;
      run_here();
      return;
    }
    consume();
  }

  void join() noexcept {
    stop();
    for (std::thread& t : workers_)
      if (t.joinable()) t.join();
  }
  TaskRun* outer() const noexcept { return outer_; }

 private:
  friend class HitSink;

  void run_here() {
    HitSink sink(*this);
    for (size_t task = 0; task < tasks_; ++task) {
      if (task % kTasksBetweenReports == 0) poller_.parts(task, tasks_);
      work_(0, task, sink);
    }
    sink.flush();
  }

  void worker(unsigned number) noexcept {
    std::exception_ptr error;
    try {
      HitSink sink(*this);
      for (;;) {
        const size_t task = next_task_.fetch_add(1, std::memory_order_relaxed);
        if (task >= tasks_) break;
        work_(number, task, sink);
      }
      sink.flush();
    } catch (const Stopped&) {
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (error != nullptr && error_ == nullptr) error_ = error;
    if (error != nullptr) stopping_.store(true, std::memory_order_relaxed);
    --running_;
    changed_.notify_all();
  }

  void consume() {
    for (;;) {
      std::vector<Hit> batch;
      {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::milliseconds(5),
                          [this] { return !waiting_.empty() || running_ == 0 || error_ != nullptr; });
        if (error_ != nullptr) std::rethrow_exception(error_);
        if (!waiting_.empty()) {
          batch.swap(waiting_.front());
          waiting_.pop_front();
          changed_.notify_all();
        } else if (running_ == 0) {
          return;
        }
      }
      if (!batch.empty()) take_(batch.data(), batch.size());
      poller_.parts(std::min(next_task_.load(std::memory_order_relaxed), tasks_), tasks_);
      poller_.check();
    }
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopping_.store(true, std::memory_order_relaxed);
    changed_.notify_all();
  }

  void hand_over(std::vector<Hit>& hits) {
    if (!threaded_) {
      take_(hits.data(), hits.size());
      hits.clear();
      return;
    }
    std::vector<Hit> batch;
    batch.reserve(hits.capacity());
    batch.swap(hits);
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [this] { return waiting_.size() < kMaxWaitingBatches || stopping_.load(std::memory_order_relaxed); });
    if (stopping_.load(std::memory_order_relaxed)) throw Stopped{};
    waiting_.push_back(std::move(batch));
    changed_.notify_all();
  }

  void look_up() {
    if (!threaded_) {
      poller_.check();
    } else if (stopping_.load(std::memory_order_relaxed)) {
      throw Stopped{};
    }
  }

  unsigned threads_;
  size_t tasks_;
  Poller& poller_;
  const std::function<void(unsigned, size_t, HitSink&)>& work_;
  const std::function<void(const Hit*, size_t)>& take_;
  bool threaded_ = false;
  std::atomic<size_t> next_task_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<Hit>> waiting_;
  size_t running_ = 0;
  std::exception_ptr error_;
  std::vector<std::thread> workers_;
  TaskRun* outer_ = nullptr;
};

void HitSink::flush() {
  if (!hits_.empty()) run_.hand_over(hits_);
}

void HitSink::look_up() { run_.look_up(); }

void run_tasks(unsigned threads, size_t tasks, Poller& poller,
               const std::function<void(unsigned, size_t, HitSink&)>& work,
               const std::function<void(const Hit*, size_t)>& take) {
  TaskRun(threads, tasks, poller, work, take).run();
}

void join_all_tasks() noexcept {
  for (TaskRun* run = current_run; run != nullptr; run = run->outer()) run->join();
}

}  // namespace neardup
