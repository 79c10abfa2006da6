// The directory that a reader goes by: borrowed from the session's, read again when it has moved on.
#pragma once

#include "pg/lsh/store/tree_cache.h"

namespace neardup {

// How an attempt to read by a directory ended.
enum class ReadOutcome {
  done,
  stale,  // the directory has moved on: read it, and try again
  full,   // there is more than the memory, or the estimate, has room for
};

// Plain data.
class DirectoryReader {
 public:
  // What is borrowed is given back when the context goes, whatever ends the scan. snapshot: of the scan, or null.
  void init(Relation index, MemoryContext context, Snapshot snapshot);
  void set_snapshot(Snapshot snapshot) { snapshot_ = snapshot; }

  // Looks at the directory as it is now.
  void read();
  // The same unless that was done just now.
  void use();
  // Gives it back, so that many copies are forgotten; and takes it up again as one who reads more than once.
  void rewind();

  // After an attempt that met a stale directory.
  void stale_again(int* attempts);
  // After the last attempt.
  void end_attempts();

  Relation index() const { return index_; }
  const LshConfig& config() const { return config_; }
  const LshMeta& directory() const { return *directory_; }
  RunTree* tree(int run) const { return &trees_[run]; }
  bool is_built(int run) const { return directory_->runs[run].state != kBuilding; }
  // Whether it is the first run of its unit.
  bool begins_unit(int run) const;

  // Calls f(row) for each row of the pending pages.
  template <typename F>
  ReadOutcome for_pending_rows(F f) const {
    for (int i = 0; i < directory_->npending; ++i) {
      CHECK_FOR_INTERRUPTS();
      const PendingSlot& slot = directory_->pending[i];
      Buffer buffer;
      if (lock_page(index_, slot.block, slot.id, kPendingPage, nullptr, &buffer) != PageState::good) {
        if (pinned_ || directory_change(index_) == directory_->change)
          report_corrupt(index_, slot.block, "a pending page is not there");
        return ReadOutcome::stale;
      }
      if (snapshot_ != nullptr) test_old_snapshot(snapshot_, index_, BufferGetPage(buffer));
      PendingReader reader;
      reader.open(BufferGetPage(buffer));
      PendingRowView row;
      while (reader.next(index_, slot.block, &row)) f(row);
      UnlockReleaseBuffer(buffer);
    }
    return ReadOutcome::done;
  }

 private:
  void forget();
  void test_snapshot() const;

  Relation index_;
  Snapshot snapshot_;
  TreeSet** set_;  // what is borrowed, or null; given back when the context goes
  const LshMeta* directory_;
  RunTree* trees_;  // one for each run of the directory
  LshConfig config_;
  bool pinned_;   // under the maintenance lock
  bool is_read_;  // read() was called just now
};

}  // namespace neardup
