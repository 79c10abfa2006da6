// See build_chunks.h.
#include "pg/lsh/write/build_chunks.h"

#include "pg/base/context.h"

extern "C" {
#include "commands/progress.h"
}

namespace neardup {
namespace {

constexpr uint32 kMaxPagesPerSource = 16;  // read at once, where memory allows it
constexpr size_t kBlockEntries = 256;

void seek_block(BufFile* file, uint64 block) {
  if (BufFileSeekBlock(file, static_cast<long>(block)) != 0)
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not seek in temporary file: %m")));
}

struct Source {
  BuildChunk rest;  // not read yet
  char* pages;
  uint32 n;
  uint32 at;
};

const void* next_leaf(Source* source, uint32 pages_per_source) {
  if (source->at == source->n) {
    source->n = static_cast<uint32>(Min(source->rest.leaves, pages_per_source));
    source->at = 0;
    if (source->n == 0) return nullptr;
    seek_block(source->rest.file, source->rest.first);
    buffile_read_exact(source->rest.file, source->pages, size_t{source->n} * BLCKSZ);
    source->rest.first += source->n;
    source->rest.leaves -= source->n;
  }
  return source->pages + size_t{source->at++} * BLCKSZ;
}

template <class Out>
void merge(const BuildChunk* chunks, uint32 n, uint32 pages_per_source, Out* out, int64* done) {
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh build merge", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(context);
  Owned<EntryMerge>* merge = make_owned<EntryMerge>(context, [n](PgStop*, PgTempFiles*) { return new EntryMerge(n); });
  Source* sources = static_cast<Source*>(palloc0(sizeof(Source) * n));
  for (uint32 i = 0; i < n; ++i) {
    sources[i].rest = chunks[i];
    sources[i].pages = static_cast<char*>(palloc(size_t{pages_per_source} * BLCKSZ));
  }
  Entry* block = static_cast<Entry*>(palloc(sizeof(Entry) * kBlockEntries));
  MemoryContextSwitchTo(old);
  for (;;) {
    uint32_t hungry;
    const size_t taken = merge->object->read(block, kBlockEntries, &hungry);
    out->add(block, taken);
    *done += static_cast<int64>(taken);
    if (hungry == EntryMerge::kNotHungry) {
      if (taken == 0) break;
      continue;
    }
    CHECK_FOR_INTERRUPTS();
    report_done(*done);
    if (!merge->object->feed(hungry, next_leaf(&sources[hungry], pages_per_source)))
      elog(ERROR, "a temporary file of the index build is damaged");
  }
  MemoryContextDelete(context);
}

uint32 pages_per_source(size_t memory, uint32 n) {
  const size_t pages = memory / n / (BLCKSZ + EntryMerge::kBytesPerSource);
  return static_cast<uint32>(Min(Max(pages, size_t{1}), size_t{kMaxPagesPerSource}));
}

}  // namespace

void report_phase(BuildPhase phase, int64 total) {
  const int params[] = {PROGRESS_CREATEIDX_SUBPHASE, PROGRESS_CREATEIDX_TUPLES_TOTAL, PROGRESS_CREATEIDX_TUPLES_DONE};
  const int64 values[] = {phase, total, 0};
  pgstat_progress_update_multi_param(3, params, values);
}

void report_done(int64 done) { pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, done); }

void ChunkWriter::init(BufFile* file) {
  memset(this, 0, sizeof *this);
  context_ = CurrentMemoryContext;
  file_ = file;
  packer_ = static_cast<RunPacker*>(palloc(sizeof(RunPacker)));
  packer_->begin_run();
  page_ = static_cast<char*>(palloc0(BLCKSZ));
  capacity_ = 64;
  chunks_ = static_cast<BuildChunk*>(palloc(sizeof(BuildChunk) * capacity_));
}

void ChunkWriter::add(const Entry* entries, size_t n) {
  packer_->add_all(entries, n, [this] { write_leaf(); });
}

void ChunkWriter::write_leaf() {
  CHECK_FOR_INTERRUPTS();
  packer_->write(page_);
  seek_block(file_, blocks_);
  buffile_write(file_, page_, BLCKSZ);
  ++blocks_;
}

void ChunkWriter::end_chunk() {
  if (!packer_->empty()) write_leaf();
  packer_->begin_run();
  if (blocks_ == chunk_first_) return;
  if (nchunks_ == capacity_) {
    capacity_ *= 2;
    chunks_ = static_cast<BuildChunk*>(repalloc_huge(chunks_, sizeof(BuildChunk) * capacity_));
  }
  chunks_[nchunks_++] = {chunk_first_, blocks_ - chunk_first_, file_};
  chunk_first_ = blocks_;
}

void ChunkWriter::save_chunks() {
  seek_block(file_, blocks_);
  buffile_write(file_, chunks_, sizeof(BuildChunk) * nchunks_);
}

void load_chunks(BufFile* file, uint64 blocks, uint32 nchunks, BuildChunk* out) {
  seek_block(file, blocks);
  buffile_read_exact(file, out, sizeof(BuildChunk) * nchunks);
  for (uint32 i = 0; i < nchunks; ++i) out[i].file = file;
}

void merge_chunks(BuildChunk* chunks, uint32 nchunks, size_t memory, uint64 total, IndexWriter* out) {
  const size_t affordable = memory / (BLCKSZ + EntryMerge::kBytesPerSource);
  const uint32 fan_in = static_cast<uint32>(Min(Max(affordable, size_t{2}), size_t{EntryMerge::kMaxSources}));
  BufFile* file = nullptr;
  if (nchunks > fan_in) {
    // First come, first merged: all chunks but the last have about the same size, so that this is a balanced tree.
    report_phase(kPhaseMerge, 0);
    ChunkWriter* writer = static_cast<ChunkWriter*>(palloc(sizeof(ChunkWriter)));
    file = BufFileCreateTemp(false);
    writer->init(file);
    BuildChunk* queue = chunks;
    int64 done = 0;
    while (nchunks > fan_in) {
      const uint32 n = Min(fan_in, nchunks - fan_in + 1);
      merge(queue, n, pages_per_source(memory, n), writer, &done);
      writer->end_chunk();
      // The place of the last chunk merged is free.
      queue += n - 1;
      nchunks -= n - 1;
      memmove(queue, queue + 1, sizeof(BuildChunk) * (nchunks - 1));
      queue[nchunks - 1] = writer->chunks()[writer->nchunks() - 1];
    }
    chunks = queue;
  }
  report_phase(kPhaseWrite, static_cast<int64>(total));
  int64 done = 0;
  if (nchunks != 0) merge(chunks, nchunks, pages_per_source(memory, nchunks), out, &done);
  if (file != nullptr) BufFileClose(file);
}

}  // namespace neardup
