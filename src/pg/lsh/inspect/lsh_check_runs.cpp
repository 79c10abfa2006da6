// lsh_check(): the pages of runs and pending rows.
#include "pg/lsh/inspect/lsh_check.h"
#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/store/run_reader.h"

namespace neardup::checking {

void copy_linked(Check* c, BlockNumber from, BlockNumber block, Page to) {
  CHECK_FOR_INTERRUPTS();
  if (block == kLshMetaBlock || block >= c->blocks)
    fail(c, from, psprintf("a link to block %u of %u", block, c->blocks));
  copy_page(c->index, block, c->strategy, to);
}

void check_head(Check* c, BlockNumber block, Page page, uint64_t owner, uint16_t kind, uint32_t ordinal) {
  if (PageIsNew(page)) fail(c, block, "an empty page where one with content belongs");
  if (!is_lsh_page(page) || reinterpret_cast<PageHeader>(page)->pd_upper != kPageTailAt ||
      PageGetPageSize(page) != BLCKSZ || PageGetPageLayoutVersion(page) != PG_PAGE_LAYOUT_VERSION)
    fail(c, block, "wrong page header");
  const PageTail* tail = page_tail(page);
  if (tail->owner != owner)
    fail(c, block,
         psprintf("the page belongs to %llu, not to %llu", static_cast<unsigned long long>(tail->owner),
                  static_cast<unsigned long long>(owner)));
  // Pending pages alone are closed at some time.
  if ((kind == kPendingPage ? tail->kind & kKindMask : tail->kind) != kind)
    fail(c, block, psprintf("a page of kind %u, not %u", tail->kind, kind));
  if (tail->ordinal != ordinal) fail(c, block, psprintf("page %u of its run, not %u", tail->ordinal, ordinal));
}

namespace {

// True for a page of ours with another owner, and for a new one: the directory of c may not know its owner any more.
bool is_foreign(Page page, uint64_t owner) {
  return PageIsNew(page) || (is_lsh_page(page) && page_tail(page)->owner != owner);
}

void reach(Check* c, BlockNumber block) {
  if (!c->first_pass) return;
  if (c->reached.has(block)) fail(c, block, "the page is linked twice");
  c->reached.add(block);
}

const InnerPage* checked_inner(Check* c, BlockNumber block, Page page, uint16_t level) {
  const InnerPage* inner = static_cast<const InnerPage*>(page_body(page));
  const uint32_t used = used_bytes(page);
  if (used < offsetof(InnerPage, first) || inner->n > kMaxChildren ||
      used != offsetof(InnerPage, first) + inner->n * sizeof(PackedEntry))
    fail(c, block, "wrong length of an inner page");
  if (inner->level != level) fail(c, block, psprintf("an inner page of level %u, not %u", inner->level, level));
  if (inner->pad != 0) fail(c, block, "bytes that belong to nothing are not zero");
  for (uint32_t i = inner->n; i < kMaxChildren; ++i)
    if (inner->child[i] != 0) fail(c, block, "a link beyond the last one");
  return inner;
}

// True if the unused bits of the last byte, and the 8 spare bytes after it, are zero.
bool zero_after(const uint8_t* p, uint64_t bits) {
  uint8_t rest = bits % 8 == 0 ? 0 : p[bits / 8] >> (bits % 8);
  const uint8_t* spare = p + (bits + 7) / 8;
  for (int i = 0; i < 8; ++i) rest |= spare[i];
  return rest == 0;
}

void open_leaf_copy(Check* c, BlockNumber block, Page page, LeafView* leaf) {
  const uint32_t used = used_bytes(page);
  if (!leaf->open(page_body(page), used)) fail(c, block, "impossible leaf");
  LeafHead head;
  memcpy(&head, page_body(page), sizeof head);
  const uint8_t* keys = static_cast<const uint8_t*>(page_body(page)) + sizeof head;
  const uint64_t key_bits = uint64_t{head.n} * head.key_bits;
  const uint64_t tid_bits = uint64_t{head.n} * (head.block_bits + head.off_bits);
  const uint8_t* tids = keys + (key_bits + 7) / 8 + 8;
  if (tids + (tid_bits + 7) / 8 + 8 != static_cast<const uint8_t*>(page_body(page)) + used)
    fail(c, block, "wrong length of a leaf");
  if ((head.pad[0] | head.pad[1] | head.pad[2]) != 0 || head.reserved != 0 || !zero_after(keys, key_bits) ||
      !zero_after(tids, tid_bits))
    fail(c, block, "bytes that belong to nothing are not zero");
}

struct Walk {
  Check* c;
  const RunSlot* run;
  Round round;
  uint8_t unit;
  Entry lo;
  Entry hi;
  uint32_t leaves;
  RunTally tally;
};

// A leaf whose entries are in [fence, next). False when this round needs no further leaves.
bool walk_leaf(Walk* w, BlockNumber from, BlockNumber block, const Entry& fence, const Entry& next) {
  Check* c = w->c;
  const uint32_t ordinal = w->leaves++;
  const bool input = w->run->state == kInput;
  if (!input && fence < w->lo) fail(c, from, "an entry below the run's lower end");
  if (next <= w->lo) return true;  // merged away: it may be another's already
  copy_linked(c, from, block, c->leaf);
  // Nothing at or above lo may be in this leaf; then it may be another's as well.
  if (fence < w->lo && is_foreign(c->leaf, w->run->id)) return true;
  check_head(c, block, c->leaf, w->run->id, kLeafPage, ordinal);
  LeafView leaf;
  open_leaf_copy(c, block, c->leaf, &leaf);
  const uint32_t n = leaf.count();
  Entry last = fence;
  for (uint32_t i = 0; i < n; ++i) {
    const Entry e = leaf.at(i);
    if (i == 0 ? e < fence : e <= last) fail(c, block, psprintf("entry %u is not above the one before it", i));
    last = e;
    if (!(e < next)) fail(c, block, psprintf("entry %u belongs to a later leaf", i));
    if (e.key > kMaxKey) fail(c, block, psprintf("entry %u has an impossible key", i));
    if (e < w->lo) continue;
    if (w->round == Round::keys) {
      w->tally.add(e.key);
      if (e.key != kRosterKey) check_key(c, block, w->unit, e.key, e.tid);
    } else if (e.key != kRosterKey) {
      return false;
    } else if (w->round == Round::find) {
      find_row(c, block, e.tid);
    } else {
      assign_row(c, w->unit, e.tid);
    }
  }
  // Below lo it is free, whoever is written in it.
  if (w->round == Round::keys && (n == 0 || w->lo <= last)) reach(c, block);
  return true;
}

// The children of an inner page, all leaves; their entries end before `next`.
bool walk_leaves(Walk* w, BlockNumber block, const InnerPage* inner, const Entry& next) {
  for (uint32_t i = 0; i < inner->n; ++i) {
    const Entry fence = unpack_entry(inner->first[i]);
    const Entry end = i + 1 < inner->n ? unpack_entry(inner->first[i + 1]) : next;
    if (!(fence < end)) fail(w->c, block, psprintf("the bounds of child %u are not in order", i));
    if (!walk_leaf(w, block, inner->child[i], fence, end)) return false;
  }
  return true;
}

bool walk_inners(Walk* w, BlockNumber block, const InnerPage* root) {
  Check* c = w->c;
  for (uint32_t i = 0; i < root->n; ++i) {
    const Entry fence = unpack_entry(root->first[i]);
    const Entry end = i + 1 < root->n ? unpack_entry(root->first[i + 1]) : w->hi;
    if (!(fence < end)) fail(c, block, psprintf("the bounds of child %u are not in order", i));
    copy_linked(c, block, root->child[i], c->inner);
    check_head(c, root->child[i], c->inner, w->run->id, kInnerPage, i);
    const InnerPage* inner = checked_inner(c, root->child[i], c->inner, 1);
    if (inner->n == 0) fail(c, root->child[i], "an inner page without children");
    if (!(unpack_entry(inner->first[0]) == fence)) fail(c, root->child[i], "the first bound differs from the parent's");
    if (w->round == Round::keys) reach(c, root->child[i]);
    if (!walk_leaves(w, root->child[i], inner, end)) return false;
  }
  return true;
}

void check_counts(Walk* w, uint32_t inners) {
  Check* c = w->c;
  const RunSlot& run = *w->run;
  const auto differ = [c](const char* what, double recorded, double counted) {
    fail(c, kLshMetaBlock, psprintf("a run's recorded number of %s is %.0f, counted: %.0f", what, recorded, counted));
  };
  if (run.leaves != w->leaves) differ("leaves", run.leaves, w->leaves);
  if (run.inners != inners) differ("inner pages", run.inners, inners);
  // Inputs keep the counts that they had; after a vacuum that did not end counts are too high.
  const bool exact = run.state != kInput && (run.flags & kStaleCounts) == 0;
  const auto check = [&](const char* what, double recorded, double counted) {
    if (exact ? recorded != counted : recorded < counted) differ(what, recorded, counted);
  };
  check("rows", static_cast<double>(run.rows), static_cast<double>(w->tally.rows));
  check("entries", static_cast<double>(run.entries), static_cast<double>(w->tally.entries));
  // Above 2^53 sums in another order differ.
  const double pairs = w->tally.sum_sq;
  const double slack = pairs > 9e15 ? pairs * 1e-9 : 0;
  if (!(run.sum_sq >= pairs - slack) || (exact && !(run.sum_sq <= pairs + slack))) differ("pairs", run.sum_sq, pairs);
}

}  // namespace

void walk_run(Check* c, const RunSlot* run, uint8_t unit, Round round) {
  Walk w{};
  w.c = c;
  w.run = run;
  w.round = round;
  w.unit = unit;
  w.lo = run_lo(*run);
  w.hi = run_hi(*run);
  copy_linked(c, kLshMetaBlock, run->root, c->root);
  check_head(c, run->root, c->root, run->id, kInnerPage, 0);
  const InnerPage* root = checked_inner(c, run->root, c->root, run->height);
  if (root->n == 0 && run->state != kOutput) fail(c, run->root, "a run without leaves");
  if (round == Round::keys) reach(c, run->root);
  const bool whole = run->height == 1 ? walk_leaves(&w, run->root, root, w.hi) : walk_inners(&w, run->root, root);
  if (whole && round == Round::keys && c->first_pass) check_counts(&w, run->height == 1 ? 0 : root->n);
}

void copy_pending(Check* c) {
  const LshMeta& meta = *c->meta;
  c->pending = static_cast<char*>(palloc(size_t{BLCKSZ} * Max(meta.npending, 1)));
  for (int i = 0; i < meta.npending; ++i) {
    Page page = reinterpret_cast<Page>(c->pending + size_t{BLCKSZ} * i);
    copy_linked(c, kLshMetaBlock, meta.pending[i].block, page);
    check_head(c, meta.pending[i].block, page, meta.pending[i].id, kPendingPage, 0);
    if (i + 1 < meta.npending && (page_tail(page)->kind & kClosed) == 0)
      fail(c, meta.pending[i].block, "a pending page before the last one is open");
    reach(c, meta.pending[i].block);
  }
}

void walk_pending_page(Check* c, BlockNumber block, Page page, uint8_t unit, Round round) {
  const uint8_t* p = static_cast<const uint8_t*>(page_body(page));
  const uint8_t* const end = p + used_bytes(page);
  while (p < end) {
    PendingItem item;
    if (static_cast<size_t>(end - p) < sizeof item) fail(c, block, "a row that is cut off");
    memcpy(&item, p, sizeof item);
    p += sizeof item;
    if (item.nkeys > kMaxPendingKeys || size_t{5} * item.nkeys > static_cast<size_t>(end - p))
      fail(c, block, "a row that is cut off");
    const uint64_t tid = static_cast<uint64_t>(item.block) << 16 | item.off;
    if (c->meta->config.nbands != 0 && item.nkeys > c->meta->config.nbands)
      fail(c, block,
           psprintf("%u keys of row %s, where %u are the most", item.nkeys, tid_text(tid), c->meta->config.nbands));
    if (round == Round::find) find_row(c, block, tid);
    if (round == Round::assign) assign_row(c, unit, tid);
    uint64_t last = kRosterKey;
    for (uint32_t i = 0; i < item.nkeys; ++i) {
      uint64_t key = 0;
      for (int byte = 0; byte < 5; ++byte) key = key << 8 | *p++;
      if (key <= last) fail(c, block, psprintf("the keys of row %s are not in order", tid_text(tid)));
      last = key;
      if (round == Round::keys) check_key(c, block, unit, key, tid);
    }
  }
}

}  // namespace neardup::checking
