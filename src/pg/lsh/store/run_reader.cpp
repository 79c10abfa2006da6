// See run_reader.h.
#include "pg/lsh/store/run_reader.h"
#include "pg/lsh/store/lsh_page.h"

namespace neardup {
namespace {

uint64_t first_bytes(const PackedEntry& e) {
  uint64_t v;
  memcpy(&v, &e, sizeof v);
  return __builtin_bswap64(v);
}

// The last i with first(i) <= e, or 0. Fences are big-endian: memcmp orders them, and so do their first eight bytes,
// mostly.
template <typename First>
uint32_t last_at_or_below(uint32_t n, const Entry& e, const First& first) {
  const PackedEntry wanted = pack_entry(e);
  const uint64_t wanted_bytes = first_bytes(wanted);
  uint32_t from = 0;
  while (n > 1) {
    const uint32_t half = n / 2;
    const PackedEntry& middle = first(from + half);
    const uint64_t bytes = first_bytes(middle);
    const bool at_or_below =
        bytes != wanted_bytes ? bytes < wanted_bytes : memcmp(&middle, &wanted, sizeof wanted) <= 0;
    from = at_or_below ? from + half : from;
    n = at_or_below ? n - half : half;
  }
  return from;
}

uint32_t last_at_or_below(const InnerPage& inner, const Entry& e) {
  return last_at_or_below(inner.n, e, [&](uint32_t i) -> const PackedEntry& { return inner.first[i]; });
}

uint32_t key_top(const Entry& e) { return static_cast<uint32_t>(e.key >> (kKeyBits - 32)); }

// In a copy the tops alone decide, mostly, and take few cache lines; fewest where they are looked at from the place on
// at which the key would lie if all were spread evenly, as hashes are.
uint32_t last_at_or_below(const InnerCopy& copy, const Entry& e) {
  const uint32_t wanted = key_top(e);
  const uint32_t least = copy.top[0];
  const uint32_t most = copy.top[copy.n - 1];
  uint32_t from = 0;
  uint32_t n = copy.n;  // the answer is in [from, from + n), or 0
  if (wanted > least && wanted < most) {
    const uint32_t near = static_cast<uint32_t>(uint64_t{wanted - least} * (copy.n - 1) / (most - least));
    constexpr uint32_t kGallopStep = 12;
    if (copy.top[near] <= wanted) {
      from = near;
      uint32_t step = kGallopStep;
      while (from + step < copy.n && copy.top[from + step] <= wanted) {
        from += step;
        step *= 2;
      }
      n = Min(step, copy.n - from);
    } else {
      uint32_t to = near;
      uint32_t step = kGallopStep;
      while (step < to && copy.top[to - step] > wanted) {
        to -= step;
        step *= 2;
      }
      from = step < to ? to - step : 0;
      n = to - from;
    }
  }
  while (n > 1) {
    const uint32_t half = n / 2;
    from = copy.top[from + half] <= wanted ? from + half : from;
    n -= half;
  }
  if (copy.top[from] < wanted) return from;
  return last_at_or_below(copy.n, e, [&](uint32_t i) -> const PackedEntry& { return copy.child[i].first; });
}

}  // namespace

void RunTree::init(Relation index, const RunSlot& run, uint64_t change, MemoryContext context,
                   BufferAccessStrategy strategy, Snapshot snapshot) {
  index_ = index;
  run_ = run;
  change_ = change;
  context_ = context;
  strategy_ = strategy;
  snapshot_ = snapshot;
  lo_ = run_lo(run);
  hi_ = run_hi(run);
  root_ = nullptr;
  inners_ = nullptr;
  keep_ = false;
}

Buffer RunTree::lock_inner(BlockNumber block) {
  Buffer buffer;
  if (lock_page(index_, block, run_.id, kInnerPage, strategy_, &buffer) != PageState::good) {
    if (change_ == kPinned || directory_change(index_) == change_)
      report_corrupt(index_, block, "an inner page of a run is not there");
    return InvalidBuffer;
  }
  if (snapshot_ != nullptr) test_old_snapshot(snapshot_, index_, BufferGetPage(buffer));
  return buffer;
}

InnerCopy* RunTree::copy_inner(BlockNumber block, uint16_t level) {
  Buffer buffer = lock_inner(block);
  if (buffer == InvalidBuffer) return nullptr;
  const InnerPage* inner = open_inner(index_, buffer, level);
  const uint32_t n = inner->n;
  char* memory = static_cast<char*>(
      MemoryContextAllocZero(context_, sizeof(InnerCopy) + n * (sizeof(ChildCopy) + sizeof(uint32_t))));
  InnerCopy* copy = reinterpret_cast<InnerCopy*>(memory);
  copy->n = n;
  copy->child = reinterpret_cast<ChildCopy*>(copy + 1);
  copy->top = reinterpret_cast<uint32_t*>(copy->child + n);
  for (uint32_t i = 0; i < n; ++i) {
    copy->child[i].block = inner->child[i];
    copy->child[i].first = inner->first[i];
    copy->top[i] = key_top(unpack_entry(inner->first[i]));
  }
  UnlockReleaseBuffer(buffer);
  return copy;
}

bool RunTree::load_root() {
  if (root_ != nullptr) return true;
  InnerCopy* root = copy_inner(run_.root, run_.height);
  if (root == nullptr) return false;
  if (run_.height == 2)
    inners_ = static_cast<InnerCopy**>(MemoryContextAllocZero(context_, sizeof(InnerCopy*) * Max(root->n, 1u)));
  root_ = root;
  return true;
}

bool RunTree::load_inner(uint32_t i) {
  if (inners_[i] != nullptr) return true;
  InnerCopy* copy = copy_inner(root_->child[i].block, 1);
  if (copy == nullptr) return false;
  // Before it is kept: the tree may outlive the error.
  if (copy->n == 0) report_corrupt(index_, root_->child[i].block, "an empty inner page");
  inners_[i] = copy;
  return true;
}

Entry RunTree::fence_after_inner(uint32_t i) const {
  return run_.height == 2 && i + 1 < root_->n ? unpack_entry(root_->child[i + 1].first) : kBeyondEntry;
}

void RunTree::fill(const InnerCopy& copy, LeafPlace* place) const {
  ChildCopy* child = copy.child + place->j;
  place->block = child->block;
  if (place->block == InvalidBlockNumber) report_corrupt(index_, place->block, "impossible link");
  place->hint = &child->hint;
  place->fence = unpack_entry(child->first);
  place->next_fence = place->j + 1 < copy.n ? unpack_entry(child[1].first) : fence_after_inner(place->i);
}

void RunTree::fill(const InnerPage& inner, LeafPlace* place) const {
  place->block = inner.child[place->j];
  if (place->block == InvalidBlockNumber) report_corrupt(index_, place->block, "impossible link");
  place->hint = nullptr;
  place->fence = unpack_entry(inner.first[place->j]);
  place->next_fence = place->j + 1u < inner.n ? unpack_entry(inner.first[place->j + 1]) : fence_after_inner(place->i);
}

bool RunTree::find(const Entry& e, LeafPlace* place, bool* end) {
  *end = root_->n == 0;
  place->i = place->j = 0;
  if (*end) return true;
  if (run_.height == 1) {
    place->j = last_at_or_below(*root_, e);
    fill(*root_, place);
    return true;
  }
  place->i = last_at_or_below(*root_, e);
  if (inners_[place->i] == nullptr && !keep_) {
    // A copy would cost more than the search.
    const BlockNumber block = root_->child[place->i].block;
    Buffer buffer = lock_inner(block);
    if (buffer == InvalidBuffer) return false;
    const InnerPage* inner = open_inner(index_, buffer, 1);
    if (inner->n == 0) report_corrupt(index_, block, "an empty inner page");
    place->j = last_at_or_below(*inner, e);
    fill(*inner, place);
    UnlockReleaseBuffer(buffer);
    return true;
  }
  if (!load_inner(place->i)) return false;
  const InnerCopy* inner = inners_[place->i];
  place->j = last_at_or_below(*inner, e);
  fill(*inner, place);
  return true;
}

bool RunTree::next(LeafPlace* place, bool* end) {
  *end = false;
  if (run_.height == 1) {
    if (++place->j >= root_->n) {
      *end = true;
      return true;
    }
    fill(*root_, place);
    return true;
  }
  if (!load_inner(place->i)) return false;
  if (++place->j >= inners_[place->i]->n) {
    if (place->i + 1 >= root_->n) {
      *end = true;
      return true;
    }
    ++place->i;
    place->j = 0;
    if (!load_inner(place->i)) return false;
  }
  const InnerCopy* inner = inners_[place->i];
  fill(*inner, place);
  return true;
}

LeafResult RunTree::lock_leaf(const LeafPlace& place, Buffer* buffer, LeafView* leaf) {
  const BlockNumber at = place.block;
  const Buffer recent = place.hint == nullptr ? InvalidBuffer : place.hint->buffer;
  if (lock_page(index_, at, run_.id, kLeafPage, strategy_, buffer, recent) == PageState::good) {
    if (snapshot_ != nullptr) test_old_snapshot(snapshot_, index_, BufferGetPage(*buffer));
    open_leaf(index_, *buffer, leaf);
    if (place.hint != nullptr) *place.hint = {*buffer, leaf->shape()};
    return LeafResult::leaf;
  }
  // The directory may have moved after it was copied. If not, only the leaf across lo may be gone.
  if (change_ != kPinned && directory_change(index_) != change_) return LeafResult::stale;
  if (place.fence < lo_) return LeafResult::empty;
  report_corrupt(index_, at, "a leaf of a run is not there");
}

void RunReader::init(Relation index, const RunSlot& run, BufferAccessStrategy strategy) {
  index_ = index;
  tree_.init(index, run, RunTree::kPinned, CurrentMemoryContext, strategy, nullptr);
  tree_.keep_inners();
  seek(run_lo(run));
}

void RunReader::seek(const Entry& from) {
  from_ = from;
  tree_.load_root();
  tree_.find(from, &place_, &end_);
}

bool RunReader::next_leaf(Buffer* buffer, LeafView* leaf) {
  while (!end_ && place_.fence < tree_.hi()) {
    last_ = place_;
    tree_.next(&place_, &end_);
    if (tree_.lock_leaf(last_, buffer, leaf) == LeafResult::leaf) return true;
  }
  return false;
}

BlockList blocks_below(Relation index, const RunSlot& run, const Entry& below, bool gone) {
  RunTree tree;
  tree.init(index, run, RunTree::kPinned, CurrentMemoryContext, nullptr, nullptr);
  tree.load_root();
  BlockList list{};
  uint32_t capacity = 64;
  list.blocks = static_cast<BlockNumber*>(palloc(sizeof(BlockNumber) * capacity));
  const auto add = [&](BlockNumber block) {
    if (list.n == capacity)
      list.blocks = static_cast<BlockNumber*>(repalloc(list.blocks, sizeof(BlockNumber) * (capacity *= 2)));
    list.blocks[list.n++] = block;
  };
  LeafPlace place;
  bool end;
  for (tree.find(tree.lo(), &place, &end); !end; tree.next(&place, &end)) {
    if (!gone && below < place.next_fence) break;
    add(place.block);
  }
  if (gone) {
    for (uint32_t i = 0; i < tree.inners(); ++i) add(tree.inner_block(i));
    add(run.root);
  }
  return list;
}

uint64_t key_list_length(Relation index, const RunSlot& run, uint64_t key) {
  RunReader reader;
  reader.init(index, run, nullptr);
  const Entry begin{key, 0};
  const Entry beyond = key == kMaxKey ? kBeyondEntry : Entry{key + 1, 0};
  reader.seek(begin < run_lo(run) ? run_lo(run) : begin);
  const Entry to = beyond < run_hi(run) ? beyond : run_hi(run);
  uint64_t length = 0;
  Buffer buffer;
  LeafView leaf;
  while (reader.next_leaf(&buffer, &leaf)) {
    const uint32_t first = leaf.lower_bound(reader.from());
    const uint32_t last = leaf.lower_bound(to);
    length += last - Min(first, last);
    const bool more = last == leaf.count();
    UnlockReleaseBuffer(buffer);
    if (!more) break;
    CHECK_FOR_INTERRUPTS();
  }
  return length;
}

}  // namespace neardup
