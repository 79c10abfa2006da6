// Small documents together: several threads work on them, and what they find comes back in the order of the documents.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/passages/find_windows.h"
#include "core/work/parallel.h"
#include "core/work/workspace.h"

namespace neardup {

class DocumentBatch {
 public:
  DocumentBatch(unsigned threads, Workspace& ws)
      : threads_(threads),
        ws_(ws),
        bytes_(std::clamp(memory_share(ws, kShare), kLeastBytes, kMaxBatchBytes)),
        task_bytes_(std::max<size_t>(1, bytes_ / kTasks)) {}

  // True if a document is to be worked on alone.
  bool is_large(size_t size) const noexcept { return size > bytes_ / 2; }
  bool has_room(size_t size) const noexcept { return used_ + size <= bytes_; }

  // Where the text of a document goes, whose own pointer does not count. It has room.
  uint8_t* reserve(const PlacedDocument& document) {
    if (buffer_.size() == 0) buffer_ = Array<uint8_t>(ws_.ledger, bytes_);
    uint8_t* const text = buffer_.data() + used_;
    documents_.push_back(document);
    documents_.back().text = text;
    documents_.back().first_run = documents_.back().end_run = runs_.size();
    used_ += document.size;
    return text;
  }
  void add(const PlacedDocument& document) {
    std::copy_n(document.text, document.size, reserve(document));
    ws_.poller.spend(document.size / 4);
  }

  // A run of windows of the document that was reserved last.
  void add_run(const WindowRun& run) {
    runs_.push_back(run);
    documents_.back().end_run = runs_.size();
  }
  const WindowRun& run_at(size_t i) const noexcept { return runs_[i]; }

  // work(worker, document, stop, out) for each document, on several threads; take(result) for all that it has put out,
  // in order, on this one. Then the batch is empty.
  template <class Result, class Work, class Take>
  void run(Work work, Take take) {
    const std::vector<size_t> tasks = cut();
    std::vector<std::vector<Result>> results(tasks.size() - 1);
    run_tasks(threads_, results.size(), ws_.poller, [&](unsigned worker, size_t task, HitSink& sink) {
      SinkStop stop(sink);
      for (size_t d = tasks[task]; d < tasks[task + 1]; ++d) work(worker, documents_[d], &stop, &results[task]);
    });
    size_t held = 0;
    for (const std::vector<Result>& r : results) held += r.capacity() * sizeof(Result);
    ws_.ledger.hold(held);
    ws_.ledger.release(held);
    for (const std::vector<Result>& r : results)
      for (const Result& result : r) take(result);
    documents_.clear();
    runs_.clear();
    used_ = 0;
  }

 private:
  // The share of the memory limit: what a document gives may take 32 times as much.
  static constexpr size_t kShare = 256;
  static constexpr size_t kLeastBytes = 16 * 1024;
  static constexpr size_t kMaxBatchBytes = size_t{4} << 20;
  static constexpr size_t kTasks = 16;

  // Documents of each task: the first ones, and the end.
  std::vector<size_t> cut() const {
    std::vector<size_t> out{0};
    size_t bytes = 0;
    for (size_t d = 0; d < documents_.size(); ++d) {
      bytes += documents_[d].size;
      if (bytes < task_bytes_ && d + 1 < documents_.size()) continue;
      out.push_back(d + 1);
      bytes = 0;
    }
    return out;
  }

  const unsigned threads_;
  Workspace& ws_;
  const size_t bytes_;
  const size_t task_bytes_;
  Array<uint8_t> buffer_;
  size_t used_ = 0;
  std::vector<PlacedDocument> documents_;
  std::vector<WindowRun> runs_;
};

}  // namespace neardup
