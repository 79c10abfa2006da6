// The build's sorted chunks as leaves in temporary files, and their merge into the new index.
#pragma once

#include "core/lsh/entry_sort.h"
#include "pg/lsh/write/index_writer.h"

namespace neardup {

// Consecutive blocks of a file, each with a leaf.
struct BuildChunk {
  uint64 first;
  uint64 leaves;
  BufFile* file;  // of this process
};

// Writes chunks to a file of its own. Plain data, in the memory context that init() is called in.
class ChunkWriter {
 public:
  // file: empty, and positioned at its start; of the caller.
  void init(BufFile* file);

  // Adds entries to the chunk, in ascending order; those that repeat the one before are left out.
  void add(const Entry* entries, size_t n);
  void end_chunk();
  // Forgets all chunks; their place in the file is lost.
  void forget_chunks() { nchunks_ = 0; }

  uint32 nchunks() const { return nchunks_; }
  const BuildChunk* chunks() const { return chunks_; }
  uint64 blocks() const { return blocks_; }
  // Appends the list of chunks to the file, for load_chunks(), and leaves the position there.
  void save_chunks();

 private:
  void write_leaf();

  MemoryContext context_;
  BufFile* file_;
  RunPacker* packer_;
  char* page_;
  uint64 blocks_;
  uint64 chunk_first_;
  BuildChunk* chunks_;
  uint32 nchunks_;
  uint32 capacity_;
};

// The list that save_chunks() wrote behind so many blocks.
void load_chunks(BufFile* file, uint64 blocks, uint32 nchunks, BuildChunk* out);

// Merges the chunks into the index within `memory` bytes, by way of further temporary files if they are too many.
// Reports phases and progress. total: entries in all chunks.
void merge_chunks(BuildChunk* chunks, uint32 nchunks, size_t memory, uint64 total, IndexWriter* out);

enum BuildPhase : int64 { kPhaseScan = 2, kPhaseSort = 3, kPhaseMerge = 4, kPhaseWrite = 5 };
// total, done: of this phase.
void report_phase(BuildPhase phase, int64 total);
void report_done(int64 done);

}  // namespace neardup
