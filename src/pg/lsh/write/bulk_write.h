// Filling a new relation past the buffer manager: smgr_bulk_* of PostgreSQL 17 and, before 17, what we use of it.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#if PG_VERSION_NUM >= 170000
#include "storage/bulk_write.h"
#else
#include "access/xloginsert.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#endif
}

#if PG_VERSION_NUM < 170000

// 16: aligned for direct I/O.
#if PG_VERSION_NUM >= 160000
typedef PGIOAlignedBlock* BulkWriteBuffer;
#else
typedef PGAlignedBlock* BulkWriteBuffer;
#endif

struct BulkWriteState {
  static constexpr int kRecordPages = 32;  // pages of a WAL record

  Relation relation;
  ForkNumber fork;
  bool use_wal;
  bool use_sync;
  BlockNumber size;  // of the fork
  MemoryContext context;
  int n;
  BulkWriteBuffer pages[kRecordPages];
  BlockNumber blocks[kRecordPages];
};

static inline BulkWriteBuffer smgr_bulk_get_buf(BulkWriteState* state) {
#if PG_VERSION_NUM >= 160000
  return static_cast<BulkWriteBuffer>(MemoryContextAllocAligned(state->context, BLCKSZ, PG_IO_ALIGN_SIZE, 0));
#else
  return static_cast<BulkWriteBuffer>(MemoryContextAlloc(state->context, BLCKSZ));
#endif
}

static inline BulkWriteState* smgr_bulk_start_rel(Relation relation, ForkNumber fork) {
  BulkWriteState* state = static_cast<BulkWriteState*>(palloc0(sizeof(BulkWriteState)));
  state->relation = relation;
  state->fork = fork;
  state->use_wal = RelationNeedsWAL(relation) || fork == INIT_FORKNUM;
  // A permanent relation without WAL is synced by the commit; an unlogged one has to outlive a clean shutdown.
  state->use_sync = state->use_wal || relation->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED;
  state->size = smgrnblocks(RelationGetSmgr(relation), fork);
  state->context = CurrentMemoryContext;
  return state;
}

// 16 renamed the file's locator.
static inline auto* bulk_locator(BulkWriteState* state) {
#if PG_VERSION_NUM >= 160000
  return &RelationGetSmgr(state->relation)->smgr_rlocator.locator;
#else
  return &RelationGetSmgr(state->relation)->smgr_rnode.node;
#endif
}

static inline void smgr_bulk_flush(BulkWriteState* state) {
  if (state->n == 0) return;
  // The relation's smgr may be closed by any cache invalidation: it is asked for each time.
  if (state->use_wal) {
    Page pages[BulkWriteState::kRecordPages];
    for (int i = 0; i < state->n; ++i) pages[i] = state->pages[i]->data;
    log_newpages(bulk_locator(state), state->fork, state->n, state->blocks, pages, true);
  }
  for (int i = 0; i < state->n; ++i) {
    char* page = state->pages[i]->data;
    const BlockNumber block = state->blocks[i];
    PageSetChecksumInplace(page, block);
    if (block < state->size) {
      smgrwrite(RelationGetSmgr(state->relation), state->fork, block, page, true);
    } else {
      if (block > state->size) {
        BulkWriteBuffer zero = smgr_bulk_get_buf(state);
        memset(zero->data, 0, BLCKSZ);
        for (; state->size < block; ++state->size)
          smgrextend(RelationGetSmgr(state->relation), state->fork, state->size, zero->data, true);
        pfree(zero);
      }
      smgrextend(RelationGetSmgr(state->relation), state->fork, block, page, true);
      ++state->size;
    }
    pfree(page);
  }
  state->n = 0;
}

// All pages have the standard layout.
static inline void smgr_bulk_write(BulkWriteState* state, BlockNumber block, BulkWriteBuffer page, bool) {
  state->pages[state->n] = page;
  state->blocks[state->n] = block;
  if (++state->n == BulkWriteState::kRecordPages) smgr_bulk_flush(state);
}

static inline void smgr_bulk_finish(BulkWriteState* state) {
  smgr_bulk_flush(state);
  // A checkpoint that began before our last page knows nothing of these writes, and replay would start behind their
  // records.
  if (state->use_sync) smgrimmedsync(RelationGetSmgr(state->relation), state->fork);
}

#endif
