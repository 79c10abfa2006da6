// See tree_cache.h.
#include "pg/lsh/store/tree_cache.h"
#include "pg/lsh/store/lsh_page.h"

extern "C" {
#include "utils/inval.h"
}

namespace neardup {
namespace {

constexpr int kMaxSets = 16;
constexpr Size kMaxTreeSetBytes = 8 * 1024 * 1024;

// Those that the next reader may have, last used first.
TreeSet* sets = nullptr;

void unlist(TreeSet* set) {
  TreeSet** at = &sets;
  while (*at != nullptr && *at != set) at = &(*at)->next;
  if (*at != nullptr) *at = set->next;
  set->listed = false;
  if (set->users == 0) MemoryContextDelete(set->context);
}

void list_first(TreeSet* set) {
  set->next = sets;
  sets = set;
  set->listed = true;
  TreeSet* at = sets;
  for (int n = 0; n < kMaxSets && at != nullptr; ++n) at = at->next;
  if (at != nullptr) unlist(at);
}

// The index was changed or dropped, or has a new file.
void forget(Datum, Oid relation) {
  for (TreeSet* at = sets; at != nullptr;) {
    TreeSet* next = at->next;
    if (relation == InvalidOid || at->index == relation) unlist(at);
    at = next;
  }
}

TreeSet* make_set(Relation index, bool pinned) {
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "lsh trees", ALLOCSET_DEFAULT_SIZES);
  TreeSet* set = static_cast<TreeSet*>(MemoryContextAllocZero(context, sizeof(TreeSet)));
  set->context = context;
  set->index = RelationGetRelid(index);
  set->file = file_number(index);
  read_meta(index, &set->directory);
  const int runs = set->directory.nruns;
  set->trees = static_cast<RunTree*>(MemoryContextAlloc(context, sizeof(RunTree) * Max(runs, 1)));
  for (int i = 0; i < runs; ++i)
    set->trees[i].init(index, set->directory.runs[i], pinned ? RunTree::kPinned : set->directory.change, context,
                       nullptr, nullptr);
  MemoryContextSetParent(context, CacheMemoryContext);
  set->users = 1;
  return set;
}

}  // namespace

bool trees_hold(Relation index, const TreeSet* set) {
  return set->file == file_number(index) && set->directory.change == directory_change(index);
}

TreeSet* borrow_trees(Relation index, bool pinned) {
  if (pinned) return make_set(index, true);
  static bool registered = false;
  if (!registered) {
    CacheRegisterRelcacheCallback(forget, Datum{0});
    registered = true;
  }
  // First what may raise an error, or bring an invalidation.
  const uint64_t change = directory_change(index);
  const RelFileNumber file = file_number(index);
  TreeSet* set = sets;
  while (set != nullptr && set->index != RelationGetRelid(index)) set = set->next;
  if (set != nullptr) {
    if (set->file == file && set->directory.change == change) {
      ++set->users;
      if (set != sets) {
        unlist(set);
        list_first(set);
      }
      // Read once more: copies of its inner pages pay.
      for (int i = 0; i < set->directory.nruns; ++i) set->trees[i].keep_inners();
      return set;
    }
    unlist(set);
  }
  set = make_set(index, false);
  list_first(set);
  return set;
}

void release_trees(TreeSet* set) {
  --set->users;
  if (set->listed && MemoryContextMemAllocated(set->context, false) > kMaxTreeSetBytes) {
    unlist(set);
    return;
  }
  if (set->users == 0 && !set->listed) MemoryContextDelete(set->context);
}

}  // namespace neardup
