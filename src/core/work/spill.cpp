// External sort: runs sorted by radix, merged by a heap with one read buffer per run.
#include "core/work/spill.h"

#include <algorithm>
#include <bit>

namespace neardup {
namespace {

constexpr unsigned kRecordDigitBits = 11;
constexpr size_t kRecordDigits = size_t{1} << kRecordDigitBits;

// One read buffer of a merge: below this a merge of more runs costs more in reads than it saves in passes.
constexpr size_t kLeastReadBytes = 2048;
constexpr size_t kMaxReadBytes = 64 * 1024;
constexpr size_t kMaxSortRuns = 512;

}  // namespace

SortRecord* sort_records(SortRecord* a, SortRecord* tmp, size_t n, Poller& poller) {
  if (n < 2) return a;
  if (n <= 64) {
    std::stable_sort(a, a + n, [](const SortRecord& x, const SortRecord& y) { return x.key() < y.key(); });
    return a;
  }
  uint64_t varying = 0;
  for_each_polled(n, 1, poller, [&](size_t i) { varying |= a[i].key() ^ a[0].key(); });
  std::vector<uint32_t> counts(kRecordDigits);
  while (varying != 0) {
    const unsigned shift = static_cast<unsigned>(std::countr_zero(varying));
    const uint64_t digit_mask = kRecordDigits - 1;
    const auto digit = [=](const SortRecord& record) { return record.key() >> shift & digit_mask; };
    std::fill(counts.begin(), counts.end(), 0);
    for_each_polled(n, 1, poller, [&, count = counts.data()](size_t i) { ++count[digit(a[i])]; });
    uint32_t before = 0;
    for (uint32_t& c : counts) before += std::exchange(c, before);
    for_each_polled(n, 4, poller,
                    [&, at = counts.data(), from = a, to = tmp](size_t i) { to[at[digit(from[i])]++] = from[i]; });
    std::swap(a, tmp);
    varying &= ~(digit_mask << shift);
  }
  return a;
}

class RecordSorter::Merge {
 public:
  Merge(TempFile& file, const Run* runs, size_t n, size_t budget, Workspace& ws)
      : file_(file), poller_(ws.poller), readers_(n) {
    const size_t each = std::clamp(budget / n, kLeastReadBytes / 4, kMaxReadBytes) / sizeof(SortRecord);
    buffers_ = Array<SortRecord>(ws.ledger, n * each);
    heap_.reserve(n);
    for (size_t r = 0; r < n; ++r) {
      readers_[r] = {runs[r].first, runs[r].first + runs[r].count, buffers_.data() + r * each, 0, 0, each};
      if (refill(readers_[r])) heap_.push_back(static_cast<uint32_t>(r));
    }
    for (size_t i = heap_.size(); i-- > 0;) sift_down(i);
  }

  bool next(SortRecord* record) {
    if (heap_.empty()) return false;
    Reader& reader = readers_[heap_[0]];
    *record = reader.records[reader.at++];
    poller_.spend(20);
    if (reader.at == reader.loaded && !refill(reader)) {
      heap_[0] = heap_.back();
      heap_.pop_back();
    }
    sift_down(0);
    return true;
  }

 private:
  struct Reader {
    uint64_t position;
    uint64_t end;
    SortRecord* records;
    size_t at;
    size_t loaded;
    size_t capacity;
  };

  bool refill(Reader& reader) {
    const size_t n = static_cast<size_t>(std::min<uint64_t>(reader.capacity, reader.end - reader.position));
    if (n == 0) return false;
    file_.read(reader.position * sizeof(SortRecord), reader.records, n * sizeof(SortRecord));
    reader.position += n;
    reader.at = 0;
    reader.loaded = n;
    poller_.spend(n * sizeof(SortRecord));
    return true;
  }

  // Equal keys leave in the order of their runs: that keeps the sort stable.
  bool before(uint32_t x, uint32_t y) const noexcept {
    const uint64_t a = readers_[x].records[readers_[x].at].key();
    const uint64_t b = readers_[y].records[readers_[y].at].key();
    return a != b ? a < b : x < y;
  }

