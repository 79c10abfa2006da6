// Pages of an lsh index: their heads and checks, the meta page, free space, the two heavyweight locks.
#pragma once

#include "pg/lsh/lsh.h"
#include "pg/base/pg.h"

extern "C" {
#include "access/generic_xlog.h"
}

namespace neardup {

inline void* page_body(Page page) { return PageGetContents(page); }
// At its fixed place, whatever a damaged header says.
inline constexpr LocationIndex kPageTailAt = BLCKSZ - sizeof(PageTail);
inline PageTail* page_tail(Page page) {
  return reinterpret_cast<PageTail*>(reinterpret_cast<char*>(page) + kPageTailAt);
}
inline LshMeta* page_meta(Page page) { return static_cast<LshMeta*>(page_body(page)); }
// Bytes of the body that are in use.
inline uint32_t used_bytes(Page page) { return reinterpret_cast<PageHeader>(page)->pd_lower - SizeOfPageHeaderData; }

// An empty page of this kind; pd_lower ends at its fixed head.
void init_lsh_page(Page page, uint16_t kind, uint64_t owner, uint32_t ordinal);

// True if the page has our header and tail; false for new pages and for damaged ones.
bool is_lsh_page(Page page);
// True for a page of this owner and kind, open or closed.
bool is_page_of_owner(Page page, uint64_t owner, uint16_t kind);

// ERRCODE_INDEX_CORRUPTED with the index's name, the block and `what`, hint REINDEX.
[[noreturn]] void report_corrupt(Relation index, BlockNumber block, const char* what);

// An error that says why unless the meta page is one that this code can work with.
void check_meta(Relation index, const LshMeta* meta, Size page_lower);

// Copies the meta page under a share lock, checked.
void read_meta(Relation index, LshMeta* meta);
// The same, palloced.
LshMeta* copy_meta(Relation index);
// Copies any page under a share lock.
void copy_page(Relation index, BlockNumber block, BufferAccessStrategy strategy, Page to);
uint64_t directory_change(Relation index);
// The checked meta page in a buffer that the caller has locked.
const LshMeta* locked_meta(Relation index, Buffer buffer);

// A new meta page's content: unbound, empty, ids from 1.
void init_meta(Page page, const LshConfig& config);

const RunSlot* find_run(const LshMeta& meta, uint64_t id);
RunSlot* find_run(LshMeta* meta, uint64_t id);
inline Entry run_lo(const RunSlot& run) { return unpack_entry(run.lo); }
inline Entry run_hi(const RunSlot& run) { return unpack_entry(run.hi); }

enum class PageState {
  good,  // the owner's page of this kind
  gone,  // it belongs to another: the directory is old, or the leaf lies wholly below its run's lo
};

// Pins the block in the shared buffer in which it was last, as a read does, but without looking it up in the table of
// buffers; false: it is not there any more, or in no shared buffer.
bool pin_recent(Relation relation, BlockNumber block, Buffer recent);

// True if the relation has this block. The file is asked for its size only beyond what the session has seen.
bool has_block(Relation relation, BlockNumber block);

// Reads the block that another page links. PostgreSQL's own words for one that is not there depend on how far away it
// is, and say nothing of the index: it is damaged. The meta page is linked by none.
Buffer read_linked(Relation index, BlockNumber block, BufferAccessStrategy strategy = nullptr);

// Locks the block (share) and looks at it. good: the buffer stays locked, the caller unlocks and releases.
// A page of the right owner and of another kind, or no page of ours, raises an error. recent: the buffer in which the
// block lay when it was read last, if known.
PageState lock_page(Relation index, BlockNumber block, uint64_t owner, uint16_t kind, BufferAccessStrategy strategy,
                    Buffer* out, Buffer recent = InvalidBuffer);

// Opens a locked leaf. An error when its bytes are impossible.
void open_leaf(Relation index, Buffer buffer, LeafView* leaf);
// Checks a locked inner or root page: n in 1..kMaxChildren, level.
const InnerPage* open_inner(Relation index, Buffer buffer, uint16_t level);

// A free page, X-locked, from the free space map or by extension. `directory` was copied before this call.
Buffer alloc_page(Relation index, const LshMeta& directory);
bool page_is_free(Page page, const LshMeta& directory);

inline uint64_t pack_tid(const ItemPointerData& tid) {
  return static_cast<uint64_t>(ItemPointerGetBlockNumberNoCheck(&tid)) << 16 | ItemPointerGetOffsetNumberNoCheck(&tid);
}
inline void set_tid(ItemPointerData* out, uint64_t tid) {
  ItemPointerSet(out, static_cast<BlockNumber>(tid >> 16), static_cast<OffsetNumber>(tid & 0xffff));
}

// The same for a TID that PostgreSQL is going to be asked about. Raises an error where no row can be: it passes by some
// impossible ones as if their rows were gone. table: that of the index, where its blocks are to be looked at, or null.
void set_row(Relation index, Relation table, uint64_t tid, unsigned most_offset, ItemPointerData* out);

// Heavyweight locks; released at the end of the (sub)transaction that fails.
enum class IndexLock : uint16 { maintenance = 1, vacuum = 2 };
bool acquire_lock(Relation index, IndexLock lock, LOCKMODE mode, bool wait);
void release_lock(Relation index, IndexLock lock, LOCKMODE mode);

// A set of blocks of an index. Plain data.
struct BlockSet {
  uint64_t* words;
  BlockNumber blocks;  // those from here on are never in it

  void init(BlockNumber n) {
    blocks = n;
    words = static_cast<uint64_t*>(MemoryContextAllocExtended(CurrentMemoryContext, sizeof(uint64_t) * (n / 64 + 1),
                                                              MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  }
  bool has(BlockNumber block) const { return block < blocks && (words[block / 64] >> (block % 64) & 1) != 0; }
  void add(BlockNumber block) {
    if (block < blocks) words[block / 64] |= uint64_t{1} << (block % 64);
  }
};

// One generic record over the meta page and others. The caller fills in between begin() and finish().
struct MetaChange {
  Buffer buffer;
  GenericXLogState* state;
  LshMeta* meta;

  void begin(Relation index) {
    lock(index);
    start(index);
  }
  // The caller locks the other pages between lock() and start().
  void lock(Relation index) {
    buffer = ReadBuffer(index, kLshMetaBlock);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    locked_meta(index, buffer);
  }
  void start(Relation index) {
    state = GenericXLogStart(index);
    meta = page_meta(GenericXLogRegisterBuffer(state, buffer, 0));
    ++meta->change;
  }
  void finish() {
    GenericXLogFinish(state);
    UnlockReleaseBuffer(buffer);
  }
};

}  // namespace neardup
