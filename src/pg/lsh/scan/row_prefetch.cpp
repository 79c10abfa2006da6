// See row_prefetch.h.
#include "pg/lsh/scan/row_prefetch.h"
#include "pg/lsh/store/lsh_page.h"

extern "C" {
#include "access/heapam.h"
#include "utils/spccache.h"
}

namespace neardup {
namespace {

constexpr size_t kMaxRowBytes = 1024;  // of a row that are asked for; what follows, the processor guesses

const ItemIdData* line_pointer(const char* page, uint64_t tid) {
  const size_t at = SizeOfPageHeaderData + sizeof(ItemIdData) * ((tid & 0xffff) - 1);
  return at + sizeof(ItemIdData) <= BLCKSZ ? reinterpret_cast<const ItemIdData*>(page + at) : nullptr;
}

// The buffer in which a block was last, by file and block; two that share a slot push each other out. Never trusted:
// who pins it compares the buffer's tag, and one that only asks for cache lines may ask in vain.
struct KnownBuffer {
  uint32_t block;
  Buffer buffer;
};
constexpr uint32_t kLeastKnown = 1 << 10;
constexpr uint32_t kMaxKnown = 1 << 17;  // 1 MB
constexpr int kScansBefore = 8;          // a session with few queries needs none
KnownBuffer* known = nullptr;
uint32_t num_known = 0;  // a power of two

void make_room(BlockNumber blocks) {
  static int scans = 0;
  if (!NEARDUP_READS_HINTS) return;
  if (scans < kScansBefore) {
    ++scans;
    return;
  }
  if (num_known == kMaxKnown || num_known >= blocks) return;
  uint32_t want = kLeastKnown;
  while (want < blocks && want < kMaxKnown) want *= 2;
  void* memory =
      MemoryContextAllocExtended(TopMemoryContext, want * sizeof(KnownBuffer), MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);
  if (memory == nullptr) return;
  if (known != nullptr) pfree(known);
  known = static_cast<KnownBuffer*>(memory);
  num_known = want;
}

// Neighbours lie side by side, files somewhere else.
KnownBuffer* known_slot(Relation table, BlockNumber block) {
  return num_known == 0 ? nullptr : &known[(block + file_number(table) * 0x9E3779B1u) & (num_known - 1)];
}

bool may_hold(Buffer buffer, Relation table, BlockNumber block) {
#if NEARDUP_READS_HINTS
  const BufferTag& tag = GetBufferDescriptor(buffer - 1)->tag;
  return tag.blockNum == block && NEARDUP_TAG_FILE_NUMBER(tag) == file_number(table);
#else
  return false;
#endif
}

BlockNumber heap_block(uint64_t tid) { return static_cast<BlockNumber>(tid >> 16); }

}  // namespace

void RowPrefetch::start(Relation table, const CandidateList& list) {
  table_ = list.n > 1 && table != nullptr && table->rd_tableam == GetHeapamTableAmRoutine() &&
                   !RelationUsesLocalBuffers(table) && get_tablespace_io_concurrency(table->rd_rel->reltablespace) > 0
               ? table
               : nullptr;
  if (table_ != nullptr) {
    // Asked for once in a scan, and again where rows lie beyond.
    if (blocks_ == 0) blocks_ = RelationGetNumberOfBlocks(table);
    make_room(blocks_);
    for (size_t at = 0; at < kBuffersAhead; ++at) ask_ahead(list, at);
  }
  asked_ = seen_ = 0;
  last_block_ = InvalidBlockNumber;
}

void RowPrefetch::ask_ahead(const CandidateList& list, size_t at) const {
  if (at < list.n)
    if (const KnownBuffer* slot = known_slot(table_, heap_block(candidate_tid(list.items[at])))) prefetch_line(slot);
}

Buffer RowPrefetch::look_up(BlockNumber block) const {
  const Buffer buffer = PrefetchBuffer(table_, MAIN_FORKNUM, block).recent_buffer;
  if (buffer > 0)
    if (KnownBuffer* slot = known_slot(table_, block)) *slot = {block, buffer};
  return buffer;
}

void RowPrefetch::ask(uint64_t tid) {
  const BlockNumber block = heap_block(tid);
  Buffer* recent = &recent_[asked_ % kPointersAhead];
  if (block == last_block_)
    *recent = recent_[(asked_ + kPointersAhead - 1) % kPointersAhead];
  else if (block >= blocks_ && block >= (blocks_ = RelationGetNumberOfBlocks(table_)))
    *recent = InvalidBuffer;
  else if (const KnownBuffer* slot = known_slot(table_, block);
           slot != nullptr && slot->block == block && slot->buffer > 0)
    *recent = slot->buffer;
  else
    *recent = look_up(block);
  last_block_ = block;
  ++asked_;
  const char* page = page_hint(*recent);
  if (page == nullptr) return;
  prefetch_descriptor(*recent);
  prefetch_line(page);
  if (const ItemIdData* item = line_pointer(page, tid)) prefetch_line(item);
}

void RowPrefetch::see(uint64_t tid) {
  Buffer* recent = &recent_[seen_ % kPointersAhead];
  ++seen_;
  if (page_hint(*recent) == nullptr) return;
  // It may hold another block by now, and this one lie on disk.
  if (!may_hold(*recent, table_, heap_block(tid))) *recent = look_up(heap_block(tid));
  const char* page = page_hint(*recent);
  if (page == nullptr) return;
  const ItemIdData* item = line_pointer(page, tid);
  if (item == nullptr) return;
  const ItemIdData copy = *item;  // may change meanwhile
  if (copy.lp_flags != LP_NORMAL) return;
  const size_t at = copy.lp_off;
  if (at < BLCKSZ) prefetch_bytes(page + at, Min(Min(size_t{copy.lp_len}, kMaxRowBytes), BLCKSZ - at));
}

void RowPrefetch::ask_up_to(const CandidateList& list, size_t end) {
  while (asked_ < end) {
    ask_ahead(list, asked_ + kBuffersAhead);
    ask(candidate_tid(list.items[asked_]));
  }
}

void RowPrefetch::see_up_to(const CandidateList& list, size_t end) {
  while (seen_ < end) see(candidate_tid(list.items[seen_]));
}

Buffer RowPrefetch::pin_for(IndexFetchTableData* fetch, uint64_t tid, Buffer recent) const {
#if NEARDUP_CHECKS_ROWS
  // The heap does the same for a page that it comes to, but for the look-up.
  IndexFetchHeapData* heap = reinterpret_cast<IndexFetchHeapData*>(fetch);
  if (heap->xs_cbuf != recent && pin_recent(table_, heap_block(tid), recent))
    set_fetched_page(heap, heap_block(tid), recent);
  // The pinned page may be another row's.
  return BufferIsValid(heap->xs_cbuf) && BufferGetBlockNumber(heap->xs_cbuf) == heap_block(tid) ? heap->xs_cbuf
                                                                                                : InvalidBuffer;
#else
  return InvalidBuffer;
#endif
}

}  // namespace neardup
