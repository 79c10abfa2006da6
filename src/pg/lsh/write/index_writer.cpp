// See index_writer.h.
#include "pg/lsh/write/index_writer.h"

#include "pg/lsh/write/run_writer.h"
#include "pg/lsh/store/lsh_page.h"

namespace neardup {
namespace {

// Runs of a build. The slots left are for rows to come, and for merging them.
constexpr int kMaxBuilt = kCrowded - 2;

const InnerPage* inner_page(BulkWriteBuffer page) { return static_cast<const InnerPage*>(page_body(page->data)); }

}  // namespace

void IndexWriter::init(Relation index, ForkNumber fork) {
  memset(this, 0, sizeof *this);
  index_ = index;
  bulk_ = smgr_bulk_start_rel(index, fork);
  packer_ = static_cast<RunPacker*>(palloc(sizeof(RunPacker)));
  packer_->begin_run();
  next_block_ = kLshMetaBlock + 1;
  meta_.next_id = 1;
}

BlockNumber IndexWriter::write(BulkWriteBuffer page) {
  smgr_bulk_write(bulk_, next_block_, page, true);
  return next_block_++;
}

void IndexWriter::add(const Entry* entries, size_t n) {
  packer_->add_all(entries, n, [this] { write_leaf(); });
}

void IndexWriter::write_leaf() {
  CHECK_FOR_INTERRUPTS();
  if (run()->id == 0) {
    if (meta_.nruns == kMaxBuilt)
      ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                      errmsg("index \"%s\" would be too large", RelationGetRelationName(index_)),
                      errdetail("It can have at most %d runs of " UINT64_FORMAT " pages each.", kMaxBuilt, kMaxLeaves),
                      errhint("Partition the table, or index fewer of its rows.")));
    run()->id = meta_.next_id++;
    run()->state = kLive;
    run()->lo = meta_.nruns == 0 ? pack_entry(kLeastEntry) : meta_.runs[meta_.nruns - 1].hi;
  }
  const Entry first = packer_->first();
  BulkWriteBuffer leaf = smgr_bulk_get_buf(bulk_);
  init_lsh_page(leaf->data, kLeafPage, run()->id, run()->leaves);
  reinterpret_cast<PageHeader>(leaf->data)->pd_lower +=
      static_cast<LocationIndex>(packer_->write(page_body(leaf->data)));
  add_leaf(write(leaf), first);
  if (run()->leaves == kMaxLeaves) close_run();
}

void IndexWriter::add_leaf(BlockNumber block, const Entry& first) {
  if (inner_ != nullptr && inner_page(inner_)->n == kMaxChildren) close_inner();
  if (inner_ == nullptr) {
    inner_ = smgr_bulk_get_buf(bulk_);
    init_inner(inner_->data, run()->id, run()->inners, 1);
  }
  add_child(inner_->data, {block, first});
  ++run()->leaves;
}

void IndexWriter::close_inner() {
  if (root_ == nullptr) {
    root_ = smgr_bulk_get_buf(bulk_);
    init_inner(root_->data, run()->id, 0, 2);
  }
  const Entry first = unpack_entry(inner_page(inner_)->first[0]);
  add_child(root_->data, {write(inner_), first});
  inner_ = nullptr;
  ++run()->inners;
}

// Before an entry of the next leaf was taken.
void IndexWriter::close_run() {
  if (root_ != nullptr) close_inner();
  run()->height = root_ != nullptr ? 2 : 1;
  run()->root = write(root_ != nullptr ? root_ : inner_);
  run()->hi = pack_entry(successor(packer_->last()));
  root_ = nullptr;
  inner_ = nullptr;
  const EntryCounts counts = packer_->counts();
  add_counts(run(), counts);
  done_entries_ += counts.entries;
  packer_->begin_sibling();
  ++meta_.nruns;
}

void IndexWriter::finish(const LshConfig& config) {
  if (!packer_->empty()) write_leaf();
  if (inner_ != nullptr) close_run();
  if (meta_.nruns != 0) meta_.runs[meta_.nruns - 1].hi = pack_entry(kBeyondEntry);
  BulkWriteBuffer page = smgr_bulk_get_buf(bulk_);
  init_meta(page->data, config);
  LshMeta* meta = page_meta(page->data);
  meta->next_id = meta_.next_id;
  meta->nruns = meta_.nruns;
  memcpy(meta->runs, meta_.runs, sizeof(RunSlot) * meta_.nruns);
  smgr_bulk_write(bulk_, kLshMetaBlock, page, true);
  smgr_bulk_finish(bulk_);
}

}  // namespace neardup
