// Writes a new index's pages in order, past the buffer manager: one unit of live runs, and the meta page last.
#pragma once

#include "core/lsh/entry_sort.h"
#include "pg/lsh/lsh.h"
#include "pg/lsh/write/bulk_write.h"

namespace neardup {

// Plain data. Pages are written in the memory context that init() is called in.
class IndexWriter {
 public:
  void init(Relation index, ForkNumber fork);

  // Adds entries in ascending order; those that repeat the one before are left out.
  void add(const Entry* entries, size_t n);

  uint64_t entries() const { return done_entries_ + packer_->counts().entries; }

  // Writes what is left and the meta page. With config unbound there are no entries.
  void finish(const LshConfig& config);

 private:
  void write_leaf();
  void add_leaf(BlockNumber block, const Entry& first);
  void close_inner();
  void close_run();
  RunSlot* run() { return &meta_.runs[meta_.nruns]; }
  BlockNumber write(BulkWriteBuffer page);

  Relation index_;
  BulkWriteState* bulk_;
  RunPacker* packer_;
  BlockNumber next_block_;
  BulkWriteBuffer inner_;  // lists the last leaves; null: none yet
  BulkWriteBuffer root_;   // of a run of height 2; else null
  uint64_t done_entries_;  // of runs that are closed
  LshMeta meta_;           // its directory; run() is being written
};

}  // namespace neardup
