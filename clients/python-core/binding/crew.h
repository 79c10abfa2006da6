// Threads that share the documents of a chunk, without Python's lock, and Ctrl-C meanwhile.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <nanobind/nanobind.h>
#include <thread>
#include <vector>

#include "core/base/stop.h"

namespace neardup::python {

// The work on number i of a run. stop is polled by the core in long documents.
using Work = std::function<void(size_t i, StopCheck* stop)>;

// As many threads as asked for, the caller's among them. They end with the object.
class Crew {
 public:
  explicit Crew(unsigned threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // work(i) for every i below n. The first exception of any thread ends all and comes out here; after Ctrl-C that is
  // nb::python_error. Called without Python's lock; only the caller's thread takes it, now and then.
  void run(size_t n, const Work& work);

 private:
  class WorkerStop;
  class CallerStop;

  void serve() noexcept;
  void share(StopCheck* stop) noexcept;
  void fail(std::exception_ptr error) noexcept;

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  size_t round_ = 0;  // a run is a round
  size_t busy_ = 0;   // threads of the round that have not ended it
  bool over_ = false;
  std::exception_ptr error_;

  // The round.
  const Work* work_ = nullptr;
  size_t n_ = 0;
  size_t portion_ = 1;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stopped_{false};
};

}  // namespace neardup::python
