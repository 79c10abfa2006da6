// See lsh_page.h.
#include "pg/lsh/store/lsh_page.h"

#include "pg/lsh/store/lsh_columns.h"

extern "C" {
#include "access/generic_xlog.h"
#include "catalog/pg_am.h"
#if NEARDUP_REACH
#include "storage/buf_internals.h"
#endif
#include "storage/indexfsm.h"
#include "storage/lock.h"
}

static_assert(BLCKSZ == 8192, "the pages of an lsh index are laid out for blocks of 8 kB");

namespace neardup {

void init_lsh_page(Page page, uint16_t kind, uint64_t owner, uint32_t ordinal) {
  PageInit(page, BLCKSZ, sizeof(PageTail));
  PageTail* tail = page_tail(page);
  tail->owner = owner;
  tail->ordinal = ordinal;
  tail->kind = kind;
  tail->page_id = kLshPageId;
  Size fixed = 0;
  if (kind == kMetaPage) fixed = sizeof(LshMeta);
  if (kind == kInnerPage) fixed = offsetof(InnerPage, first);
  reinterpret_cast<PageHeader>(page)->pd_lower = static_cast<LocationIndex>(SizeOfPageHeaderData + fixed);
}

bool is_lsh_page(Page page) {
  const PageHeaderData* head = reinterpret_cast<const PageHeaderData*>(page);
  return !PageIsNew(page) && head->pd_special == kPageTailAt && head->pd_lower >= SizeOfPageHeaderData &&
         head->pd_lower <= head->pd_upper && head->pd_upper <= head->pd_special &&
         page_tail(page)->page_id == kLshPageId;
}

bool is_page_of_owner(Page page, uint64_t owner, uint16_t kind) {
  return is_lsh_page(page) && page_tail(page)->owner == owner && (page_tail(page)->kind & kKindMask) == kind;
}

void report_corrupt(Relation index, BlockNumber block, const char* what) {
  ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED),
                  errmsg("index \"%s\" is damaged at block %u: %s", RelationGetRelationName(index), block, what),
                  errhint("Rebuild it with REINDEX INDEX.")));
  pg_unreachable();
}

void set_row(Relation index, Relation table, uint64_t tid, unsigned most_offset, ItemPointerData* out) {
  const BlockNumber block = static_cast<BlockNumber>(tid >> 16);
  const unsigned offset = tid & 0xffff;
  // A TID of another access method need not name a block of a file.
  const bool in_blocks = table != nullptr && table->rd_rel->relam == HEAP_TABLE_AM_OID;
  if (offset == 0 || offset > most_offset || block == InvalidBlockNumber || (in_blocks && !has_block(table, block)))
    ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED),
                    errmsg("index \"%s\" is damaged: it lists the impossible row (%u,%u)",
                           RelationGetRelationName(index), block, offset),
                    errhint("Rebuild it with REINDEX INDEX.")));
  set_tid(out, tid);
}

void check_meta(Relation index, const LshMeta* meta, Size page_lower) {
  const auto fail = [index](const char* what) { report_corrupt(index, kLshMetaBlock, what); };
  if (meta->magic != kLshMagic) fail("it is no meta page of an lsh index");
  if (meta->format > kLshFormat)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("index \"%s\" has storage format %u, this version of neardup reads %u",
                           RelationGetRelationName(index), meta->format, kLshFormat),
                    errhint("%s", kNewerIndexHint)));
  if (meta->format != kLshFormat) fail("impossible storage format");
  if (page_lower != SizeOfPageHeaderData + sizeof(LshMeta)) fail("wrong length of the meta page");
  if (meta->nruns > kMaxRuns || meta->npending > kMaxPending || meta->next_id == 0 ||
      meta->config.params_len > sizeof meta->config.params ||
      meta->config.family[sizeof meta->config.family - 1] != '\0')
    fail("impossible counts in the meta page");
  // In an index of several columns rows without a value come before the first that freezes the parameters.
  if (value_column(index) == 0 && (meta->config.flags & kMetaBound) == 0 && (meta->nruns != 0 || meta->npending != 0))
    fail("rows without parameters");
  for (int i = 0; i < meta->nruns; ++i) {
    const RunSlot& run = meta->runs[i];
    if (run.id == 0 || run.id >= meta->next_id || run.state < kBuilding || run.state > kInput || run.height < 1 ||
        run.height > 2 || (run.root == InvalidBlockNumber && run.state != kBuilding))
      fail("impossible run in the directory");
  }
  for (int i = 0; i < meta->npending; ++i)
    if (meta->pending[i].id == 0 || meta->pending[i].id >= meta->next_id ||
        meta->pending[i].block == InvalidBlockNumber)
      fail("impossible pending page in the directory");
}

