// Inserting a row: its keys are appended to the open pending page; now and then the inserter does some maintenance.
#include "pg/lsh/store/options.h"
#include "pg/lsh/store/lsh_columns.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/store/stored_keys.h"
#include "pg/lsh/write/maintenance.h"
#include "pg/lsh/lsh_callbacks.h"

extern "C" {
#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "storage/indexfsm.h"
}

namespace neardup {
namespace {

// The part of the meta page that an insert needs.
struct Head {
  LshConfig config;
  uint64_t change;
  uint16_t npending;
  PendingSlot tail;
};

Size item_size(uint32_t nkeys) { return sizeof(PendingItem) + kPendingKeyBytes * nkeys; }

Size free_bytes(Page page) {
  const PageHeaderData* head = reinterpret_cast<const PageHeaderData*>(page);
  return head->pd_upper - head->pd_lower;
}

void append_item(Page page, uint64_t tid, const StoredKeys& keys) {
  PageHeader head = reinterpret_cast<PageHeader>(page);
  uint8_t* p = reinterpret_cast<uint8_t*>(page) + head->pd_lower;
  const PendingItem item = {static_cast<uint32_t>(tid >> 16), static_cast<uint16_t>(tid & 0xffff),
                            static_cast<uint16_t>(keys.n)};
  memcpy(p, &item, sizeof item);
  p += sizeof item;
  for (uint32_t i = 0; i < keys.n; ++i, p += kPendingKeyBytes) put_pending_key(keys.keys[i], p);
  head->pd_lower = static_cast<LocationIndex>(p - reinterpret_cast<uint8_t*>(page));
}

// One change of bytes in a generic record's delta, before the bytes (access/transam/generic_xlog.c).
struct Fragment {
  uint16_t offset;
  uint16_t length;
};

// append_item() with its record. GenericXLogFinish() would compare all of the page with a copy, byte by byte, to find
// the two changes that there are; where the form of its delta is known they are named instead.
void append_logged(Relation index, Buffer buffer, uint64_t tid, const StoredKeys& keys) {
  if (!NEARDUP_LOGS_APPENDS || !RelationNeedsWAL(index)) {
    GenericXLogState* state = GenericXLogStart(index);
    append_item(GenericXLogRegisterBuffer(state, buffer, 0), tid, keys);
    GenericXLogFinish(state);
    return;
  }
  Page page = BufferGetPage(buffer);
  const PageHeaderData* head = reinterpret_cast<const PageHeaderData*>(page);
  struct {
    Fragment lower;
    LocationIndex pd_lower;
    Fragment item;
  } delta = {{offsetof(PageHeaderData, pd_lower), sizeof(LocationIndex)},
             0,
             {head->pd_lower, static_cast<uint16_t>(item_size(keys.n))}};
  static_assert(sizeof delta == 10);
  XLogBeginInsert();
  START_CRIT_SECTION();
  append_item(page, tid, keys);
  delta.pd_lower = head->pd_lower;
  MarkBufferDirty(buffer);
  XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
  XLogRegisterBufData(0, reinterpret_cast<char*>(&delta), sizeof delta);
  XLogRegisterBufData(0, page + delta.item.offset, delta.item.length);
  const XLogRecPtr lsn = XLogInsert(RM_GENERIC_ID, 0);
  PageSetLSN(page, lsn);
  END_CRIT_SECTION();
}

void read_head(Relation index, Head* head) {
  Buffer buffer = ReadBuffer(index, kLshMetaBlock);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  const LshMeta* meta = locked_meta(index, buffer);
  head->config = meta->config;
  head->change = meta->change;
  head->npending = meta->npending;
  if (meta->npending != 0) head->tail = meta->pending[meta->npending - 1];
  UnlockReleaseBuffer(buffer);
}

// The first row freezes the parameters; of two first rows one finds them frozen.
void bind_to(Relation index, Datum value, Head* head) {
  LshConfig config = head->config;
  bind_config(index, value, &config);
  Buffer buffer = ReadBuffer(index, kLshMetaBlock);
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  if ((locked_meta(index, buffer)->config.flags & kMetaBound) == 0) {
    GenericXLogState* state = GenericXLogStart(index);
    LshMeta* meta = page_meta(GenericXLogRegisterBuffer(state, buffer, 0));
    meta->config = config;
    ++meta->change;
    GenericXLogFinish(state);
  }
  head->config = locked_meta(index, buffer)->config;
  UnlockReleaseBuffer(buffer);
}

enum class Append { done, full, stale };

Append append_to_tail(Relation index, const Head& head, uint64_t tid, const StoredKeys& keys) {
  Buffer buffer = read_linked(index, head.tail.block);
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  Page page = BufferGetPage(buffer);
  Append result = Append::stale;
  if (is_page_of_owner(page, head.tail.id, kPendingPage)) {
    result = Append::full;
    if (page_tail(page)->kind == kPendingPage && free_bytes(page) >= item_size(keys.n)) {
      append_logged(index, buffer, tid, keys);
      result = Append::done;
    }
  }
  UnlockReleaseBuffer(buffer);
  return result;
}

// Closes the full tail and links a new one with the row in it. False when another backend was faster.
bool add_tail(Relation index, const Head& head, uint64_t tid, const StoredKeys& keys) {
  LshMeta directory;
  read_meta(index, &directory);
  Buffer fresh = alloc_page(index, directory);
  Buffer meta_buffer = ReadBuffer(index, kLshMetaBlock);
  Buffer old = head.npending == 0 ? InvalidBuffer : read_linked(index, head.tail.block);
  LockBuffer(meta_buffer, BUFFER_LOCK_EXCLUSIVE);
  const LshMeta* now = locked_meta(index, meta_buffer);
  const bool same = now->npending == 0 ? head.npending == 0
                                       : head.npending != 0 && now->pending[now->npending - 1].id == head.tail.id;
  if (same && now->npending < kMaxWaitingPages) {
    bool damaged = false;
    if (old != InvalidBuffer) {
      LockBuffer(old, BUFFER_LOCK_EXCLUSIVE);
      damaged = !is_page_of_owner(BufferGetPage(old), head.tail.id, kPendingPage);
    }
    if (damaged) report_corrupt(index, head.tail.block, "the last pending page is not there");
    GenericXLogState* state = GenericXLogStart(index);
    LshMeta* meta = page_meta(GenericXLogRegisterBuffer(state, meta_buffer, 0));
    Page page = GenericXLogRegisterBuffer(state, fresh, GENERIC_XLOG_FULL_IMAGE);
    const uint64_t id = meta->next_id++;
    init_lsh_page(page, kPendingPage, id, 0);
    append_item(page, tid, keys);
    meta->pending[meta->npending].id = id;
    meta->pending[meta->npending].block = BufferGetBlockNumber(fresh);
    ++meta->npending;
    ++meta->change;
    if (old != InvalidBuffer) page_tail(GenericXLogRegisterBuffer(state, old, 0))->kind = kPendingPage | kClosed;
    GenericXLogFinish(state);
    UnlockReleaseBuffer(fresh);
    if (old != InvalidBuffer) UnlockReleaseBuffer(old);
    UnlockReleaseBuffer(meta_buffer);
    return true;
  }
  UnlockReleaseBuffer(meta_buffer);
  if (old != InvalidBuffer) ReleaseBuffer(old);
  const BlockNumber unused = BufferGetBlockNumber(fresh);
  UnlockReleaseBuffer(fresh);
  RecordFreeIndexPage(index, unused);
  return false;
}

void insert_row(Relation index, const IndexedRow& row, uint64_t tid) {
  Head head;
  read_head(index, &head);
  if (row.has_value) {
    if ((head.config.flags & kMetaBound) == 0) bind_to(index, row.value, &head);
    check_value(index, row.value, &head.config);
  }
  const StoredKeys keys = stored_keys(index, row, &head.config);
  if (keys.n > kMaxPendingKeys) {
    insert_large_row(index, {tid, keys.keys, keys.n});
    return;
  }
  for (;; read_head(index, &head)) {
    CHECK_FOR_INTERRUPTS();
    if (head.npending != 0) {
      const Append result = append_to_tail(index, head, tid, keys);
      if (result == Append::done) return;
      if (result == Append::stale) {
        if (directory_change(index) == head.change)
          report_corrupt(index, head.tail.block, "the last pending page is not there");
        continue;
      }
    }
    if (head.npending == kMaxWaitingPages) {
      maintain(index, true);
      check_room(index);
      continue;
    }
    if (!add_tail(index, head, tid, keys)) continue;
    if (head.npending >= pending_limit(index)) maintain(index, false);
    return;
  }
}

}  // namespace

bool lshinsert(Relation index, Datum* values, bool* nulls, ItemPointer tid, Relation, IndexUniqueCheck, bool,
               IndexInfo* info) {
  if (value_column(index) == 0 && nulls[0]) return false;
  // The context of one row stays from row to row of a statement.
  if (info->ii_AmCache == nullptr)
    info->ii_AmCache = AllocSetContextCreate(info->ii_Context, "lsh insert", ALLOCSET_DEFAULT_SIZES);
  const auto context = static_cast<MemoryContext>(info->ii_AmCache);
  MemoryContext old = MemoryContextSwitchTo(context);
  IndexedRow row;
  if (indexed_row(index, values, nulls, &row)) insert_row(index, row, pack_tid(*tid));
  MemoryContextSwitchTo(old);
  MemoryContextReset(context);
  return false;
}

}  // namespace neardup
