// The access method from inside: what its files offer each other.
#pragma once

#include "pg/lsh/family.h"
#include "pg/lsh/lsh.h"
#include "pg/base/pg.h"

extern "C" {
#include "access/skey.h"
#include "access/generic_xlog.h"
}

namespace neardup {

// lsh.cpp ------------------------------------------------------------------------------------------------------------

// Storage parameters as the relation cache holds them. threshold and recall: below 0 when not given.
struct LshOptions {
  int32 vl_len_;
  float8 threshold;
  float8 recall;
  int pending_limit;
};
LshOptionValues option_values(Relation index);
int pending_limit(Relation index);

// Calls support function `proc` of the operator class with its request.
void call_family(Relation index, LshProc proc, void* request);

// Whether the index is an lsh index (and, with raise, an error unless it is).
bool is_lsh_index(Relation relation);

// lsh_columns.cpp ----------------------------------------------------------------------------------------------------

// The values are in the last key column, counted from 0. Those before it hold what a row and a query have to share: a
// hash of them, the salt, is mixed into the row's keys.
inline int value_column(Relation index) { return IndexRelationGetNumberOfKeyAttributes(index) - 1; }

// An error unless the operator classes are fit for that.
void check_columns(Relation index);

// What a row has in the columns of an index.
struct IndexedRow {
  Datum value;
  bool has_value;  // false: NULL
  bool has_salt;   // false: an equality column is NULL, so that no condition on it is true
  uint64_t salt;   // 40 bits; 0 in an index of one column

  // Else the row is in the roster alone.
  bool has_keys() const { return has_value && has_salt; }
};
// False: the row is not in the index. In an index of several columns all rows are, since a scan may have conditions on
// the first columns only.
bool indexed_row(Relation index, const Datum* values, const bool* nulls, IndexedRow* row);
// A value of an index whose other columns are not looked at.
inline IndexedRow row_of_value(Datum value) { return {value, true, true, 0}; }

// The salt that a scan's conditions ask for. False: not every equality column has one.
bool salt_of_keys(Relation index, const ScanKeyData* keys, int n, uint64_t* salt);

// lsh_page.cpp: pages, the meta page, locks, space --------------------------------------------------------------------

inline void* page_body(Page page) { return PageGetContents(page); }
// At its fixed place, whatever a damaged header says.
inline constexpr LocationIndex kPageTailAt = BLCKSZ - sizeof(PageTail);
inline PageTail* page_tail(Page page) { return reinterpret_cast<PageTail*>(reinterpret_cast<char*>(page) + kPageTailAt); }
inline LshMeta* meta_of(Page page) { return static_cast<LshMeta*>(page_body(page)); }

// An empty page of this kind; pd_lower ends at its fixed head.
void init_lsh_page(Page page, uint16_t kind, uint64_t owner, uint32_t ordinal);

// Whether the page has our header and tail; false for new pages and for damaged ones.
bool is_lsh_page(Page page);

// ERRCODE_INDEX_CORRUPTED with the index's name, the block and `what`, hint REINDEX.
[[noreturn]] void report_corrupt(Relation index, BlockNumber block, const char* what);

// An error that says why unless the meta page is one that this code can work with.
void check_meta(Relation index, const LshMeta* meta, Size page_lower);

// Copies the meta page under a share lock, checked.
void read_meta(Relation index, LshMeta* meta);
// The directory's change counter now.
uint64_t directory_change(Relation index);
// The checked meta page in a buffer that the caller has locked.
const LshMeta* locked_meta(Relation index, Buffer buffer);

// A new meta page's content: unbound, empty, ids from 1.
void init_meta(Page page, const LshConfig& config);

const RunSlot* find_run(const LshMeta& meta, uint64_t id);
RunSlot* find_run(LshMeta* meta, uint64_t id);
inline Entry run_lo(const RunSlot& run) { return unpack_entry(run.lo); }
inline Entry run_hi(const RunSlot& run) { return unpack_entry(run.hi); }

// What a page read by a link from the directory turned out to be.
enum class PageState {
  good,  // the owner's page of this kind
  gone,  // it belongs to another: the directory is old, or the leaf lies wholly below its run's lo
};

// Pins the block in the shared buffer in which it was last, as a read does, but without looking it up in the table of
// buffers; false: it is not there any more, or in no shared buffer.
bool pin_recent(Relation relation, BlockNumber block, Buffer recent);

// Locks the block (share) and looks at it. good: the buffer stays locked, the caller unlocks and releases.
// A page of the right owner and of another kind, or no page of ours, is an error. recent: the buffer in which the block
// lay when it was read last, if known.
PageState lock_page(Relation index, BlockNumber block, uint64_t owner, uint16_t kind, BufferAccessStrategy strategy,
                    Buffer* buffer, Buffer recent = InvalidBuffer);

// Opens a locked leaf. An error when its bytes are impossible.
void open_leaf(Relation index, Buffer buffer, LeafView* leaf);
// Checks a locked inner or root page: n in 1..kMaxChildren, level.
const InnerPage* open_inner(Relation index, Buffer buffer, uint16_t level);

// A free page, X-locked, from the free space map or by extension. `directory` was copied before this call.
Buffer alloc_page(Relation index, const LshMeta& directory);
bool page_is_free(Page page, const LshMeta& directory);

inline uint64_t tid_of(const ItemPointerData& tid) {
  return static_cast<uint64_t>(ItemPointerGetBlockNumberNoCheck(&tid)) << 16 | ItemPointerGetOffsetNumberNoCheck(&tid);
}
inline void set_tid(ItemPointerData* out, uint64_t tid) {
  ItemPointerSet(out, static_cast<BlockNumber>(tid >> 16), static_cast<OffsetNumber>(tid & 0xffff));
}

// The same for a TID that PostgreSQL is going to be asked about: an error where no row can be, for it passes by some
// impossible ones as if their rows were gone.
void set_row(Relation index, uint64_t tid, unsigned most_offset, ItemPointerData* out);

// Heavyweight locks; released at the end of the (sub)transaction that fails.
enum class IndexLock : uint16 { maintenance = 1, vacuum = 2 };
bool take_lock(Relation index, IndexLock lock, LOCKMODE mode, bool wait);
void drop_lock(Relation index, IndexLock lock, LOCKMODE mode);

// Keys of a row as they are stored: 40 bits, ascending, without repeats. config is bound.
struct StoredKeys {
  uint64_t* keys;
  uint32_t n;
};
StoredKeys stored_keys(Relation index, const IndexedRow& row, const LshConfig* config);
// The same, not in order and perhaps repeated.
StoredKeys unsorted_keys(Relation index, const IndexedRow& row, const LshConfig* config);
uint64_t stored_key(uint64_t key, bool final);
// Of a row with this salt. The difference of two keys' leading bits stays as it is: prefixes stay prefixes.
inline uint64_t salted_key(uint64_t key, uint64_t salt) { return (key ^ salt) == kRosterKey ? 1 : key ^ salt; }

// An error for options that the family does not take.
void check_options(Relation index);
// Binds the parameters of an unbound config to those of a value, as kProcBind says.
void bind_config(Relation index, Datum value, LshConfig* config);
// An error that names both unless the value was made by the config's parameters; the index's only to those who may read
// all of its table.
void check_value(Relation index, Datum value, LshConfig* config);

// Whether nothing hides rows of the table from the user.
bool may_read_all(Relation table);

// One generic record over the meta page and others. The caller fills in between begin() and finish().
struct MetaChange {
  Buffer buffer;
  GenericXLogState* state;
  LshMeta* meta;