const LshMeta* locked_meta(Relation index, Buffer buffer) {
  Page page = BufferGetPage(buffer);
  if (!is_lsh_page(page) || page_tail(page)->kind != kMetaPage)
    report_corrupt(index, kLshMetaBlock, "it is no meta page of an lsh index");
  const LshMeta* meta = page_meta(page);
  check_meta(index, meta, reinterpret_cast<PageHeader>(page)->pd_lower);
  return meta;
}

void read_meta(Relation index, LshMeta* out) {
  Buffer buffer = ReadBuffer(index, kLshMetaBlock);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  const LshMeta* meta = locked_meta(index, buffer);
  memcpy(out, meta, offsetof(LshMeta, pending));
  memcpy(out->pending, meta->pending, sizeof(PendingSlot) * meta->npending);
  memcpy(out->runs, meta->runs, sizeof(RunSlot) * meta->nruns);
  UnlockReleaseBuffer(buffer);
}

LshMeta* copy_meta(Relation index) {
  auto* meta = static_cast<LshMeta*>(palloc(sizeof(LshMeta)));
  read_meta(index, meta);
  return meta;
}

void copy_page(Relation index, BlockNumber block, BufferAccessStrategy strategy, Page to) {
  Buffer buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  memcpy(to, BufferGetPage(buffer), BLCKSZ);
  UnlockReleaseBuffer(buffer);
}

uint64_t directory_change(Relation index) {
  Buffer buffer = ReadBuffer(index, kLshMetaBlock);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  const uint64_t change = locked_meta(index, buffer)->change;
  UnlockReleaseBuffer(buffer);
  return change;
}

void init_meta(Page page, const LshConfig& config) {
  init_lsh_page(page, kMetaPage, 0, 0);
  LshMeta* meta = page_meta(page);
  memset(meta, 0, sizeof *meta);
  meta->magic = kLshMagic;
  meta->format = kLshFormat;
  meta->config = config;
  meta->next_id = 1;
}

const RunSlot* find_run(const LshMeta& meta, uint64_t id) {
  for (int i = 0; i < meta.nruns; ++i)
    if (meta.runs[i].id == id) return &meta.runs[i];
  return nullptr;
}

RunSlot* find_run(LshMeta* meta, uint64_t id) { return const_cast<RunSlot*>(find_run(*meta, id)); }

bool pin_recent(Relation relation, BlockNumber block, Buffer recent) {
#if NEARDUP_REACH
  if (recent <= 0 || recent > NBuffers || !read_recent_buffer(relation, block, recent)) return false;
  // A look-up would have told the replacement of pages that this one is in use.
  BufferDesc* descriptor = GetBufferDescriptor(recent - 1);
  auto state = read_state(&descriptor->state);
  while (BUF_STATE_GET_USAGECOUNT(state) < BM_MAX_USAGE_COUNT && (state & BM_LOCKED) == 0)
    if (exchange_state(&descriptor->state, &state, state + BUF_USAGECOUNT_ONE)) break;
  pgstat_count_buffer_read(relation);
  pgstat_count_buffer_hit(relation);
  return true;
#else
  return false;
#endif
}

bool has_block(Relation relation, BlockNumber block) {
  // A file that has shrunk since holds no link to what it lost.
  struct SeenFile {
    Oid relation;
    RelFileNumber file;
    BlockNumber blocks;
  };
  static SeenFile seen_files[16];
  const Oid oid = RelationGetRelid(relation);
  SeenFile* seen = &seen_files[oid % lengthof(seen_files)];
  if (seen->relation == oid && seen->file == file_number(relation) && block < seen->blocks) return true;
  *seen = {oid, file_number(relation), RelationGetNumberOfBlocks(relation)};
  return block < seen->blocks;
}

Buffer read_linked(Relation index, BlockNumber block, BufferAccessStrategy strategy) {
  if (block == kLshMetaBlock || !has_block(index, block)) report_corrupt(index, block, "impossible link");
  return ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
}

