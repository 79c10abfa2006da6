// The bytes of an lsh index on disk, and the numbers that it keeps to. README in this folder says how they are used;
// docs/format.md has the same bytes as tables. All is in native byte order unless said; counts are checked before use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/lsh/leaf.h"

namespace neardup {

inline constexpr uint32_t kLshMagic = 0x4853'4C4E;  // "NLSH"
inline constexpr uint32_t kLshFormat = 1;
inline constexpr char kNewerIndexHint[] =
    "A newer version of neardup has written it: install that version, or rebuild the index with REINDEX INDEX.";
inline constexpr uint16_t kLshPageId = 0xFFD1;  // last two bytes of every page, for pg_filedump and for us
inline constexpr uint32_t kLshMetaBlock = 0;

inline constexpr uint32_t kMaxPendingKeys = 1600;  // of a row in a pending page, which is never split
inline constexpr uint32_t kMaxPending = 96;
inline constexpr uint32_t kMaxRuns = 80;
inline constexpr uint16_t kCrowded = 72;  // runs from which on nothing is flushed and merging is forced
// Live units of one class that start a merge. More of the larger ones: each level of merging that a row is spared costs
// a query that meets the index between two VACUUMs some runs more.
inline constexpr int kMergeFanout = 4;          // of class 0
inline constexpr int kLargeMergeFanout = 6;     // of class 1
inline constexpr int kLargestMergeFanout = 12;  // from class 2 on
inline constexpr uint32_t kFlushRows = 384;     // class of a unit = floor(log4(its size / 384))
// Entries of a row of 33 keys, with the roster's. The size of a unit is its rows, or its entries by such rows.
inline constexpr uint32_t kUsualEntries = 34;
inline constexpr int kDefaultPendingLimit = 8;  // closed pending pages that an inserter flushes
inline constexpr int kMaxPendingLimit = 64;
inline constexpr double kDefaultThreshold = 0.75;

// An entry as fences and bounds hold it: key and TID big-endian, so that memcmp orders them.
struct PackedEntry {
  uint8_t key[5];
  uint8_t tid[6];
};
static_assert(sizeof(PackedEntry) == 11);

inline PackedEntry pack_entry(const Entry& e) noexcept {
  PackedEntry p;
  for (int i = 0; i < 5; ++i) p.key[i] = static_cast<uint8_t>(e.key >> (8 * (4 - i)));
  for (int i = 0; i < 6; ++i) p.tid[i] = static_cast<uint8_t>(e.tid >> (8 * (5 - i)));
  return p;
}
inline Entry unpack_entry(const PackedEntry& p) noexcept {
  // Two words that overlap: the first begins with the key, the second ends with the TID.
  uint64_t head;
  uint64_t tail;
  std::memcpy(&head, &p, sizeof head);
  std::memcpy(&tail, reinterpret_cast<const uint8_t*>(&p) + sizeof p - sizeof tail, sizeof tail);
  return {__builtin_bswap64(head) >> 24, __builtin_bswap64(tail) & kMaxTid};
}

// At the end of every page, at 8176.
struct PageTail {
  uint64_t owner;    // id of the run or pending page that it belongs to; 0: nobody's
  uint32_t ordinal;  // leaves and inners: position among those of the run
  uint16_t kind;     // PageKind, kClosed
  uint16_t page_id;  // kLshPageId
};
static_assert(sizeof(PageTail) == 16);

enum PageKind : uint16_t { kMetaPage = 1, kPendingPage = 2, kInnerPage = 3, kLeafPage = 4 };
inline constexpr uint16_t kClosed = 0x8000;  // of a pending page: no row is added any more
inline constexpr uint16_t kKindMask = 0x7fff;

enum RunState : uint8_t { kBuilding = 1, kLive = 2, kOutput = 3, kInput = 4 };
inline constexpr uint8_t kStaleCounts = 1;  // entries, rows and sum_sq are too high: a vacuum did not end

// A sorted run, or part of one: only its entries in [lo, hi) count.
struct RunSlot {
  uint64_t id;
  PackedEntry lo;
  uint8_t pad0;
  PackedEntry hi;
  uint8_t pad1;
  uint64_t entries;
  uint64_t rows;  // roster entries
  double sum_sq;  // sum over its keys, but the roster's, of the squared number of entries
  uint32_t root;
  uint32_t leaves;
  uint32_t inners;
  uint8_t height;  // 1: the root lists leaves; 2: it lists inners
  uint8_t state;   // RunState
  uint8_t flags;   // kStaleCounts
  uint8_t unit;    // runs of one unit hold parts of the same rows
};
static_assert(sizeof(RunSlot) == 72);

struct __attribute__((packed)) PendingSlot {
  uint64_t id;
  uint32_t block;
};
static_assert(sizeof(PendingSlot) == 12);

inline constexpr uint16_t kMetaBound = 1;      // parameters are frozen
inline constexpr uint16_t kMetaExclusion = 2;  // serves an exclusion constraint

// The parameters that the first row freezes; params is the family's own.
struct LshConfig {
  char family[24];  // zero-terminated
  uint32_t family_version;
  uint16_t flags;
  uint16_t nbands;  // keys that a row has, at most, if the family says so; else 0
  double threshold;
  double recall;
  uint16_t params_len;
  uint8_t params[190];
};
static_assert(sizeof(LshConfig) == 240);

// Block 0, from byte 24.
struct LshMeta {
  uint32_t magic;
  uint32_t format;
  LshConfig config;
  uint64_t next_id;      // of runs and pending pages, never used twice; starts at 1
  uint64_t change;       // counts changes of the directory
  uint64_t vac_horizon;  // runs with lower ids hold rows that the vacuum at work may remove
  uint16_t nruns;
  uint16_t npending;
  uint8_t pad[340];
  PendingSlot pending[kMaxPending];  // oldest first; only the last may be open
  RunSlot runs[kMaxRuns];
};
static_assert(offsetof(LshMeta, pending) == 640 - 24 && offsetof(LshMeta, runs) == 1792 - 24);
static_assert(sizeof(LshMeta) == 7552 - 24);

// An inner or root page, from byte 24. child[] and first[] grow at their ends only.
#ifdef NEARDUP_MOST_CHILDREN  // a test's, so that small indexes have many runs: no other build reads their files
inline constexpr uint32_t kMaxChildren = NEARDUP_MOST_CHILDREN;
#else
inline constexpr uint32_t kMaxChildren = 542;
#endif
inline constexpr uint64_t kMaxLeaves = uint64_t{kMaxChildren} * kMaxChildren;  // of a run
// A row with more keys than a pending page takes goes into a run at once, with what waits. They fit into one flush.
inline constexpr uint32_t kMaxKeysPerRow = kMaxChildren >= 542 ? 250001 : kMaxPendingKeys;
// Pending pages that there may be: one flush takes them all.
inline constexpr uint32_t kMaxWaitingPages = kMaxPending < kMaxChildren / 2 ? kMaxPending : kMaxChildren / 2;
struct InnerPage {
  uint16_t n;
  uint16_t level;  // 1: the children are leaves
  uint32_t pad;
  uint32_t child[kMaxChildren];
  PackedEntry first[kMaxChildren];  // the first entry below child[i] when it was written
};
static_assert(sizeof(InnerPage) <= 8152);

// A pending page, from byte 24: items of this head and nkeys keys, big-endian.
struct PendingItem {
  uint32_t block;
  uint16_t off;
  uint16_t nkeys;
};
static_assert(sizeof(PendingItem) == 8);
inline constexpr size_t kPendingKeyBytes = 5;

inline void put_pending_key(uint64_t key, uint8_t* to) noexcept {
  for (int byte = 4; byte >= 0; --byte) *to++ = static_cast<uint8_t>(key >> (8 * byte));
}

}  // namespace neardup