  void begin(Relation index) {
    buffer = ReadBuffer(index, kLshMetaBlock);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    locked_meta(index, buffer);
    start(index);
  }
  void start(Relation index) {
    state = GenericXLogStart(index);
    meta = meta_of(GenericXLogRegisterBuffer(state, buffer, 0));
    ++meta->change;
  }
  void finish() {
    GenericXLogFinish(state);
    UnlockReleaseBuffer(buffer);
  }
};

// lsh_scan.cpp -------------------------------------------------------------------------------------------------------

// For the planner: how many entries a query's lists have and how many candidates they give; counted, up to `most`
// entries. False when the index cannot serve the query exactly (every row is a candidate).
struct ProbeEstimate {
  bool nothing;      // no row can qualify
  bool complete;     // counted to the end
  double probes;
  double entries;
  double candidates;
};
bool estimate_probes(Relation index, uint16_t strategy, Datum query, double most, ProbeEstimate* out);

// lsh_flush.cpp, lsh_merge.cpp ---------------------------------------------------------------------------------------

// Adds free-standing work to an index that is not being scanned for it: flushes closed pending pages into a run and takes
// merge steps, for some 8 ms. False when another backend is at it (only without wait).
bool maintain(Relation index, bool wait);

// Reports an index without room for rows: nothing more can be flushed, and merging would not make its runs fewer.
void check_room(Relation index);

// Forgets runs whose flush did not end. Under the maintenance lock, as all that follows.
void drop_building(Relation index, const LshMeta& directory);
// Moves the first n pending pages, all closed, into a new run. Returns the number of its leaves.
uint32_t flush(Relation index, uint32_t n);
// Closes the open pending page and flushes all; in a crowded directory only if it has to be.
void flush_all(Relation index, bool even_crowded);

// Flushes all and fixes the horizon: runs with lower ids stay where they are while the caller holds the vacuum lock
// exclusively. Returns the horizon.
uint64_t begin_vacuum(Relation index);

// Starts merging these live units into one (all runs of each unit move). Under the maintenance lock. The unit, or -1: the
// directory is full.
int start_merge(Relation index, const uint8_t* units, int nunits);
// One step of the unit that is being merged: writes at most `budget` leaves. False when it cannot go on now: the vacuum
// lock is not to be had and the unit holds runs below the horizon, or the directory has no slot for a sibling.
bool merge_step(Relation index, uint8_t unit, uint32_t budget);

}  // namespace neardup
