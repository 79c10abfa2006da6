// See directory_reader.h.
#include "pg/lsh/scan/directory_reader.h"

#include "pg/lsh/store/lsh_page.h"

extern "C" {
#include "access/xlog.h"
}

namespace neardup {
namespace {

constexpr int kMaxAttempts = 5;  // before a reader keeps the directory still

struct Borrowed {
  MemoryContextCallback callback;
  TreeSet* set;
};

void give_back(void* set) {
  if (TreeSet* borrowed = *static_cast<TreeSet**>(set)) release_trees(borrowed);
}

}  // namespace

void DirectoryReader::init(Relation index, MemoryContext context, Snapshot snapshot) {
  index_ = index;
  snapshot_ = snapshot;
  directory_ = nullptr;
  trees_ = nullptr;
  memset(&config_, 0, sizeof config_);
  pinned_ = is_read_ = false;
  Borrowed* borrowed = static_cast<Borrowed*>(MemoryContextAllocZero(context, sizeof(Borrowed)));
  set_ = &borrowed->set;
  borrowed->callback.arg = set_;
  borrowed->callback.func = give_back;
  MemoryContextRegisterResetCallback(context, &borrowed->callback);
}

void DirectoryReader::forget() {
  TreeSet* set = *set_;
  *set_ = nullptr;
  if (set != nullptr) release_trees(set);
}

void DirectoryReader::read() {
  if (*set_ != nullptr && !trees_hold(index_, *set_)) forget();
  if (*set_ == nullptr) *set_ = borrow_trees(index_, pinned_);
  test_snapshot();
  directory_ = &(*set_)->directory;
  trees_ = (*set_)->trees;
  config_ = directory_->config;
  for (int i = 0; i < directory_->nruns; ++i) trees_[i].attach(index_, snapshot_);
  is_read_ = true;
}

// Rows whose run or pending page is gone have left no other page to tell of them.
void DirectoryReader::test_snapshot() const {
  if (snapshot_ == nullptr || !tests_old_snapshots()) return;
  Buffer buffer = ReadBuffer(index_, kLshMetaBlock);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  test_old_snapshot(snapshot_, index_, BufferGetPage(buffer));
  UnlockReleaseBuffer(buffer);
}

void DirectoryReader::use() {
  if (!is_read_) read();
  is_read_ = false;
}

void DirectoryReader::rewind() {
  forget();
  is_read_ = false;
}

// Merges free pages every few ms and a collection takes a fraction of one; still, a reader that was overtaken often
// keeps the directory still. A standby just tries again.
void DirectoryReader::stale_again(int* attempts) {
  CHECK_FOR_INTERRUPTS();
  forget();
  if (++*attempts >= kMaxAttempts && !pinned_ && !RecoveryInProgress()) {
    acquire_lock(index_, IndexLock::maintenance, ShareLock, true);
    pinned_ = true;
  }
}

void DirectoryReader::end_attempts() {
  if (!pinned_) return;
  pinned_ = false;
  forget();  // its trees are marked as pinned
  release_lock(index_, IndexLock::maintenance, ShareLock);
}

bool DirectoryReader::begins_unit(int run) const {
  for (int i = 0; i < run; ++i)
    if (is_built(i) && directory_->runs[i].unit == directory_->runs[run].unit) return false;
  return true;
}

}  // namespace neardup