  void sift_down(size_t i) noexcept {
    for (;;) {
      size_t child = 2 * i + 1;
      if (child >= heap_.size()) return;
      if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], heap_[i])) return;
      std::swap(heap_[i], heap_[child]);
      i = child;
    }
  }

  TempFile& file_;
  Poller& poller_;
  std::vector<Reader> readers_;
  Array<SortRecord> buffers_;
  std::vector<uint32_t> heap_;
};

RecordSorter::RecordSorter(size_t budget, Workspace& ws)
    : ws_(ws),
      budget_(ws.limit == SIZE_MAX ? SIZE_MAX : std::max<size_t>(budget, 4096)),
      most_(budget_ == SIZE_MAX ? UINT32_MAX : std::min<size_t>(budget_ / 2 / sizeof(SortRecord), UINT32_MAX)) {}

RecordSorter::~RecordSorter() = default;

void RecordSorter::make_room() {
  if (n_ < most_) {
    resize_polled(&buffer_, std::min(most_, std::max<size_t>(128, 2 * n_)), n_, ws_.ledger, ws_.poller);
    return;
  }
  if (ws_.files == nullptr) throw Error(Errc::too_large, "more than 4294967295 records to sort in memory");
  spill();
}

void RecordSorter::sort_buffer() {
  if (scratch_.size() < n_) scratch_.renew(ws_.ledger, n_);
  if (sort_records(buffer_.data(), scratch_.data(), n_, ws_.poller) != buffer_.data()) buffer_.swap(scratch_);
}

void RecordSorter::spill() {
  sort_buffer();
  if (file_ == nullptr) file_ = ws_.files->create();
  append_polled(*file_, buffer_.data(), n_ * sizeof(SortRecord), ws_);
  runs_.push_back({file_records_, n_});
  file_records_ += n_;
  n_ = 0;
  // The two arrays may have changed places, and only the buffer is known to be full size.
  if (buffer_.size() < scratch_.size()) buffer_.swap(scratch_);
}

void RecordSorter::finish() {
  if (file_ == nullptr) {
    sort_buffer();
    scratch_ = {};
    return;
  }
  if (n_ != 0) spill();
  buffer_ = {};
  scratch_ = {};
  const size_t fan_in = std::clamp<size_t>(budget_ / kLeastReadBytes, 4, kMaxSortRuns);
  while (runs_.size() > fan_in) merge_runs(fan_in);
  start_merge();
}

// Merges `fan_in` runs at a time into fewer ones of another file.
void RecordSorter::merge_runs(size_t fan_in) {
  const size_t room = std::max<size_t>(64, std::min(budget_ / 4, kTransferBytes) / sizeof(SortRecord));
  Array<SortRecord> sorted(ws_.ledger, room);
  std::unique_ptr<TempFile> target = ws_.files->create();
  std::vector<Run> merged;
  uint64_t written = 0;
  for (size_t first = 0; first < runs_.size(); first += fan_in) {
    Merge merge(*file_, runs_.data() + first, std::min(fan_in, runs_.size() - first), budget_ / 4 * 3, ws_);
    const uint64_t start = written;
    for (size_t n = 0;;) {
      const bool more = merge.next(&sorted[n]);
      n += more;
      if (n == room || !more) {
        append_polled(*target, sorted.data(), n * sizeof(SortRecord), ws_);
        written += n;
        n = 0;
      }
      if (!more) break;
    }
    merged.push_back({start, written - start});
  }
  file_ = std::move(target);
  runs_ = std::move(merged);
}

void RecordSorter::start_merge() {
  merge_.reset();
  merge_ = std::make_unique<Merge>(*file_, runs_.data(), runs_.size(), budget_, ws_);
}

void RecordSorter::rewind() {
  taken_ = 0;
  if (merge_ != nullptr) start_merge();
}

bool RecordSorter::next(SortRecord* record) {
  if (merge_ != nullptr) return merge_->next(record);
  if (taken_ == n_) return false;
  *record = buffer_[taken_++];
  return true;
}

}  // namespace neardup
