// See prefetch.h.
#include "pg/lsh/prefetch.h"

extern "C" {
#include "access/tableam.h"
#include "utils/spccache.h"
}

namespace neardup {
namespace {

constexpr size_t kMostRowBytes = 1024;  // of a row that are asked for; what follows, the processor guesses

const ItemIdData* line_pointer(const char* page, uint64_t tid) {
  const size_t at = SizeOfPageHeaderData + sizeof(ItemIdData) * ((tid & 0xffff) - 1);
  return at + sizeof(ItemIdData) <= BLCKSZ ? reinterpret_cast<const ItemIdData*>(page + at) : nullptr;
}

}  // namespace

void RowPrefetch::start(Relation table, size_t n) {
  table_ = n > 1 && table != nullptr && table->rd_tableam == GetHeapamTableAmRoutine() && !RelationUsesLocalBuffers(table) &&
                   get_tablespace_io_concurrency(table->rd_rel->reltablespace) > 0
               ? table
               : nullptr;
  if (table_ != nullptr) blocks_ = RelationGetNumberOfBlocks(table);
  asked_ = seen_ = 0;
  last_block_ = InvalidBlockNumber;
}

void RowPrefetch::ask(uint64_t tid) {
  const BlockNumber block = static_cast<BlockNumber>(tid >> 16);
  Buffer* recent = &recent_[asked_ % kFar];
  if (block == last_block_)
    *recent = recent_[(asked_ + kFar - 1) % kFar];
  else if (block >= blocks_)
    *recent = InvalidBuffer;
  else
    *recent = PrefetchBuffer(table_, MAIN_FORKNUM, block).recent_buffer;
  last_block_ = block;
  ++asked_;
  const char* page = page_hint(*recent);
  if (page == nullptr) return;
  prefetch_line(GetBufferDescriptor(*recent - 1));
  prefetch_line(page);
  if (const ItemIdData* item = line_pointer(page, tid)) prefetch_line(item);
}

void RowPrefetch::see(uint64_t tid) {
  const char* page = page_hint(recent_[seen_ % kFar]);
  ++seen_;
  if (page == nullptr) return;
  const ItemIdData* item = line_pointer(page, tid);
  if (item == nullptr) return;
  const ItemIdData copy = *item;  // may change meanwhile
  if (copy.lp_flags != LP_NORMAL) return;
  const size_t at = copy.lp_off;
  if (at < BLCKSZ) prefetch_bytes(page + at, Min(Min(size_t{copy.lp_len}, kMostRowBytes), BLCKSZ - at));
}

}  // namespace neardup