PageState lock_page(Relation index, BlockNumber block, uint64_t owner, uint16_t kind, BufferAccessStrategy strategy,
                    Buffer* out, Buffer recent) {
  Buffer buffer =
      NEARDUP_PINS_RECENT && pin_recent(index, block, recent) ? recent : read_linked(index, block, strategy);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  Page page = BufferGetPage(buffer);
  if (!PageIsNew(page) && !is_lsh_page(page)) report_corrupt(index, block, "wrong page header");
  if (PageIsNew(page) || page_tail(page)->owner != owner) {
    UnlockReleaseBuffer(buffer);
    return PageState::gone;
  }
  if ((page_tail(page)->kind & kKindMask) != kind) report_corrupt(index, block, "a page of another kind");
  *out = buffer;
  return PageState::good;
}

void open_leaf(Relation index, Buffer buffer, LeafView* leaf) {
  Page page = BufferGetPage(buffer);
  const Size used = used_bytes(page);
  // A leaf of fewer or narrower entries than were written would leave rows out.
  if (!leaf->open(page_body(page), used) || leaf->size() != used)
    report_corrupt(index, BufferGetBlockNumber(buffer), "impossible leaf");
}

const InnerPage* open_inner(Relation index, Buffer buffer, uint16_t level) {
  Page page = BufferGetPage(buffer);
  const InnerPage* inner = static_cast<const InnerPage*>(page_body(page));
  const Size used = used_bytes(page);
  if (used < offsetof(InnerPage, first) || inner->n > kMaxChildren || inner->level != level ||
      used != offsetof(InnerPage, first) + inner->n * sizeof(PackedEntry))
    report_corrupt(index, BufferGetBlockNumber(buffer), "impossible inner page");
  return inner;
}

bool page_is_free(Page page, const LshMeta& directory) {
  if (PageIsNew(page)) return true;
  if (!is_lsh_page(page)) return false;
  const PageTail* tail = page_tail(page);
  if (tail->kind == kMetaPage) return false;
  const uint64_t owner = tail->owner;
  if (owner == 0) return true;
  if (owner >= directory.next_id) return false;
  if (const RunSlot* run = find_run(directory, owner)) {
    if (run->state != kInput || tail->kind != kLeafPage) return false;
    LeafView leaf;
    if (!leaf.open(page_body(page), used_bytes(page))) return false;
    return leaf.count() != 0 && leaf.at(leaf.count() - 1) < run_lo(*run);
  }
  for (int i = 0; i < directory.npending; ++i)
    if (directory.pending[i].id == owner) return false;
  return true;
}

Buffer alloc_page(Relation index, const LshMeta& directory) {
  // A page found but locked or taken is somebody's who was faster: another is tried.
  BlockNumber blocks = InvalidBlockNumber;
  for (int tries = 0; tries < 64; ++tries) {
    const BlockNumber block = GetFreeIndexPage(index);
    if (block == InvalidBlockNumber) break;
    if (blocks == InvalidBlockNumber) blocks = RelationGetNumberOfBlocks(index);
    if (block == kLshMetaBlock || block >= blocks) continue;  // the free space map survives crashes badly
    Buffer buffer = ReadBuffer(index, block);
    if (ConditionalLockBuffer(buffer)) {
      if (page_is_free(BufferGetPage(buffer), directory)) return buffer;
      LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
    }
    ReleaseBuffer(buffer);
  }
  for (;;) {
    Buffer buffer = extend_relation_locked(index);
    if (page_is_free(BufferGetPage(buffer), directory)) return buffer;
    UnlockReleaseBuffer(buffer);
  }
}

namespace {

void set_tag(LOCKTAG* tag, Relation index, IndexLock lock) {
  SET_LOCKTAG_OBJECT(*tag, index->rd_rel->relisshared ? InvalidOid : MyDatabaseId, RelationRelationId,
                     RelationGetRelid(index), static_cast<uint16>(lock));
}

}  // namespace

bool acquire_lock(Relation index, IndexLock lock, LOCKMODE mode, bool wait) {
  LOCKTAG tag;
  set_tag(&tag, index, lock);
  return LockAcquire(&tag, mode, false, !wait) != LOCKACQUIRE_NOT_AVAIL;
}

void release_lock(Relation index, IndexLock lock, LOCKMODE mode) {
  LOCKTAG tag;
  set_tag(&tag, index, lock);
  LockRelease(&tag, mode, false);
}

}  // namespace neardup
