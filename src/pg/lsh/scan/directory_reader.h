// The directory that a reader goes by: borrowed from the session's, read again when it has moved on.
#pragma once

#include "pg/lsh/store/tree_cache.h"

namespace neardup {

// The end of an attempt to read by a directory.
enum class ReadOutcome {
  done,
  stale,  // the directory has moved on: read it, and try again
  full,   // there is more than the memory, or the estimate, has room for
};

// Plain data.
class DirectoryReader {
 public:
  // The context gives back what is borrowed, whatever ends the scan. snapshot: of the scan, or null.
  void init(Relation index, MemoryContext context, Snapshot snapshot);
  void set_snapshot(Snapshot snapshot) { snapshot_ = snapshot; }

  // Looks at the directory as it is now.
  void read();
  // The same unless that was done just now.
  void use();
  // Gives it back, so that many copies are forgotten; the next reader keeps copies from the start.
  void rewind();

  void stale_again(int* attempts);
  void end_attempts();

  Relation index() const { return index_; }
  const LshConfig& config() const { return config_; }
  const LshMeta& directory() const { return *directory_; }
  RunTree* tree(int run) const { return &trees_[run]; }
  bool is_built(int run) const { return directory_->runs[run].state != kBuilding; }
  bool begins_unit(int run) const;

  // Calls f(row) for each row of the pending pages.
  template <typename F>
  ReadOutcome for_pending_rows(F f) const {
    return neardup::for_pending_rows(index_, *directory_, pinned_, snapshot_, f) ? ReadOutcome::done
                                                                                 : ReadOutcome::stale;
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
