// See crew.h.
#include "binding/crew.h"

#include <algorithm>
#include <chrono>

#include "core/work/signals_blocked.h"

namespace neardup::python {
namespace {

namespace nb = nanobind;
using Clock = std::chrono::steady_clock;

// The time between two looks for signals. Each look may wait for another thread to give up Python's lock.
constexpr auto kSignalPeriod = std::chrono::milliseconds(50);
// A thread takes some documents at once, and all threads together many portions, so that they end together.
constexpr size_t kMostAtOnce = 64;
constexpr size_t kPortionsEach = 8;

}  // namespace

class Crew::WorkerStop final : public StopCheck {
 public:
  explicit WorkerStop(Crew& crew) : crew_(crew) {}
  bool should_stop() noexcept override { return crew_.stopped_.load(std::memory_order_relaxed); }

 private:
  Crew& crew_;
};

class Crew::CallerStop final : public StopCheck {
 public:
  explicit CallerStop(Crew& crew) : crew_(crew) {}
  bool should_stop() noexcept override {
    const Clock::time_point now = Clock::now();
    if (now - asked_ >= kSignalPeriod) {
      asked_ = now;
      ask_for_signals();
    }
    return crew_.stopped_.load(std::memory_order_relaxed);
  }

 private:
  void ask_for_signals() noexcept {
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) crew_.fail(std::make_exception_ptr(nb::python_error()));
  }

  Crew& crew_;
  Clock::time_point asked_ = Clock::now();
};

Crew::Crew(unsigned threads) {
  const SignalsBlocked blocked;
  threads_.reserve(threads);
  try {
    for (unsigned i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  } catch (const std::exception&) {
    // The system gives no more threads, or no memory for them: the ones that run do the work.
  }
}

Crew::~Crew() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::serve() noexcept {
  size_t done = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return over_ || round_ != done; });
    if (over_) return;
    done = round_;
    lock.unlock();
    WorkerStop stop(*this);
    share(&stop);
    lock.lock();
    if (--busy_ == 0) end_.notify_one();
  }
}

void Crew::share(StopCheck* stop) noexcept {
  try {
    for (;;) {
      const size_t begin = next_.fetch_add(portion_, std::memory_order_relaxed);
      if (begin >= n_ || stop->should_stop()) return;
      for (size_t i = begin; i < std::min(begin + portion_, n_); ++i) (*work_)(i, stop);
    }
  } catch (...) {
    fail(std::current_exception());
  }
}

void Crew::fail(std::exception_ptr error) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!error_) error_ = std::move(error);
  stopped_.store(true, std::memory_order_relaxed);
}

void Crew::run(size_t n, const Work& work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_ = &work;
    n_ = n;
    portion_ = std::clamp<size_t>(n / ((threads_.size() + 1) * kPortionsEach), 1, kMostAtOnce);
    next_.store(0, std::memory_order_relaxed);
    stopped_.store(false, std::memory_order_relaxed);
    error_ = nullptr;
    busy_ = threads_.size();
    ++round_;
  }
  begin_.notify_all();
  CallerStop stop(*this);
  share(&stop);
  std::unique_lock<std::mutex> lock(mutex_);
  while (!end_.wait_for(lock, kSignalPeriod, [&] { return busy_ == 0; })) {
    lock.unlock();
    stop.should_stop();
    lock.lock();
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace neardup::python
