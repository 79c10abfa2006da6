// lsh_check() from inside: what its files share. lsh_check.cpp says how they work together.
#pragma once

#include "core/base/hash.h"
#include "pg/lsh/store/lsh_page.h"

namespace neardup::checking {

constexpr uint32_t kMaxOffset = MaxHeapTuplesPerPage;
constexpr uint32_t kOffsetWords = kMaxOffset / 64 + 1;
constexpr uint8_t kManyUnits = 255;  // of a row whose TID several rosters hold

// The rows that the rosters name in one heap block.
struct HeapBlock {
  uint64_t rows[kOffsetWords];  // a bit an offset
  uint64_t before;              // rows of the range in blocks before this one
};

struct Check {
  Relation table;
  Relation index;
  bool held;           // the locks; else the directory may move on
  bool against_table;  // compare with the table's rows
  Snapshot snapshot;
  BufferAccessStrategy strategy;
  Page meta_page;  // copies of pages
  Page root;
  Page inner;
  Page leaf;
  char* pending;
  const LshMeta* meta;
  BlockNumber blocks;
  uint64_t table_blocks;
  BlockSet reached;
  bool first_pass;
  // The pass: heap blocks from..to.
  uint64_t from;
  uint64_t to;
  HeapBlock* heap_blocks;
  uint64_t nrows;
  uint8_t* unit_of;   // by number of the row in the range; 0: not yet known
  uint64_t* keys_of;  // sum of mix64(key)
  MemoryContext row_context;
};

// An error: the index is damaged at this block; or, where the locks were not to be had, it changed meanwhile.
[[noreturn]] void fail(Check* c, BlockNumber block, const char* what);
const char* tid_text(uint64_t tid);

// A pass reads all three times: for the rows in the range, for the unit of each, and for the keys, each of which must
// be of a row of the same unit.
enum class Round { find, assign, keys };

// lsh_check_runs.cpp: pages, runs, pending pages ----------------------------------------------------------------------

// Copies a page; `from` is the block with the link to it.
void copy_linked(Check* c, BlockNumber from, BlockNumber block, Page to);
void check_head(Check* c, BlockNumber block, Page page, uint64_t owner, uint16_t kind, uint32_t ordinal);
// unit: of the check, 1..253.
void walk_run(Check* c, const RunSlot* run, uint8_t unit, Round round);
void copy_pending(Check* c);
void walk_pending_page(Check* c, BlockNumber block, Page page, uint8_t unit, Round round);

// lsh_check_rows.cpp: the rows that rosters name, and the table -------------------------------------------------------

void find_row(Check* c, BlockNumber block, uint64_t tid);
// Numbers the rows of the range; ends it before the block with which it would have more than `most`.
void number_rows(Check* c, uint64_t most);
void assign_row(Check* c, uint8_t unit, uint64_t tid);
void check_key(Check* c, BlockNumber block, uint8_t unit, uint64_t key, uint64_t tid);
void check_table(Check* c);

}  // namespace neardup::checking
